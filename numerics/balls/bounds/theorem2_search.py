"""Choosing the thresholds of the explicit Theorem 2 and of its converse.

Both bounds are true for any budget; this looks for good ones, with a simplex search around ball
evaluations at low precision. It is part of no proof.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.converse import ConverseBudget, failure_lower
from numerics.balls.bounds.events import Event
from numerics.balls.bounds.grids import cell_ends, quantile, slice_ends
from numerics.balls.bounds.simplex import minimise
from numerics.balls.bounds.theorem2 import Budget, failure_events

__all__ = ["best_budget", "best_converse_budget", "leading_order"]

_BITS = 64
# Slices and cells: while searching, while searching where they matter, and in the end.
_COARSE, _MIDDLE, _FINE = (4, 12), (10, 32), (24, 64)
_EVALUATIONS, _MORE_EVALUATIONS = 160, 50
_MATTERS = 0.05  # the share of the ambient alignment, which alone depends on the grid

# What the lesser events may take of the leading term to begin with: the first is near the best
# where m is large, the last where the bound is nearly vacuous.
_PORTIONS = (1 / 300, 1 / 30, 1 / 4)


def leading_order(d: int) -> float:
    """Return (2/pi) arctan(1/sqrt(d)), the probability of failure to leading order."""
    return 2 / math.pi * math.atan(1 / math.sqrt(d))


def best_budget(d: int, m: int, *, scale: Fraction | None, tolerance: Fraction) -> Budget:
    """Return a budget for which the bound of `failure_events` is small.

    Parameters
    ----------
    d, m : int
        Number of positions (>= 3) and embedding dimension (>= 6).
    scale : Fraction or None
        C in eta >= C d^2; None for the limit of large eta.
    tolerance : Fraction
        T.
    """

    def events(point: NDArray[np.float64], grid: tuple[int, int]) -> tuple[Event, ...]:
        with working_precision(_BITS):
            return failure_events(d, m, _budget(m, point, grid), scale=scale, tolerance=tolerance)

    def cost(point: NDArray[np.float64], grid: tuple[int, int] = _COARSE) -> float:
        found = events(point, grid)
        if any(event.reason is not None for event in found):
            return math.inf
        return math.log(sum(float(event.probability) for event in found))

    starts = []
    for portion in _PORTIONS:
        level, wide, reach = _levels(d, m, portion)
        starts.append([wide, level, level, level, reach, level, wide, 4.0])
    steps = [1.0, 0.5, 0.5, 0.5, 0.2, 0.5, 0.5, 0.5]
    found = minimise(cost, starts, steps=steps, evaluations=_EVALUATIONS)
    aligned = sum(
        float(event.probability)
        for event in events(found, _COARSE)
        if event.name == "ambient alignment"
    )
    if aligned > _MATTERS * math.exp(cost(found)):
        found = minimise(
            lambda point: cost(point, _MIDDLE),
            [found],
            steps=[step / 2 for step in steps],
            evaluations=_MORE_EVALUATIONS,
        )
    return _budget(m, found, _FINE)


def best_converse_budget(d: int, m: int) -> ConverseBudget:
    """Return a budget for which `failure_lower` is large.

    Parameters
    ----------
    d, m : int
        Number of positions (>= 3) and embedding dimension (>= 6).
    """

    def cost(point: NDArray[np.float64]) -> float:
        with working_precision(_BITS):
            lower = float(failure_lower(d, m, _converse_budget(m, point)))
        return -math.log(lower) if lower > 0 else math.inf

    starts = []
    for portion in _PORTIONS:
        level, wide, reach = _levels(d, m, portion)
        starts.append([wide, level, level, level, reach, level])
    steps = [1.0, 0.5, 0.5, 0.5, 0.2, 0.5]
    found = minimise(cost, starts, steps=steps, evaluations=_EVALUATIONS)
    return _converse_budget(m, found)


def _levels(d: int, m: int, portion: float) -> tuple[float, float, float]:
    """Return exponents for one event and for d of them, and the logarithm of a near slice."""
    level = math.log(2 / (portion * leading_order(d)))
    return level, level + math.log(d), math.log(2 * math.sqrt(2 * level / d / m))


def _budget(m: int, point: NDArray[np.float64], grid: tuple[int, int]) -> Budget:
    wide, sum_level, squares_level, overlap, reach, support, ambient, share = map(float, point)
    slices, cells = grid
    sigma, rho_0 = quantile(abs(wide), m), quantile(abs(overlap), m)
    return Budget(
        largest_score=sigma,
        sum_level=abs(sum_level),
        squares_level=abs(squares_level),
        overlap=rho_0,
        slices=slice_ends(math.exp(reach), sigma, rho_0, slices),
        cells=cell_ends(rho_0, m, cells),
        support_level=abs(support),
        ambient_level=abs(ambient),
        share=1 / (1 + math.exp(-share)),
    )


def _converse_budget(m: int, point: NDArray[np.float64]) -> ConverseBudget:
    wide, sum_level, squares_level, overlap, reach, freezing = map(float, point)
    return ConverseBudget(
        largest_score=quantile(abs(wide), m),
        sum_level=abs(sum_level),
        squares_level=abs(squares_level),
        overlap=quantile(abs(overlap), m),
        reach=min(math.exp(reach), 0.5),
        freezing_level=abs(freezing),
    )
