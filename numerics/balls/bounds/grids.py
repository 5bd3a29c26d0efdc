"""Where to cut: the ends of slices and cells, and thresholds with a given elementary tail.

These are choices, in ordinary arithmetic; whatever they are, if only the ends increase, the bounds
that use them are true.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from numerics.arguments import InvalidArgumentError

__all__ = ["cell_ends", "check_increasing", "quantile", "slice_ends"]

_SPREAD = 8.0  # standard deviations of an overlap beyond which cells are not resolved


def quantile(level: float, m: int) -> float:
    """Return t with (1 - t^2)^((m-1)/2) = e^-level, for a level >= 0."""
    return math.sqrt(-math.expm1(-2 * level / (m - 1)))


def slice_ends(first: float, sigma: float, rho_0: float, count: int) -> tuple[float, ...]:
    """Return 0, `first`, and on in a geometric progression to where Delta can be 2 sigma; then 1.

    `first` is at most half of that place.
    """
    last = min(1.0, 2 * sigma / math.sqrt(2 - 2 * rho_0))
    first = min(first, last / 2)
    return (0.0, *(first * (last / first) ** (i / count) for i in range(count)), 1.0)


def cell_ends(rho_0: float, m: int, count: int) -> tuple[float, ...]:
    """Return -1, equidistant ends around 0, and `rho_0`."""
    spread = min(1.0, _SPREAD / math.sqrt(m))
    inner = np.linspace(-spread, min(rho_0, spread), count)[1:-1]
    return (-1.0, *map(float, inner), rho_0)


def check_increasing(what: str, ends: Sequence[float]) -> None:
    """Return if every end is larger than the one before.

    Raises
    ------
    InvalidArgumentError
        If one is not.
    """
    for low, high in pairwise(ends):
        if not low < high:
            raise InvalidArgumentError(
                what, ends, f"must increase, and {high} does not exceed {low}; sort the ends"
            )
