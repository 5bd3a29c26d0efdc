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

__all__ = ["KILLS", "REFUTED", "Kill", "Verdict", "judge", "module_tests"]

REFUTED = "refuted"

KILLS = (REFUTED, "regraded", "error", "undecided", "import", "timeout", "died")
"""How a mutant is killed: the grade that a cell gets instead of its own, and what prevents one.

A cell is regraded if it succeeds with another grade than its own, or where it is to be refuted.
"""

# What a cell may take with a mutant: so many times its own time, and some seconds.
_TIMES, _SECONDS = 5.0, 20.0

# Of the grades that are not kinds themselves.
_KINDS = {
    "exact": "regraded",
    "certified": "regraded",
    "sampled": "regraded",
    "vacuous": "undecided",
}
# What a machine without memory, time or files can do to a cell by itself.
_OF_MACHINE = ("import", "timeout", "died")
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
    for profile in profiles:
        claims = reach.claims(mutant, profile)
        concerned.update(claims)
        cells = baseline.tasks(claims, profile)
        if not cells:
            continue
        last = profile
        kill = _first_kill(sandbox, mutant, cells, seed=seed)
        if kill is not None:
            break
    test = _failing_test(sandbox, mutant) if kill is None else None
    seconds = round(time.monotonic() - start, 1)
    return Verdict(
        id=mutant.id, claims=len(concerned), kill=kill, profile=last, test=test, seconds=seconds
    )


def _first_kill(
    sandbox: Sandbox, mutant: Mutant, cells: Sequence[CellBaseline], *, seed: int
) -> Kill | None:
    """Return what kills the mutant in some cells of a profile, if anything does.

    What may be the fault of the machine counts if the cell, on its own, fails with the mutant
    again, and passes without it.
    """
    while cells:
        with sandbox.mutated(mutant):
            session = _checked(sandbox, cells, seed=seed)
        kill = _kill(session, cells)
        if kill is None or not _may_be_the_machine(kill, session):
            return kill
        passed = _passed(session, cells)
        alone = cells[passed : passed + 1]
        with sandbox.mutated(mutant):
            again = _kill(_checked(sandbox, alone, seed=seed), alone)
        if again is not None and _kill(_checked(sandbox, alone, seed=seed), alone) is None:
            return again
        cells = cells[passed + 1 :]
    return None


def _checked(sandbox: Sandbox, cells: Sequence[CellBaseline], *, seed: int) -> Session:
    tasks = [
        CellTask(
            claim=cell.claim,
            cell=cell.cell,
            seconds=_TIMES * cell.seconds + _SECONDS,
            expected=cell.grade,
        )
        for cell in cells
    ]
    return sandbox.check(tasks, profile=cells[0].profile, seed=seed)


def _passed(session: Session, cells: Sequence[CellBaseline]) -> int:
    """Return how many cells got their own grade: all that come before the one that kills."""
    graded = zip(cells, session.graded, strict=False)
    return sum(found.grade == cell.grade for cell, found in graded)


def _may_be_the_machine(kill: Kill, session: Session) -> bool:
    return kill.kind in _OF_MACHINE or session.graded[-1].of_machine


def _kill(session: Session, cells: Sequence[CellBaseline]) -> Kill | None:
    """Return what killed the mutant, if anything did."""
    passed = _passed(session, cells)
    if passed == len(cells):
        return None
    cell = cells[passed]
    if passed < len(session.graded):
        graded = session.graded[passed]
        return Kill(
            kind=_KINDS.get(graded.grade, graded.grade),
            claim=cell.claim,
            cell=cell.cell,
            evidence=graded.reason or f"{graded.computed}; claimed: {graded.claimed}",
        )
    if session.broken is not None:
        return Kill(kind="import", evidence=session.broken)
    if session.died in _TIME_SIGNALS:
        kind, evidence = "timeout", f"no end within {_TIMES:g} times its time and {_SECONDS:g} s"
    else:
        kind, evidence = "died", f"ended without an answer (signal {session.died})"
    return Kill(kind=kind, claim=cell.claim, cell=cell.cell, evidence=evidence)


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
