"""The claims of Corollary 3: each is shown something wrong here, and goes red or stays open."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from numerics.balls.bounds import corollary3 as kernel
from verify.claim import Cell, Evidence, Grade
from verify.claims import CLAIMS, corollary3, corollary3_draws, corollary3_variance
from verify.seeds import Streams
from verify.trials.one_step import OneStepTrial

# The variance of one sample's gradient.


def evidence(claim_id: str, name: str, *, profile: str = "quick", seed: int = 0) -> Evidence:
    cell: Cell = next(
        each for each in CLAIMS[claim_id].cells(profile) if each.name.startswith(name)
    )
    return cell.check(Streams(seed, f"{claim_id}/{cell.name}"))


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_a_wrong_cumulant_is_refuted(monkeypatch, order: int) -> None:
    monkeypatch.setitem(corollary3_variance._KAPPA, order, 1 - corollary3_variance._KAPPA[order])
    found = evidence("corollary3-variance", "all 2^d inputs")
    assert found.grade is Grade.REFUTED
    assert "witness" in found.reason


def test_a_variance_without_the_squared_mean_is_refuted(monkeypatch) -> None:
    rule = corollary3_variance._by_the_moment_rule
    monkeypatch.setattr(
        corollary3_variance,
        "_by_the_moment_rule",
        lambda case: (rule(case)[0] + Fraction(1, 10**9), *rule(case)[1:]),
    )
    assert evidence("corollary3-variance", "all 2^d inputs").grade is Grade.REFUTED


def test_the_moment_rule_at_moments_known_by_heart() -> None:
    ones = [1, 1, 1]
    assert corollary3_variance._moment([ones] * 2) == 3
    assert corollary3_variance._moment([ones] * 4) == 3 * 9 - 2 * 3  # (1/4) 3^4 + (3/4) 1
    assert corollary3_variance._moment([ones] * 6) == 729 / 4 + 3 / 4
    assert corollary3_variance._moment([ones] * 8) == 6561 / 4 + 3 / 4
    assert corollary3_variance._moment([ones] * 3) == 0
    assert corollary3_variance._moment([[1, 0], [0, 1]]) == 0


def test_a_case_is_scaled_back_to_attention() -> None:
    # gamma = gamma~ = (1/2, 1/2): p = q = 0 at x_a = -x_b, else p q = x_a x_b = 1, so G = 0.
    even = corollary3_variance._Case([3, 3], [5, 5], (0, 1), [1, 0], [0, 1])
    assert corollary3_variance._by_enumeration(even) == (0, 0, 0)
    # gamma = (1, 0), gamma~ = (1/2, 1/2): e q <r, x> is 0 at x_a = x_b; else q = 0 as well, and
    # G~ = 2 e p x_b with e = 1 is -2 at both: its variance is that of (0, -2).
    uneven = corollary3_variance._Case([7, 0], [2, 2], (0, 1), [1, 2], [0, 1])
    assert corollary3_variance._by_enumeration(uneven) == (0, 0, 1)
    assert corollary3_variance._by_the_moment_rule(uneven) == (0, 0, 1)


@pytest.mark.parametrize("factor", [0.99, 1.01, math.nan])
def test_a_kernel_with_another_covariance_is_refuted(monkeypatch, factor: float) -> None:
    from numerics.samples import moments as sample_moments

    quadratic = sample_moments.SlopeForm.quadratic
    monkeypatch.setattr(sample_moments.SlopeForm, "quadratic", lambda *at: factor * quadratic(*at))
    found = evidence("corollary3-variance", "kernel at random", profile="standard")
    assert found.grade is Grade.REFUTED


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_drawn_gradients_with_another_variance_are_refuted(monkeypatch, factor: float) -> None:
    from numerics.samples import covariance as sample_covariance

    variance = sample_covariance.sample_variance
    monkeypatch.setattr(sample_covariance, "sample_variance", lambda *at: factor * variance(*at))
    found = evidence("corollary3-variance", "gradients drawn", profile="standard")
    assert found.grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["kernel at random", "gradients drawn"])
def test_the_kernel_agrees_with_enumeration_and_with_draws(name: str) -> None:
    found = evidence("corollary3-variance", name, profile="standard", seed=2)
    assert found.grade is Grade.SAMPLED
    assert found.margin is not None
    assert found.margin > 0


# What is certified.


def test_a_bound_that_misses_its_mark_leaves_the_statement_open(monkeypatch) -> None:
    monkeypatch.setattr(corollary3, "_SUFFICIENT", 3)
    found = evidence("corollary3-explicit", "d=1e9")
    assert found.grade is Grade.UNDECIDED
    assert found.reason
    assert found.margin is not None
    assert found.margin < 0


def test_an_event_more_likely_than_allowed_leaves_the_statement_open(monkeypatch) -> None:
    events = kernel.sample_failure_events

    def likelier(*at, **options):
        first, *rest = events(*at, **options)
        return (replace(first, probability=first.probability + 0.25), *rest)

    monkeypatch.setattr(kernel, "sample_failure_events", likelier)
    assert evidence("corollary3-explicit", "d=1e9").grade is Grade.UNDECIDED


@pytest.mark.parametrize(
    ("n", "by_range", "grade"),
    [
        (6 * (10**18 + 1024 * 10**9), 10**37, Grade.CERTIFIED),
        (6 * (10**18 + 1024 * 10**9) + 1, 10**37, Grade.UNDECIDED),
        (10**18, 10**37 - 1, Grade.UNDECIDED),
        (10**18, None, Grade.UNDECIDED),
        (None, None, Grade.UNDECIDED),
    ],
)
def test_numbers_found_are_compared_with_what_is_claimed(
    monkeypatch, n: int | None, by_range: int | None, grade: Grade
) -> None:
    from numerics.balls.bounds import explicit_corollary3 as engine

    made_up = engine.ExplicitCorollary3(
        d=10**9,
        m=1024,
        failure=corollary3.FAILURE,
        n_sufficient=n,
        n_hoeffding=by_range,
        failure_upper=Fraction(1, 4),
        events=(),
        budget=None,
    )
    monkeypatch.setattr(engine, "explicit_corollary3", lambda *_, **__: made_up)
    found = evidence("corollary3-explicit", "least n", profile="standard")
    assert found.grade is grade
    assert (found.reason is None) == (grade is Grade.CERTIFIED)


# What is sampled.

IN_TURN = {
    "one to one": ((0, 1), 1e-9),
    "one position": ((1, 1), 4.0),
    "outside": ((0, 7), 4.0),
    "together outside": ((7, 7), 4.0),
}


def made_up(shares: dict[str, float]):
    """Return a stand-in for the trials, with given shares of what can happen."""

    def run(_streams, trials: range, *_sizes, **_options) -> list[OneStepTrial]:
        names = [name for name, share in shares.items() for _ in range(round(share * len(trials)))]
        return [
            OneStepTrial((0, 1), heads, (0.9, 0.9), upper, upper)
            for heads, upper in (IN_TURN[name] for name in names)
        ]

    return run


@pytest.mark.parametrize(
    ("claim_id", "name", "shares", "grade"),
    [
        ("corollary3-support-found", "", {"one position": 1}, Grade.SAMPLED),
        ("corollary3-support-found", "", {"one to one": 0.9, "outside": 0.1}, Grade.UNDECIDED),
        ("corollary3-support-found", "", {"one to one": 0.7, "outside": 0.3}, Grade.REFUTED),
        ("corollary3-linear-samples", "one position", {"one position": 1}, Grade.SAMPLED),
        ("corollary3-linear-samples", "one position", {"one to one": 1}, Grade.REFUTED),
        ("corollary3-linear-samples", "one position", {"together outside": 1}, Grade.REFUTED),
        ("corollary3-linear-samples", "success", {"one position": 1}, Grade.SAMPLED),
        ("corollary3-linear-samples", "success", {"one to one": 1}, Grade.REFUTED),
        ("corollary3-linear-samples", "support found", {"outside": 1}, Grade.REFUTED),
        ("corollary3-distinct-positions", "", {"one to one": 1}, Grade.REFUTED),
        ("corollary3-distinct-positions", "", {"one position": 1}, Grade.REFUTED),
        (
            "corollary3-distinct-positions",
            "",
            {"one to one": 0.7, "one position": 0.3},
            Grade.SAMPLED,
        ),
        ("corollary3-paper-rate", "", {"one to one": 1}, Grade.SAMPLED),
        ("corollary3-paper-rate", "", {"one to one": 0.6, "outside": 0.4}, Grade.REFUTED),
        ("corollary3-not-contradicted", "", {"one to one": 1}, Grade.SAMPLED),
        ("corollary3-not-contradicted", "", {"one to one": 0.7, "outside": 0.3}, Grade.REFUTED),
    ],
)
def test_what_draws_show_is_held_against_what_is_claimed(
    monkeypatch, claim_id: str, name: str, shares: dict[str, float], grade: Grade
) -> None:
    monkeypatch.setattr(corollary3_draws, "run_sample_trials", made_up(shares))
    monkeypatch.setattr(corollary3_draws, "certified_failure", lambda *_: Fraction(177, 1000))
    found = evidence(claim_id, name)
    assert found.grade is grade, found
    assert found.margin is not None
    assert (found.margin >= 0) == (grade is Grade.SAMPLED)


@pytest.mark.parametrize("claim_id", ["corollary3-support-found", "corollary3-paper-rate"])
def test_a_step_uphill_is_refuted(monkeypatch, claim_id: str) -> None:
    run = corollary3_draws.run_sample_trials

    def uphill(*at, eta: float, **options):
        return run(*at, eta=-eta, **options)

    monkeypatch.setattr(corollary3_draws, "run_sample_trials", uphill)
    assert evidence(claim_id, "").grade is Grade.REFUTED


def test_too_few_samples_are_refuted(monkeypatch) -> None:
    run = corollary3_draws.run_sample_trials

    def few(streams, trials, d, m, n, **options):
        return run(streams, trials, d, m, n // 8, **options)

    monkeypatch.setattr(corollary3_draws, "run_sample_trials", few)
    assert evidence("corollary3-support-found", "").grade is Grade.REFUTED


def test_every_setting_keeps_the_conditions_of_its_claim() -> None:
    for profile in ("quick", "standard", "full"):
        for each in corollary3_draws._SUPPORT_SETTINGS[profile]:
            assert each.m >= 64
            assert each.method == "exact"
            assert each.n == math.ceil(4 * (each.d + each.d**2 / each.m) * math.log(each.d))
        for each in corollary3_draws._LINEAR_SETTINGS[profile]:
            assert each.m == 4 * each.d
            assert each.n == math.ceil(5 * each.d * math.log(each.d))
        for each in corollary3_draws._LAW_PLANS[profile].settings:
            assert 4 * each.n >= each.d**2 + each.d * each.m
        for each in corollary3_draws._PAPER_SETTINGS[profile]:
            assert each.n == each.d**4
        for each in corollary3_draws._BOUND_SETTINGS[profile]:
            assert each.n % (each.d**2 + each.d * each.m) == 0


def test_the_sizes_of_the_bound_are_those_at_which_it_is_proved() -> None:
    # Otherwise "at most 1/4" would be said of a bound that is larger.
    for profile in ("quick", "standard", "full"):
        for each in corollary3_draws._BOUND_SETTINGS[profile]:
            assert corollary3.certified_failure(each.d, each.m, each.n) <= Fraction(1, 4)


def test_the_law_of_different_positions() -> None:
    law = corollary3_draws.distinct_positions_law
    assert law(64, 128, 10**15) == pytest.approx(1 - 2 / np.pi * np.arctan(1 / 8), rel=1e-9)
    # At n = (d^2 + d m)/4 the two noises add up to the lean, but for 1/d.
    assert law(10**6, 1, (10**12 + 10**6) // 4) == pytest.approx(0.5, abs=1e-6)
    assert law(64, 64, 100) < law(64, 64, 1000) < law(64, 32, 1000)
