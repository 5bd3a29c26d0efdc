"""How hard the first step pushes the score of every position, enclosed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import SupportsIndex

from numpy.typing import ArrayLike

from numerics.arguments import check_support, embedding_matrix, vector_of_length
from numerics.balls.arithmetic.exact import UnresolvedError, upper_end
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.model import starts, step

__all__ = ["enclose_pushes"]

Enclosures = tuple[Sequence[Fraction], Sequence[Fraction]]


def enclose_pushes(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    bits: int = 128,
) -> tuple[Enclosures, Enclosures]:
    """Enclose ``-grad L . v_i`` for every position, for theta and for theta_tilde.

    The push is the change of the score in a step with eta = 1; the scores before it are exact.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    theta, theta_tilde : array_like, shape (m,)
        The queries, taken as exact rational numbers.
    support : pair of int
        The positions (a, b), 0-based.
    bits : int
        Working precision.

    Returns
    -------
    pair of (lowers, uppers)
        For either head, the ends for every position.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit or an entry is not finite.
    UnresolvedError
        If the precision is too low for the gradient to be enclosed.
    """
    embeddings = embedding_matrix(V)
    d, m = embeddings.shape
    queries = vector_of_length("theta", theta, m), vector_of_length("theta_tilde", theta_tilde, m)
    matrix = IntegerMatrix(embeddings)
    before = starts(matrix, *queries)
    with working_precision(bits):
        after = step(matrix, before, check_support(support, d), eta=Fraction(1), bits=bits)
        slacks = [upper_end(head.slack) for head in after]
    first, second = (
        _differences(start.scores.integers, start.scores.unit, head.integers, head.unit, slack)
        for start, head, slack in zip(before, after, slacks, strict=True)
    )
    return first, second


def _differences(
    before: Sequence[int],
    unit_before: int,
    after: Sequence[int],
    unit_after: int,
    slack: Fraction | None,
) -> Enclosures:
    if slack is None:
        raise UnresolvedError("the slack of the scores is not finite")
    scale_before, scale_after = Fraction(2) ** unit_before, Fraction(2) ** unit_after
    pushes = [n * scale_after - k * scale_before for n, k in zip(after, before, strict=True)]
    return [push - slack for push in pushes], [push + slack for push in pushes]
