"""Running claims: every cell of every claim on worker processes, gathered into verdicts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from verify.claim import ASSERTED, UNSETTLED, Cell, Claim, Evidence, Grade, Profile, conclude
from verify.claims import CLAIMS
from verify.console.interruption import awaited
from verify.console.progress import Progress
from verify.running.pool import Failure, WorkersLostError, run_calls
from verify.seeds import Streams

__all__ = ["ClaimResult", "Run", "run_claims"]


@dataclass
class ClaimResult:
    """A claim's evidence, the verdict it earns, and the seconds its cells took together."""

    claim: Claim
    evidence: list[Evidence] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def verdict(self) -> Grade:
        """The verdict the evidence earns."""
        return conclude(self.evidence)[0]

    @property
    def deciding(self) -> Evidence | None:
        """The piece of evidence that decides the verdict."""
        return conclude(self.evidence)[1]

    def as_json(self) -> dict[str, object]:
        """Return the fields the command-line contract names."""
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "source": self.claim.source,
            "stance": self.claim.stance,
            "verdict": str(self.verdict),
            "evidence": [piece.as_json() for piece in self.evidence],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Run:
    """A run over some claims: what was asked, and what was found for each claim."""

    profile: Profile
    seed: int
    results: list[ClaimResult]

    @property
    def exit_code(self) -> int:
        """The exit code the verdicts earn.

        1 when an asserted claim is refuted; 3 when one stayed undecided, vacuous or in error; 0
        otherwise. A disputed claim is settled only by its refutation.
        """
        asserted = {each.verdict for each in self.results if each.claim.stance == ASSERTED}
        disputed = {each.verdict for each in self.results if each.claim.stance != ASSERTED}
        if Grade.REFUTED in asserted:
            return 1
        return 3 if asserted & UNSETTLED or disputed - {Grade.REFUTED} else 0


def run_claims(
    claims: Sequence[Claim], *, profile: Profile, seed: int, jobs: int, progress: Progress
) -> Run:
    """Check claims.

    Parameters
    ----------
    claims : sequence of Claim
        Registered claims, in the order of the report.
    profile : {"quick", "standard", "full"}
        How much work to spend.
    seed : int
        Root seed. The evidence depends on it, not on `jobs`.
    jobs : int
        Number of worker processes.
    progress : Progress
        Told of each finished cell.

    Returns
    -------
    Run
        A result for each claim. Cells that Ctrl-C left unfinished are undecided.
    """
    work = [(claim, cell) for claim in claims for cell in claim.cells(profile)]
    order = sorted(range(len(work)), key=lambda i: -work[i][1].cost)
    calls = [(work[i][0].id, work[i][1].name, profile, seed) for i in order]
    found: dict[int, tuple[Evidence, float]] = {}
    unfinished = Grade.UNDECIDED, "interrupted before this cell was finished"
    try:
        # Ctrl-C ends the checking, not the report: what is finished is kept.
        with suppress(KeyboardInterrupt), progress.track(len(work)):
            for position, outcome in awaited(run_calls(check_cell, calls, jobs=jobs)):
                claim, cell = work[order[position]]
                found[order[position]] = _recorded(cell, outcome)
                progress.advance(f"{claim.id}: {cell.name}")
    except WorkersLostError as lost:
        unfinished = Grade.ERROR, str(lost)
    results = {claim.id: ClaimResult(claim) for claim in claims}
    for i, (claim, cell) in enumerate(work):
        evidence, seconds = found.get(i) or (_without_value(cell, *unfinished), 0.0)
        results[claim.id].evidence.append(evidence)
        results[claim.id].seconds += seconds
    return Run(profile, seed, list(results.values()))


def check_cell(claim_id: str, name: str, profile: Profile, seed: int) -> tuple[Evidence, float]:
    """Check one cell of a registered claim, and time it; this is what a worker runs."""
    cell = next(cell for cell in CLAIMS[claim_id].cells(profile) if cell.name == name)
    start = time.perf_counter()
    evidence = cell.check(Streams(seed, f"{claim_id}/{name}"))
    return evidence, time.perf_counter() - start


def _recorded(cell: Cell, outcome: tuple[Evidence, float] | Failure) -> tuple[Evidence, float]:
    if isinstance(outcome, Failure):
        return _without_value(cell, Grade.ERROR, outcome.reason), 0.0
    return outcome


def _without_value(cell: Cell, grade: Grade, reason: str) -> Evidence:
    return Evidence(
        cell=cell.name,
        subject="statement",
        method="none",
        grade=grade,
        computed="nothing",
        claimed="a value",
        reason=reason,
    )
