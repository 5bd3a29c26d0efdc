"""What the claims find without a mutant, how long they take, and which lines they execute."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from campaigns.mutants.crew import Crew
from campaigns.mutants.formula_files import WINGS
from campaigns.mutants.mutant import Mutant
from campaigns.mutants.sandbox import CellTask, GradedCell, ListedCell, Sandbox, Session
from campaigns.mutants.source import Source
from verify.claim import ASSERTED, Evidence, Grade, conclude

__all__ = ["Baseline", "BaselineError", "CellBaseline", "Reach", "cached_baseline"]

Lines = Mapping[str, Mapping[str, Mapping[str, Collection[int]]]]
"""Lines that were executed, by profile, claim and file."""

_FIRST_PROFILE = "quick"
_PROVED_OR_SAMPLED = {Grade.EXACT, Grade.CERTIFIED, Grade.SAMPLED}
# A cell without a mutant may take as long as this, whatever its claim says of its cost.
_MOST_SECONDS = 1800.0


class BaselineError(RuntimeError):
    """A claim does not succeed without a mutant, so that no mutant could be judged by it."""


@dataclass(frozen=True, kw_only=True)
class CellBaseline:
    """A cell without a mutant.

    Attributes
    ----------
    profile, claim, cell : str
        Its profile, its claim and its name.
    derivation : str or None
        The derivation it checks: the same work at every profile.
    grade : str
        The grade of its evidence.
    seconds : float
        Processor time, under a trace.
    """

    profile: str
    claim: str
    cell: str
    derivation: str | None
    grade: str
    seconds: float


@dataclass(frozen=True)
class Baseline:
    """Every cell, and the lines that each claim executes at each profile."""

    cells: Sequence[CellBaseline]
    lines: Lines

    def tasks(self, claims: Collection[str], profile: str) -> list[CellBaseline]:
        """Return the cells of some claims, the cheapest first, each piece of work once.

        A derivation is the same at every profile, so it is looked at in the first only.
        """
        found = [
            cell
            for cell in self.cells
            if cell.profile == profile
            and cell.claim in claims
            and (profile == _FIRST_PROFILE or not self._seen_before(cell))
        ]
        return sorted(found, key=lambda cell: cell.seconds)

    def _seen_before(self, cell: CellBaseline) -> bool:
        return cell.derivation is not None and any(
            other.profile == _FIRST_PROFILE and (other.claim, other.cell) == (cell.claim, cell.cell)
            for other in self.cells
        )


class Reach:
    """Which claims a mutant can concern: those that execute the statement it stands in.

    A statement outside of functions concerns the claims that execute a function of its module, or
    of a module that imports from it. So does one in a function that Numba compiles, which no
    trace sees.

    Parameters
    ----------
    sources : mapping of str to bytes
        The files of the wings, by path.
    lines : mapping
        The lines that each claim executes, by profile, claim and file.
    """

    def __init__(self, sources: Mapping[str, bytes], lines: Lines) -> None:
        self._sources = {file: Source(code) for file, code in sources.items()}
        self._lines = lines
        self._importers: dict[str, set[str]] = {}
        for file, source in self._sources.items():
            for module in source.imported_modules:
                self._importers.setdefault(module, set()).add(file)

    def claims(self, mutant: Mutant, profile: str) -> tuple[str, ...]:
        """Return the ids of the claims that the mutant concerns at a profile."""
        source, line = self._sources[mutant.file], mutant.change.line
        compiled = any(line in lines for lines in source.compiled_functions)
        if line in source.function_lines and not compiled:
            wanted = {mutant.file: source.statement_lines(line)}
        else:
            module = ".".join(PurePosixPath(mutant.file).with_suffix("").parts)
            files = {mutant.file} | (set() if compiled else self._importers.get(module, set()))
            wanted = {file: self._sources[file].function_lines for file in files}
        return tuple(
            claim
            for claim, executed in self._lines[profile].items()
            if any(lines.intersection(executed.get(file, ())) for file, lines in wanted.items())
        )


def cached_baseline(
    crew: Crew,
    file: Path,
    *,
    claims: Collection[str] | None,
    profiles: Sequence[str],
    tell: Callable[[str], None],
) -> Baseline:
    """Return the baseline, from a file if it is there, else measured and written into it.

    Parameters
    ----------
    crew : Crew
        Who measures.
    file : Path
        Its name must tell the sources, as nothing in it does.
    claims : collection of str or None
        Ids of the claims; None for all.
    profiles : sequence of str
        Quick first.
    tell : callable
        Told of the progress, a line at a time.

    Raises
    ------
    BaselineError
        If a claim cannot be checked without a mutant, or its verdict is no success.
    """
    if file.exists():
        read = json.loads(file.read_text(encoding="utf-8"))
        return Baseline([CellBaseline(**cell) for cell in read["cells"]], read["lines"])
    measured = _measured(crew, claims=claims, profiles=profiles, tell=tell)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial_file = file.with_suffix(".part")
    partial_file.write_text(
        json.dumps({"cells": [asdict(cell) for cell in measured.cells], "lines": measured.lines}),
        encoding="utf-8",
    )
    partial_file.replace(file)
    return measured


def _measured(
    crew: Crew,
    *,
    claims: Collection[str] | None,
    profiles: Sequence[str],
    tell: Callable[[str], None],
) -> Baseline:
    cells: list[CellBaseline] = []
    lines: dict[str, dict[str, Mapping[str, Collection[int]]]] = {}
    for profile in profiles:
        (listed,) = crew.each(lambda sandbox, each: sandbox.cells(each), [profile])
        by_claim: dict[str, list[ListedCell]] = {}
        for cell in listed:
            if claims is None or cell.claim in claims:
                by_claim.setdefault(cell.claim, []).append(cell)
        # The costliest first, so that no sandbox waits long for the last one.
        work = sorted(by_claim.values(), key=lambda each: -sum(cell.cost for cell in each))
        lines[profile] = {}
        measure = partial(_measure, profile=profile)
        for done, (found, executed) in enumerate(crew.each(measure, work), start=1):
            cells += found
            lines[profile][found[0].claim] = executed
            tell(f"without mutants, {profile}: {done} of {len(work)} claims, {found[0].claim}")
    return Baseline(cells, lines)


def _measure(
    sandbox: Sandbox, listed: Sequence[ListedCell], *, profile: str
) -> tuple[list[CellBaseline], Mapping[str, Collection[int]]]:
    """Check the cells of one claim, in a process of their own."""
    tasks = [CellTask(claim=cell.claim, cell=cell.name, seconds=_MOST_SECONDS) for cell in listed]
    session = sandbox.check(tasks, profile=profile, seed=0, trace=True)
    failure = _failure(session, listed)
    if failure is not None:
        raise BaselineError(
            f"claim={listed[0].claim}: no success at profile {profile} without a mutant: {failure}"
        )
    cells = [
        CellBaseline(
            profile=profile,
            claim=cell.claim,
            cell=cell.name,
            derivation=cell.derivation,
            grade=graded.grade,
            seconds=graded.seconds,
        )
        for cell, graded in zip(listed, session.graded, strict=True)
    ]
    of_wings = {
        file: numbers
        for file, numbers in session.lines.items()
        if numbers and PurePosixPath(file).parts[0] in WINGS
    }
    return cells, of_wings


def _failure(session: Session, listed: Sequence[ListedCell]) -> str | None:
    """Return why the claim whose cells were checked does not succeed, or None if it does."""
    if session.broken is not None or len(session.graded) != len(listed):
        return session.broken or f"signal {session.died} in {listed[len(session.graded)].name}"
    verdict, decisive = conclude(map(_evidence, session.graded))
    asserted = listed[0].stance == ASSERTED
    if verdict in (_PROVED_OR_SAMPLED if asserted else {Grade.REFUTED}):
        return None
    why = f" by {decisive.cell}: {decisive.reason or decisive.computed}" if decisive else ""
    return f"{listed[0].stance}, but {verdict}{why}"


def _evidence(graded: GradedCell) -> Evidence:
    return Evidence(
        cell=graded.cell,
        subject="cross-check" if graded.subject == "cross-check" else "statement",
        method="",
        grade=Grade(graded.grade),
        computed=graded.computed,
        claimed=graded.claimed,
        reason=graded.reason,
    )
