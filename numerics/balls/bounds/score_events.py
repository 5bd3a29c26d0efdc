"""What both theorems assume of the scores at the start, and how likely it is not to hold.

The largest score, the sum of those off the support, and the sum of their squares are at most what
a budget allows (docs/theorem2.md, section 3; ours).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from flint import arb

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.bounds.events import Event, capped
from numerics.balls.bounds.slope_bounds import ScoreBounds
from numerics.balls.bounds.tails import (
    coordinate_tail,
    squares_threshold,
    sub_gaussian_threshold,
)

__all__ = ["ScoreBudget", "score_bounds", "score_events"]


class ScoreBudget(Protocol):
    """The thresholds for the scores, as in `numerics.balls.bounds.theorem2.Budget`."""

    @property
    def largest_score(self) -> float:
        """Bound of every score."""

    @property
    def sum_level(self) -> float:
        """Exponent of the bound for the sum of the scores."""

    @property
    def squares_level(self) -> float:
        """Exponent of the bound for the sum of their squares."""


def score_bounds(d: int, m: int, budget: ScoreBudget, *, sigma: arb) -> ScoreBounds:
    """Return what holds for the scores off the events, the largest being at most `sigma`."""
    return ScoreBounds(
        d=d,
        sigma=sigma,
        h=sub_gaussian_threshold(arb(d - 2) / m, from_float(budget.sum_level)) / d,
        q=squares_threshold(d - 2, m, from_float(budget.squares_level)) / d,
    )


def score_events(d: int, m: int, budget: ScoreBudget) -> Iterator[Event]:
    """Yield the three events, each with a bound on its probability."""
    largest = capped(2 * d * coordinate_tail(from_float(budget.largest_score), m))
    total = capped(2 * (-from_float(budget.sum_level)).exp())
    squares = capped((-from_float(budget.squares_level)).exp())
    yield Event(name="largest score", head=None, probability=largest)
    yield Event(name="sum of scores", head=None, probability=total)
    yield Event(name="sum of squared scores", head=None, probability=squares)
