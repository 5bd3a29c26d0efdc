"""Comparisons of balls, which can have no answer.

Two overlapping balls are neither in order nor out of order. The answer is therefore no `bool`,
and Python is kept from using it as one: "not less" can never be read as "greater or equal".
"""

from __future__ import annotations

from enum import Enum
from typing import NoReturn

from flint import arb

__all__ = ["Ternary", "less", "less_equal"]


class Ternary(Enum):
    """What is known about a statement on the numbers inside balls."""

    TRUE = "true"
    """It holds for all of them."""
    FALSE = "false"
    """It fails for all of them."""
    UNKNOWN = "unknown"
    """Neither is proved."""

    def __bool__(self) -> NoReturn:
        raise TypeError("a three-valued answer is no bool: compare it with `is Ternary.TRUE`")

    def __invert__(self) -> Ternary:
        """Return what is known about the negation."""
        return {Ternary.TRUE: Ternary.FALSE, Ternary.FALSE: Ternary.TRUE}.get(self, self)


def less(x: arb, y: arb) -> Ternary:
    """Whether x < y; unknown if the balls overlap in more than an end, or one is not finite."""
    # Arb's own comparisons are true only if they hold for every pair of members.
    if not (x.is_finite() and y.is_finite()):
        return Ternary.UNKNOWN
    if x < y:
        return Ternary.TRUE
    return Ternary.FALSE if x >= y else Ternary.UNKNOWN


def less_equal(x: arb, y: arb) -> Ternary:
    """Whether x <= y; unknown if the balls overlap in more than an end, or one is not finite."""
    return ~less(y, x)
