"""``python -m benchmarks``: measure everything, print the tables, write them into the docs.

Without ``--cores``, all suites run on one core, and those with work for a second one run again on
two. Each number of cores has a process of its own, confined before any library starts its threads.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.confined import Measured, measure
from benchmarks.timing import Row

_SUITES = (
    "start_up",
    "gradient",
    "attention_maps",
    "empirical",
    "sample_noise",
    "worst_case",
    "enumeration",
    "trials",
    "certificate",
    "balls",
    "bound",
    "models",
    "derivation",
    "ledgers",
    "program",
    "sweep",
    "scaling",
)
_PARALLEL = ("gradient", "empirical", "program", "sweep")
_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suites and show each goal beside what was measured."""
    parser = argparse.ArgumentParser(prog="benchmarks", allow_abbrev=False, description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(_SUITES))
    parser.add_argument("--cores", type=int, help="cores for everyone (default: 1, then 2)")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each (default: 11)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON too")
    parser.add_argument(
        "--docs", action="store_true", help="write tables and figure into docs/, too"
    )
    options = parser.parse_args(argv)
    unknown = set(options.suites) - set(_SUITES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(_SUITES)}")
    chosen = options.suites or _SUITES
    plan = {options.cores: chosen}
    if options.cores is None:
        parallel = [name for name in chosen if name in _PARALLEL]
        plan = {1: chosen, 2: parallel} if parallel else {1: chosen}
    found: dict[str, Measured] = {}
    for cores, suites in plan.items():
        measured = _in_a_process_of_its_own(suites, cores, options.rounds)
        if measured is None:
            print(f"{cores} cores are not to be had here: nothing measured", file=sys.stderr)
            continue
        on = "1 core" if cores == 1 else f"{cores} cores"
        found[on] = measured
        _print(measured, on)
        if options.docs:
            _write_page(measured, on)
    if options.json:
        document = {
            on: {name: [asdict(row) for row in rows] for name, rows in measured.items()}
            for on, measured in found.items()
        }
        Path(options.json).write_text(json.dumps(document, indent=2))
    return 0


def _in_a_process_of_its_own(suites: Sequence[str], cores: int, rounds: int) -> Measured | None:
    """Run suites where no library has been loaded; None if so many cores are not to be had."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(measure, suites, cores, rounds).result()


def _verdict(row: Row) -> str:
    return {True: "met", False: "missed", None: ""}[row.met]


def _print(found: Measured, on: str) -> None:
    console = Console()
    for name, rows in found.items():
        table = Table(title=f"{name}, on {on}: medians (least to most)", title_justify="left")
        for heading in ("what", "measured", "goal", ""):
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(row.what, row.measured, row.goal, _verdict(row))
        (console if console.is_terminal else Console(width=150)).print(table)


def _write_page(found: Measured, on: str) -> None:
    """Replace the tables of the suites that were run; those of others stay as they are."""
    page = _PAGE.read_text()
    for name, rows in found.items():
        begin, end = f"<!-- {name} on {on} -->", f"<!-- end of {name} on {on} -->"
        lines = ["| what | measured | goal | |", "| --- | --- | --- | --- |"]
        lines += [f"| {row.what} | {row.measured} | {row.goal} | {_verdict(row)} |" for row in rows]
        before, rest = page.split(begin)
        _, after = rest.split(end)
        machine = f"Python {platform.python_version()}, {platform.machine()}, on {on}."
        page = "\n".join([before + begin, "", machine, "", *lines, "", end + after])
    _PAGE.write_text(page)
    if "scaling" in found:
        from benchmarks.scaling_figure import write

        write(found["scaling"], _PAGE.parent / "figures")


if __name__ == "__main__":
    sys.exit(main())
