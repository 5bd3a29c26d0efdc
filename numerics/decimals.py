"""Numbers as decimal strings with a fixed number of significant digits."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, Overflow, Underflow
from fractions import Fraction
from typing import SupportsIndex

from numerics.arguments import integer_at_least

__all__ = ["EXACT_EXPONENT", "dyadic_digits", "rational_digits"]

EXACT_EXPONENT = 1 << 17
"""Up to here 2^exponent is written out and rounded once; beyond, it is rounded before."""
_GUARD_DIGITS = 40
_POSITIONAL = range(-6, 21)  # 1e-6 <= |x| < 1e21 is written without an exponent


def rational_digits(x: Fraction, digits: SupportsIndex, *, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a rational number with `digits` significant digits, trailing zeros kept.

    Parameters
    ----------
    x : Fraction
        The number.
    digits : int
        Significant digits, at least 1.
    rounding : str
        A rounding mode of `decimal`: to nearest by default; ``ROUND_FLOOR`` and
        ``ROUND_CEILING`` for the two ends of an enclosure.

    Returns
    -------
    str
        Positional for 1e-6 <= |x| < 1e21 ("-0.12500"), with an exponent elsewhere ("1.25e-7");
        zero is "0".

    Raises
    ------
    InvalidArgumentError
        If ``digits < 1``.
    """
    n = integer_at_least("digits", digits, 1)
    if not x:
        return "0"
    return _written(_context(n, rounding).divide(Decimal(x.numerator), Decimal(x.denominator)), n)


def dyadic_digits(mantissa: int, exponent: int, digits: SupportsIndex) -> str | None:
    """Return ``mantissa * 2^exponent`` with `digits` significant digits, as `rational_digits`.

    Returns
    -------
    str or None
        None if the number is outside the range of `decimal.Decimal`, |x| about 10^(+-10^18).

    Raises
    ------
    InvalidArgumentError
        If ``digits < 1``.
    """
    n = integer_at_least("digits", digits, 1)
    if abs(exponent) <= EXACT_EXPONENT or not mantissa:
        return rational_digits(Fraction(mantissa) * Fraction(2) ** exponent, n)
    wide = _context(n + _GUARD_DIGITS)
    try:
        value = wide.multiply(wide.create_decimal(mantissa), wide.power(Decimal(2), exponent))
        return _written(_context(n).plus(value), n)
    except (Overflow, Underflow):
        return None


def _context(precision: int, rounding: str = ROUND_HALF_EVEN) -> Context:
    return Context(
        prec=precision,
        rounding=rounding,
        Emin=MIN_EMIN,
        Emax=MAX_EMAX,
        traps=[Overflow, Underflow],
    )


def _written(value: Decimal, digits: int) -> str:
    sign, figures, _ = value.as_tuple()
    text = "".join(map(str, figures)).ljust(digits, "0")
    leading = value.adjusted()
    minus = "-" if sign else ""
    if leading not in _POSITIONAL:
        point = "." if digits > 1 else ""
        return f"{minus}{text[0]}{point}{text[1:]}e{leading}"
    if leading < 0:
        return f"{minus}0.{'0' * (-leading - 1)}{text}"
    whole, rest = text[: leading + 1].ljust(leading + 1, "0"), text[leading + 1 :]
    return f"{minus}{whole}.{rest}" if rest else f"{minus}{whole}"
