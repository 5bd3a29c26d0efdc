"""A certificate's statements, wherever they stand, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from campaigns.soundness.answers import Answers, tells
from campaigns.soundness.truth import Truth, UnresolvedError
from numerics.balls.certificate import StepCertificate

__all__ = ["Statements", "excludes"]

Interval = tuple[Fraction, Fraction]
_HEADS = ("theta", "theta_tilde")


@dataclass(frozen=True, slots=True)
class Statements:
    """What is said about one step at a tolerance.

    Attributes
    ----------
    tolerance : Fraction
        The tolerance.
    verdict : str
        "certified", "refuted" or "undecided".
    sup_loss : pair of Fraction or None
        Said to enclose the largest loss.
    heads : pair of (int or None)
        Said to be where each head has most attention.
    attention : pair of (pair of Fraction or None)
        Said to enclose the attention there.
    witness : sequence of int or None
        Said to be an input whose loss exceeds the tolerance.
    """

    tolerance: Fraction
    verdict: str
    sup_loss: Interval | None
    heads: tuple[int | None, int | None]
    attention: tuple[Interval | None, Interval | None]
    witness: Sequence[int] | None

    @classmethod
    def of(cls, tolerance: Fraction, found: StepCertificate) -> Statements:
        """Take them from a certificate."""
        return cls(
            tolerance, found.verdict, found.sup_loss, found.heads, found.attention, found.witness
        )

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Statements:
        """Take them from the document of a decision, as it is printed."""
        first, second = (
            (document["heads"][name], _interval(document["attention"][name])) for name in _HEADS
        )
        return cls(
            Fraction(document["tolerance"]),
            document["verdict"],
            _interval(document["sup_loss"]),
            (first[0], second[0]),
            (first[1], second[1]),
            document["witness"],
        )

    def count(self, where: str, answers: Answers) -> None:
        """Count what is said besides the verdict."""
        answers.note(f"{where}: largest loss", tells(self.sup_loss))
        for position, share in zip(self.heads, self.attention, strict=True):
            answers.note(f"{where}: head", position is not None)
            answers.note(f"{where}: attention", tells(share))

    def wrong(self, truth: Truth) -> Iterator[str]:
        """Yield what is not true, or not known to be by brute force either."""
        try:
            yield from self._wrong_verdict(truth)
            if self.sup_loss is not None and excludes(truth.supremum_side, self.sup_loss):
                yield "the enclosure of the largest loss does not hold it"
            for head, (position, share) in enumerate(zip(self.heads, self.attention, strict=True)):
                if position is None:
                    continue
                if not truth.leads(head, position):
                    yield f"head {head} is not at {position}"
                if share is not None and excludes(
                    partial(truth.attention_side, head, position), share
                ):
                    yield f"the enclosure of the attention of head {head} does not hold it"
        except UnresolvedError as failure:
            yield f"said to be {self.verdict}, which brute force cannot confirm: {failure}"

    def _wrong_verdict(self, truth: Truth) -> Iterator[str]:
        if self.verdict == "certified" and truth.supremum_side(self.tolerance) > 0:
            yield "certified, and a loss exceeds the tolerance"
        if self.verdict != "refuted":
            return
        if truth.supremum_side(self.tolerance) <= 0:
            yield "refuted, and no loss exceeds the tolerance"
        if self.witness is None:
            yield "refuted without a witness"
        elif truth.loss_side(self.witness, self.tolerance) <= 0:
            yield "refuted, and the loss of the witness does not exceed the tolerance"


def excludes(side: Callable[[Fraction], int], ends: Interval) -> bool:
    """Whether an enclosure does not hold the number of which the sides are given."""
    low, high = ends
    return low > high or side(low) < 0 or side(high) > 0


def _interval(ends: Mapping[str, str] | None) -> Interval | None:
    return None if ends is None else (Fraction(ends["lower"]), Fraction(ends["upper"]))
