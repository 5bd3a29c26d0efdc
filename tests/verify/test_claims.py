"""A claim that cannot go red is worth nothing: each is shown a wrong formula here."""

import numpy as np
import pytest

import numerics.enumeration
import numerics.population
from verify.claim import Cell, Grade
from verify.claims import CLAIMS, antisymmetric, population, theorem2, worst_case
from verify.runner import check_cell
from verify.seeds import Streams


def cell(claim_id: str, name: str) -> Cell:
    return next(each for each in CLAIMS[claim_id].cells("quick") if each.name.startswith(name))


def grade(claim_id: str, name: str) -> Grade:
    return check_cell(claim_id, cell(claim_id, name).name, "quick", 0)[0].grade


QUICK = [
    (id_, each.name)
    for id_, claim in CLAIMS.items()
    for each in claim.cells("quick")
    if not each.name.startswith("derivation")
]


@pytest.mark.parametrize(("claim_id", "name"), QUICK)
def test_every_cell_holds_at_another_seed(claim_id: str, name: str) -> None:
    evidence, _ = check_cell(claim_id, name, "quick", 20_250_211)
    assert evidence.grade in {Grade.EXACT, Grade.SAMPLED}, evidence
    assert evidence.cell == name


@pytest.mark.parametrize("factor", [-1, 1 + 1e-12])
def test_a_wrong_loss_kernel_is_refuted(monkeypatch, factor: float) -> None:
    monkeypatch.setattr(population, "loss", lambda *at: factor * numerics.population.loss(*at))
    assert grade("population-loss", "loss at random attention") is Grade.REFUTED


def wrong_gradient(which: str, factor: float):
    def mutated(*at):
        found = numerics.population.gradient(*at)
        parts = {"theta": found.theta, "theta_tilde": found.theta_tilde}
        parts[which] = factor * parts[which]
        return numerics.population.PopulationGradient(found.loss, **parts)

    return mutated


@pytest.mark.parametrize("which", ["theta", "theta_tilde"])
@pytest.mark.parametrize("factor", [-1, 0.5, np.nan])
def test_a_wrong_gradient_kernel_is_refuted(monkeypatch, which: str, factor: float) -> None:
    monkeypatch.setattr(population, "gradient", wrong_gradient(which, factor))
    assert grade("population-gradient", "gradient at random") is Grade.REFUTED


@pytest.mark.parametrize("which", ["theta", "theta_tilde"])
def test_a_wrong_gradient_at_zero_is_refuted(monkeypatch, which: str) -> None:
    monkeypatch.setattr(population, "gradient", wrong_gradient(which, -1))
    assert grade("zero-start", "loss and gradients") is Grade.REFUTED


def test_two_kernels_that_disagree_are_refuted(monkeypatch) -> None:
    monkeypatch.setattr(antisymmetric, "gradient", wrong_gradient("theta", 1 + 1e-9))
    assert grade("antisymmetric-start", "first gradient at random instances, d = 50") is (
        Grade.REFUTED
    )


def shrunk(by: float):
    def mutated(*at):
        found = numerics.worst_case.worst_case_loss(*at)
        return type(found)(found.lower, found.upper * by, found.witness, found.proved)

    return mutated


def test_a_bracket_that_misses_the_supremum_is_refuted(monkeypatch) -> None:
    monkeypatch.setattr(worst_case, "worst_case_loss", shrunk(1 - 1e-12))
    assert grade("worst-case-loss", "bracket at random") is Grade.REFUTED


def test_a_bracket_that_gives_the_supremum_away_is_refuted(monkeypatch) -> None:
    monkeypatch.setattr(worst_case, "worst_case_loss", shrunk(1 + 1e-12))
    assert grade("worst-case-loss", "bracket at random") is Grade.REFUTED


def test_a_wrong_enumeration_refutes_the_derived_loss(monkeypatch) -> None:
    def mutated(gamma, gamma_tilde, support):
        found = numerics.enumeration.enumerate_loss(gamma, gamma_tilde, support)
        return type(found)(found.mean / 2, found.supremum, found.witness)

    monkeypatch.setattr(population, "enumerate_loss", mutated)
    for claim_id in ("population-loss", "population-gradient"):
        assert grade(claim_id, "all 2^d inputs") is Grade.REFUTED


@pytest.mark.parametrize("claim_id", ["theorem2-loss", "theorem2-heads"])
def test_a_step_uphill_refutes_the_theorem(monkeypatch, claim_id: str) -> None:
    step = theorem2.one_step

    def uphill(V, theta, support, eta):
        return step(V, theta, support, -eta)

    monkeypatch.setattr(theorem2, "one_step", uphill)
    monkeypatch.setattr("verify.one_step_trial.one_step", uphill)
    assert grade(claim_id, "d=256") is Grade.REFUTED


def test_a_gradient_uphill_refutes_the_alignment(monkeypatch) -> None:
    gradient = theorem2.antisymmetric_gradient

    def uphill(*at):
        found = gradient(*at)
        return type(found)(found.loss, -found.theta, -found.theta_tilde)

    monkeypatch.setattr(theorem2, "antisymmetric_gradient", uphill)
    assert grade("theorem2-alignment", "d=256") is Grade.REFUTED


def test_draws_outside_the_assumptions_are_vacuous(monkeypatch) -> None:
    draw = theorem2.draw_instance
    monkeypatch.setattr(
        "verify.claims.theorem2.draw_instance",
        lambda rng, d, m: draw(rng, d, m, law="gaussian"),
    )
    check = next(each for each in CLAIMS["theorem2-loss"].cells("quick")).check
    evidence = check(Streams(0, "cell"))
    assert evidence.grade is Grade.VACUOUS
    assert evidence.met == 0
    assert evidence.reason
