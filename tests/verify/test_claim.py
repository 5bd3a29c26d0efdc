import itertools
from dataclasses import replace

import pytest

from numerics.arguments import InvalidArgumentError
from verify.claim import Claim, Evidence, Grade, conclude
from verify.claims import CLAIMS, find_claim, register
from verify.runner import ClaimResult, Run


def piece(grade: Grade, subject: str = "statement") -> Evidence:
    return Evidence(
        cell=str(grade), subject=subject, method="test", grade=grade, computed="1", claimed="1"
    )


def claim(**changes: object) -> Claim:
    fields = {
        "id": "made-up",
        "title": "t",
        "statement": "s",
        "source": "ours",
        "cells": lambda _: (),
    }
    return Claim(**(fields | changes))


PROOFS = (Grade.EXACT, Grade.CERTIFIED)


@pytest.mark.parametrize("bad", [Grade.REFUTED, Grade.ERROR, Grade.UNDECIDED])
@pytest.mark.parametrize("subject", ["statement", "cross-check"])
def test_one_bad_piece_decides_whatever_it_speaks_of(bad: Grade, subject: str) -> None:
    pieces = [piece(Grade.EXACT), piece(bad, subject), piece(Grade.SAMPLED)]
    for order in itertools.permutations(pieces):
        verdict, deciding = conclude(order)
        assert verdict is bad
        assert deciding is not None
        assert deciding.grade is bad


def test_a_refutation_outranks_error_and_undecided() -> None:
    grades = (Grade.UNDECIDED, Grade.ERROR, Grade.REFUTED)
    for order in itertools.permutations(grades):
        assert conclude(piece(grade) for grade in order)[0] is Grade.REFUTED


def test_the_weakest_piece_about_the_statement_decides() -> None:
    assert conclude([piece(Grade.EXACT), piece(Grade.SAMPLED)])[0] is Grade.SAMPLED
    assert conclude([piece(Grade.EXACT), piece(Grade.CERTIFIED)])[0] is Grade.CERTIFIED


def test_a_kernel_that_agrees_neither_lifts_nor_lowers_a_verdict() -> None:
    assert conclude([piece(Grade.EXACT), piece(Grade.SAMPLED, "cross-check")])[0] is Grade.EXACT
    assert conclude([piece(Grade.SAMPLED), piece(Grade.EXACT, "cross-check")])[0] is Grade.SAMPLED
    assert conclude([piece(Grade.EXACT, "cross-check")])[0] is Grade.VACUOUS


def test_the_tightest_of_equal_pieces_is_the_one_to_show() -> None:
    pieces = [replace(piece(Grade.SAMPLED), margin=margin) for margin in (0.5, 0.1, 0.9)]
    assert conclude(pieces)[1] is pieces[1]


def test_vacuous_evidence_is_never_a_pass() -> None:
    assert conclude([])[0] is Grade.VACUOUS
    assert conclude([piece(Grade.VACUOUS)])[0] is Grade.VACUOUS
    assert conclude([piece(Grade.VACUOUS), piece(Grade.SAMPLED)])[0] is Grade.SAMPLED


@pytest.mark.parametrize(
    ("grades", "stance", "code"),
    [
        ((Grade.EXACT, Grade.SAMPLED), "asserted", 0),
        ((Grade.EXACT, Grade.REFUTED), "asserted", 1),
        ((Grade.UNDECIDED, Grade.REFUTED), "asserted", 1),
        ((Grade.EXACT, Grade.UNDECIDED), "asserted", 3),
        ((Grade.EXACT, Grade.VACUOUS), "asserted", 3),
        ((Grade.EXACT, Grade.ERROR), "asserted", 3),
        ((Grade.REFUTED,), "disputed", 0),
        ((Grade.SAMPLED,), "disputed", 3),
        ((Grade.UNDECIDED,), "disputed", 3),
    ],
)
def test_exit_code(grades: tuple[Grade, ...], stance: str, code: int) -> None:
    results = [ClaimResult(claim(stance=stance), [piece(grade)]) for grade in grades]
    assert Run("quick", 0, results).exit_code == code


def test_the_registry_refuses_doubles_and_dangling_dependencies() -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        register([claim(), claim()])
    with pytest.raises(ValueError, match="do not come before"):
        register([claim(dependencies=("nowhere",))])


def test_cells_of_a_claim_have_different_names() -> None:
    # A cell's name seeds its streams and finds it again in a worker.
    for each in CLAIMS.values():
        for profile in ("quick", "standard", "full"):
            names = [cell.name for cell in each.cells(profile)]
            assert names
            assert len(set(names)) == len(names)


def test_find_claim_names_what_is_missing() -> None:
    assert find_claim("moment-rule").id == "moment-rule"
    with pytest.raises(InvalidArgumentError, match="claim=nothing"):
        find_claim("nothing")


def test_evidence_prints_what_is_set_and_nothing_else() -> None:
    assert piece(Grade.EXACT).as_json() == {
        "cell": "exact",
        "subject": "statement",
        "method": "test",
        "grade": "exact",
        "computed": "1",
        "claimed": "1",
    }
