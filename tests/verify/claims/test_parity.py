"""The claims on parity of k bits: each is shown something wrong, and goes red or stays open."""

import math
from dataclasses import replace

import numpy as np
import pytest

import numerics.parity.enumeration
import numerics.parity.population
from numerics.parity.population import ParityGradient, ParityStep
from verify.claim import Cell, Evidence, Grade
from verify.claims import CLAIMS, parity, parity_loss
from verify.seeds import Streams
from verify.trials import parity as parity_trial
from verify.trials.parity import (
    ParityInstance,
    ParitySetting,
    best_of_steps,
    descend,
    draw_parity,
)

IDS = ("parity-loss", "parity-first-step", "parity-limit", "parity-better-starts")
SETTING = ParitySetting(3, 40, 50, norm=5.0)


def evidence(claim_id: str, name: str, *, profile: str = "quick", seed: int = 0) -> Evidence:
    cell: Cell = next(
        each for each in CLAIMS[claim_id].cells(profile) if each.name.startswith(name)
    )
    return cell.check(Streams(seed, f"{claim_id}/{cell.name}"))


@pytest.mark.parametrize("claim_id", IDS)
def test_the_claims_have_cells_in_every_profile(claim_id: str) -> None:
    for profile in ("quick", "standard", "full"):
        names = [each.name for each in CLAIMS[claim_id].cells(profile)]
        assert len(set(names)) == len(names) > 0


@pytest.mark.parametrize(
    ("claim_id", "name"),
    [
        (id_, each.name)
        for id_ in ("parity-first-step", "parity-better-starts")
        for each in CLAIMS[id_].cells("standard")
        if not each.name.startswith("derivation") and each.cost < 0.4
    ],
)
def test_cheap_cells_hold_at_another_seed(claim_id: str, name: str) -> None:
    found = evidence(claim_id, name, profile="standard", seed=20_250_211)
    assert found.grade is Grade.SAMPLED, found
    assert found.subject == "cross-check" or (found.margin is not None and found.margin > 0)


# The trial.


def test_a_draw_repeats_and_follows_its_setting() -> None:
    first, second = (draw_parity(np.random.default_rng(1), SETTING) for _ in range(2))
    assert np.array_equal(first.V, second.V)
    assert first.V.shape == (40, 50)
    assert first.theta.shape == (3, 50)
    assert len(set(first.support)) == 3
    assert np.linalg.norm(first.theta, axis=1) == pytest.approx([5.0] * 3)
    assert np.abs(first.theta.sum(axis=0)).max() < 1e-13
    assert first.unit == 40**3
    other = draw_parity(np.random.default_rng(1), replace(SETTING, start="independent"))
    assert np.array_equal(first.V, other.V)
    assert np.abs(other.theta.sum(axis=0)).max() > 1


def test_supports_are_uniform() -> None:
    setting = ParitySetting(2, 3, 4)
    draws = [draw_parity(np.random.default_rng(i), setting).support for i in range(600)]
    for pair in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)):
        # Five standard deviations of a count with mean 100.
        assert abs(draws.count(pair) - 100) < 46


def test_the_best_of_steps_is_the_best_of_them() -> None:
    at = draw_parity(np.random.default_rng(2), SETTING)
    losses = [at.step(scale).loss for scale in (1.0, 30.0, 1e6)]
    assert best_of_steps(at, (1.0, 30.0, 1e6)) == min(losses)


def test_descent_counts_its_steps() -> None:
    at = draw_parity(np.random.default_rng(8), SETTING)
    losses, current = [], at
    for _ in range(9):
        step = current.step(0.03)
        losses.append(step.loss)
        current = ParityInstance(at.V, step.theta, at.support)
    first = 1 + next(i for i, loss in enumerate(losses) if loss <= 0.01)
    assert 1 < first < 9
    assert descend(at, 0.03, steps=9, tolerance=0.01) == first
    assert descend(at, 0.03, steps=first - 1, tolerance=0.01) is None


# Loss and gradient.


def test_a_wrong_enumeration_is_refuted(monkeypatch) -> None:
    right = numerics.parity.enumeration.enumerate_parity_loss
    monkeypatch.setattr(parity_loss, "enumerate_parity_loss", lambda *at: right(*at) * 2)
    assert evidence("parity-loss", "all 2^d inputs").grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["loss_3", "slope_4"])
def test_a_wrong_formula_is_refuted(monkeypatch, name: str) -> None:
    right = parity_loss._formula
    monkeypatch.setattr(
        parity_loss, "_formula", lambda each: right(each) * (2 if each == name else 1)
    )
    found = evidence("parity-loss", "all 2^d inputs")
    assert found.grade is Grade.REFUTED
    assert f"k = {name[-1]}" in found.reason


@pytest.mark.parametrize("factor", [-1, 1 + 1e-9, np.nan])
def test_a_wrong_loss_kernel_is_refuted(monkeypatch, factor: float) -> None:
    right = numerics.parity.population.parity_loss
    monkeypatch.setattr(parity_loss, "parity_loss", lambda *at: factor * right(*at))
    assert evidence("parity-loss", "loss at random").grade is Grade.REFUTED


