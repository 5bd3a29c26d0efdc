"""Gradient descent on the explicit Transformer, with 50 digits, beside that on two queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath

from derivations.gradient import gradient_along, gradient_along_tilde
from derivations.proof.evaluation import evaluate_over
from derivations.proof.refusal import CheckError
from derivations.transformers.explicit_transformer import (
    ExplicitTransformer,
    Matrix,
    product,
    transpose,
)

__all__ = ["check_training"]

_DIGITS = 50

# A finite difference with 50 working digits loses only a few of them, a step multiplies errors by
# less than 10, and a wrong condition changes the first digit.
_AGREEING_DIGITS = 35

_STEPS = 2
_ETA = 2

# Two of three orthonormal columns, for one head and for the other; the embeddings and the queries
# at the start, in tenths; a CLS token of norm 3; and the scale of the scores.
_COLUMNS = (((1, -2), (2, -1), (2, 2)), ((2, 1), (-1, -2), (2, -2)))
_V = ((6, 8), (-7, 4), (3, -5))
_THETA = ((5, -6), (-4, 9))
_Z = (1, 0, 2, 2)
_SCALE = (2, 3)


def check_training() -> None:
    """Return if the explicit Transformer's queries move as theta and theta~ do.

    Raises
    ------
    CheckError
        If they do not.
    """
    context = mpmath.MPContext()
    context.dps = _DIGITS

    def numbers(rows: Matrix, denominator: int) -> list[list[Any]]:
        return [[context.mpf(entry) / denominator for entry in row] for row in rows]

    V, queries = numbers(_V, 10), numbers(_THETA, 10)
    K = [numbers(columns, 3) for columns in _COLUMNS]
    model = _start(context, V, queries, K)
    square = sum(entry**2 for entry in model.z)
    for _ in range(_STEPS):
        model = _descended(context, model, _ETA / (model.scale**2 * square))
        queries = _queries_descended(context, V, queries)
        for W_Q, own, query in zip(model.W_Q, K, queries, strict=True):
            mapped = [model.scale * entry for entry in product(transpose(own), product(W_Q, _Z))]
            _require_close(context, mapped, query)


def _start(
    context: mpmath.MPContext, V: Matrix, queries: Matrix, K: Sequence[Matrix]
) -> ExplicitTransformer:
    """Return a Transformer that meets the conditions; what they leave open is not zero."""
    scale = context.mpf(_SCALE[0]) / _SCALE[1]
    square = sum(entry**2 for entry in _Z)
    W_Q = []
    for own, query in zip(K, queries, strict=True):
        # W_Q z is K theta / scale: the first part; the second vanishes at z.
        wanted = [entry / scale / square for entry in product(own, query)]
        W_Q.append(
            [
                [entry * c + off for c, off in zip(_Z, (2, 5, 1, -2), strict=True)]
                for entry in wanted
            ]
        )
    return ExplicitTransformer(
        V=V,
        W_Q=W_Q,
        W_K=[[[*row, 0, 7] for row in own] for own in K],
        # The readouts see the first entry of a value, which is the bit.
        W_V=[[[0, 0, 1, 3], [1, 2, 3, 4], [0, 1, 1, 0]]] * 2,
        W_O=[
            [[1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]],
            [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]],
        ],
        readout=[[1, 0, 0, 5], [0, 1, 0, 5]],
        z=_Z,
        scale=scale,
        exp=context.exp,
    )


def _descended(
    context: mpmath.MPContext, model: ExplicitTransformer, size: mpmath.mpf
) -> ExplicitTransformer:
    """Return the Transformer after a step along numeric derivatives by every entry of W_Q."""

    def moved(head: int, row: int, column: int, by: mpmath.mpf) -> list[list[list[Any]]]:
        W_Q = [[list(entries) for entries in matrix] for matrix in model.W_Q]
        W_Q[head][row][column] += by
        return W_Q

    after = [[list(entries) for entries in matrix] for matrix in model.W_Q]
    for head, matrix in enumerate(model.W_Q):
        for row, entries in enumerate(matrix):
            for column in range(len(entries)):
                place = (head, row, column)

                def loss(by: mpmath.mpf, place: tuple[int, int, int] = place) -> Any:
                    return replace(model, W_Q=moved(*place, by)).loss()

                after[head][row][column] -= size * context.diff(loss, context.mpf(0))
    return replace(model, W_Q=after)


def _queries_descended(context: mpmath.MPContext, V: Matrix, queries: Matrix) -> list[list[Any]]:
    """Return both queries after a step along the closed form of the gradient."""
    attention = []
    for query in queries:
        exponentials = [context.exp(score) for score in product(V, query)]
        attention.append([each / sum(exponentials) for each in exponentials])
    after = []
    for query, along in zip(queries, (gradient_along(), gradient_along_tilde()), strict=True):
        slopes = [
            evaluate_over(
                along,
                rational=lambda p, q: context.mpf(p) / q,
                sequences={"gamma": attention[0], "gamma_tilde": attention[1], "t": column},
                positions={"a": 0, "b": 1},
            )
            for column in transpose(V)
        ]
        after.append([entry - _ETA * slope for entry, slope in zip(query, slopes, strict=True)])
    return after


def _require_close(
    context: mpmath.MPContext, found: Sequence[mpmath.mpf], expected: Sequence[mpmath.mpf]
) -> None:
    for one, other in zip(found, expected, strict=True):
        if not abs(one - other) <= context.mpf(10) ** -_AGREEING_DIGITS:
            shown = " and ".join(context.nstr(value, 20) for value in (one, other))
            raise CheckError(f"a mapped query and a query: {shown}")
