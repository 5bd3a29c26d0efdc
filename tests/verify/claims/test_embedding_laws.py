"""Embeddings, interpretability and starts: the claims can fail, the laws are what they say."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from numerics.one_step import one_step
from verify.claim import Grade
from verify.claims import embedding_laws, interpretability, starts
from verify.claims.embedding_laws import unequal_norms_law
from verify.claims.starts import same_position_law
from verify.instances.instance import draw_instance
from verify.instances.starts import draw_start
from verify.seeds import Streams
from verify.trials.one_step import measure

CLAIMS = {
    claim.id: claim
    for module in (embedding_laws, interpretability, starts)
    for claim in module.CLAIMS
}


def cell(claim: str, name: str, profile="quick"):
    (found,) = (each for each in CLAIMS[claim].cells(profile) if each.name == name)
    return found


def test_the_law_of_unequal_norms_is_that_of_two_normal_variables() -> None:
    """The heads' lean 2 (v_a - v_b).theta against |v_a|^2 - |v_b|^2 and the other positions."""
    rng, d, m, draws = np.random.default_rng(1), 16, 4000, 200_000
    lean = 2 * math.sqrt(2 / m) * rng.standard_normal(draws)
    norms = math.sqrt(4 / m) * rng.standard_normal(draws)
    others = math.sqrt(8 / (d * m)) * rng.standard_normal(draws)
    found = np.mean(np.abs(norms + others) > np.abs(lean))
    # Four standard errors of a proportion near 0.4.
    assert found == pytest.approx(unequal_norms_law(d), abs=4 * 0.5 / math.sqrt(draws))
    assert unequal_norms_law(10**12) == pytest.approx(2 / math.pi * math.asin(1 / math.sqrt(3)))


def test_the_independent_start_halves_the_variance_of_the_lean() -> None:
    rng, d, draws = np.random.default_rng(2), 20, 200_000
    others = math.sqrt(8 / d) * rng.standard_normal(draws)
    for start, size in (("antisymmetric", 2.0), ("independent", math.sqrt(2))):
        lean = size * math.sqrt(2) * rng.standard_normal(draws)
        found = np.mean(np.abs(others) > np.abs(lean))
        assert found == pytest.approx(same_position_law(d, start), abs=2 / math.sqrt(draws))
    assert same_position_law(100, "antisymmetric") == pytest.approx(2 / math.pi * math.atan(0.1))


SURVIVES = ("embedding-laws", "rademacher, d=256, m=128")
UNEQUAL = ("unequal-norms", "gaussian, d=64, m=64")
SINUSOIDAL = ("sinusoidal-embeddings", "sinusoidal, d=64, m=64")


