"""How nearly orthogonal random points on a sphere are: tails, the union bound, the coherence."""

from __future__ import annotations

import math
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from numerics.arguments import (
    InvalidArgumentError,
    embedding_matrix,
    finite_float,
    integer_at_least,
)

__all__ = ["coherence", "coherence_bound", "coordinate_tail"]

_TILE_ROWS = 256  # a tile of inner products takes 512 KiB, and stays in the cache


def coordinate_tail(t: SupportsFloat, m: SupportsIndex) -> float:
    """Return P(|y| > t) for a coordinate y of a uniform point on the unit sphere of R^m.

    It is the regularised incomplete beta function I_{1-t^2}((m-1)/2, 1/2): y^2 is
    Beta(1/2, (m-1)/2). On S^0, |y| = 1.

    Parameters
    ----------
    t : float
        Threshold; the probability is 1 for t < 0 and 0 for t >= 1.
    m : int
        Dimension of the space, >= 1.

    Raises
    ------
    InvalidArgumentError
        If `t` is not finite or ``m < 1``.
    """
    from scipy.special import betainc, betaincc

    threshold, m = finite_float("t", t), integer_at_least("m", m, 1)
    if threshold >= 1:
        return 0.0
    if threshold < 0 or m == 1:
        return 1.0
    if m == 2:  # arc length; the general quantile of y^2 is steep at both ends here
        return 2 / math.pi * math.acos(threshold)
    # The form whose argument is small: next to 1, half a unit of it is worth its square root.
    if 2 * threshold * threshold < 1:
        return float(betaincc(0.5, (m - 1) / 2, threshold * threshold))
    return float(betainc((m - 1) / 2, 0.5, (1 - threshold) * (1 + threshold)))


def coherence_bound(d: SupportsIndex, m: SupportsIndex, failure: SupportsFloat) -> float:
    """Return t with C(d,2) (1 - t^2)^((m-1)/2) = failure.

    By the elementary tail P(|y| > t) <= (1 - t^2)^((m-1)/2), true for every m >= 1, and a union
    bound over pairs, the coherence of d independent uniform rows exceeds t with probability at
    most `failure`. On S^0 only t = 1 is left.

    Parameters
    ----------
    d, m : int
        Number of rows (>= 2) and dimension (>= 1).
    failure : float
        Probability, strictly between 0 and 1.

    Raises
    ------
    InvalidArgumentError
        If `d` or `m` is too small or `failure` is not in (0, 1).
    """
    d, m = integer_at_least("d", d, 2), integer_at_least("m", m, 1)
    probability = finite_float("failure", failure)
    if not 0 < probability < 1:
        raise InvalidArgumentError("failure", probability, "must be strictly between 0 and 1")
    if m == 1:
        return 1.0
    exponent = 2 * (math.log(probability) - math.log(math.comb(d, 2))) / (m - 1)
    return math.sqrt(-math.expm1(exponent))


def coherence(V: ArrayLike) -> float:
    """Return max_{i<j} |v_i . v_j|, from tiles of the Gram matrix that is never formed.

    Costs d^2 m operations and half a mebibyte beside V.

    Raises
    ------
    InvalidArgumentError
        If `V` is no finite matrix with at least two rows, or an inner product overflows.
    """
    V = embedding_matrix(V)
    largest = 0.0
    for row in range(0, V.shape[0], _TILE_ROWS):
        rows = V[row : row + _TILE_ROWS]
        for column in range(row, V.shape[0], _TILE_ROWS):
            with np.errstate(all="ignore"):
                tile = rows @ V[column : column + _TILE_ROWS].T
                np.abs(tile, out=tile)
            if column == row:
                np.fill_diagonal(tile, 0.0)
            peak = float(tile.max())
            if not math.isfinite(peak):  # asked before max(), which a NaN would pass through
                raise InvalidArgumentError("V", "array of large rows", "inner products overflow")
            largest = max(largest, peak)
    return largest
