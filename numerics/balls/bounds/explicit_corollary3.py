"""The explicit Corollary 3 at one (d, m): how many samples suffice, and what limits them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.corollary3 import SampleBudget, sample_failure_events
from numerics.balls.bounds.corollary3_search import best_sample_budget, leading_samples
from numerics.balls.bounds.events import Event, total, undersized
from numerics.balls.bounds.explicit_theorem2 import MOST_D

__all__ = ["ExplicitCorollary3", "explicit_corollary3"]

_BITS = 192
_SEARCH_BITS = 64
_ROUNDS = 2
_DOUBLINGS = 8
_DIGITS = 4
_MOST = 10**72  # beyond any n of interest; larger ones are not looked for


@dataclass(frozen=True, kw_only=True)
class ExplicitCorollary3:
    """What is proved at one (d, m) for a probability of failure.

    Attributes
    ----------
    d, m : int
        Number of positions and embedding dimension.
    failure : Fraction
        The probability of failure that was allowed.
    n_sufficient : int or None
        Samples that suffice for it; None if no number was found to.
    n_hoeffding : int or None
        The same by the same proof when of one sample nothing but its range is used.
    failure_upper : Fraction
        The bound at `n_sufficient`; 1 says nothing.
    events : tuple of Event
        The events at `n_sufficient`, with the bound of each.
    budget : SampleBudget or None
        The thresholds behind it.
    """

    d: int
    m: int
    failure: Fraction
    n_sufficient: int | None
    n_hoeffding: int | None
    failure_upper: Fraction
    events: tuple[Event, ...]
    budget: SampleBudget | None

    @property
    def vacuous(self) -> bool:
        """Whether no number of samples was proved to suffice."""
        return self.n_sufficient is None


def explicit_corollary3(
    d: SupportsIndex, m: SupportsIndex, *, failure: Fraction = Fraction(1, 4)
) -> ExplicitCorollary3:
    """Find a number of samples that provably suffices, small if it can be.

    Parameters
    ----------
    d, m : int
        Number of positions, from 2 to 10^15, and embedding dimension, >= 1.
    failure : Fraction
        Probability of failure to allow, strictly between 0 and 1.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    d, m = integer_at_least("d", d, 2), integer_at_least("m", m, 1)
    if d > MOST_D:
        raise InvalidArgumentError("d", d, f"must be at most {MOST_D}")
    if not 0 < failure < 1:
        raise InvalidArgumentError("failure", failure, "must be strictly between 0 and 1")
    found = _least(d, m, failure, by_range=False)
    crude = None if found is None else _least(d, m, failure, by_range=True)
    if found is None:
        events = _vacuous_events(d, m, failure)
        return ExplicitCorollary3(
            d=d,
            m=m,
            failure=failure,
            n_sufficient=None,
            n_hoeffding=None,
            failure_upper=Fraction(1),
            events=events,
            budget=None,
        )
    n, budget = found
    with working_precision(_BITS):
        events = sample_failure_events(d, m, n, budget)
        upper = upper_end(total(events))
    return ExplicitCorollary3(
        d=d,
        m=m,
        failure=failure,
        n_sufficient=n,
        n_hoeffding=None if crude is None else crude[0],
        failure_upper=Fraction(1) if upper is None else upper,
        events=events,
        budget=budget,
    )


def _bound(
    d: int, m: int, n: int, budget: SampleBudget, *, by_range: bool, bits: int = _SEARCH_BITS
) -> Fraction:
    with working_precision(bits):
        end = upper_end(total(sample_failure_events(d, m, n, budget, by_range=by_range)))
    return Fraction(1) if end is None else end


def _vacuous_events(d: int, m: int, failure: Fraction) -> tuple[Event, ...]:
    """Return the events at the largest number of samples looked at, which are too likely."""
    too_small = undersized(d, m)
    if too_small is not None:
        return (too_small,)
    budget = best_sample_budget(d, m, _MOST, failure=float(failure))
    with working_precision(_BITS):
        return sample_failure_events(d, m, _MOST, budget)


def _least(d: int, m: int, failure: Fraction, *, by_range: bool) -> tuple[int, SampleBudget] | None:
    """Return a small n, of few digits, whose bound is at most `failure`, and the budget for it."""
    if undersized(d, m) is not None:
        return None
    guess = leading_samples(d, m, float(failure))
    if by_range:
        guess *= d * d
    # No smaller number suffices if the largest one does not.
    most = best_sample_budget(d, m, _MOST, failure=float(failure), by_range=by_range)
    if _bound(d, m, _MOST, most, by_range=by_range) > failure:
        return None
    n = math.ceil(min(2 * guess, _MOST)) if math.isfinite(guess) else _MOST
    budget = best_sample_budget(d, m, n, failure=float(failure), by_range=by_range)
    for _ in range(_DOUBLINGS):
        if _bound(d, m, n, budget, by_range=by_range) <= failure:
            break
        n = min(4 * n, _MOST)
        budget = best_sample_budget(d, m, n, failure=float(failure), by_range=by_range)
    else:
        n, budget = _MOST, most
    for _ in range(_ROUNDS):
        least = _bisected(d, m, n, budget, failure, by_range=by_range)
        improved = best_sample_budget(d, m, least, failure=float(failure), by_range=by_range)
        n = least
        if _bound(d, m, n, improved, by_range=by_range) > failure:
            break
        budget = improved
    while _bound(d, m, n, budget, by_range=by_range, bits=_BITS) > failure:
        n = _rounded_up(n + 1)
    return n, budget


def _bisected(
    d: int, m: int, n: int, budget: SampleBudget, failure: Fraction, *, by_range: bool
) -> int:
    """Return a smaller n, of few digits, that still suffices with the same budget."""
    low, high = 0.0, math.log(n)
    while high - low > 1e-4:
        middle = (low + high) / 2
        candidate = math.ceil(math.exp(middle))
        if _bound(d, m, candidate, budget, by_range=by_range) <= failure:
            high = middle
        else:
            low = middle
    return min(n, _rounded_up(math.ceil(math.exp(high))))


def _rounded_up(n: int) -> int:
    """Round up to a few significant decimal digits."""
    unit: int = 10 ** max(len(str(n)) - _DIGITS, 0)
    return -(-n // unit) * unit
