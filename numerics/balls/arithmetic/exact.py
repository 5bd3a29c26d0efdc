"""Exact numbers into balls, and balls back into exact numbers, without a silent rounding.

Whatever is a dyadic rational, such as any binary64 number, becomes a ball of radius zero, whatever
its length. Other rationals become an enclosure at the working precision. The ends of a ball are
dyadic rationals again, and are returned as such; decimal strings are rounded outwards from them.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpq

from numerics.arguments import InvalidArgumentError
from numerics.decimals import rational_digits

__all__ = [
    "UnresolvedError",
    "block_integers",
    "dyadic",
    "from_float",
    "from_fraction",
    "lower_digits",
    "lower_end",
    "scaled_integers",
    "symmetric",
    "upper_digits",
    "upper_end",
]

# A step can leave a loss of exp(-10^9), whose fraction would fill the memory: ends nearer to zero
# than this power of two are moved outwards to a multiple of it.
_FINEST = -(1 << 16)
# Beyond this power of two an end is reported as infinite rather than written out.
_COARSEST = 1 << 20


class UnresolvedError(ArithmeticError):
    """A ball that must be narrow is not even finite: the working precision is too low."""


def dyadic(mantissa: int, exponent: int) -> arb:
    """Return ``mantissa * 2^exponent``, exactly."""
    return arb((mantissa, exponent))


def from_float(x: float) -> arb:
    """Return a binary64 number as a ball of radius zero.

    Raises
    ------
    InvalidArgumentError
        If it is infinite or NaN.
    """
    if not math.isfinite(x):
        raise InvalidArgumentError("number", x, "must be finite")
    mantissa, exponent = math.frexp(x)
    return dyadic(int(mantissa * 2.0**53), exponent - 53)


def from_fraction(x: Fraction) -> arb:
    """Return a rational number: exactly if dyadic, else enclosed at the working precision."""
    denominator = x.denominator
    if denominator & (denominator - 1) == 0:
        return dyadic(x.numerator, 1 - denominator.bit_length())
    return arb(fmpq(x.numerator, denominator))


def symmetric(radius: arb) -> arb:
    """Return a ball around zero that holds whatever is no larger than a member of `radius`."""
    return arb(0, radius)


def lower_end(x: arb) -> Fraction | None:
    """Return a number not above any member of x; None if there is none worth writing out.

    It is the ball's lower end exactly, unless it has bits below 2^-65536: then it is rounded
    downwards to a multiple of that.
    """
    return _end(x, -1)


def upper_end(x: arb) -> Fraction | None:
    """Return a number not below any member of x, as `lower_end`."""
    return _end(x, 1)


def _end(x: arb, side: int) -> Fraction | None:
    if not x.is_finite():
        return None
    total = Fraction(0)
    # Midpoint and radius are dyadic: nothing is rounded, at whatever precision this is called.
    for part, sign in ((x.mid(), 1), (x.rad(), side)):
        mantissa, exponent = map(int, part.man_exp())
        mantissa *= sign
        if mantissa and exponent + mantissa.bit_length() > _COARSEST:
            return None
        if exponent < _FINEST:
            # Away from the ball: a shift to the right rounds down.
            mantissa, exponent = side * (-(-side * mantissa >> (_FINEST - exponent))), _FINEST
        total += Fraction(mantissa) * Fraction(2) ** exponent
    return total


def lower_digits(x: Fraction, digits: int) -> str:
    """Return a lower bound rounded downwards to `digits` significant decimal digits."""
    return rational_digits(x, digits, rounding=decimal.ROUND_FLOOR)


def upper_digits(x: Fraction, digits: int) -> str:
    """Return an upper bound rounded upwards to `digits` significant decimal digits."""
    return rational_digits(x, digits, rounding=decimal.ROUND_CEILING)


def scaled_integers(integers: Sequence[int], unit: int) -> list[arb]:
    """Return ``n * 2^unit`` for every n, at the working precision."""
    factor = dyadic(1, unit)
    return [factor * n for n in integers]


def block_integers(values: Sequence[arb], bits: int) -> tuple[list[int], int, arb]:
    """Return integers n_i, a unit and a bound, with ``|x_i - n_i 2^unit|`` adding up to the bound.

    Parameters
    ----------
    values : sequence of arb
        Balls.
    bits : int
        Length of the integer of the largest midpoint.

    Returns
    -------
    list of int, int, arb
        The integers, the exponent of their unit, and a ball whose members all bound
        ``sum_i |x_i - n_i 2^unit|`` from above, for all members x_i of the balls.

    Raises
    ------
    UnresolvedError
        If a ball is not finite.
    """
    if not all(x.is_finite() for x in values):
        raise UnresolvedError("a ball is not finite")
    parts = [tuple(map(int, x.mid().man_exp())) for x in values]
    top = max((e + n.bit_length() for n, e in parts if n), default=0)
    unit = top - bits
    # A shift to the right rounds down by less than a unit; a shift to the left is exact.
    integers = [n << (e - unit) if e >= unit else n >> (unit - e) if n else 0 for n, e in parts]
    radii = sum((x.rad() for x in values), arb(0))
    return integers, unit, (radii + dyadic(len(parts), unit)).upper()
