"""What differs between the results of two runs: claims, verdicts, evidence; times apart.

Two results are the same if all they record is, but for what varies (`verify.report.recorded`).
Everything else here says where they are not. Times and environments are compared too, but never
make results differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from verify.files.strict_json import WrittenFloat
from verify.report.recorded import RecordedClaim, RecordedRun

__all__ = [
    "SLOWER",
    "Change",
    "ClaimDifference",
    "Difference",
    "NumberChange",
    "Times",
    "compare_results",
]

# A number in a text: the bounded exponent keeps arithmetic with it instant. One whose exponent is
# longer is none, nor are its parts.
_NUMBER = re.compile(
    r"(?<![\w.])(?<![0-9][eE][+-])[+-]?[0-9]++(?:\.[0-9]++)?+"
    r"(?:[eE][+-]?[0-9]{1,4}(?![0-9])|(?![eE][+-]?[0-9]))"
)
# Three digits of a relative size say all; nothing is trapped, and nothing overflows.
_ROUGHLY = Context(prec=3, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
SLOWER = 2.0
"""The factor from which on a claim counts as slower or faster; less is the load of a machine."""

# What took less than this many seconds in both runs is noise.
_NOTICED = 1.0


@dataclass(frozen=True)
class NumberChange:
    """A number that changed.

    Parameters
    ----------
    a, b : str
        As they are written in A and in B.
    relative : float
        Their distance, divided by the larger of their absolute values: between 0 and 2.
    """

    a: str
    b: str
    relative: float

    @classmethod
    def of(cls, a: str, b: str) -> NumberChange:
        """Return the change of a decimal number."""
        first, second = Decimal(a), Decimal(b)
        distance = _ROUGHLY.subtract(first, second).copy_abs()
        larger = max(first.copy_abs(), second.copy_abs())
        return cls(a, b, float(_ROUGHLY.divide(distance, larger)) if distance else 0.0)

    def as_json(self) -> dict[str, object]:
        """Return the fields as the document holds them."""
        return vars(self).copy()


@dataclass(frozen=True)
class Change:
    """An entry that differs.

    Parameters
    ----------
    sides : mapping
        Its value in ``a`` and in ``b``; a side that has no such entry is not there.
    """

    sides: Mapping[str, Any]

    @property
    def numbers(self) -> list[NumberChange]:
        """The numbers that changed, if both sides are numbers or texts of the same words."""
        texts = [_with_numbers(self.sides.get(side)) for side in "ab"]
        if None in texts:
            return []
        a, b = (text or "" for text in texts)
        if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
            return []
        pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
        return [NumberChange.of(x, y) for x, y in pairs if x != y]

    @property
    def relative(self) -> float | None:
        """The largest relative change of a number; None if more than numbers changed."""
        return max((number.relative for number in self.numbers), default=None)

    def as_json(self, *, with_numbers: bool = False) -> dict[str, object]:
        """Return both sides, and if asked the numbers that changed where words did not."""
        numbers = [number.as_json() for number in self.numbers] if with_numbers else []
        sides = {side: _plain(value) for side, value in self.sides.items()}
        return {**sides, **({"numbers": numbers} if numbers else {})}


Changes = Mapping[str, Change]
"""The entries that differ, by name."""


@dataclass(frozen=True)
class ClaimDifference:
    """How what two runs recorded of a claim differs.

    Parameters
    ----------
    id : str
        The claim.
    changes : mapping
        Its own entries that differ, the verdict above all.
    only_in_a, only_in_b : sequence of str
        Cells that one of the two looked at.
    cells : mapping
        The entries of the evidence that differ, by cell.
    """

    id: str
    changes: Changes
    only_in_a: Sequence[str]
    only_in_b: Sequence[str]
    cells: Mapping[str, Changes]

    def as_json(self) -> dict[str, object]:
        """Return the fields as the document holds them."""
        return {
            "id": self.id,
            "changes": _as_json(self.changes),
            "only_in_a": list(self.only_in_a),
            "only_in_b": list(self.only_in_b),
            "cells": [
                {"cell": cell, "changes": _as_json(changes, with_numbers=True)}
                for cell, changes in self.cells.items()
            ],
        }


@dataclass(frozen=True)
class Times:
    """How long the claims took that both runs have; this never makes results differ.

    Parameters
    ----------
    a, b : float
        Seconds of all of them together.
    slower, faster : mapping
        Seconds in A and in B of the claims that differ by more than the factor `SLOWER`; those that
        took less than a second in both are left out.
    """

    a: float
    b: float
    slower: Mapping[str, tuple[float, float]]
    faster: Mapping[str, tuple[float, float]]

    def as_json(self) -> dict[str, object]:
        """Return the fields as the document holds them."""
        return {
            "a": self.a,
            "b": self.b,
            "factor": SLOWER,
            **{
                name: [{"id": id_, "a": a, "b": b} for id_, (a, b) in claims.items()]
                for name, claims in (("slower", self.slower), ("faster", self.faster))
            },
        }


@dataclass(frozen=True)
class Difference:
    """How two results differ.

    Parameters
    ----------
    same : bool
        Whether they are the same, times and environment aside.
    claims_compared, cells_compared : int
        How many both have.
    run : mapping
        Version, seed, profile, and whatever else a document says of a run as a whole.
    only_in_a, only_in_b : sequence of str
        Claims that one of the two has.
    claims : sequence of ClaimDifference
        Claims that both have and that differ.
    times : Times
        How long they took.
    environment : mapping
        What of the environments differs, names of nested entries joined by dots.
    """

    same: bool
    claims_compared: int
    cells_compared: int
    run: Changes
    only_in_a: Sequence[str]
    only_in_b: Sequence[str]
    claims: Sequence[ClaimDifference]
    times: Times
    environment: Changes

    @property
    def only_order(self) -> bool:
        """Whether all entries are the same, in another order."""
        found = self.run or self.only_in_a or self.only_in_b or self.claims
        return not self.same and not found

    def as_json(self) -> dict[str, object]:
        """Return the document that ``diff --json`` prints."""
        return {
            "same": self.same,
            "compared": {"claims": self.claims_compared, "cells": self.cells_compared},
            "run": _as_json(self.run),
            "only_in_a": list(self.only_in_a),
            "only_in_b": list(self.only_in_b),
            "claims": [each.as_json() for each in self.claims],
            "only_order": self.only_order,
            "times": self.times.as_json(),
            "environment": _as_json(self.environment),
        }


def compare_results(a: RecordedRun, b: RecordedRun) -> Difference:
    """Compare what two runs recorded."""
    both = [id_ for id_ in a.claims if id_ in b.claims]
    claims = (_compare_claims(id_, a.claims[id_], b.claims[id_]) for id_ in both)
    return Difference(
        same=a.text == b.text,
        claims_compared=len(both),
        cells_compared=sum(
            len(a.claims[id_].cells.keys() & b.claims[id_].cells.keys()) for id_ in both
        ),
        run=_changes(a.entries, b.entries),
        only_in_a=_missing(a.claims, b.claims),
        only_in_b=_missing(b.claims, a.claims),
        claims=[claim for claim in claims if claim is not None],
        times=_compare_times({id_: (a.claims[id_].seconds, b.claims[id_].seconds) for id_ in both}),
        environment=_changes(_flat(a.environment), _flat(b.environment)),
    )


def _compare_claims(id_: str, a: RecordedClaim, b: RecordedClaim) -> ClaimDifference | None:
    cells = {cell: _changes(a.cells[cell], b.cells[cell]) for cell in a.cells if cell in b.cells}
    found = ClaimDifference(
        id=id_,
        changes=_changes(a.entries, b.entries),
        only_in_a=_missing(a.cells, b.cells),
        only_in_b=_missing(b.cells, a.cells),
        cells={cell: changes for cell, changes in cells.items() if changes},
    )
    return found if found.changes or found.only_in_a or found.only_in_b or found.cells else None


def _compare_times(seconds: Mapping[str, tuple[float, float]]) -> Times:
    noticed = {id_: pair for id_, pair in seconds.items() if max(pair) >= _NOTICED}
    return Times(
        a=round(sum(a for a, _ in seconds.values()), 3),
        b=round(sum(b for _, b in seconds.values()), 3),
        slower={id_: (a, b) for id_, (a, b) in noticed.items() if b > SLOWER * a},
        faster={id_: (a, b) for id_, (a, b) in noticed.items() if a > SLOWER * b},
    )


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Change]:
    changes = {}
    for name in dict.fromkeys((*a, *b)):
        sides = {side: entries[name] for side, entries in (("a", a), ("b", b)) if name in entries}
        # As they are written: 1, 1.0 and true are three things.
        if len(sides) < len("ab") or repr(sides["a"]) != repr(sides["b"]):
            changes[name] = Change(sides)
    return changes


def _missing(here: Mapping[str, object], there: Mapping[str, object]) -> list[str]:
    return [name for name in here if name not in there]


def _flat(entries: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return entries of entries as entries ``outer.inner``."""
    flat: dict[str, Any] = {}
    for name, value in entries.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat


def _with_numbers(value: object) -> str | None:
    """Return a number or text as a text; anything else has no numbers of its own."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return None


def _plain(value: Any) -> Any:
    """Return a value of JSON; numbers that binary64 cannot tell apart become texts, as written."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.text if isinstance(value, WrittenFloat) else value


def _as_json(changes: Changes, *, with_numbers: bool = False) -> dict[str, object]:
    return {name: each.as_json(with_numbers=with_numbers) for name, each in changes.items()}
