from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import MAPS, SOFTMAX
from numerics.general_population import gradient
from numerics.one_step import one_step
from numerics.samples.empirical import empirical_gradient
from numerics.training import (
    Trajectory,
    descend,
    population_objective,
    sample_objective,
    stopping_loss,
)
from verify.testing.strategies import instance_at

START = instance_at(d=8, m=16, seed=2, support=(5, 1), start="independent")
V, THETA, TILDE, SUPPORT = START.V, START.theta, START.theta_tilde, START.support
LINEAR, ERF = MAPS["linear"], MAPS["erf"]


def same(one: Trajectory, other: Trajectory) -> bool:
    def bits(trajectory):
        names = ("start", "start_tilde", "losses", "theta", "theta_tilde")
        arrays = [getattr(trajectory, name).tobytes() for name in names]
        return trajectory.eta.hex(), trajectory.diverged, arrays

    return bits(one) == bits(other)


def quadratic(theta, theta_tilde):
    """|theta|^2 + 2 theta~^2: a step multiplies theta by 1 - 2 eta and theta~ by 1 - 4 eta."""
    return SimpleNamespace(
        loss=float(theta @ theta + 2 * theta_tilde @ theta_tilde),
        theta=2 * theta,
        theta_tilde=4 * theta_tilde,
    )


def test_steps_of_a_quadratic_are_the_closed_form():
    seen = []
    found = descend(
        quadratic,
        [1.0, -2.0],
        [4.0, 0.0],
        eta=0.125,
        steps=3,
        on_step=lambda *given: seen.append(given),
    )
    # Powers of 3/4 and 1/2: exact in binary64.
    losses = [5 * 0.75 ** (2 * k) + 2 * 16 * 0.5 ** (2 * k) for k in range(4)]
    assert found.losses.tolist() == losses
    assert found.theta.tolist() == [0.75**3, -2 * 0.75**3]
    assert found.theta_tilde.tolist() == [0.5, 0.0]
    assert (found.start.tolist(), found.start_tilde.tolist()) == ([1.0, -2.0], [4.0, 0.0])
    assert (found.steps, found.eta, found.diverged) == (3, 0.125, False)
    assert [(step, loss) for step, loss, *_ in seen] == list(enumerate(losses))[1:]
    assert [(list(a), list(b)) for _, _, a, b in seen][-1] == ([0.75**3, -2 * 0.75**3], [0.5, 0.0])


def test_the_start_is_copied_and_a_callback_cannot_disturb_the_descent():
    theta, tilde = THETA.copy(), TILDE.copy()
    objective = population_objective(V, SUPPORT, attention=LINEAR)
    expected = descend(objective, THETA, TILDE, eta=0.1, steps=5)

    def spoil(_step, _loss, moved, moved_tilde):
        moved[:] = np.nan
        moved_tilde[:] = 0
        theta[:] = 7

    assert same(descend(objective, theta, tilde, eta=0.1, steps=5, on_step=spoil), expected)


def test_no_steps():
    found = descend(quadratic, [1.0], [0.0], eta=1, steps=0)
    assert (found.losses.tolist(), found.steps, found.theta.tolist()) == ([1.0], 0, [1.0])


def test_it_stops_after_the_first_step_that_reaches_the_tolerance():
    whole = descend(quadratic, [1.0, -2.0], [4.0, 0.0], eta=0.125, steps=10)
    for reached in (0, 1, 4, 10):
        found = descend(
            quadratic,
            [1.0, -2.0],
            [4.0, 0.0],
            eta=0.125,
            steps=10,
            tolerance=whole.losses[reached],
        )
        assert found.losses.tolist() == whole.losses[: reached + 1].tolist()
        assert not found.diverged


def test_the_first_population_step_is_one_step():
    objective = population_objective(V, SUPPORT, attention=SOFTMAX)
    found = descend(objective, THETA, TILDE, eta=20, steps=1)
    expected = one_step(V, THETA, SUPPORT, 20, theta_tilde=TILDE)
    assert found.losses[0] == expected.start.loss
    assert found.theta.tolist() == expected.theta.tolist()
    assert found.theta_tilde.tolist() == expected.theta_tilde.tolist()


