"""The independent witness of the Transformer: every matrix an explicit list of rows.

Nothing here knows that the layer could be a model of two queries. The numbers may be fractions,
SymPy expressions or multi-precision floats: the caller brings the exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from derivations.proof.enumeration import dot, inputs

__all__ = ["ExplicitTransformer", "Matrix", "product", "transpose"]

Matrix = Sequence[Sequence[Any]]


def product(matrix: Matrix, vector: Sequence[Any]) -> list[Any]:
    """Return a matrix times a vector."""
    return [dot(row, vector) for row in matrix]


def transpose(matrix: Matrix) -> list[list[Any]]:
    """Return the columns as rows."""
    return [list(column) for column in zip(*matrix, strict=True)]


@dataclass(frozen=True, kw_only=True)
class ExplicitTransformer:
    """One layer, two heads, read at the CLS token; token i is (v_i, x_i, 0).

    Attributes
    ----------
    V : matrix
        The embeddings, shape (d, m).
    W_Q, W_K, W_V : pair of matrices
        Shape (h, n) each, n > m.
    W_O : pair of matrices
        Shape (n, h) each.
    readout : pair of vectors
        w^1 and w^2, of n entries each.
    z : vector
        The CLS token, of n entries.
    scale : number
        The factor of the scores.
    exp : callable
        The exponential.
    """

    V: Matrix
    W_Q: Sequence[Matrix]
    W_K: Sequence[Matrix]
    W_V: Sequence[Matrix]
    W_O: Sequence[Matrix]
    readout: Sequence[Sequence[Any]]
    z: Sequence[Any]
    scale: Any
    exp: Callable[[Any], Any]

    def prediction(self, x: Sequence[int]) -> Any:
        """Return f(x) = -<w^1, y> <w^2, y>; the CLS token is masked out as a key."""
        zeros = [0] * (len(self.z) - len(self.V[0]) - 1)
        tokens = [[*row, bit, *zeros] for row, bit in zip(self.V, x, strict=True)]
        y: list[Any] = [0] * len(self.z)
        for W_Q, W_K, W_V, W_O in zip(self.W_Q, self.W_K, self.W_V, self.W_O, strict=True):
            query = product(W_Q, self.z)
            masses = [self.exp(self.scale * dot(query, product(W_K, token))) for token in tokens]
            values = transpose([product(W_V, token) for token in tokens])
            head = [dot(masses, column) / sum(masses) for column in values]
            y = [total + part for total, part in zip(y, product(W_O, head), strict=True)]
        return -dot(self.readout[0], y) * dot(self.readout[1], y)

    def loss(self) -> Any:
        """Return the mean over all inputs of (f - y)^2, for the support (0, 1)."""
        total = sum((self.prediction(x) + x[0] * x[1]) ** 2 for x in inputs(len(self.V)))
        return total / 2 ** len(self.V)
