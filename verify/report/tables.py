"""The table a run prints."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from verify.claim import ASSERTED, UNSETTLED, Grade
from verify.console import terminal
from verify.runner import ClaimResult, Run

__all__ = ["print_results"]

_STYLES = {
    Grade.EXACT: "bold green",
    Grade.CERTIFIED: "bold green",
    Grade.SAMPLED: "green",
    Grade.REFUTED: "bold red",
    Grade.ERROR: "bold red",
    Grade.UNDECIDED: "yellow",
    Grade.VACUOUS: "yellow",
}


def print_results(run: Run, folder: Path) -> None:
    """Print a table of the claims, and where the report is."""
    console = terminal.console(sys.stdout)
    asserted = [result for result in run.results if result.claim.stance == ASSERTED]
    disputed = [result for result in run.results if result.claim.stance != ASSERTED]
    if asserted:
        console.print(_table("Claims", asserted))
    if disputed:
        console.print(_table("Disputed wordings (settled only when refuted)", disputed))
    if asserted:
        console.print(_tally(asserted), highlight=False)
    if disputed:
        console.print(f"disputed wordings: {_tally(disputed)}", highlight=False)
    console.print(
        f"report: {folder / 'report.html'}   data: {folder / 'results.json'}", highlight=False
    )


def _table(title: str, results: list[ClaimResult]) -> Table:
    table = Table(title=title, title_justify="left", expand=False)
    for heading in ("claim", "source", "grade", "computed", "claimed"):
        table.add_column(heading, overflow="fold")
    table.add_column("time", justify="right", no_wrap=True)
    for result in results:
        deciding = result.deciding
        table.add_row(
            Text(result.claim.id),
            Text(result.claim.source),
            Text(str(result.verdict), style=_style(result)),
            Text(f"{deciding.cell}: {deciding.computed}" if deciding else "nothing"),
            Text(deciding.claimed if deciding else ""),
            f"{result.seconds:.1f} s",
        )
        if deciding is not None and deciding.reason is not None:
            table.add_row("", "", "", Text(deciding.reason, style="yellow"), "", "")
    return table


def _style(result: ClaimResult) -> str:
    """Return the colour of a verdict: a disputed wording is as it should be when refuted."""
    if result.claim.stance == ASSERTED or result.verdict in UNSETTLED:
        return _STYLES[result.verdict]
    return _STYLES[Grade.EXACT if result.verdict is Grade.REFUTED else Grade.REFUTED]


def _tally(results: list[ClaimResult]) -> str:
    counts = {grade: sum(each.verdict is grade for each in results) for grade in Grade}
    return ", ".join(f"{count} {grade}" for grade, count in counts.items() if count)
