"""The explicit Theorem 2 at one (d, m): step size, probability of failure, and its parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from flint import arb

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.balls.arithmetic.exact import lower_end, upper_digits, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.converse import failure_lower
from numerics.balls.bounds.events import Event, total, undersized
from numerics.balls.bounds.theorem2 import Budget, failure_events
from numerics.balls.bounds.theorem2_search import best_budget, best_converse_budget

__all__ = ["MOST_D", "ExplicitTheorem2", "explicit_theorem2"]

MOST_D = 10**15
"""Largest number of positions accepted."""

# The certificate's own precision; nothing cancels beyond the size of d.
_BITS = 192
# Which failure is sought where no step size is given, in terms of that of the largest steps.
_ALLOWED = Fraction(3, 2)
_SEARCH_BITS = 64
_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class ExplicitTheorem2:
    """What is proved at one (d, m).

    With probability at least 1 - `failure_upper` over V and theta^0, for the given support and for
    every eta >= scale d^2 at once, one population step brings the loss of every input to at most
    the tolerance. As eta grows the probability that it does not lies between `failure_lower` and
    `failure_limit`.

    Attributes
    ----------
    d, m : int
        Number of positions and embedding dimension.
    tolerance : Fraction
        T.
    scale : Fraction or None
        C: given, or found; None if none is good enough.
    failure_upper : Fraction
        Sum of the events at that scale, at most 1; 1 says nothing.
    failure_limit, failure_lower : Fraction
        Bounds for the limit of large eta.
    events : tuple of Event
        The events at that scale, with the bound of each.
    budget : Budget or None
        The thresholds behind `failure_upper`; None below the theorem's least sizes.
    """

    d: int
    m: int
    tolerance: Fraction
    scale: Fraction | None
    failure_upper: Fraction
    failure_limit: Fraction
    failure_lower: Fraction
    events: tuple[Event, ...]
    budget: Budget | None

    @property
    def vacuous(self) -> bool:
        """Whether nothing is proved at that scale."""
        return self.failure_upper >= 1


def explicit_theorem2(
    d: SupportsIndex,
    m: SupportsIndex,
    *,
    tolerance: Fraction = Fraction(1, 100),
    scale: Fraction | None = None,
) -> ExplicitTheorem2:
    """Prove the explicit Theorem 2 at one (d, m), as well as it can be done.

    Parameters
    ----------
    d, m : int
        Number of positions, from 2 to 10^15, and embedding dimension, >= 1.
    tolerance : Fraction
        T > 0, the loss to be reached for every input.
    scale : Fraction, optional
        C > 0 in eta >= C d^2. By default the least that is found with a probability of failure at
        most 1.5 times that for all large eta, and half way from there to 1.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    d, m = integer_at_least("d", d, 2), integer_at_least("m", m, 1)
    if d > MOST_D:
        raise InvalidArgumentError("d", d, f"must be at most {MOST_D}")
    for what, value in (("tolerance", tolerance), ("scale", scale)):
        if value is not None and value <= 0:
            raise InvalidArgumentError(what, value, "must be positive")
    too_small = undersized(d, m)
    if too_small is not None:
        return _vacuous(d, m, tolerance, scale, too_small)

    def evaluate(budget: Budget, at: Fraction | None) -> tuple[tuple[Event, ...], Fraction]:
        with working_precision(_BITS):
            events = failure_events(d, m, budget, scale=at, tolerance=tolerance)
            return events, _upper(total(events))

    limit_budget = best_budget(d, m, scale=None, tolerance=tolerance)
    limit_events, limit = evaluate(limit_budget, None)
    if scale is None and limit < 1:
        allowed = min(limit * _ALLOWED, (1 + limit) / 2)
        scale, budget = _least_scale(d, m, tolerance, limit_budget, allowed)
    else:
        budget = best_budget(d, m, scale=scale, tolerance=tolerance)
    events, upper = (limit_events, limit) if scale is None else evaluate(budget, scale)
    with working_precision(_BITS):
        lower = lower_end(failure_lower(d, m, best_converse_budget(d, m)))
    return ExplicitTheorem2(
        d=d,
        m=m,
        tolerance=tolerance,
        scale=scale,
        failure_upper=upper,
        # A bound at some step size bounds the limit too.
        failure_limit=min(limit, upper),
        failure_lower=max(lower or Fraction(0), Fraction(0)),
        events=events,
        budget=budget,
    )


def _vacuous(
    d: int, m: int, tolerance: Fraction, scale: Fraction | None, reason: Event
) -> ExplicitTheorem2:
    return ExplicitTheorem2(
        d=d,
        m=m,
        tolerance=tolerance,
        scale=scale,
        failure_upper=Fraction(1),
        failure_limit=Fraction(1),
        failure_lower=Fraction(0),
        events=(reason,),
        budget=None,
    )


def _upper(bound: arb) -> Fraction:
    """Return a bound of a probability as a rational number."""
    end = upper_end(bound)
    return Fraction(1) if end is None else min(end, Fraction(1))


def _least_scale(
    d: int, m: int, tolerance: Fraction, budget: Budget, allowed: Fraction
) -> tuple[Fraction, Budget]:
    """Return a small C, of few digits, whose bound is at most `allowed`, and the budget for it."""

    def good(candidate: Budget, scale: Fraction, bits: int) -> bool:
        with working_precision(bits):
            events = failure_events(d, m, candidate, scale=scale, tolerance=tolerance)
            return _upper(total(events)) <= allowed

    def least(candidate: Budget, start: float) -> float:
        return _least_exponent(
            lambda exponent: good(candidate, _power(exponent), _SEARCH_BITS), start=start
        )

    exponent = least(budget, 8.0)
    # The best split of the budget is another one where the step is finite.
    candidate = best_budget(d, m, scale=_power(exponent), tolerance=tolerance)
    if good(candidate, _power(exponent), _SEARCH_BITS):
        exponent, budget = least(candidate, exponent), candidate
    scale = _rounded_up(_power(exponent))
    # The last digit may have to give once more, as the search was at low precision.
    while not good(budget, scale, _BITS):
        scale = _rounded_up(scale * (1 + Fraction(1, 10**_DIGITS)))
    return scale, budget


def _least_exponent(good: Callable[[float], bool], *, start: float) -> float:
    """Return an e with good(e) and not good(e - 2^-10), if `good` is monotone; powers of two."""
    low = high = start
    step = 1.0
    while not good(high):
        low, high, step = high, high + step, 2 * step
    step = 1.0
    while low >= high or good(low):
        high = min(high, low)
        low, step = low - step, 2 * step
    while high - low > 2**-10:
        middle = (low + high) / 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _power(exponent: float) -> Fraction:
    return Fraction(2.0 ** (exponent % 1.0)) * Fraction(2) ** math.floor(exponent)


def _rounded_up(x: Fraction) -> Fraction:
    """Round up to a few significant decimal digits."""
    return Fraction(upper_digits(x, _DIGITS))
