"""What is asked of an instance: whether every input has a small loss after one step, or many."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from verify.decimals import ExactDecimal
from verify.instances.instance import Instance

__all__ = ["EXIT_CODES", "DescentQuestion", "Question", "exact_binary64"]

EXIT_CODES = {"certified": 0, "refuted": 1, "undecided": 3}
"""The exit code of every verdict."""


@dataclass(frozen=True)
class Question:
    """Whether after one step every input has a loss of at most the tolerance.

    Parameters
    ----------
    instance : Instance
        The exact instance.
    eta, tolerance : ExactDecimal
        Step size and tolerance, exact, with the text they are shown as.
    """

    instance: Instance
    eta: ExactDecimal
    tolerance: ExactDecimal


@dataclass(frozen=True)
class DescentQuestion(Question):
    """The same after a number of steps with another attention map.

    Parameters
    ----------
    attention : str
        The map, a key of `numerics.balls.attention_descent.MAPS`.
    steps : int
        How many steps.
    """

    attention: str
    steps: int


def exact_binary64(value: float) -> ExactDecimal:
    """Return a binary64 number as the exact number it is, shown in full."""
    return ExactDecimal(str(Decimal(value)), Fraction(value))
