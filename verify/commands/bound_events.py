"""A proved bound as text: decimals rounded to the safe side, and the events it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NotRequired, TypedDict, overload

if TYPE_CHECKING:
    from numerics.balls.bounds.events import Event

__all__ = [
    "EventEntry",
    "brief_above",
    "brief_below",
    "costliest",
    "decimal_above",
    "decimal_below",
    "event_entry",
    "show_events",
    "vacuous_reason",
]

_DIGITS = 17
_SHOWN = 4  # digits for human readers


class EventEntry(TypedDict):
    """An event as it stands in a document."""

    name: str
    head: str | None
    probability_upper: str
    reason: NotRequired[str]


@overload
def decimal_above(x: Fraction) -> str: ...
@overload
def decimal_above(x: None) -> None: ...
@overload
def decimal_above(x: Fraction | None) -> str | None: ...
def decimal_above(x: Fraction | None) -> str | None:
    """Return a decimal string that is not below x; exact if few digits do."""
    return None if x is None else _rounded_up(x, _DIGITS)


def decimal_below(x: Fraction) -> str:
    """Return a decimal string that is not above x; exact if few digits do."""
    return _rounded_down(x, _DIGITS)


def brief_above(text: str) -> str:
    """Return a decimal string with few digits, rounded up."""
    return _rounded_up(Fraction(text), _SHOWN)


def brief_below(text: str) -> str:
    """Return a decimal string with few digits, rounded down."""
    return _rounded_down(Fraction(text), _SHOWN)


def event_entry(event: Event) -> EventEntry:
    """Return an event as it stands in a document."""
    entry: EventEntry = {
        "name": event.name if event.head is None else f"{event.name} ({event.head})",
        "head": event.head,
        "probability_upper": decimal_above(_probability(event)),
    }
    if event.reason is not None:
        entry["reason"] = event.reason
    return entry


def costliest(events: Iterable[Event]) -> Event:
    """Return the event with the largest bound."""
    return max(events, key=_probability)


def vacuous_reason(events: Sequence[Event], *, total: str = "1 or more") -> str:
    """Say which event cannot be excluded, or costs the most of a sum that is too large.

    Parameters
    ----------
    events : sequence of Event
        The events.
    total : str
        What they add up to, in words.
    """
    for event in events:
        if event.reason is not None:
            return f"{event.name} cannot be excluded; needed: {event.reason}"
    worst = costliest(events)
    return (
        f"the bounds of the events add up to {total}; the costliest is "
        f"{event_entry(worst)['name']}, {float(_probability(worst)):.3g}"
    )


def show_events(entries: Iterable[EventEntry]) -> None:
    """Print the events of a document, the costliest first, with their share of the sum."""
    bounds = [(Fraction(entry["probability_upper"]), entry["name"]) for entry in entries]
    bounds.sort(key=lambda bound: bound[0], reverse=True)
    whole = sum(bound for bound, _ in bounds)
    print(f"  events, the costliest first ({bounds[0][1]}), with their share of the sum:")
    for bound, name in bounds:
        share = float(100 * bound / whole)
        print(f"    {_rounded_up(bound, _SHOWN):>12}  {share:5.1f} %  {name}")


def _probability(event: Event) -> Fraction:
    """Return the event's bound; what is no number counts as 1."""
    from numerics.balls.arithmetic.exact import upper_end

    end = upper_end(event.probability)
    return Fraction(1) if end is None else min(end, Fraction(1))


def _rounded_up(x: Fraction, digits: int) -> str:
    from numerics.balls.arithmetic.exact import upper_digits

    return _trimmed(upper_digits(x, digits))


def _rounded_down(x: Fraction, digits: int) -> str:
    from numerics.balls.arithmetic.exact import lower_digits

    return _trimmed(lower_digits(x, digits))


def _trimmed(text: str) -> str:
    """Drop the zeros that end a decimal fraction."""
    mantissa, e, exponent = text.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}{e}{exponent}"
