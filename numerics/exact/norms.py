"""How far the rows of V are from unit vectors, enclosed exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["unit_norm_deviation"]

# Significands of binary64 numbers are integers below 2^53.
_SIGNIFICAND_BITS = 53
# Bits kept of a square root beyond the binary point; deviations of interest are about 2^-53.
_ROOT_BITS = 128


def unit_norm_deviation(V: NDArray[np.float64]) -> tuple[Fraction, Fraction]:
    """Enclose ``max_i | |v_i| - 1 |`` for exactly the given binary64 numbers.

    Parameters
    ----------
    V : ndarray of shape (d, m)
        Embeddings, finite.

    Returns
    -------
    lower, upper : Fraction
        Rational numbers at most 2^-128 apart that enclose the maximum; integer arithmetic
        throughout, so this is a proof.
    """
    squares = {_squared_norm(row) for row in V}
    # | sqrt(x) - 1 | grows with the distance of x from 1 on either side of it.
    ends = (_root(min(squares)), _root(max(squares)))
    lowers, uppers = zip(*(_distance_from_one(low, high) for low, high in ends), strict=True)
    return max(lowers), max(uppers)


def _squared_norm(row: NDArray[np.float64]) -> Fraction:
    significands, exponents = np.frexp(row)
    integers = np.ldexp(significands, _SIGNIFICAND_BITS).astype(np.int64).tolist()
    least = int(exponents.min())
    shifts = (exponents - least).tolist()
    total: int = sum((n << shift) ** 2 for n, shift in zip(integers, shifts, strict=True))
    return total * Fraction(2) ** (2 * (least - _SIGNIFICAND_BITS))


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the square root of a dyadic rational."""
    floor = math.isqrt((square.numerator << (2 * _ROOT_BITS)) // square.denominator)
    low = Fraction(floor, 1 << _ROOT_BITS)
    return low, low if low**2 == square else low + Fraction(1, 1 << _ROOT_BITS)


def _distance_from_one(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    distances = (abs(low - 1), abs(high - 1))
    # An enclosure that contains 1 itself starts at distance 0.
    return (Fraction(0) if low <= 1 <= high else min(distances)), max(distances)
