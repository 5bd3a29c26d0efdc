"""``python -m benchmarks``: measure everything, print the table, write it into the docs."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

# One thread for everyone, set before any library starts its own.
os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    JAX_PLATFORMS="cpu",
)

from rich.console import Console
from rich.table import Table

from benchmarks import certificate, derivation, gradient, trials, worst_case
from benchmarks.timing import Row

_SUITES = {
    "gradient": gradient,
    "worst-case": worst_case,
    "trials": trials,
    "certificate": certificate,
    "derivation": derivation,
}
_PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_BEGIN, _END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suites and show each goal beside what was measured."""
    parser = argparse.ArgumentParser(prog="benchmarks", allow_abbrev=False, description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(_SUITES))
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each (default: 11)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON too")
    parser.add_argument(
        "--docs", action="store_true", help="write the table into docs/benchmarks.md"
    )
    options = parser.parse_args(argv)
    unknown = set(options.suites) - set(_SUITES)
    if unknown:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(_SUITES)}")
    found: list[Row] = []
    for name in options.suites or _SUITES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found += _SUITES[name].rows(rounds=options.rounds)
    _print(found)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in found], indent=2))
    if options.docs:
        _write_page(found)
    return 0


def _verdict(row: Row) -> str:
    return {True: "met", False: "missed", None: ""}[row.met]


def _print(rows: list[Row]) -> None:
    table = Table(title="Benchmarks: median wall time (least to most), one thread")
    for heading in ("what", "measured", "goal", ""):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row.what, row.measured, row.goal, _verdict(row))
    console = Console()
    (console if console.is_terminal else Console(width=150)).print(table)


def _write_page(rows: list[Row]) -> None:
    lines = ["| what | measured | goal | |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.what} | {row.measured} | {row.goal} | {_verdict(row)} |" for row in rows]
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores."
    page = _PAGE.read_text()
    before, rest = page.split(_BEGIN)
    _, after = rest.split(_END)
    _PAGE.write_text("\n".join([before + _BEGIN, "", machine, "", *lines, "", _END + after]))


if __name__ == "__main__":
    sys.exit(main())
