"""Where bounds are cut, read literally: ends in increasing order, from the first to the last.

The bounds of Theorem 2 and Corollary 3 are sums over slices and cells, and ask for ends that
increase. Other ends would go unseen, as long as the bounds come out small enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from numerics.balls.bounds.grids import cell_ends, quantile, slice_ends
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["grids_cell"]

# A few roundings of numbers of size 1, relative to steps of 1/2000 or more.
_ACCURACY = 1e-11


def grids_cell() -> Cell:
    """Return the cell on the ends of slices and cells."""
    return fault_cell(
        "ends of slices and cells",
        _grid_faults,
        method="their definitions: increasing, equal differences, equal ratios",
        claimed=f"the ends that are defined, within {_ACCURACY:g}",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=40,
        cost=0.02,
    )


def _grid_faults(rng: np.random.Generator) -> Faults:
    m, count = int(rng.integers(8, 5000)), int(rng.integers(4, 65))
    level = float(rng.uniform(1, 60))
    rho_0 = quantile(level, m)
    if not math.isclose((m - 1) / 2 * math.log1p(-(rho_0**2)), -level, rel_tol=_ACCURACY):
        yield f"a quantile of {rho_0} for level {level} and m = {m}"
    spread = min(1.0, 8 / math.sqrt(m))
    found = cell_ends(rho_0, m, count)
    inner = [-spread, *found[1:-1], min(spread, rho_0)]
    if not (
        len(inner) == count
        and _increases(found)
        and math.isclose(found[0], -1)
        and math.isclose(found[-1], rho_0)
        and _even(inner)
    ):
        yield f"cells {found} for rho_0 = {rho_0}, m = {m}"
    first, sigma = 10.0 ** rng.uniform(-12, 0), quantile(float(rng.uniform(1, 60)), m)
    slices = slice_ends(first, sigma, rho_0, count)
    # On a sphere |v_a - v_b| is sqrt(2 - 2 rho), and the lean at most twice the largest score.
    last = min(1.0, 2 * sigma / math.sqrt(2 - 2 * rho_0))
    if not (
        _increases(slices)
        and len(slices) == count + 2
        and slices[0] <= 0
        and slices[-1] >= 1
        and math.isclose(slices[1], min(first, last / 2), rel_tol=_ACCURACY)
        and _even([math.log(end) for end in (*slices[1:-1], last)])
    ):
        yield f"slices {slices} from {first}, sigma = {sigma}, rho_0 = {rho_0}"


def _increases(ends: Sequence[float]) -> bool:
    return list(ends) == sorted(set(ends))


def _even(ends: Sequence[float]) -> bool:
    """Whether the differences of neighbours agree."""
    return float(np.ptp(np.diff(ends))) <= _ACCURACY
