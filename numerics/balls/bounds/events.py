"""Ways to fail, each with a bound on its probability; a theorem's bound is their sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flint import arb

from numerics.balls.bounds.slope_bounds import UnmetConditionError

__all__ = [
    "HEADS",
    "LEAST_D",
    "LEAST_M",
    "Event",
    "Head",
    "bounded",
    "capped",
    "total",
    "undersized",
]

Head = Literal["theta", "theta_tilde"]
HEADS: tuple[Head, Head] = ("theta", "theta_tilde")

LEAST_D, LEAST_M = 3, 6
"""Sizes from which the theorems speak: some position off the support, E (1 - rho)^-2 finite."""


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


def bounded(d: int, m: int, events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events of a theorem at some sizes.

    All of them if every condition of the theorem holds; else one event with probability 1, the one
    that cannot be excluded, and the condition that fails.
    """
    too_small = undersized(d, m)
    if too_small is not None:
        return (too_small,)
    try:
        return tuple(events)
    except UnmetConditionError as unmet:
        return (Event(name=unmet.event, head=None, probability=arb(1), reason=unmet.condition),)


def undersized(d: int, m: int) -> Event | None:
    """Return the event that sizes too small for a theorem leave open; None if they are not."""
    if d < LEAST_D:
        name, reason = "ambient alignment", f"d={d}: the theorem asks for d >= {LEAST_D}"
    elif m < LEAST_M:
        name, reason = "near margin", f"m={m}: the theorem asks for m >= {LEAST_M}"
    else:
        return None
    return Event(name=name, head=None, probability=arb(1), reason=reason)


def total(events: Iterable[Event]) -> arb:
    """Return the sum of the probabilities, at most 1: a number, rounded up."""
    return capped(sum((event.probability for event in events), arb(0)).upper())


def capped(probability: arb) -> arb:
    """Return a bound that is no larger than 1; 1 for what is no number."""
    return probability if probability < 1 else arb(1)
