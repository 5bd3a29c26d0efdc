"""Reproducibility: the same commands in other surroundings, and every byte they leave behind.

A subject is a few commands that run one after the other in an empty folder. It is run once as it is
and once in each of the other surroundings, with the same seed; everything it prints and writes must
be the same, seconds and environment aside.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from campaigns.page import write_figures
from campaigns.reproducibility.leftovers import Leftovers, differences, leave
from campaigns.reproducibility.subjects import Subject, subjects
from campaigns.reproducibility.surroundings import AS_IT_IS, Surroundings, surroundings

__all__ = ["PART_OPTIONS", "SUMMARY", "Finding", "add_arguments", "execute", "repeat"]

SUMMARY = "same seed, same bytes: other workers, threads, hash seeds, folders"
PART_OPTIONS = ("subject",)


@dataclass(frozen=True)
class Finding:
    """What came of a subject.

    Parameters
    ----------
    subject : Subject
        What was run.
    documents, size : int
        How many texts and files it left as it is, and their bytes in the form that is compared.
    differing : dict
        What differed, line by line, by the name of the surroundings.
    """

    subject: Subject
    documents: int
    size: int
    differing: dict[str, list[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the campaign's own options."""
    parser.add_argument(
        "--subject", nargs="+", metavar="NAME", help="only these, as the table names them"
    )


def execute(options: argparse.Namespace) -> int:
    """Repeat everything, print what differed and the table, and return 0 if nothing did."""
    full = options.size == "full"
    chosen = [
        subject
        for subject in subjects(full=full, seed=options.seed)
        if options.subject is None or subject.name in options.subject
    ]
    others = surroundings(full=full)
    findings = []
    for finding in repeat(chosen, others, jobs=options.jobs):
        findings.append(finding)
        for name, lines in finding.differing.items():
            for line in lines:
                print(f"{finding.subject.name}, {name}: {line}", flush=True)
    table = _table(findings, others)
    print(table)
    if options.docs:
        write_figures("reproducibility", f"Size {options.size}, seed {options.seed}.\n\n{table}")
    met = findings and not any(finding.differing for finding in findings)
    return 0 if met else 1


def repeat(
    chosen: Sequence[Subject], others: Sequence[Surroundings], *, jobs: int
) -> Iterator[Finding]:
    """Run each subject as it is and in all other surroundings, and compare what it leaves.

    Parameters
    ----------
    chosen : sequence of Subject
        What to run.
    others : sequence of Surroundings
        Where it must come to the same.
    jobs : int
        How many commands run at a time.

    Yields
    ------
    Finding
        One for each subject, in their order.
    """
    places = (AS_IT_IS, *others)
    with (
        tempfile.TemporaryDirectory(prefix="reproducibility-") as root,
        ThreadPoolExecutor(jobs) as pool,
    ):
        runs = [
            [pool.submit(leave, subject, place, Path(root)) for place in places]
            for subject in chosen
        ]
        for subject, each in zip(chosen, runs, strict=True):
            yield _compared(subject, [run.result() for run in each], others)


def _compared(
    subject: Subject, runs: Sequence[Leftovers], others: Sequence[Surroundings]
) -> Finding:
    first, *rest = runs
    lines = {AS_IT_IS.name: list(first.failures)}
    lines |= {place.name: differences(first, run) for place, run in zip(others, rest, strict=True)}
    return Finding(
        subject,
        documents=len(first.documents),
        size=sum(map(len, first.documents.values())),
        differing={name: found for name, found in lines.items() if found},
    )


def _table(findings: Sequence[Finding], others: Sequence[Surroundings]) -> str:
    lines = [
        "| commands | texts and files | bytes compared | surroundings | differ in |",
        "| --- | --- | --- | --- | --- |",
    ]
    for finding in findings:
        differing = "; ".join(finding.differing) or "none"
        lines.append(
            f"| {finding.subject.name} | {finding.documents} | {finding.size:,} "
            f"| {len(others) + 1} | {differing} |"
        )
    return "\n".join(lines)
