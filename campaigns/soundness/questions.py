"""What is asked of the verifier, and the least share of it that must be answered.

The shares are stated beforehand, with a margin below what the verifier answers: nine tenths of the
times or more where it nearly always does, about half of what it does where that is a matter of the
draws, as at low precision. Below them the campaign fails, since it then says little. A question has
a least share of the cases, too, so that none is quietly put to few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

__all__ = ["FAR", "FAR_RARELY", "QUESTIONS", "RARELY", "Question"]

RARELY = 8
"""One case in so many of every kind is put to the checks that take longest."""
FAR, FAR_RARELY = 8_000, 32
"""Where scores differ by more, one case in so many is put to `gradient`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and how often it must be put and answered.

    Attributes
    ----------
    answered : Fraction
        Least share of the answers among the times it is put.
    silence : str
        Why it is not always answered.
    cases : Fraction
        Least share of the cases in which it is put.
    absence : str
        Why it is not put in all cases.
    """

    answered: Fraction
    silence: str = ""
    cases: Fraction = Fraction(1)
    absence: str = ""


_WIDE = "balls as wide as the numbers"
_TIES = "ties, as between equal rows, have no head"
_AT_LOW_PRECISION = {
    # Least shares below 32 bits and from 32 bits on, in hundredths.
    "verdict": (8, 40, f"{_WIDE}, or a tolerance too close"),
    "largest loss": (15, 70, _WIDE),
    "head": (15, 50, f"{_WIDE}; {_TIES}"),
    "attention": (10, 50, f"{_WIDE}; {_TIES}"),
    "loss of an input": (15, 70, _WIDE),
    "push": (15, 60, _WIDE),
    "bracket by vertices and edges": (50, 80, _WIDE),
    "bracket by enumeration": (1, 30, f"{_WIDE}, or more inputs than it takes"),
    "bracket by search": (50, 80, _WIDE),
}
_DRAWN = "the precision is drawn"
_IN_TURN = f"one in {RARELY}"
_BOUNDED = f"{_IN_TURN}, if no number exceeds 64"
_INDEPENDENT = f"{_IN_TURN}, if the columns are independent"
_FLOOR = f"{_IN_TURN}, if there is a floor"
_FAR = f"one in {FAR_RARELY} where scores differ by more than {FAR:,}"


def _hundredths(n: int) -> Fraction:
    return Fraction(n, 100)


QUESTIONS: Mapping[str, Question] = MappingProxyType(
    {
        "certify: largest loss": Question(
            _hundredths(90), "it is decided, or given up, before balls are narrow"
        ),
        "certify: head": Question(_hundredths(60), _TIES),
        "certify: attention": Question(_hundredths(60), _TIES),
        "certify: lengths of rows": Question(_hundredths(95)),
        "replay of a bundle": Question(
            _hundredths(90), "undecided", _hundredths(15), "the route is drawn"
        ),
        "commands": Question(_hundredths(80), "undecided", _hundredths(2), "the route is drawn"),
    }
    | {
        f"below 32 bits: {name}": Question(_hundredths(low), silence, _hundredths(55), _DRAWN)
        for name, (low, _, silence) in _AT_LOW_PRECISION.items()
    }
    | {
        f"32 to 100 bits: {name}": Question(_hundredths(high), silence, _hundredths(20), _DRAWN)
        for name, (_, high, silence) in _AT_LOW_PRECISION.items()
    }
    | {
        "witness again": Question(
            _hundredths(90), _WIDE, _hundredths(8), "if refuted at low precision"
        ),
        "gradient: loss": Question(
            _hundredths(95), "65,536 bits do not settle it", _hundredths(95), _FAR
        ),
        "gradient: component": Question(
            _hundredths(95), "65,536 bits do not settle it", _hundredths(80), f"{_FAR}; all zero"
        ),
        "gradient: zero": Question(
            _hundredths(95), "not seen to be zero", _hundredths(8), f"{_FAR}; none zero"
        ),
        "binary64: largest loss": Question(_hundredths(90), "losses as small as roundings"),
        "binary64: closed": Question(_hundredths(90), "an edge exceeds every vertex"),
        "descent: verdict": Question(
            _hundredths(60), "a tolerance between the mean and the bound", _hundredths(7), _BOUNDED
        ),
        "descent: mean loss": Question(_hundredths(80), _WIDE, _hundredths(7), _BOUNDED),
        "descent: largest loss": Question(_hundredths(70), _WIDE, _hundredths(7), _BOUNDED),
        "floor: leverage": Question(
            _hundredths(80), "columns nearly dependent", _hundredths(6), _INDEPENDENT
        ),
        "floor: sigma": Question(
            _hundredths(80), "columns nearly dependent", _hundredths(6), _INDEPENDENT
        ),
        "floor: loss": Question(
            _hundredths(60), "columns nearly dependent", Fraction(1, 250), _FLOOR
        ),
        "floor: loss by sigma": Question(
            _hundredths(60), "it is weaker than that by leverages", Fraction(1, 250), _FLOOR
        ),
        "reach": Question(
            _hundredths(80),
            "rows that nearly agree",
            _hundredths(2),
            f"{_IN_TURN}, if there is a gap",
        ),
    }
)
"""The questions by name, in the order of the table."""
