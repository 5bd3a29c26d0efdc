"""Correct rounding to decimal digits, in integers, and how a printed number is read back."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["read_back", "rounded", "rounds_to"]

_PRINTED = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:e(-?[0-9]+))?")
_LOG10_OF_2 = Fraction(30103, 100000)


def rounded(x: Fraction, digits: int) -> tuple[int, int]:
    """Return n and e with n of `digits` digits and n 10^e nearest to x, ties to even; x not 0."""
    magnitude = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent = int(magnitude * _LOG10_OF_2) - digits - 1
    least = 10 ** (digits - 1)
    # The estimate is at most a few powers of ten below the one at which n has enough digits.
    while abs(x) >= 10 * least * Fraction(10) ** exponent:
        exponent += 1
    while abs(x) < least * Fraction(10) ** exponent:
        exponent -= 1
    n = round(x / Fraction(10) ** exponent)
    return (n // 10, exponent + 1) if abs(n) == 10 * least else (n, exponent)


def read_back(text: str, digits: int) -> tuple[int, int] | None:
    """Return what `rounded` returns for a number printed to so many digits; None for another."""
    found = _PRINTED.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, power = found.groups()
    figures = (whole + (part or "")).lstrip("0")
    exponent = int(power or 0) - len(part or "")
    # Positional numbers are filled up with zeros before the point.
    spare = len(figures) - digits
    if spare < 0 or figures[digits:].strip("0") or (spare and part is not None):
        return None
    n = int(figures[:digits])
    return (-n if sign else n), exponent + spare


def rounds_to(text: str, low: Fraction, high: Fraction, digits: int) -> bool | None:
    """Whether a printed number is what every number from low to high rounds to.

    Returns
    -------
    bool or None
        None if they do not all round to the same.
    """
    if low <= 0 <= high:
        return None
    first, last = rounded(low, digits), rounded(high, digits)
    return first == read_back(text, digits) if first == last else None
