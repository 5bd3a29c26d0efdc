"""The least singular value of an embedding matrix, enclosed: V^T V - c I positive definite or not.

Ours, by elimination in balls: V^T V - c I is positive definite if all its pivots are positive, and
it is not if the first that fails is not. A candidate for c comes from an approximate singular
vector u, whose quotient |V u|^2 / |u|^2 bounds the square of the singular value from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import embedding_matrix, integer_at_least
from numerics.balls.arithmetic.exact import from_fraction, upper_end
from numerics.balls.arithmetic.precision import MIN_BITS, working_precision
from numerics.balls.arithmetic.ternary import Ternary, less

__all__ = [
    "LeastSingularSquare",
    "exact_matrix",
    "least_singular_square",
    "positive_definite",
    "singular_square_exceeds",
]

# How far below the candidate the lower bound is tried, as a power of two of the candidate.
_STEPS_DOWN = (40, 20, 10, 4, 1)


@dataclass(frozen=True, slots=True)
class LeastSingularSquare:
    """An enclosure of sigma^2, the least eigenvalue of V^T V.

    Attributes
    ----------
    lower : Fraction
        Not above it; 0 if nothing better was proved.
    upper : Fraction or None
        Not below it; None if nothing was proved.
    bits : int
        Working precision.
    """

    lower: Fraction
    upper: Fraction | None
    bits: int


def exact_matrix(V: NDArray[np.float64]) -> arb_mat:
    """Return a finite binary64 matrix as balls of radius zero."""
    d, m = V.shape
    return arb_mat(d, m, V.ravel().tolist())


def positive_definite(matrix: arb_mat) -> Ternary:
    """Decide whether all symmetric matrices in a square matrix of balls are positive definite.

    Parameters
    ----------
    matrix : arb_mat
        Read on and below the diagonal.

    Returns
    -------
    Ternary
        True if they all are, false if none is.
    """
    rows = [row[: k + 1] for k, row in enumerate(matrix.tolist())]
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        positive = less(arb(0), pivot)
        if positive is not Ternary.TRUE:
            return positive
        below = [row[k] for row in rows[k + 1 :]]
        for i, row in enumerate(rows[k + 1 :]):
            factor = row[k] / pivot
            row[k + 1 :] = [
                entry - factor * other
                for entry, other in zip(row[k + 1 :], below[: i + 1], strict=True)
            ]
    return Ternary.TRUE


def singular_square_exceeds(V: ArrayLike, c: Fraction, *, bits: SupportsIndex = 128) -> Ternary:
    """Decide whether the least singular value of V has a square above c.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    c : Fraction
        The threshold.
    bits : int
        Working precision.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, or `bits` no integer >= 2.
    """
    matrix = embedding_matrix(V)
    with working_precision(integer_at_least("bits", bits, MIN_BITS)):
        return _exceeds(_gram(matrix), c)


def least_singular_square(V: ArrayLike, *, bits: SupportsIndex = 128) -> LeastSingularSquare:
    """Enclose the square of the least singular value of V.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    bits : int
        Working precision.

    Raises
    ------
    InvalidArgumentError
        As `singular_square_exceeds`.
    """
    matrix = embedding_matrix(V)
    bits = integer_at_least("bits", bits, MIN_BITS)
    with working_precision(bits):
        gram = _gram(matrix)
        upper = _quotient(gram, _singular_vector(matrix))
        lower = Fraction(0)
        for step in _STEPS_DOWN:
            if upper is None or upper <= 0:
                break
            candidate = upper * (1 - Fraction(1, 1 << step))
            if _exceeds(gram, candidate) is Ternary.TRUE:
                lower = candidate
                break
    return LeastSingularSquare(lower, upper, bits)


def _gram(V: NDArray[np.float64]) -> arb_mat:
    matrix = exact_matrix(V)
    return matrix.transpose() * matrix


def _exceeds(gram: arb_mat, c: Fraction) -> Ternary:
    m = gram.nrows()
    shift = from_fraction(c)
    shifted = arb_mat(m, m, [gram[i, j] - shift * (i == j) for i in range(m) for j in range(m)])
    return positive_definite(shifted)


def _singular_vector(V: NDArray[np.float64]) -> Sequence[float]:
    """Return roughly the singular vector of the least singular value."""
    _, exponent = np.frexp(np.max(np.abs(V)))
    with np.errstate(under="ignore"):
        scaled = np.ldexp(V, -int(exponent))  # its squares do not overflow
    vector: list[float] = np.linalg.eigh(scaled.T @ scaled)[1][:, 0].tolist()
    return vector


def _quotient(gram: arb_mat, vector: Sequence[float]) -> Fraction | None:
    """Return an upper bound of u^T (V^T V) u / u^T u."""
    column = arb_mat(len(vector), 1, vector)
    (above,) = (column.transpose() * gram * column).entries()
    (below,) = (column.transpose() * column).entries()
    return upper_end(above / below)
