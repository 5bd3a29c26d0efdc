"""Starts of k heads: queries at equal angles that sum to zero, and independent ones.

The simplex start is what theta~ = -theta of arXiv:2502.07553v2 becomes for k > 2 (ours): the k
directions to the vertices of a regular simplex, in a uniformly random position. They sum to zero,
so that prod_h gamma^h_i is the same at every position i.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, finite_float, integer_at_least
from numerics.embeddings import uniform_direction

__all__ = [
    "STARTS",
    "check_length",
    "check_start",
    "draw_start",
    "helmert",
    "independent_start",
    "simplex_start",
]


def draw_start(
    rng: np.random.Generator,
    k: SupportsIndex,
    m: SupportsIndex,
    *,
    start: str = "simplex",
    norm: SupportsFloat = 1.0,
) -> NDArray[np.float64]:
    """Draw the queries of k heads, each of length `norm`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    k, m : int
        Number of heads (>= 2) and embedding dimension (>= k - 1 for the simplex).
    start : {"simplex", "independent"}
        A key of `STARTS`.
    norm : float
        Length of every query, > 0.

    Returns
    -------
    ndarray, shape (k, m)

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    heads, dimension = integer_at_least("k", k, 2), integer_at_least("m", m, 1)
    return check_length(norm) * STARTS[check_start(start)](rng, heads, dimension)


def check_start(start: str) -> str:
    """Return the name of a start, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If it is no key of `STARTS`.
    """
    if start not in STARTS:
        raise InvalidArgumentError("start", start, f"must be one of {', '.join(STARTS)}")
    return start


def check_length(norm: SupportsFloat) -> float:
    """Return the length of the queries as a positive `float`, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If it is not finite and positive.
    """
    length = finite_float("norm", norm)
    if not length > 0:
        raise InvalidArgumentError("norm", length, "must be positive")
    return length


def simplex_start(rng: np.random.Generator, k: int, m: int) -> NDArray[np.float64]:
    """Draw k unit vectors with inner products -1/(k-1) in a uniformly random position.

    For k = 2 they are theta and -theta.

    Raises
    ------
    InvalidArgumentError
        If m < k - 1.
    """
    if m < k - 1:
        raise InvalidArgumentError("m", m, f"a simplex of {k} vertices needs m >= {k - 1}")
    Q, R = np.linalg.qr(rng.standard_normal((m, k - 1)))
    # The signs make the factorisation unique, which is what makes Q uniformly distributed.
    Q *= np.copysign(1.0, np.diagonal(R))
    return np.asarray(math.sqrt(k / (k - 1)) * (Q @ helmert(k)).T)


def independent_start(rng: np.random.Generator, k: int, m: int) -> NDArray[np.float64]:
    """Draw k independent uniform unit vectors."""
    return np.stack([uniform_direction(rng, m) for _ in range(k)])


def helmert(k: int) -> NDArray[np.float64]:
    """Return k - 1 orthonormal rows of k entries whose sum is zero, shape (k-1, k)."""
    rows = np.zeros((k - 1, k))
    for r in range(1, k):
        rows[r - 1, :r] = 1 / math.sqrt(r * (r + 1))
        rows[r - 1, r] = -r / math.sqrt(r * (r + 1))
    return rows


STARTS: Mapping[str, Callable[[np.random.Generator, int, int], NDArray[np.float64]]] = (
    MappingProxyType({"simplex": simplex_start, "independent": independent_start})
)
"""The starts by name, as unit vectors."""
