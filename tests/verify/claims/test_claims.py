"""A claim that cannot go red is worth nothing: each is shown a wrong formula here."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import numerics.enumeration
import numerics.population
from verify.claim import ASSERTED, Cell, Grade
from verify.claims import CLAIMS, antisymmetric, population, theorem2, worst_case
from verify.evidence.derivation import derivation_cell
from verify.evidence.simulation import Event, simulation_cell
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
    holds = {Grade.EXACT, Grade.CERTIFIED, Grade.SAMPLED}
    # A disputed wording is settled by its refutation, and by nothing else.
    settled = holds if CLAIMS[claim_id].stance == ASSERTED else {Grade.REFUTED}
    assert evidence.grade in settled, evidence
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
def test_a_step_uphill_disagrees_with_the_balls(monkeypatch, claim_id: str) -> None:
    from verify.trials import one_step as one_step_trial

    step = one_step_trial.one_step
    monkeypatch.setattr(
        one_step_trial, "one_step", lambda V, theta, S, eta: step(V, theta, S, -eta)
    )
    check = cell(claim_id, "d=256").check
    with pytest.raises(ArithmeticError, match="binary64 says True and ball arithmetic False"):
        check(Streams(0, "cell"))


@pytest.mark.parametrize("factor", [-1, np.nan])
def test_a_wrong_first_gradient_disagrees_with_the_balls(monkeypatch, factor: float) -> None:
    gradient = theorem2.antisymmetric_gradient

    def wrong(*at):
        found = gradient(*at)
        return type(found)(found.loss, factor * found.theta, factor * found.theta_tilde)

    monkeypatch.setattr(theorem2, "antisymmetric_gradient", wrong)
    with pytest.raises(ArithmeticError, match="binary64 says True and ball arithmetic False"):
        cell("theorem2-alignment", "d=256").check(Streams(0, "cell"))


def simulated(happens, proof=None, *, bound: float, trials: int = 400):
    made = simulation_cell(
        name="made up",
        draw=lambda rng: rng.random(),
        event=Event("a small number", happens, proof),
        bound=bound,
        trials=trials,
        cells=1,
        assumptions=(),
        cost=0,
    )
    return made.check(Streams(0, "made up"))


def test_a_simulation_decides_by_its_interval() -> None:
    def happens(x: float) -> bool:
        return x < 0.2

    assert simulated(happens, bound=0.3).grade is Grade.SAMPLED
    assert simulated(happens, bound=0.1).grade is Grade.REFUTED
    assert simulated(happens, bound=0.2).grade is Grade.UNDECIDED


def test_draws_that_binary64_cannot_decide_are_proved_and_the_rest_counted_against() -> None:
    def happens(x: float) -> bool | None:
        return None if 0.1 < x < 0.3 else x <= 0.1

    def proof(x: float) -> bool | None:
        return None if 0.15 < x < 0.2 else x < 0.2

    settled = simulated(happens, proof, bound=0.3)
    assert settled.grade is Grade.SAMPLED
    assert "of them undecided" in settled.computed
    # Without a proof, what lies between .1 and .3 counts for neither answer.
    assert simulated(happens, bound=0.2).grade is Grade.UNDECIDED
    assert simulated(happens, bound=0.05).grade is Grade.REFUTED


def test_a_twentieth_of_the_draws_is_audited() -> None:
    found = simulated(lambda x: x < 0.2, lambda x: x < 0.2, bound=0.3)
    assert "20 draws also in balls" in found.precision
    with pytest.raises(ArithmeticError, match="a small number"):
        simulated(lambda x: x < 0.2, lambda x: x >= 0.2, bound=0.3)


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


@pytest.mark.parametrize("empty", [True, False])
def test_a_derivation_without_a_proof_proves_nothing(monkeypatch, empty: bool) -> None:
    from derivations import catalogue

    whole = catalogue.load("moments")
    instances = [each for each in whole.steps if each.method.value == "instances"]
    steps = () if empty else tuple(instances)
    monkeypatch.setattr(catalogue, "load", lambda _: replace(whole, steps=steps))
    evidence = derivation_cell("moments", cost=0).check(Streams(0))
    assert evidence.grade is Grade.UNDECIDED
    assert evidence.reason == "no step is a proof"


def test_a_bracket_wider_than_the_proved_gap_is_refuted(monkeypatch) -> None:
    def useless(*at):
        found = numerics.worst_case.worst_case_loss(*at)
        return type(found)(0.0, 4.0, found.witness, numerics.worst_case.Closure.OPEN)

    monkeypatch.setattr(worst_case, "worst_case_loss", useless)
    assert grade("worst-case-loss", "bracket at random") is Grade.REFUTED


@pytest.mark.parametrize(
    ("claim_id", "formula"),
    [
        ("population-loss", ("population", "loss")),
        ("population-gradient", ("gradient", "theta_tilde")),
        ("antisymmetric-start", ("antisymmetric", "push")),
        ("zero-start", ("zero", "gradient")),
    ],
)
def test_a_wrong_formula_does_not_overlap_the_enumeration(monkeypatch, claim_id, formula) -> None:
    from verify.ledgers import symbolic_to_ball

    right = symbolic_to_ball._expression

    def wrong(derivation: str, name: str):
        factor = 1 + sp.Rational(1, 10**12) if (derivation, name) == formula else 1
        return factor * right(derivation, name)

    monkeypatch.setattr(symbolic_to_ball, "_expression", wrong)
    three_ways = next(each for each in CLAIMS[claim_id].cells("quick") if "three" in each.name)
    evidence = three_ways.check(Streams(0, "three ways"))
    assert evidence.grade is Grade.REFUTED
    assert "inf" in evidence.computed
