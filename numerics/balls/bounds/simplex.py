"""Minimising a bound over its thresholds: Nelder and Mead's simplex search from the best start."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["minimise"]


def minimise(
    cost: Callable[[NDArray[np.float64]], float],
    starts: Sequence[Sequence[float] | NDArray[np.float64]],
    *,
    steps: Sequence[float],
    evaluations: int,
) -> NDArray[np.float64]:
    """Return a point where `cost` is small; it may be infinite elsewhere.

    Parameters
    ----------
    cost : callable
        What to minimise; never NaN.
    starts : sequence of points
        The search sets out from the best of them.
    steps : sequence of float
        Edges of the first simplex.
    evaluations : int
        How often `cost` may be asked, about.
    """
    from scipy.optimize import minimize

    start = np.array(min(starts, key=lambda point: cost(np.array(point))))
    found = minimize(
        cost,
        start,
        method="Nelder-Mead",
        options={
            "maxfev": evaluations,
            "initial_simplex": np.vstack([start, start + np.diag(steps)]),
            "adaptive": True,
        },
    )
    return np.asarray(found.x)
