"""The floor under the loss of odd concave attention at given embeddings, proved in balls.

Ours. Let gamma_i = phi(v_i . theta), phi odd and, on [0, inf), concave, not negative and not
decreasing: linear, erf or tanh attention. Then for every support, all queries and any output gain

    L >= 1 - 4 h^2 / (1 - 2 h),    h = max_i h_i < 1/2,

with the leverages h_i of V; and h <= max_i |v_i|^2 / sigma^2 gives the weaker form with the least
singular value sigma.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import embedding_matrix, integer_at_least
from numerics.balls.arithmetic.exact import UnresolvedError, from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import MIN_BITS, precisions, working_precision
from numerics.balls.reach.least_singular import exact_matrix, least_singular_square
from numerics.balls.reach.leverage import leverages

__all__ = ["ConcaveFloor", "concave_floor", "floor_at"]

FIRST_BITS = 128
"""Working precision of the first attempt."""

# With the leverages known as well as this, more precision changes no digit that is shown.
_SHARP_BITS = 32


@dataclass(frozen=True, slots=True)
class ConcaveFloor:
    """What was proved about the loss of odd concave attention at one V.

    Attributes
    ----------
    loss : Fraction
        No loss is below it, for any support, queries and output gain; 0 says nothing.
    loss_by_singular : Fraction
        The same, by way of the least singular value.
    leverage : Fraction or None
        An upper bound of all leverages; None if there is none.
    singular_square : Fraction
        A lower bound of sigma^2.
    bits : int
        Highest working precision used.
    """

    loss: Fraction
    loss_by_singular: Fraction
    leverage: Fraction | None
    singular_square: Fraction
    bits: int


def floor_at(h: arb) -> arb:
    """Return the floor for an upper bound h of the leverages: 0 where there is none."""
    rest = 1 - 2 * h
    if not (h.is_finite() and rest > 0):
        return arb(0)
    return (1 - 4 * h * h / rest).max(arb(0))


def concave_floor(V: ArrayLike, *, max_bits: SupportsIndex = 1024) -> ConcaveFloor:
    """Bound the loss of odd concave attention from below, for every support and all queries.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers; rows of any lengths.
    max_bits : int
        Highest working precision; the first attempt uses 128 bits, or this if it is less.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, or `max_bits` no integer >= 2.
    """
    matrix = embedding_matrix(V)
    most = integer_at_least("max_bits", max_bits, MIN_BITS)
    for bits in precisions(min(FIRST_BITS, most), most):
        found, sharp = _attempt(matrix, bits)
        if sharp:
            break
    return found


def _attempt(V: NDArray[np.float64], bits: int) -> tuple[ConcaveFloor, bool]:
    """Return what is proved at a precision, and whether more of it would change little."""
    singular_square = least_singular_square(V, bits=bits).lower
    with working_precision(bits):
        by_singular = arb(0)
        if singular_square > 0:
            by_singular = floor_at(_largest_square(V) / from_fraction(singular_square))
        try:
            largest = _largest(leverages(V, bits=bits))
        except UnresolvedError:
            largest = arb.nan()
        loss = max(_below(floor_at(largest)), _below(by_singular))
        sharp = largest.rel_accuracy_bits() >= _SHARP_BITS
        leverage = upper_end(largest)
    return ConcaveFloor(loss, _below(by_singular), leverage, singular_square, bits), sharp


def _largest_square(V: NDArray[np.float64]) -> arb:
    """Enclose the largest |v_i|^2."""
    m = V.shape[1]
    squares = [entry * entry for entry in exact_matrix(V).entries()]
    return _largest(
        [sum(squares[start : start + m], arb(0)) for start in range(0, len(squares), m)]
    )


def _largest(values: list[arb]) -> arb:
    largest = values[0]
    for value in values:
        largest = largest.max(value)
    return largest


def _below(x: arb) -> Fraction:
    return max(lower_end(x) or Fraction(0), Fraction(0))
