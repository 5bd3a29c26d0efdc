"""Enclosures as the documents show them: two decimal strings, rounded outwards."""

from __future__ import annotations

import decimal
from fractions import Fraction

from numerics.decimals import rational_digits

__all__ = ["as_enclosure", "written"]

_DIGITS = 17


def as_enclosure(ends: tuple[Fraction, Fraction] | None) -> dict[str, str] | None:
    """Return ``{"lower", "upper"}``, or None for what was not enclosed.

    Parameters
    ----------
    ends : pair of Fraction, optional
        Rational numbers that enclose the value.
    """
    if ends is None:
        return None
    lower, upper = ends
    return {
        "lower": rational_digits(lower, _DIGITS, rounding=decimal.ROUND_FLOOR),
        "upper": rational_digits(upper, _DIGITS, rounding=decimal.ROUND_CEILING),
    }


def written(enclosure: dict[str, str] | None) -> str:
    """Return an enclosure as a line for readers shows it."""
    return "nothing" if enclosure is None else f"[{enclosure['lower']}, {enclosure['upper']}]"
