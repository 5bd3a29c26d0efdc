"""Choosing the thresholds of the explicit Corollary 3; part of no proof."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.corollary3 import SampleBudget, sample_failure_events
from numerics.balls.bounds.grids import cell_ends, quantile, slice_ends
from numerics.balls.bounds.simplex import minimise

__all__ = ["best_sample_budget", "leading_samples"]

_BITS = 64
# Near slices, slices and cells: while searching, and in the end.
_COARSE, _FINE = (16, 4, 10), (40, 16, 48)
_NEAR_SPAN = 250.0  # the last near slice ends this many times further out than the first
_EVALUATIONS = 400
_PORTIONS = (1 / 300, 1 / 30, 1 / 6)


def leading_samples(d: int, m: int, failure: float) -> float:
    """Return n with sqrt(2/pi) sqrt(1/d + (d^2 + d m)/(4n)) = failure; infinite if there is none.

    It is the bound of the corollary to leading order.
    """
    room = math.pi * failure**2 / 2 - 1 / d
    return (d * d + d * m) / (4 * room) if room > 0 else math.inf


def best_sample_budget(
    d: int, m: int, n: int, *, failure: float, by_range: bool = False
) -> SampleBudget:
    """Return a budget for which the bound of `sample_failure_events` is small.

    Parameters
    ----------
    d, m, n : int
        Number of positions (>= 3), embedding dimension (>= 6), number of samples.
    failure : float
        Probability of failure that is aimed at.
    by_range : bool
        As in `sample_failure_events`.
    """

    def cost(point: NDArray[np.float64]) -> float:
        budget = _budget(m, point, _COARSE)
        with working_precision(_BITS):
            events = sample_failure_events(d, m, n, budget, by_range=by_range)
        if any(event.reason is not None for event in events):
            return math.inf
        return math.log(sum(float(event.probability) for event in events))

    starts: list[list[float]] = []
    for portion in _PORTIONS:
        level = math.log(2 / (portion * failure))
        wide = level + math.log(d)
        # Leans of the size of the noise matter; its standard deviation is about failure / sqrt(m).
        reach = math.log(min(2 * failure / math.sqrt(m), 0.4))
        starts += [
            [wide, level, level, level, reach, 4.5, level, wide, level, wide, sampling]
            for sampling in (0.3, 0.5)
        ]
    steps = [1.0, 0.5, 0.5, 0.5, 0.3, 0.7, 0.5, 0.5, 0.5, 0.5, 0.1]
    return _budget(m, minimise(cost, starts, steps=steps, evaluations=_EVALUATIONS), _FINE)


def _budget(m: int, point: NDArray[np.float64], grid: tuple[int, int, int]) -> SampleBudget:
    reach = float(point[4])
    wide, sums, squares, overlap, _, freezing, support, ambient, energy, energies, sampling = map(
        float, np.abs(point)
    )
    near, slices, cells = grid
    sigma, rho_0 = quantile(wide, m), quantile(overlap, m)
    ends = slice_ends(math.exp(reach), sigma, rho_0, slices)
    return SampleBudget(
        largest_score=sigma,
        sum_level=sums,
        squares_level=squares,
        overlap=rho_0,
        near=(*(ends[1] * _NEAR_SPAN ** (i / near - 1) for i in range(near)), ends[1]),
        slices=ends,
        cells=cell_ends(rho_0, m, cells),
        support_level=support,
        ambient_level=ambient,
        freezing_level=freezing,
        energy_level=energy,
        ambient_energy_level=energies,
        sampling=sampling,
    )
