"""A report on every claim, with evidence of all kinds that nothing was computed for."""

import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from verify.claim import ASSERTED, Evidence, Grade
from verify.claims import CLAIMS
from verify.report.results import results_document, write_report
from verify.runner import ClaimResult, Run

HOSTILE = "<script>alert('1')</script> & \"2\" <= {{ 3 }} | $x$ \\frac"


@dataclass(frozen=True)
class Written:
    """A run, the folder of its report, and the page in it."""

    run: Run
    folder: Path
    hostile: str = HOSTILE

    @property
    def path(self) -> Path:
        return self.folder / "report.html"

    @property
    def page(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def document(self) -> dict:
        return json.loads((self.folder / "results.json").read_text(encoding="utf-8"))


def piece(grade: Grade, **more) -> Evidence:
    given = {"cell": "d=4", "subject": "statement", "method": "none"}
    return Evidence(grade=grade, **{**given, "computed": "1/3", "claimed": "<= 1/2", **more})


def made_up(id_: str, grade: Grade) -> ClaimResult:
    """Return a claim with the given verdict, and a cross-check."""
    margins = {Grade.REFUTED: -0.25, Grade.SAMPLED: 1 / 3, Grade.CERTIFIED: 0.0625}
    drawn = {"trials": 400, "seed": 7, "met": 399} if grade is Grade.SAMPLED else {}
    deciding = piece(grade, margin=margins.get(grade), precision="192 bits", **drawn)
    check = piece(Grade.EXACT, cell="agreement", subject="cross-check", method="twice")
    return ClaimResult(CLAIMS[id_], [deciding, check], 12.34)


@pytest.fixture(scope="session")
def result():
    """Return the maker of results that nothing was computed for."""
    return made_up


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> Written:
    """Write a report in which every grade occurs, and text that is no HTML."""
    grades = itertools.cycle(Grade)
    results = [
        made_up(id_, next(grades) if claim.stance == ASSERTED else Grade.REFUTED)
        for id_, claim in CLAIMS.items()
    ]
    results[3].evidence.append(
        piece(
            Grade.ERROR,
            cell=HOSTILE,
            method=HOSTILE,
            computed=HOSTILE,
            reason=HOSTILE,
            trials=5,
            met=5,
        )
    )
    run = Run("standard", 3, results)
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, run, results_document(run))
    return Written(run, folder)
