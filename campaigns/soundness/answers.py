"""How often the verifier answered what it was asked.

Silence is never unsound, so that a verifier that says nothing would pass every comparison. So what
is asked is counted, question by question, and what is answered.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from campaigns.soundness.questions import QUESTIONS

__all__ = ["Answers", "tells"]


class Answers:
    """What was asked, and what was answered.

    Attributes
    ----------
    asked, answered : Counter
        How often, by the keys of `QUESTIONS`.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()

    def note(self, question: str, answered: bool) -> None:
        """Count a question that was put.

        Raises
        ------
        KeyError
            If it has no share to be judged by.
        """
        if question not in QUESTIONS:
            raise KeyError(question)
        self.asked[question] += 1
        self.answered[question] += answered


def tells(ends: tuple[Fraction, Fraction] | None, *, factor: int = 2) -> bool:
    """Whether an enclosure of a number that is not negative says its size, to a factor.

    From 0 to 4 every loss is enclosed, and nothing is said.
    """
    return ends is not None and ends[1] <= factor * ends[0]
