"""Ways to fail, each with a bound on its probability; a theorem's bound is their sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flint import arb

__all__ = ["HEADS", "Event", "Head", "capped", "total"]

Head = Literal["theta", "theta_tilde"]
HEADS: tuple[Head, Head] = ("theta", "theta_tilde")


@dataclass(frozen=True, kw_only=True)
class Event:
    """A way to fail, and how likely it is at most.

    Attributes
    ----------
    name : str
        As in the derivation of its theorem.
    head : {"theta", "theta_tilde"} or None
        The head it concerns; None for an event of both.
    probability : arb
        Its members bound the probability from above; at most 1.
    reason : str or None
        The condition that fails, where the bound 1 stands for "nothing can be said".
    """

    name: str
    head: Head | None
    probability: arb
    reason: str | None = None


def total(events: Iterable[Event]) -> arb:
    """Return the sum of the probabilities, at most 1: a number, rounded up."""
    return capped(sum((event.probability for event in events), arb(0)).upper())


def capped(probability: arb) -> arb:
    """Return a bound that is no larger than 1; 1 for what is no number."""
    return probability if probability < 1 else arb(1)
