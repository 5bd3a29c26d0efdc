"""How far every loss can be brought down by softmax attention, for every support, in balls.

Ours. With theta = tau v_a and theta~ = tau v_b each head has a weight of at least
1 - (d - 1) exp(-tau delta) on its own position, delta = min over i != j of |v_i|^2 - v_i . v_j, and

    sup_x (f - y)^2 <= 16 (d - 1)^2 exp(-2 tau delta)

for every support at once, if delta is positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import SupportsIndex

from flint import arb, arb_mat
from numpy.typing import ArrayLike

from numerics.arguments import (
    InvalidArgumentError,
    embedding_matrix,
    integer_at_least,
    row_blocks,
)
from numerics.balls.arithmetic.exact import from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import MIN_BITS, working_precision
from numerics.balls.reach.least_singular import exact_matrix

__all__ = ["SoftmaxReach", "softmax_reach"]

_BLOCK_ENTRIES = 1 << 16  # balls are some fifty bytes each


@dataclass(frozen=True, slots=True)
class SoftmaxReach:
    """Queries of softmax attention that serve every support of one V.

    Attributes
    ----------
    length : int
        tau: the queries are tau v_a and tau v_b.
    gap : Fraction
        A positive lower bound of delta.
    sup_loss : Fraction
        An upper bound of the loss of every input, for every support.
    """

    length: int
    gap: Fraction
    sup_loss: Fraction


def softmax_reach(
    V: ArrayLike, *, tolerance: Fraction, bits: SupportsIndex = 128
) -> SoftmaxReach | None:
    """Find the length of queries at which every loss is at most `tolerance`, for every support.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    tolerance : Fraction
        T, positive.
    bits : int
        Working precision.

    Returns
    -------
    SoftmaxReach or None
        None if delta is not proved to be positive, as where two embeddings agree.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, `tolerance` is not positive, or `bits` no integer >= 2.
    """
    matrix = embedding_matrix(V)
    if tolerance <= 0:
        raise InvalidArgumentError("tolerance", tolerance, "must be positive")
    d, _ = matrix.shape
    precision = integer_at_least("bits", bits, MIN_BITS)
    with working_precision(precision):
        gap = lower_end(_least_gap(exact_matrix(matrix)))
        if gap is None or gap <= 0:
            return None
        wanted = (16 * (d - 1) ** 2 / from_fraction(tolerance)).log() / (2 * from_fraction(gap))
        # More than is needed, by one and by half of the bits, so that the rounding of what follows
        # decides nothing, however small the gap.
        least = max(math.floor(upper_end(wanted) or 0), 0)
        length = least + (least >> precision // 2) + 2
        loss = upper_end(16 * (d - 1) ** 2 * (-2 * length * from_fraction(gap)).exp())
    if loss is None:
        return None
    return SoftmaxReach(length, gap, loss)


def _least_gap(V: arb_mat) -> arb:
    """Enclose the minimum over i != j of |v_i|^2 - v_i . v_j."""
    d, m = V.nrows(), V.ncols()
    entries, transposed = V.entries(), V.transpose()
    least = arb.pos_inf()
    for block in row_blocks(d, d, entries=_BLOCK_ENTRIES):
        rows = entries[block.start * m : block.stop * m]
        products = (arb_mat(block.stop - block.start, m, rows) * transposed).entries()
        for i in range(block.start, block.stop):
            row = rows[(i - block.start) * m : (i - block.start + 1) * m]
            others = products[(i - block.start) * d : (i - block.start + 1) * d]
            del others[i]
            largest = others[0]
            for other in others:
                largest = largest.max(other)
            least = least.min(sum(map(mul, row, row), arb(0)) - largest)
    return least
