"""Rules of grading that are too lenient, or too strict, turn the claim on the kernels red."""

from __future__ import annotations

import pytest

import verify.evidence.rigged_grades as rigged_grades
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.rigged_grades import (
    grades_cell,
    rigged_kernels_cell,
    rigged_simulations_cell,
)
from verify.evidence.sampling import Proportion
from verify.seeds import Streams

CELLS = (grades_cell(), rigged_kernels_cell(), rigged_simulations_cell())


def evidence(cell, seed: int = 0) -> Evidence:
    return cell.check(Streams(seed, f"kernel-accuracy/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_the_rules_grade_as_they_say(cell, seed: int) -> None:
    found = evidence(cell, seed)
    assert found.grade is Grade.EXACT, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cells(profile) -> None:
    names = {cell.name for cell in CLAIMS["kernel-accuracy"].cells(profile)}
    assert {cell.name for cell in CELLS} <= names


def lenient(proportion: Proportion, bound: float) -> Grade:
    return Grade.SAMPLED if proportion.interval[0] <= bound else Grade.REFUTED


def strict(proportion: Proportion, bound: float) -> Grade:
    return Grade.SAMPLED if proportion.interval[1] <= bound else Grade.REFUTED


@pytest.mark.parametrize("rule", [lenient, strict])
def test_a_rule_that_decides_what_is_open_is_found(monkeypatch, rule) -> None:
    monkeypatch.setattr(rigged_grades, "grade_at_most", rule)
    assert evidence(grades_cell()).grade is Grade.REFUTED


def test_a_rule_that_leaves_open_what_is_always_true_is_found(monkeypatch) -> None:
    right = rigged_grades.grade_at_most
    monkeypatch.setattr(
        rigged_grades,
        "grade_at_most",
        lambda proportion, bound: Grade.UNDECIDED if bound >= 1 else right(proportion, bound),
    )
    assert evidence(grades_cell()).grade is Grade.REFUTED


def test_a_band_without_its_slack_is_found(monkeypatch) -> None:
    right = rigged_grades.grade_between
    monkeypatch.setattr(
        rigged_grades, "grade_between", lambda *given, slack: right(*given, slack=slack**0)
    )
    assert evidence(grades_cell()).grade is Grade.REFUTED


def test_intervals_that_do_not_hold_jointly_are_found(monkeypatch) -> None:
    monkeypatch.setattr(rigged_grades, "bonferroni_level", lambda _: 0.95)
    assert evidence(grades_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("rule", [lenient, strict])
def test_kernels_that_are_graded_by_another_rule_are_found(monkeypatch, rule) -> None:
    monkeypatch.setattr("verify.evidence.agreement.grade_at_most", rule)
    assert evidence(rigged_kernels_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("rule", [lenient, strict])
def test_simulations_that_are_graded_by_another_rule_are_found(monkeypatch, rule) -> None:
    monkeypatch.setattr("verify.evidence.simulation.grade_at_most", rule)
    assert evidence(rigged_simulations_cell()).grade is Grade.REFUTED


def test_draws_that_nobody_counts_are_found(monkeypatch) -> None:
    def forgetful(_: int, trials: int, level: float) -> Proportion:
        return Proportion(0, trials, level)

    monkeypatch.setattr("verify.evidence.simulation.Proportion", forgetful)
    assert evidence(rigged_simulations_cell()).grade is Grade.REFUTED
