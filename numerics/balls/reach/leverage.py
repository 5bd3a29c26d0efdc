"""The leverages of the positions, enclosed: h_i = v_i^T (V^T V)^{-1} v_i.

h_i is the largest share of |s|^2 that position i can have in scores s = V theta. The leverages
depend on the range of V alone, and add up to its rank.
"""

from __future__ import annotations

from operator import mul
from typing import SupportsIndex

from flint import arb
from numpy.typing import ArrayLike

from numerics.arguments import embedding_matrix, integer_at_least
from numerics.balls.arithmetic.exact import UnresolvedError
from numerics.balls.arithmetic.precision import MIN_BITS, working_precision
from numerics.balls.reach.least_singular import exact_matrix

__all__ = ["leverages"]


def leverages(V: ArrayLike, *, bits: SupportsIndex = 128) -> list[arb]:
    """Enclose the leverage of every position.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings with independent columns, taken as exact rational numbers.
    bits : int
        Working precision.

    Returns
    -------
    list of arb, length d
        A ball for each position.

    Raises
    ------
    UnresolvedError
        If V^T V is not seen to be invertible at this precision.
    InvalidArgumentError
        If V is no finite matrix, or `bits` no integer >= 2.
    """
    embeddings = embedding_matrix(V)
    m = embeddings.shape[1]
    with working_precision(integer_at_least("bits", bits, MIN_BITS)):
        matrix = exact_matrix(embeddings)
        try:
            inverse = (matrix.transpose() * matrix).inv()
        except ZeroDivisionError:
            raise UnresolvedError("the columns of V are not seen to be independent") from None
        rows, duals = matrix.entries(), (matrix * inverse).entries()
        return [
            sum(map(mul, rows[start : start + m], duals[start : start + m]), arb(0))
            for start in range(0, len(rows), m)
        ]
