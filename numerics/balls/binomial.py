"""Certified confidence intervals for a binomial proportion (Clopper and Pearson, 1934)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex

from flint import arb

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.balls.arithmetic.exact import dyadic, from_fraction
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.arithmetic.ternary import Ternary, less_equal

__all__ = ["clopper_pearson"]

# Ends are multiples of 2^-128. Of the 96 bits of a tail, about 30 are lost at 10^6 trials.
_GRID = 128
_BITS = 96
# Relative to the distance from 0 or 1, whichever is nearer.
_ACCURACY = 40


def clopper_pearson(
    count: SupportsIndex, trials: SupportsIndex, *, level: Fraction | Decimal
) -> tuple[arb, arb]:
    """Return ends that lie on or outside the exact two-sided interval.

    For 0 < count < trials the exact interval is from p with P(at least `count` events | p) =
    (1 - level)/2 to p with P(at most `count` events | p) = (1 - level)/2; its ends are 0 for no
    event and 1 for nothing but events. It covers the true proportion with probability >= `level`
    (Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26, 1934), and so does the one returned. The tails are Arb's regularised
    incomplete beta functions, and an end is moved only where its tail is proved small enough.

    Parameters
    ----------
    count, trials : int
        Number of events among the trials; ``0 <= count <= trials``, ``trials >= 1``.
    level : Fraction or Decimal
        Coverage, strictly between 0 and 1. A binary64 number is refused: .95 is none.

    Returns
    -------
    pair of arb
        Two numbers (balls of radius zero). Up to 10^6 trials they are further out than the exact
        ends by about 2^-40 of the distance from 0 or 1, or by 2^-128 if this is more.

    Raises
    ------
    InvalidArgumentError
        If a count is out of range, or the level no exact number or not in (0, 1).
    """
    n = integer_at_least("trials", trials, 1)
    k = integer_at_least("count", count, 0)
    if k > n:
        raise InvalidArgumentError("count", k, f"must be at most trials = {n}")
    share = (1 - _exact_level(level)) / 2
    # A whole mean of a binomial variable is its median: at p = k/n both tails are at least 1/2, so
    # that k/n lies between the ends. The bisections start there, and need no proof of it.
    whole = 1 << _GRID
    with working_precision(_BITS):
        largest = from_fraction(share)

        def below(p: arb) -> bool:
            at_least_k = p.beta_lower(k, n - k + 1, regularized=1)
            return less_equal(at_least_k, largest) is Ternary.TRUE

        def above(p: arb) -> bool:
            at_most_k = (1 - p).beta_lower(n - k, k + 1, regularized=1)
            return less_equal(at_most_k, largest) is Ternary.TRUE

        lower = _moved_end(0, -(-whole * k // n), below) if k > 0 else 0
        upper = _moved_end(whole, whole * k // n, above) if k < n else whole
        return dyadic(lower, -_GRID), dyadic(upper, -_GRID)


def _exact_level(level: Fraction | Decimal) -> Fraction:
    # A Decimal NaN is asked for before it is compared, which would raise an error of its own.
    if isinstance(level, Fraction) or (isinstance(level, Decimal) and level.is_finite()):
        exact = Fraction(level)
        if 0 < exact < 1:
            return exact
    fix = "must be a Fraction or Decimal strictly between 0 and 1"
    raise InvalidArgumentError("level", level, fix)


def _moved_end(end: int, inside: int, beyond: Callable[[arb], bool]) -> int:
    """Move an end towards `inside`, in units of the grid, while it is proved to lie beyond."""
    while abs(inside - end) > max(1, min(end, (1 << _GRID) - end) >> _ACCURACY):
        middle = (end + inside) // 2
        if beyond(dyadic(middle, -_GRID)):
            end = middle
        else:
            inside = middle
    return end
