"""``python -m benchmarks``: measure everything, print the table, write it into the docs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:  # the module loads NumPy, which must not be loaded before `_confine`
    from benchmarks.timing import Row

_SUITES = (
    "gradient",
    "empirical",
    "worst_case",
    "trials",
    "certificate",
    "bound",
    "derivation",
    "sweep",
)
_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suites and show each goal beside what was measured."""
    parser = argparse.ArgumentParser(prog="benchmarks", allow_abbrev=False, description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(_SUITES))
    parser.add_argument("--cores", type=int, default=1, help="cores for everyone (default: 1)")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each (default: 11)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON too")
    parser.add_argument(
        "--docs", action="store_true", help="write the table into docs/benchmarks.md"
    )
    options = parser.parse_args(argv)
    unknown = set(options.suites) - set(_SUITES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(_SUITES)}")
    if not _confine(options.cores):
        print(f"{options.cores} cores are not to be had here: nothing measured", file=sys.stderr)
        return 0
    found: list[Row] = []
    for name in options.suites or _SUITES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found += import_module(f"benchmarks.{name}").rows(rounds=options.rounds)
    on = "1 core" if options.cores == 1 else f"{options.cores} cores"
    _print(found, on)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in found], indent=2))
    if options.docs:
        _write_page(found, on)
    return 0


def _confine(cores: int) -> bool:
    """Give every contender the same cores, before any library starts its threads."""
    os.environ.update(dict.fromkeys(_THREADS, str(cores)), JAX_PLATFORMS="cpu")
    if cores == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if not hasattr(os, "sched_setaffinity"):
        return 1 <= cores <= (os.cpu_count() or 1)
    # The flag does not suffice: JAX computes a gradient on two cores in spite of it.
    allowed = sorted(os.sched_getaffinity(0))
    if not 1 <= cores <= len(allowed):
        return False
    os.sched_setaffinity(0, allowed[-cores:])
    return True


def _verdict(row: Row) -> str:
    return {True: "met", False: "missed", None: ""}[row.met]


def _print(rows: list[Row], on: str) -> None:
    table = Table(title=f"Benchmarks on {on}: medians (least to most)")
    for heading in ("what", "measured", "goal", ""):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row.what, row.measured, row.goal, _verdict(row))
    console = Console()
    (console if console.is_terminal else Console(width=150)).print(table)


def _write_page(rows: list[Row], on: str) -> None:
    begin, end = f"<!-- on {on}: written by make bench -->", f"<!-- end on {on} -->"
    machine = f"Python {platform.python_version()}, {platform.machine()}, on {on}."
    lines = ["| what | measured | goal | |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.what} | {row.measured} | {row.goal} | {_verdict(row)} |" for row in rows]
    before, rest = _PAGE.read_text().split(begin)
    _, after = rest.split(end)
    _PAGE.write_text("\n".join([before + begin, "", machine, "", *lines, "", end + after]))


if __name__ == "__main__":
    sys.exit(main())