@pytest.mark.parametrize(
    ("where", "failing", "grade"),
    [
        (SURVIVES, 0.0, Grade.SAMPLED),
        (SURVIVES, 0.12, Grade.UNDECIDED),
        (SURVIVES, 0.3, Grade.REFUTED),
        (UNEQUAL, 0.1, Grade.REFUTED),
        (UNEQUAL, 0.4, Grade.SAMPLED),
        (UNEQUAL, 0.6, Grade.REFUTED),
        (SINUSOIDAL, 0.0, Grade.REFUTED),
        (SINUSOIDAL, 0.5, Grade.SAMPLED),
        (SINUSOIDAL, 0.27, Grade.UNDECIDED),
    ],
)
def test_a_law_of_embeddings_can_fail_its_claim(monkeypatch, where, failing, grade) -> None:
    trial = measure(draw_instance(Streams(0).trial(0), 8, 16), eta=1e4)
    good, bad = replace(trial, lower=0.0, upper=0.001), replace(trial, lower=0.5, upper=0.6)

    def run_trials(_streams, trials, *_sizes, **_options):
        return [bad if (i + 1) * failing // 1 > i * failing // 1 else good for i in trials]

    monkeypatch.setattr(embedding_laws, "run_trials", run_trials)
    assert cell(*where).check(Streams(0)).grade is grade


def test_a_law_is_simulated_at_its_own_sizes_and_step(monkeypatch) -> None:
    asked = []

    def run_trials(_streams, trials, d, m, *, eta, law):
        asked.append((len(trials), d, m, eta, law))
        return [measure(draw_instance(Streams(0).trial(0), 8, 16), eta=1e4)]

    monkeypatch.setattr(embedding_laws, "run_trials", run_trials)
    cell(*UNEQUAL).check(Streams(0))
    assert asked == [(800, 64, 64, 1e6 * 64**2, "gaussian")]


def test_attention_on_the_support_is_looked_at() -> None:
    instance = draw_instance(Streams(2).trial(0), 64, 64)
    for eta, expected in ((1e6 * 64**2, False), (10.0 * 64**2, True)):
        outcome = measure(instance, eta=eta)
        assert outcome.one_to_one
        assert (min(outcome.attention) < 0.99) is expected
        assert interpretability._unclear(eta, instance) is expected
        assert interpretability._provably_unclear(Fraction(eta), instance) is (expected)


def test_an_attention_next_to_99_percent_is_left_to_the_balls(monkeypatch) -> None:
    instance = draw_instance(Streams(2).trial(0), 64, 64)
    outcome = measure(instance, eta=1e6 * 64**2)
    for attention, expected in ((0.990001, None), (0.98, True), (0.9902, False)):
        near = replace(outcome, attention=(attention, 1.0))
        monkeypatch.setattr(interpretability, "measure", lambda *_, near=near, **__: near)
        assert interpretability._unclear(1.0, instance) is expected
    swapped = replace(outcome, heads=(instance.support[0],) * 2)
    monkeypatch.setattr(interpretability, "measure", lambda *_, **__: swapped)
    assert interpretability._unclear(1.0, instance) is True


def test_the_proved_attention_is_graded_by_its_bound(monkeypatch) -> None:
    import numerics.balls.bounds.explicit_theorem2 as module

    asked = []

    def bound(failure: Fraction):
        def explicit(d, m, *, tolerance):
            asked.append((d, m, tolerance))
            return SimpleNamespace(scale=Fraction(1000), failure_upper=failure)

        return explicit

    where = cell("interpretability-explicit", "d=1e15, m=1024")
    for failure, grade in (
        (Fraction(31, 10**9), Grade.CERTIFIED),
        (Fraction(32, 10**9), Grade.UNDECIDED),
    ):
        monkeypatch.setattr(module, "explicit_theorem2", bound(failure))
        found = where.check(Streams(0))
        assert found.grade is grade
        assert (found.reason is None) is (grade is Grade.CERTIFIED)
    # (1 - 99/100)^2: the loss that forces 99%.
    assert asked[0] == (10**15, 1024, Fraction(1, 10_000))


def test_learning_is_counted(monkeypatch) -> None:
    import numerics.training

    where = cell("independent-starts-learn", "linear, d=64, m=128")
    true = numerics.training.descend
    for eta, grade in ((None, Grade.SAMPLED), (50.0, Grade.REFUTED)):

        def descend(*arguments, eta_=eta, **options):
            return true(*arguments, **(options | ({} if eta_ is None else {"eta": eta_})))

        monkeypatch.setattr(numerics.training, "descend", descend)
        assert where.check(Streams(1)).grade is grade


def test_the_starts_are_told_apart(monkeypatch) -> None:
    """Counted by hand, and refuted if each start is given the law of the other."""
    where = cell("antisymmetric-start-effect", "independent, d=32, m=64")
    found = where.check(Streams(3))
    count = 0
    for i in range(800):
        drawn = draw_start(Streams(3).trial(i), 32, 64, law="sphere", start="independent")
        step = one_step(
            drawn.V,
            drawn.theta,
            drawn.support,
            1e6 * 32**2,
            theta_tilde=drawn.theta_tilde,
        )
        count += step.heads[0] == step.heads[1]
    assert found.computed.startswith(f"{count}/800, ")
    assert found.grade is Grade.SAMPLED
    monkeypatch.setattr(starts, "same_position_law", lambda *_: 0.03)
    assert where.check(Streams(3)).grade is Grade.REFUTED


@pytest.mark.parametrize(
    ("ratio", "grade"), [(1.0, Grade.UNDECIDED), (1.5, Grade.SAMPLED), (0.6, Grade.REFUTED)]
)
def test_a_start_that_makes_no_difference_is_seen(monkeypatch, ratio, grade) -> None:
    """Within a factor 1.6 of both laws, which the other cells would let pass."""

    def on_one_position(streams, trial, _d, _m, start):
        chance = 0.13 * (1 if start == "antisymmetric" else ratio)
        return streams.trial(trial).spawn(2)[start == "antisymmetric"].random() < chance

    monkeypatch.setattr(starts, "_on_one_position", on_one_position)
    where = cell("antisymmetric-start-effect", "both starts of the same draw, d=32, m=64")
    assert where.check(Streams(1)).grade is grade
    for start in ("antisymmetric", "independent"):
        other = cell("antisymmetric-start-effect", f"{start}, d=32, m=64")
        if grade is Grade.UNDECIDED:
            assert other.check(Streams(1)).grade is Grade.SAMPLED


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_sampled_cells_have_names_of_their_own(profile) -> None:
    for claim in CLAIMS.values():
        names = [each.name for each in claim.cells(profile)]
        assert len(set(names)) == len(names) > 0