@pytest.mark.parametrize("factor", [-1, 1 + 1e-9, np.nan])
@pytest.mark.parametrize("name", ["gradient of two", "gradient of three"])
def test_a_wrong_gradient_kernel_is_refuted(monkeypatch, name: str, factor: float) -> None:
    right = numerics.parity.population.parity_gradient

    def wrong(*at) -> ParityGradient:
        found = right(*at)
        return ParityGradient(found.loss, factor * found.theta)

    monkeypatch.setattr(parity_loss, "parity_gradient", wrong)
    assert evidence("parity-loss", name).grade is Grade.REFUTED


# What draws show.


def uphill(*at, start=None) -> ParityStep:
    V, theta, support, eta = at
    return numerics.parity.population.parity_step(V, theta, support, -eta, start=start)


@pytest.mark.parametrize(
    ("claim_id", "name"),
    [
        ("parity-first-step", "step at k=3"),
        ("parity-better-starts", "long queries"),
    ],
)
def test_a_step_uphill_is_refuted(monkeypatch, claim_id: str, name: str) -> None:
    monkeypatch.setattr(parity_trial, "parity_step", uphill)
    assert evidence(claim_id, name).grade is Grade.REFUTED


def test_long_queries_break_the_limit(monkeypatch) -> None:
    right = parity.draw_parity
    monkeypatch.setattr(
        parity, "draw_parity", lambda rng, setting: right(rng, replace(setting, norm=16.0))
    )
    for k in (3, 4):
        assert evidence("parity-limit", f"one step at k={k}").grade is Grade.REFUTED


def test_short_queries_do_not_do_what_long_ones_do(monkeypatch) -> None:
    right = parity.draw_parity
    monkeypatch.setattr(
        parity, "draw_parity", lambda rng, setting: right(rng, replace(setting, norm=1.0))
    )
    assert evidence("parity-better-starts", "long queries").grade is Grade.REFUTED


@pytest.mark.parametrize("power", [1, 2])
def test_another_power_of_the_lean_is_refuted(monkeypatch, power: int) -> None:
    right = parity.common_shock

    def wrong(k: int, *, start: str) -> float:
        # lambda^2 = (k/(k-1))^power in place of the third power.
        return (right(k, start=start) + 1 / k) * (k / (k - 1)) ** (3 - power) - 1 / k

    parity.prediction.cache_clear()
    monkeypatch.setattr(parity, "common_shock", wrong)
    found = evidence("parity-first-step", "signal at k=3, simplex", profile="standard")
    parity.prediction.cache_clear()
    assert found.grade is Grade.REFUTED


@pytest.mark.parametrize(
    ("claim_id", "name", "share", "grade"),
    [
        ("parity-first-step", "step at k=3", 0.24, Grade.SAMPLED),
        ("parity-first-step", "step at k=3", 0.02, Grade.REFUTED),
        ("parity-first-step", "step at k=3", 0.9, Grade.REFUTED),
        ("parity-first-step", "step at k=4", 0.015, Grade.UNDECIDED),
        ("parity-first-step", "step at k=4", 0.2, Grade.REFUTED),
        ("parity-limit", "one step at k=2, simplex", 0.08, Grade.SAMPLED),
        ("parity-limit", "one step at k=2, simplex", 0.01, Grade.REFUTED),
        ("parity-limit", "one step at k=2, independent", 0.3, Grade.REFUTED),
        ("parity-limit", "one step at k=3", 0.0, Grade.SAMPLED),
        ("parity-limit", "one step at k=3", 0.39, Grade.UNDECIDED),
        ("parity-limit", "any of four sizes at k=4", 0.5, Grade.REFUTED),
        ("parity-better-starts", "orthonormal embeddings at k=3", 1.0, Grade.SAMPLED),
        ("parity-better-starts", "orthonormal embeddings at k=3", 0.41, Grade.UNDECIDED),
        ("parity-better-starts", "15 steps", 0.1, Grade.REFUTED),
    ],
)
def test_shares_are_held_against_what_is_claimed(
    monkeypatch, claim_id: str, name: str, share: float, grade: Grade
) -> None:
    monkeypatch.setattr(
        parity, "_count", lambda _setting, _happens, _streams, trials: round(share * trials)
    )
    found = evidence(claim_id, name, profile="standard")
    assert found.grade is grade, found
    assert found.margin is not None
    assert (found.margin >= 0) == (grade is Grade.SAMPLED)


def test_a_loss_that_is_not_a_number_is_a_failure(monkeypatch) -> None:
    at = draw_parity(np.random.default_rng(0), SETTING)
    step = at.step(1.0)
    broken = ParityStep(step.start, step.theta, step.gamma, step.heads, math.nan)
    monkeypatch.setattr(parity_trial, "parity_step", lambda *_, **__: broken)
    assert parity._fails(at)
    assert not parity._succeeds(at)
    assert not parity._some_step_succeeds(at)
    assert not parity._succeeds_in_steps(0.1, 3, at)


def test_the_laws_and_the_predictions() -> None:
    assert parity._law(64, "simplex") == pytest.approx(2 / math.pi * math.atan(1 / 8))
    assert parity._law(50, "independent") == pytest.approx(2 / math.pi * math.atan(1 / 5))
    stated = {(3, "simplex"): 0.2364, (3, "independent"): 0.1886}
    stated |= {(4, "simplex"): 0.0309, (4, "independent"): 0.0222}
    for (k, start), value in stated.items():
        assert parity.prediction(k, start) == pytest.approx(value, abs=5e-5)
        assert str(value) in CLAIMS["parity-first-step"].statement
