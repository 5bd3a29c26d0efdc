"""What a sweep has found so far, cell by cell."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from verify.console import terminal
from verify.decimals import ExactDecimal
from verify.evidence.sampling import Proportion
from verify.sweep.config import Cell, Sweep
from verify.sweep.kinds import find_kind
from verify.sweep.store import FILE, CellCounts

__all__ = ["show_summary", "summarise"]

_NOTHING = CellCounts(rows=0, errors=0, shares={}, error=None)
_MOST_SHOWN = 200


def summarise(
    sweep: Sweep, out: Path, counts: Mapping[str, CellCounts] | None, reason: str | None
) -> dict[str, Any]:
    """Return the JSON document of a sweep.

    Parameters
    ----------
    sweep : Sweep
        What was asked for.
    out : Path
        Its folder.
    counts : mapping of str to CellCounts, optional
        What the database holds of each cell, by id; without it nothing is known of them.
    reason : str, optional
        Why the run ended before everything was done, if it did.
    """
    document: dict[str, Any] = {
        "name": sweep.name,
        "kind": sweep.kind,
        "seed": sweep.seed,
        "trials": sweep.trials,
        "out": str(out),
        "cells": [],
        "errors": None,
        "missing": None,
    }
    errors = 0
    if counts is not None:
        cells = [_cell(sweep, cell, counts.get(cell.id, _NOTHING)) for cell in sweep.cells]
        errors = sum(cell["errors"] for cell in cells)
        done = sum(cell["done"] for cell in cells)
        missing = sweep.trials * len(cells) - done - errors
        document.update(cells=cells, errors=errors, missing=missing)
    if reason is None and errors:
        reason = f"{errors} trial{'s' if errors > 1 else ''} failed"
    if reason is not None:
        document["reason"] = f"{reason}; run the same command again to go on from here"
    return document


def _cell(sweep: Sweep, cell: Cell, found: CellCounts) -> dict[str, Any]:
    done = found.rows - found.errors
    document: dict[str, Any] = {
        "cell": cell.id,
        "parameters": {
            axis: str(value) if isinstance(value, ExactDecimal) else value
            for axis, value in cell.parameters.items()
        },
        "done": done,
        "errors": found.errors,
    }
    if found.error is not None:
        document["error"] = found.error
    for share in find_kind("kind", sweep.kind).SHARES:
        document[share] = Proportion(found.shares[share], done).as_json() if done else None
    return document


def show_summary(document: Mapping[str, Any]) -> None:
    """Print the document for a human reader; of very many cells, the first ones."""
    console = terminal.console(sys.stdout)
    shares = find_kind("kind", document["kind"]).SHARES
    title = f"{document['kind']}, {document['trials']} trials a cell, seed {document['seed']}"
    table = Table(title=Text(f"{document['name']}: {title}"), title_justify="left")
    for heading in ("cell", "done", "errors", *shares):
        table.add_column(heading, overflow="fold")
    for cell in document["cells"][:_MOST_SHOWN]:
        found = (_share(cell[share]) for share in shares)
        table.add_row(Text(cell["cell"]), str(cell["done"]), str(cell["errors"]), *found)
        if "error" in cell:
            table.add_row(Text(f"  {cell['error']}", style="yellow"))
    console.print(table)
    more = len(document["cells"]) - _MOST_SHOWN
    if more > 0:
        console.print(f"and {more} more cells: --json lists them all", highlight=False)
    console.print(f"rows: {Path(document['out']) / FILE}", highlight=False, markup=False)
    if "reason" in document:
        console.print(f"incomplete: {document['reason']}", highlight=False, markup=False)


def _share(found: Mapping[str, float] | None) -> str:
    if found is None:
        return ""
    return f"{found['point']:.4g} [{found['lower']:.4g}, {found['upper']:.4g}]"
