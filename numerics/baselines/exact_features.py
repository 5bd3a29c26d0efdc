"""The best linear models on a fixed embedding, in rational arithmetic.

The numbers of the table are taken exactly as they stand, and so are rank and losses: the
Walsh-Hadamard transform and the normal equations need integers only, after scaling by a power of
two. The losses are those of `numerics.baselines.fixed_features`, without its singular values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from flint import fmpq, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import finite_array
from numerics.baselines.walsh import number_of_signs, parity_numbers, walsh_hadamard

__all__ = ["ExactParityFit", "exact_best_losses"]


@dataclass(frozen=True, slots=True)
class ExactParityFit:
    """The best linear models for all parities of one degree.

    Attributes
    ----------
    losses : tuple of Fraction
        The least population loss of each support, supports in order.
    rank : int
        The dimension of the span of the features and the constants, less 1.
    """

    losses: tuple[Fraction, ...]
    rank: int

    @property
    def mean(self) -> Fraction:
        """The average over the supports."""
        return sum(self.losses, Fraction(0)) / len(self.losses)


def exact_best_losses(table: ArrayLike, k: SupportsIndex) -> ExactParityFit:
    """Return the least population loss for every parity of degree k, exactly.

    Parameters
    ----------
    table : array_like, shape (2^d, D)
        The embedding, inputs in the order of `numerics.baselines.walsh.all_inputs`. Entries with
        few digits are quick: at d = 10, D = 105 and 10 bits behind the point it takes a second.
    k : int
        The degree.

    Raises
    ------
    InvalidArgumentError
        If an entry is not finite, the number of rows is no power of two in 2..2^16, or k is not in
        1..d.
    """
    features = finite_array("table", table, 2)
    supports = parity_numbers(number_of_signs(features), k)
    # chi_S correlates with a column by the entry S of its transform, and row 0 is the constant.
    transforms = walsh_hadamard(_integers(features))
    without_means = fmpz_mat(transforms[1:].tolist())
    gram = without_means.transpose() * without_means
    kept = _independent(gram)
    if not kept:
        return ExactParityFit((Fraction(1),) * supports.shape[0], 0)
    columns = transforms[:, kept]
    basis = fmpz_mat(columns[1:].tolist())
    correlations = fmpz_mat(columns[supports].tolist())
    weights = (basis.transpose() * basis).solve(correlations.transpose())
    losses = []
    for row in range(supports.shape[0]):
        captured = sum(
            (correlations[row, j] * weights[j, row] for j in range(len(kept))), start=fmpq(0)
        )
        losses.append(1 - Fraction(int(captured.p), int(captured.q)))
    return ExactParityFit(tuple(losses), len(kept))


def _integers(features: NDArray[np.float64]) -> NDArray[np.object_]:
    """Return the entries times one power of two, as Python integers."""
    ratios = [value.as_integer_ratio() for value in features.ravel().tolist()]
    unit = max(denominator for _, denominator in ratios)
    whole = np.empty(len(ratios), dtype=object)
    whole[:] = [numerator * (unit // denominator) for numerator, denominator in ratios]
    return whole.reshape(features.shape)


def _independent(gram: fmpz_mat) -> list[int]:
    """Return columns that span the others: those of the pivots, as A and A^T A share a kernel."""
    reduced, _, rank = gram.rref()
    pivots, column = [], 0
    for row in range(int(rank)):
        while reduced[row, column] == 0:
            column += 1
        pivots.append(column)
    return pivots
