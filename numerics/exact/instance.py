"""An instance in exact arithmetic: binary64 numbers are integers times a power of two.

Sums and products of integers are exact in Python, so the scores V theta are too. They are formed
row by row: no integer copy of V is held.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import mul
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import check_support, embedding_matrix, row_blocks, vector_of_length

__all__ = ["ExactInstance"]


@dataclass(frozen=True, slots=True, eq=False)
class ExactInstance:
    """An instance with its exact scores.

    Attributes
    ----------
    V : ndarray, shape (d, m)
        The embeddings.
    support : pair of int
        The positions (a, b), 0-based.
    unit_of_entries : int
        The entries of V are integers times 2^unit_of_entries.
    scores, scores_tilde : list of int, length d
        V theta and V theta~, in units of 2^unit.
    unit : int
        Exponent of the common unit of both heads' scores.
    """

    V: NDArray[np.float64]
    support: tuple[int, int]
    unit_of_entries: int
    scores: list[int]
    scores_tilde: list[int]
    unit: int

    @classmethod
    def exactly(
        cls,
        V: ArrayLike,
        theta: ArrayLike,
        theta_tilde: ArrayLike,
        support: tuple[SupportsIndex, SupportsIndex],
    ) -> ExactInstance:
        """Take the given binary64 numbers as the rational numbers they are.

        Raises
        ------
        InvalidArgumentError
            If a shape does not fit or an entry is not finite.
        """
        matrix = embedding_matrix(V)
        d, m = matrix.shape
        queries = np.stack(
            [
                vector_of_length("theta", theta, m),
                vector_of_length("theta_tilde", theta_tilde, m),
            ]
        )
        unit_of_entries, unit_query = _common_unit(matrix), _common_unit(queries)
        first, second = (_integers(query, unit_query) for query in queries)
        positions = check_support(support, d)
        scores, scores_tilde = [], []
        for row in matrix:
            entries = _integers(row, unit_of_entries)
            scores.append(sum(map(mul, entries, first)))
            scores_tilde.append(sum(map(mul, entries, second)))
        return cls(
            matrix, positions, unit_of_entries, scores, scores_tilde, unit_of_entries + unit_query
        )

    def column(self, k: int) -> list[int]:
        """Column k of V in units of 2^unit_of_entries."""
        return _integers(self.V[:, k], self.unit_of_entries)

    @property
    def uniform(self) -> bool:
        """Whether all positions have the same score, in either head."""
        return len(set(self.scores)) == len(set(self.scores_tilde)) == 1


def _common_unit(array: NDArray[np.float64]) -> int:
    """Return an exponent e such that every entry is an integer times 2^e."""
    blocks = row_blocks(*array.shape)
    return min(int(np.frexp(array[block])[1].min()) for block in blocks) - 53


def _integers(vector: NDArray[np.float64], unit: int) -> list[int]:
    mantissas, exponents = np.frexp(vector)
    whole = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents - 53 - unit).tolist()
    return [
        mantissa << shift if mantissa else 0 for mantissa, shift in zip(whole, shifts, strict=True)
    ]
