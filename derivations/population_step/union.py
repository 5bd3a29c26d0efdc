"""The ways to fail, and the step that adds them up: Theorem 2 and Corollary 3 both end with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sympy as sp

from derivations.population_step.constants import value
from derivations.population_step.notation import symbol
from derivations.proof.identities import require_equal
from derivations.proof.refusal import require

__all__ = ["Event", "check_union", "listed"]

Head = Literal["theta", "theta_tilde"]


@dataclass(frozen=True, kw_only=True)
class Event:
    """A way to fail.

    Attributes
    ----------
    name : str
        In words.
    formula : str
        The constant that bounds its probability; for an event of one head, that of either. The
        constants of "far margin" and "ambient alignment" are the terms of one slice, from the
        slice after the first and from the first on.
    per_head : bool
        Whether it is an event of one head, to be counted for each.
    """

    name: str
    formula: str
    per_head: bool = False

    @property
    def heads(self) -> tuple[Head | None, ...]:
        """The heads it is counted for; none, once, for an event that concerns both together."""
        return ("theta", "theta_tilde") if self.per_head else (None,)


def listed(events: Sequence[Event]) -> str:
    """Return the events in words: those of both heads together, then those of each."""
    together, each = (
        ", ".join(event.name for event in events if event.per_head is per_head)
        for per_head in (False, True)
    )
    return f"{together}; and for each of the two heads {each}"


def check_union(events: Sequence[Event], total: str) -> None:
    """Check that a constant is the sum over the list of events and heads, each event once."""
    names = [event.name for event in events]
    require(len(set(names)) == len(names), f"an event is listed twice: {names}")
    expected = sp.Add(*(symbol(event.formula) for event in events for _ in event.heads))
    require_equal(value(total), expected, "the bound and the sum over events and heads")
