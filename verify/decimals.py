"""Arguments as users write them: decimals are exact, integers may carry an exponent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from numerics.arguments import InvalidArgumentError, suggestion

__all__ = ["ExactDecimal", "parse_choice", "parse_decimal", "parse_integer", "parse_positive"]

# The exponent is bounded so that reading a number stays instant; binary64 ends at 1e308.
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
# Python reads integers of up to 4300 digits, which also covers every binary64 number in full.
_LONGEST = 4000
# Dimensions, counts and seeds are at most the largest signed 64-bit integer.
_MOST = 2**63 - 1


@dataclass(frozen=True)
class ExactDecimal:
    """A decimal number: its text as given, and the rational number it stands for exactly."""

    text: str
    value: Fraction

    def __str__(self) -> str:
        return self.text


def parse_decimal(what: str, text: str) -> ExactDecimal:
    """Read ``[+-]digits[.digits][e[+-]digits]`` exactly: ``0.1`` is one tenth.

    Raises
    ------
    InvalidArgumentError
        If `text` has another form, ``nan`` and ``inf`` included.
    """
    if len(text) > _LONGEST or not _DECIMAL.fullmatch(text):
        raise InvalidArgumentError(
            what, text, "must be a finite decimal number such as 0.01 or 1e-3"
        )
    return ExactDecimal(text, Fraction(text))


def parse_positive(what: str, text: str) -> ExactDecimal:
    """Read a decimal number above zero.

    Raises
    ------
    InvalidArgumentError
        If `text` is no decimal number or not positive.
    """
    number = parse_decimal(what, text)
    if number.value <= 0:
        raise InvalidArgumentError(what, text, "must be positive")
    return number


def parse_integer(what: str, text: str, *, least: int, most: int = _MOST) -> int:
    """Read an integer between `least` and `most`, which may be written ``1000000`` or ``1e6``.

    Raises
    ------
    InvalidArgumentError
        If `text` is no decimal number, not exactly an integer, or out of range.
    """
    fix = f"must be an integer >= {least}" if most == _MOST else f"must be in {least}..{most}"
    try:
        value = parse_decimal(what, text).value
    except InvalidArgumentError as refusal:
        raise InvalidArgumentError(what, refusal.value, fix) from None
    if value > _MOST:
        raise InvalidArgumentError(what, text, f"must be at most {most}")
    if value.denominator != 1 or not least <= value <= most:
        raise InvalidArgumentError(what, text, fix)
    return value.numerator


def parse_choice(what: str, text: str, choices: Iterable[str]) -> str:
    """Read one of a few names.

    Raises
    ------
    InvalidArgumentError
        If `text` is none of `choices`.
    """
    names = tuple(choices)
    if text not in names:
        near = suggestion(text, names)
        raise InvalidArgumentError(what, text, f"must be one of {', '.join(names)}{near}")
    return text