def test_objectives_are_the_gradients_of_their_modules():
    rng = np.random.default_rng(3)
    for attention in MAPS.values():
        at = population_objective(V, SUPPORT, attention=attention)(THETA, TILDE)
        expected = gradient(V, THETA, TILDE, SUPPORT, attention=attention)
        assert (at.loss, at.theta.tolist()) == (expected.loss, expected.theta.tolist())
        state = rng.bit_generator.state
        objective = sample_objective(V, SUPPORT, rng=rng, n=50, attention=attention, threads=2)
        after = rng.bit_generator.state
        rng.bit_generator.state = state
        sampled = empirical_gradient(rng, V, THETA, TILDE, SUPPORT, n=50, attention=attention)
        # The generator is left where the samples end.
        assert rng.bit_generator.state == after
        at = objective(THETA, TILDE)
        assert (at.loss, at.theta.tolist()) == (sampled.loss, sampled.theta.tolist())
        assert at.theta_tilde.tolist() == sampled.theta_tilde.tolist()


def test_the_samples_are_the_same_at_every_step_whatever_is_drawn_meanwhile():
    rng = np.random.default_rng(4)
    objective = sample_objective(V, SUPPORT, rng=rng, n=9, attention=SOFTMAX)
    first = objective(THETA, TILDE)
    rng.random(100)
    again = objective(THETA, TILDE)
    assert (first.loss, first.theta.tolist()) == (again.loss, again.theta.tolist())
    other = sample_objective(V, SUPPORT, rng=rng, n=9, attention=SOFTMAX)
    assert other(THETA, TILDE).theta.tolist() != first.theta.tolist()


@pytest.mark.parametrize("name", MAPS)
def test_it_learns(name):
    # m >= d and independent starts: all three maps get there.
    eta = {"softmax": 10, "linear": 0.2, "erf": 0.2}[name]
    objective = population_objective(V, SUPPORT, attention=MAPS[name])
    found = descend(objective, THETA, TILDE, eta=eta, steps=3000, tolerance=0.01)
    assert found.losses[-1] <= 0.01 < found.losses[:-1].min()
    assert not found.diverged


def test_softmax_learns_from_samples():
    rng = np.random.default_rng(5)
    objective = sample_objective(V, SUPPORT, rng=rng, n=500, attention=SOFTMAX)
    found = descend(objective, THETA, TILDE, eta=10, steps=1000, tolerance=0.01)
    assert found.losses[-1] <= 0.01


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("samples", [False, True])
def test_resuming_shows_in_no_bit(name, samples):
    attention = MAPS[name]

    def objective():
        if samples:
            rng = np.random.default_rng(6)
            return sample_objective(V, SUPPORT, rng=rng, n=40, attention=attention)
        return population_objective(V, SUPPORT, attention=attention)

    whole = descend(objective(), THETA, TILDE, eta=0.1, steps=12)
    for interrupted in (0, 1, 7, 12):
        part = descend(objective(), THETA, TILDE, eta=0.1, steps=interrupted)
        seen = []
        found = descend(
            objective(),
            THETA,
            TILDE,
            eta=0.1,
            steps=12,
            resume=part,
            on_step=lambda step, *_, seen=seen: seen.append(step),
        )
        assert same(found, whole)
        assert seen == list(range(interrupted + 1, 13))


@pytest.mark.parametrize("interrupted", [0, 2])
def test_resuming_keeps_tolerance_and_divergence(interrupted):
    objective = population_objective(V, SUPPORT, attention=LINEAR)
    start = {"eta": 0.2, "steps": 500, "tolerance": 0.05}
    whole = descend(objective, THETA, TILDE, **start)
    assert 2 < whole.steps < 500
    part = descend(objective, THETA, TILDE, **start | {"steps": interrupted})
    assert same(descend(objective, THETA, TILDE, **start, resume=part), whole)
    assert same(descend(objective, THETA, TILDE, **start, resume=whole), whole)
    far = descend(objective, THETA, TILDE, eta=50, steps=500)
    assert far.diverged
    part = descend(objective, THETA, TILDE, eta=50, steps=interrupted)
    assert not part.diverged
    assert same(descend(objective, THETA, TILDE, eta=50, steps=500, resume=part), far)
    assert same(descend(objective, THETA, TILDE, eta=50, steps=500, resume=far), far)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("eta", [1e8, 1e300])
def test_divergence_leaves_finite_numbers_only(name, eta):
    objective = population_objective(10 * V, SUPPORT, attention=MAPS[name])
    with np.errstate(all="raise"):
        found = descend(objective, THETA, TILDE, eta=eta, steps=100)
    # Softmax and erf are bounded: where they saturate, the gradient is nothing at all.
    if name == "linear":
        assert found.diverged
        assert found.steps < 100
    for numbers in (found.losses, found.theta, found.theta_tilde):
        assert np.isfinite(numbers).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("where", ["loss", "theta", "theta_tilde"])
