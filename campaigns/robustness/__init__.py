"""Robustness: hostile files, arguments and circumstances, and what the command line makes of them.

A part of the campaign is a module with a function ``attacks(*, full: bool) -> list[Attack]``, which
returns the same attacks in the same order whenever it is called.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from campaigns.page import write_figures
from campaigns.robustness.attack import Attack, Found
from verify.running.pool import Failure, run_calls

__all__ = [
    "PARTS",
    "PART_OPTIONS",
    "SUMMARY",
    "add_arguments",
    "attacks_of",
    "execute",
    "survive",
]

SUMMARY = "hostile files, arguments and circumstances: one line, never a traceback or half a file"
PART_OPTIONS = ("part",)
PARTS = ("documents", "arguments", "processes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the campaign's own options."""
    parser.add_argument(
        "--part", nargs="+", choices=PARTS, default=PARTS, help="only these parts (default: all)"
    )


def execute(options: argparse.Namespace) -> int:
    """Run the attacks, print what was not withstood and the table, and return 0 if all was."""
    full = options.size == "full"
    calls = [
        (part, full, number, options.seed)
        for part in options.part
        for number in range(len(attacks_of(part, full=full)))
    ]
    found: list[tuple[Attack, Found]] = []
    for index, outcome in run_calls(_attack, calls, jobs=options.jobs):
        part, _, number, _ = calls[index]
        attack = attacks_of(part, full=full)[number]
        result = Found(outcome.reason) if isinstance(outcome, Failure) else outcome
        found.append((attack, result))
        if not result.ok:
            print(f"{attack.group}: {attack.name}: {result.problem}\n    {result.command}")
            sys.stdout.flush()
    table = _table((attack.group, result.ok) for attack, result in found)
    print(table)
    if options.docs:
        write_figures("robustness", f"Size {options.size}, seed {options.seed}.\n\n{table}")
    return 0 if all(result.ok for _, result in found) else 1


@cache
def attacks_of(part: str, *, full: bool) -> Sequence[Attack]:
    """Return the attacks of a part, one of `PARTS`, at the small or the full size."""
    attacks: list[Attack] = import_module(f"{__name__}.{part}").attacks(full=full)
    names = Counter((attack.group, attack.name) for attack in attacks)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(f"attacks={twice[0]}: the same name twice in {part}")
    return attacks


def survive(attack: Attack, root_seed: int) -> Found:
    """Run an attack in a folder of its own, which stays if the attack is not withstood."""
    folder = Path(tempfile.mkdtemp(prefix="robustness-"))
    found = attack.run(folder, attack.seed(root_seed))
    if found.ok:
        shutil.rmtree(folder)
    return found


def _attack(part: str, full: bool, number: int, root_seed: int) -> Found:
    # Workers leave Ctrl-C to their parent; the programs that attacks start must not inherit that.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    return survive(attacks_of(part, full=full)[number], root_seed)


def _table(results: Iterable[tuple[str, bool]]) -> str:
    """Return how many attacks of each group there were and how many failed, as Markdown."""
    attacks, failures = Counter[str](), Counter[str]()
    for group, ok in results:
        attacks[group] += 1
        failures[group] += not ok
    rows = [f"| {group} | {attacks[group]} | {failures[group]} |" for group in sorted(attacks)]
    total = f"| together | {attacks.total()} | {failures.total()} |"
    return "\n".join(["| attacked | attacks | failed |", "| --- | --- | --- |", *rows, total])
