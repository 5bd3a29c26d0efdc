"""The table on the terminal: disputed wordings stand apart, and red is what is bad news."""

from __future__ import annotations

import pytest

from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.report.tables import _style, print_results
from verify.runner import ClaimResult, Run


def result(claim_id: str, grade: Grade) -> ClaimResult:
    piece = Evidence(
        cell="made up", subject="statement", method="none", grade=grade, computed="1", claimed="1"
    )
    return ClaimResult(CLAIMS[claim_id], [piece])


ASSERTED, DISPUTED = "population-loss", "softmax-is-necessary"


@pytest.mark.parametrize(
    ("claim_id", "grade", "colour"),
    [
        (ASSERTED, Grade.REFUTED, "red"),
        (ASSERTED, Grade.EXACT, "green"),
        (ASSERTED, Grade.UNDECIDED, "yellow"),
        (DISPUTED, Grade.REFUTED, "green"),
        (DISPUTED, Grade.CERTIFIED, "red"),
        (DISPUTED, Grade.SAMPLED, "red"),
        (DISPUTED, Grade.UNDECIDED, "yellow"),
    ],
)
def test_the_colour_follows_the_stance(claim_id: str, grade: Grade, colour: str) -> None:
    assert colour in _style(result(claim_id, grade))


def printed(capsys, tmp_path, *results: ClaimResult) -> str:
    print_results(Run("quick", 0, list(results)), tmp_path)
    return capsys.readouterr().out


def test_disputed_wordings_have_a_table_and_a_tally_of_their_own(capsys, tmp_path) -> None:
    text = printed(capsys, tmp_path, result(ASSERTED, Grade.EXACT), result(DISPUTED, Grade.REFUTED))
    first, _, second = text.partition("Disputed wordings")
    assert ASSERTED in first
    assert DISPUTED not in first
    assert DISPUTED in second
    assert "\n1 exact\ndisputed wordings: 1 refuted\n" in second


def test_a_table_that_would_be_empty_is_left_out(capsys, tmp_path) -> None:
    only_asserted = printed(capsys, tmp_path, result(ASSERTED, Grade.EXACT))
    assert "isputed" not in only_asserted
    only_disputed = printed(capsys, tmp_path, result(DISPUTED, Grade.REFUTED))
    assert "Claims" not in only_disputed
    assert "disputed wordings: 1 refuted" in only_disputed


def test_the_exit_code_takes_a_refuted_dispute_as_settled() -> None:
    held = result(ASSERTED, Grade.EXACT)
    for grade, code in ((Grade.REFUTED, 0), (Grade.UNDECIDED, 3), (Grade.CERTIFIED, 3)):
        assert Run("quick", 0, [held, result(DISPUTED, grade)]).exit_code == code
    assert Run("quick", 0, [result(ASSERTED, Grade.REFUTED)]).exit_code == 1
