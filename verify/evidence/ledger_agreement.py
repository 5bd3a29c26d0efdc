"""The evidence that a bound of a kernel is the ledger's: event by event, head by head, in total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.claim import Evidence, Grade

if TYPE_CHECKING:
    from flint import arb

    from numerics.balls.bounds.events import Event
    from verify.ledgers.values import EventKey, LedgerBound

__all__ = ["LEDGER_BITS", "cross_check", "events_agree"]

# Another precision than the kernels' own.
LEDGER_BITS = 128


def events_agree(
    at: str, events: Sequence[Event], bound: Fraction, ledger: LedgerBound
) -> Evidence:
    """Hold a kernel's events and its total against those of the ledger.

    Parameters
    ----------
    at : str
        Where, for the name of the cell.
    events : sequence of Event
        The kernel's events.
    bound : Fraction
        The kernel's bound of the probability of failure.
    ledger : LedgerBound
        The same from the formulas of the ledger.
    """
    from numerics.balls.arithmetic.exact import from_fraction, upper_end

    kernel: dict[EventKey, arb] = {(each.name, each.head): each.probability for each in events}
    differences = _differences(kernel, ledger.events)
    if len(kernel) != len(events):
        differences.append("an event occurs twice")
    if not ledger.total.overlaps(from_fraction(bound)):
        differences.append("the total")
    ends = (upper_end(each.probability) for each in events)
    # The ball's end has no bits to be rounded away: a total that is rounded up is not below it.
    if bound < min(1, sum(1 if end is None else end for end in ends)):
        differences.append("the total, which is below the sum of the upper ends")
    return cross_check(
        f"events at {at}",
        differences,
        agreed=f"{len(events)} events and their sum agree",
        claimed="the kernel's events are the ledger's, for both heads, with the same bounds",
    )


def cross_check(name: str, differences: list[str], *, agreed: str, claimed: str) -> Evidence:
    """Return the evidence of a comparison with the ledger: what differs, or that nothing does."""
    return Evidence(
        cell=name,
        subject="cross-check",
        method="the ledger's formulas in ball arithmetic",
        grade=Grade.REFUTED if differences else Grade.CERTIFIED,
        computed=f"differ: {', '.join(differences)}" if differences else agreed,
        claimed=claimed,
        precision=f"{LEDGER_BITS} bits",
    )


def _differences(kernel: Mapping[EventKey, arb], ledger: Mapping[EventKey, arb]) -> list[str]:
    """Name what only one of two knows, and what they bound differently."""
    return [
        f"{name} ({head or 'both heads'})"
        for name, head in dict.fromkeys([*ledger, *kernel])
        if (name, head) not in kernel
        or (name, head) not in ledger
        or not kernel[name, head].overlaps(ledger[name, head])
    ]
