"""The rank of a binary64 matrix, exactly.

Binary64 numbers are integers times a power of two, so a matrix of them has the rank, and up to a
factor the range, of a matrix of integers.
"""

from __future__ import annotations

from flint import fmpz_mat
from numpy.typing import ArrayLike

from numerics.arguments import embedding_matrix

__all__ = ["exact_rank", "integer_rows"]


def integer_rows(V: ArrayLike) -> list[list[int]]:
    """Return V times a power of two that makes all entries integers.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix.
    """
    ratios = [[entry.as_integer_ratio() for entry in row] for row in embedding_matrix(V).tolist()]
    scale = max(denominator for row in ratios for _, denominator in row)
    return [[n * (scale // denominator) for n, denominator in row] for row in ratios]


def exact_rank(V: ArrayLike) -> int:
    """Return the rank of V, shape (d, m), taken as exact rational numbers.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix.
    """
    rank: int = fmpz_mat(integer_rows(V)).rank()
    return rank
