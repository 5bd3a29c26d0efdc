"""The difference of two results for a reader: what is said first is what weighs most."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from verify.console import terminal
from verify.report.difference import SLOWER, Change, ClaimDifference, Difference, Times

__all__ = ["print_difference"]

# Characters of a value that are shown: all of what `run` writes. --json has all of anything.
_LONGEST = 1000


def print_difference(found: Difference) -> None:
    """Print where two results differ; of results that are the same, only that they are.

    Runs without a claim in common leave nothing to compare, and are not said to be the same.
    """
    console = terminal.console(sys.stdout)
    compared = f"{found.claims_compared} claims, {found.cells_compared} cells compared"
    if found.same and found.claims_compared:
        console.print(f"the same results: {compared}", highlight=False)
        return
    sections = (
        _table("Runs", ("",), [((name,), change) for name, change in found.run.items()]),
        _names("Claims only in A", found.only_in_a),
        _names("Claims only in B", found.only_in_b),
        _table("Claims", ("claim", ""), list(_of_claims(found.claims))),
        _names(
            "Cells only in A", [_cell(each.id, c) for each in found.claims for c in each.only_in_a]
        ),
        _names(
            "Cells only in B", [_cell(each.id, c) for each in found.claims for c in each.only_in_b]
        ),
        _table("Evidence", ("cell", ""), list(_of_cells(found)), sized=True),
        Text("all entries are the same, in another order") if found.only_order else None,
        Text(_tally(found)),
        _table(
            "Environment", ("",), [((name,), change) for name, change in found.environment.items()]
        ),
        Text(_times(found.times)) if found.claims_compared else None,
    )
    for section in sections:
        if section is not None:
            console.print(section, highlight=False)


def _of_claims(claims: Sequence[ClaimDifference]) -> Iterator[tuple[tuple[str, ...], Change]]:
    """Yield the entries of claims that differ, the verdicts of all claims first."""
    for verdicts in (True, False):
        for claim in claims:
            for name, change in claim.changes.items():
                if (name == "verdict") is verdicts:
                    yield (claim.id, name), change


def _of_cells(found: Difference) -> Iterator[tuple[tuple[str, ...], Change]]:
    for claim in found.claims:
        for cell, changes in claim.cells.items():
            for name, change in changes.items():
                # Said once, for the runs.
                if not (name == "seed" and name in found.run):
                    yield (_cell(claim.id, cell), name), change


def _cell(claim: str, cell: str) -> str:
    return f"{claim}/{cell}"


def _table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Change]],
    *,
    sized: bool = False,
) -> Table | None:
    """Return both sides of changes; `sized` if it means something how large one is."""
    if not rows:
        return None
    table = Table(title=title, title_justify="left", expand=False)
    for heading in (*headings, "A", "B"):
        table.add_column(heading, overflow="fold")
    if sized:
        table.add_column("relative", justify="right", no_wrap=True)
    for names, change in rows:
        sides = (_shown(change.sides, side) for side in "ab")
        size = (_size(change.relative),) if sized else ()
        table.add_row(*(_text(name) for name in names), *sides, *size)
    return table


def _names(title: str, names: Sequence[str]) -> Text | None:
    listed = ", ".join(map(_abridged, names))
    return Text(terminal.printable(f"{title}: {listed}")) if names else None


def _shown(sides: Mapping[str, Any], side: str) -> Text:
    return _text(str(sides[side])) if side in sides else Text("none", style="dim")


def _size(relative: float | None) -> str:
    return "" if relative is None else f"{relative:.1e}"


def _tally(found: Difference) -> str:
    if not found.claims_compared:
        return "nothing to compare: the runs have no claim in common"
    verdicts = sum("verdict" in claim.changes for claim in found.claims)
    cells = sum(len(claim.cells) for claim in found.claims)
    return (
        f"{len(found.claims)} of {found.claims_compared} claims differ, {verdicts} in their "
        f"verdict; {cells} of {found.cells_compared} cells differ"
    )


def _times(times: Times) -> str:
    lines = [f"times, which are no difference: {times.a:.1f} s in A, {times.b:.1f} s in B"]
    for word, claims in (("slower", times.slower), ("faster", times.faster)):
        if claims:
            listed = ", ".join(
                f"{_abridged(id_)} ({a:.1f} s, {b:.1f} s)" for id_, (a, b) in claims.items()
            )
            lines.append(f"{word} in B by more than a factor {SLOWER:g}: {listed}")
    return "\n".join(map(terminal.printable, lines))


def _text(text: str) -> Text:
    return Text(terminal.printable(_abridged(text)))


def _abridged(text: str) -> str:
    """Return the beginning of a text that nobody would read to its end."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} ... ({len(text):,} characters)"