def test_an_objective_that_is_not_finite(bad, where):
    def objective(theta, theta_tilde, after=0.4):
        at = quadratic(theta, theta_tilde)
        if theta[0] < after:
            setattr(at, where, bad if where == "loss" else np.full(1, bad))
        return at

    found = descend(objective, [1.0], [0.0], eta=0.125, steps=10)
    assert (found.steps, found.diverged) == (3, True)
    with pytest.raises(InvalidArgumentError, match=r"^theta=start with loss .*: must not overflow"):
        descend(lambda *at: objective(*at, after=2), [1.0], [0.0], eta=0.125, steps=10)


def test_queries_that_overflow():
    def flat(theta, theta_tilde):
        steep = np.full_like(theta, -1e308)
        return SimpleNamespace(loss=1.0, theta=steep, theta_tilde=0 * theta_tilde)

    found = descend(flat, [0.0], [0.0], eta=1, steps=10)
    assert (found.steps, found.diverged, found.theta.tolist()) == (1, True, [1e308])


def test_refusals():
    objective = population_objective(V, SUPPORT, attention=LINEAR)
    start = {"eta": 0.1, "steps": 4}
    for changes, message in (
        ({"eta": math.nan}, r"^eta=nan"),
        ({"steps": -1}, r"^steps=-1: must be an integer >= 0"),
        ({"steps": 2.5}, r"^steps=2\.5"),
        ({"tolerance": math.inf}, r"^tolerance=inf"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            descend(objective, THETA, TILDE, **start | changes)
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=array of shape \(2,\)"):
        descend(objective, THETA, TILDE[:2], **start)
    with pytest.raises(InvalidArgumentError, match=r"^theta=array of shape \(2,\)"):
        descend(objective, THETA[:2], TILDE[:2], **start)
    with pytest.raises(InvalidArgumentError, match=r"^V\[0, 0\]=nan"):
        population_objective(np.full((3, 2), np.nan), (0, 1), attention=LINEAR)
    with pytest.raises(InvalidArgumentError, match=r"^support=\(0, 8\)"):
        population_objective(V, (0, 8), attention=LINEAR)
    rng = np.random.default_rng(0)
    for changes, message in (
        ({"n": 0}, r"^n=0"),
        ({"threads": 0}, r"^threads=0"),
        ({"rng": np.random.Generator(np.random.Philox(0))}, r"^rng=generator of Philox"),
    ):
        options = {"rng": rng, "n": 5, "attention": LINEAR} | changes
        with pytest.raises(InvalidArgumentError, match=message):
            sample_objective(V, SUPPORT, **options)


def test_what_is_no_part_of_this_descent_is_refused():
    objective = population_objective(V, SUPPORT, attention=LINEAR)
    part = descend(objective, THETA, TILDE, eta=0.1, steps=4)
    other = population_objective(V, SUPPORT[::-1], attention=ERF)

    def refused(message, *, on=objective, theta=THETA, tilde=TILDE, resume=part, **changes):
        options = {"eta": 0.1, "steps": 9, "resume": resume} | changes
        with pytest.raises(InvalidArgumentError, match=rf"^resume=trajectory .*: .*{message}"):
            descend(on, theta, tilde, **options)

    refused("started with another eta", eta=0.2)
    refused("started with another theta$", theta=np.nextafter(THETA, 9))
    refused("started with another theta$", theta=THETA[:3], tilde=TILDE[:3])
    refused("started with another theta_tilde", tilde=-TILDE)
    refused("has more than steps=3", steps=3)
    refused("the objective gives .* there; resume with the same instance", on=other)
    tolerance = float(part.losses[2])
    refused("went on after step 2, whose loss reached the tolerance", tolerance=tolerance)
    # One that stopped there is complete.
    stopped = replace(part, losses=part.losses[:5])
    found = descend(
        objective, THETA, TILDE, eta=0.1, steps=9, resume=stopped, tolerance=part.losses[4]
    )
    assert same(found, part)


@pytest.mark.parametrize("text", ["0.01", "0.1", "0.5", "1e-300", "0.3"])
def test_the_stopping_loss_is_the_largest_number_at_most_the_tolerance(text: str) -> None:
    tolerance = Fraction(text)
    found = stopping_loss(tolerance)
    assert Fraction(found) <= tolerance < Fraction(math.nextafter(found, 1))
