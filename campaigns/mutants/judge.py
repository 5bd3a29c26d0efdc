"""Whether the claims kill a mutant; and if not, whether a test does."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from campaigns.mutants.baseline import Baseline, CellBaseline, Reach
from campaigns.mutants.mutant import Mutant
from campaigns.mutants.sandbox import CellTask, Sandbox, Session

__all__ = ["KILLS", "Kill", "Verdict", "judge", "module_tests"]

KILLS = ("refuted", "error", "undecided", "import", "timeout", "died")
"""How a mutant is killed: the grade that a cell gets instead of its own, and what prevents one."""

# What a cell may take with a mutant: so many times its own time, and some seconds.
_TIMES, _SECONDS = 5.0, 20.0

# A grade that is none of these, and not the cell's own, contradicts it as well.
_REFUTED = "refuted"
_OTHER_GRADES = {"vacuous": "undecided"}
_TIME_SIGNALS = (signal.SIGXCPU, signal.SIGALRM)
_MOST_BROKEN_TESTS = 5


@dataclass(frozen=True, kw_only=True)
class Kill:
    """The counter-instance to a mutant.

    Attributes
    ----------
    kind : str
        One of `KILLS`.
    evidence : str
        What the cell found, or why it found nothing.
    claim, cell : str or None
        Which cell; None if the claims cannot be imported.
    """

    kind: str
    evidence: str
    claim: str | None = None
    cell: str | None = None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of a mutant.

    Attributes
    ----------
    id : str
        Its id.
    claims : int
        How many claims it concerns.
    kill : Kill or None
        How it was killed; None if no claim saw it.
    profile : str or None
        The last profile that was looked at; None if it concerns no claim.
    test : str or None
        If it was not killed: a test that fails with it, and passes without.
    seconds : float
        Time it took.
    """

    id: str
    claims: int
    kill: Kill | None
    profile: str | None
    test: str | None
    seconds: float

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> Verdict:
        """Read what `dataclasses.asdict` made of a verdict."""
        kill = read.pop("kill")
        return cls(kill=None if kill is None else Kill(**kill), **read)


def judge(
    sandbox: Sandbox,
    mutant: Mutant,
    *,
    baseline: Baseline,
    reach: Reach,
    profiles: Sequence[str],
    seed: int,
) -> Verdict:
    """Check the claims that a mutant concerns, the cheapest cell first, until one sees it.

    Parameters
    ----------
    sandbox : Sandbox
        Where.
    mutant : Mutant
        What.
    baseline : Baseline
        The grades without it.
    reach : Reach
        Which claims it concerns.
    profiles : sequence of str
        One after the other.
    seed : int
        Root seed of the cells.
    """
    start = time.monotonic()
    concerned: set[str] = set()
    kill, last = None, None
    with sandbox.mutated(mutant):
        for profile in profiles:
            claims = reach.claims(mutant, profile)
            concerned.update(claims)
            cells = baseline.tasks(claims, profile)
            if not cells:
                continue
            tasks = [
                CellTask(
                    claim=cell.claim,
                    cell=cell.cell,
                    seconds=_TIMES * cell.seconds + _SECONDS,
                    expected=cell.grade,
                )
                for cell in cells
            ]
            last = profile
            kill = _kill(sandbox.check(tasks, profile=profile, seed=seed), cells)
            if kill is not None:
                break
    test = _failing_test(sandbox, mutant) if kill is None else None
    seconds = round(time.monotonic() - start, 1)
    return Verdict(
        id=mutant.id, claims=len(concerned), kill=kill, profile=last, test=test, seconds=seconds
    )


def _kill(session: Session, cells: Sequence[CellBaseline]) -> Kill | None:
    """Return what killed the mutant, if anything did."""
    for cell, graded in zip(cells, session.graded, strict=False):
        if graded.grade != cell.grade:
            grade = _OTHER_GRADES.get(graded.grade, graded.grade)
            return Kill(
                kind=grade if grade in KILLS else _REFUTED,
                claim=cell.claim,
                cell=cell.cell,
                evidence=graded.reason or f"{graded.computed}; claimed: {graded.claimed}",
            )
    if session.broken is not None:
        return Kill(kind="import", evidence=session.broken)
    if session.died:
        cell = cells[len(session.graded)]
        in_time = session.died not in _TIME_SIGNALS
        return Kill(
            kind="died" if in_time else "timeout",
            claim=cell.claim,
            cell=cell.cell,
            evidence=f"killed by {signal.Signals(session.died).name}"
            if in_time
            else f"no end within {_TIMES:g} times its time and {_SECONDS:g} s",
        )
    return None


def _failing_test(sandbox: Sandbox, mutant: Mutant) -> str | None:
    """Return a test of the module that fails with the mutant and passes without."""
    files = module_tests(
        mutant.file, {str(path): sandbox.read(path) for path in sandbox.test_files()}
    )
    broken: list[str] = []
    while len(broken) < _MOST_BROKEN_TESTS:
        with sandbox.mutated(mutant):
            failing = sandbox.failing_test(files, deselected=broken)
        if failing is None:
            return None
        if sandbox.failing_test([failing]) is None:
            return failing
        broken.append(failing)
    return None


def module_tests(file: str, tests: Mapping[str, str]) -> list[str]:
    """Return the test files of a module: of its name or of its package, in their places.

    If there are none, those that import it.

    Parameters
    ----------
    file : str
        The module's path.
    tests : mapping
        The texts of all test files, by path.
    """
    path = PurePosixPath(file)
    mirrors = (
        f"tests/{path.parent}/test_{path.stem}.py",
        f"tests/{path.parent.parent}/test_{path.parent.name}.py",
    )
    own = [test for test in mirrors if test in tests]
    module = ".".join(path.with_suffix("").parts)
    package, name = module.rsplit(".", 1)
    imports = re.compile(
        rf"\bfrom {re.escape(module)} import|\bimport {re.escape(module)}\b"
        rf"|\bfrom {re.escape(package)} import [^\n]*\b{re.escape(name)}\b"
    )
    return own or sorted(test for test, text in tests.items() if imports.search(text))
