"""Several steps on the same samples: the samples are the same, and the claim can fail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from verify.claim import Grade
from verify.claims import corollary3_steps
from verify.claims.corollary3_steps import CLAIMS, linear_samples, train
from verify.seeds import Streams
from verify.trials.samples import run_sample_trials

CELL = "corollary3-few-steps/d=64, m=256, n=1331"


def test_the_first_step_is_that_of_a_trial_of_the_corollary():
    d, n = 32, 300
    for trial in range(3):
        first, *_ = train(Streams(5), trial, d, n, steps=2)
        (expected,) = run_sample_trials(
            Streams(5), range(trial, trial + 1), d, 4 * d, n, eta=float(d * d), method="exact"
        )
        assert first == expected


def test_every_step_is_judged_and_later_ones_do_not_change_earlier_ones():
    d, n = 32, 300
    long = train(Streams(6), 0, d, n, steps=4)
    assert len(long) == 4
    assert train(Streams(6), 0, d, n, steps=2) == long[:2]
    assert long[0] != long[1]


def test_all_steps_see_the_same_samples(monkeypatch):
    import numerics.samples.empirical

    true, states = numerics.samples.empirical.empirical_gradient, []

    def watched(rng, *arguments, **options):
        states.append(rng.bit_generator.state)
        return true(rng, *arguments, **options)

    monkeypatch.setattr(numerics.samples.empirical, "empirical_gradient", watched)
    train(Streams(7), 0, 16, 100, steps=3)
    assert states[0] == states[1] == states[2]


def test_linear_samples():
    assert linear_samples(64) == 1331
    assert linear_samples(64, 2) == 533


@pytest.mark.parametrize(("failing", "grade"), [(1, Grade.REFUTED), (20, Grade.SAMPLED)])
def test_the_claim_can_fail(monkeypatch, failing, grade):
    """Every draw fails, or one in twenty does."""
    (trial,) = run_sample_trials(Streams(0), range(1), 8, 32, 50, eta=64.0, method="exact")
    good, bad = replace(trial, lower=0.0, upper=0.001), replace(trial, lower=0.5, upper=0.6)

    def trained(_streams, i, _d, _n, *, steps):
        return [bad] * (steps - 1) + [bad if i % failing == 0 else good]

    monkeypatch.setattr(corollary3_steps, "train", trained)
    (claim,) = CLAIMS
    cell = claim.cells("standard")[0]
    assert cell.check(Streams(0, CELL)).grade is grade
