from __future__ import annotations

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention import complement
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.one_step import one_step, step_along
from numerics.population import PopulationGradient, gradient

C4 = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def test_a_step_by_hand():
    theta = np.array([1.0, 0.0])
    step = one_step(C4, theta, (0, 1), 2.0)
    # The gradients of the reference instance, to 15 digits.
    np.testing.assert_allclose(
        step.theta, [1 + 2 * 0.0518517666402136, 2 * 0.0284416809826276], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        step.theta_tilde, [-1 + 2 * 0.186747090670938, 2 * 0.210157176328524], rtol=0, atol=3e-15
    )
    np.testing.assert_allclose(step.scores, C4 @ step.theta, rtol=1e-15)
    expected = np.exp(step.scores) / np.exp(step.scores).sum()
    np.testing.assert_allclose(step.gamma, expected, rtol=1e-14)
    expected = np.exp(step.scores_tilde) / np.exp(step.scores_tilde).sum()
    np.testing.assert_allclose(step.gamma_tilde, expected, rtol=1e-14)
    assert step.heads == (0, 2)


def test_a_large_step_finds_the_support():
    d, m = 200, 128
    rng = np.random.default_rng(1)
    V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
    step = one_step(V, theta, (3, 8), 1000.0 * d * d)
    assert set(step.heads) == {3, 8}
    # The margins are hundreds, so almost no mass is left elsewhere, and it is not rounded away.
    assert 0 < complement(step.scores, step.heads[0]) < 1e-20
    assert 0 < complement(step.scores_tilde, step.heads[1]) < 1e-20


def test_the_second_query_is_the_negative_unless_given():
    rng = np.random.default_rng(2)
    V, theta, other = sample_embeddings(rng, 7, 3), uniform_direction(rng, 3), rng.uniform(size=3)
    implicit = one_step(V, theta, (0, 5), 3.0)
    explicit = one_step(V, theta, (0, 5), 3.0, theta_tilde=-theta)
    np.testing.assert_allclose(implicit.theta_tilde, explicit.theta_tilde, rtol=1e-14)
    np.testing.assert_allclose(implicit.gamma, explicit.gamma, rtol=1e-14)
    free = one_step(V, theta, (0, 5), 3.0, theta_tilde=other)
    slope = gradient(V, theta, other, (0, 5))
    np.testing.assert_array_equal(free.theta_tilde, other - 3.0 * slope.theta_tilde)
    np.testing.assert_array_equal(free.start.theta, slope.theta)


def test_the_arguments_are_left_alone():
    V, theta = C4.copy(), np.array([1.0, 0.0])
    one_step(V, theta, (0, 1), 1e3)
    assert np.array_equal(V, C4)
    assert theta.tolist() == [1, 0]


@pytest.mark.parametrize("eta", [float("nan"), float("inf"), True, "1", 1j])
def test_step_sizes_that_are_no_finite_numbers_are_refused(eta):
    with pytest.raises(InvalidArgumentError, match=r"^eta="):
        one_step(C4, [1.0, 0.0], (0, 1), eta)


def test_huge_steps_work_until_the_scores_overflow():
    with np.errstate(all="raise"):
        step = one_step(C4, [1.0, 0.0], (0, 1), 1e300)
    assert step.gamma.sum() == 1
    with pytest.raises(InvalidArgumentError, match=r"^eta=1e\+300: the scores after the step"):
        one_step(1e5 * C4, [1e-5, 0.0], (0, 1), 1e300)


def test_a_step_along_given_gradients():
    rng = np.random.default_rng(5)
    V, theta, other = sample_embeddings(rng, 9, 4), uniform_direction(rng, 4), rng.uniform(size=4)
    start = gradient(V, theta, other, (2, 7))
    given = step_along(V, theta, other, start, 4.0)
    own = one_step(V, theta, (2, 7), 4.0, theta_tilde=other)
    assert given.start is start
    for name in ("theta", "theta_tilde", "scores", "scores_tilde", "gamma", "gamma_tilde"):
        np.testing.assert_array_equal(getattr(given, name), getattr(own, name))
    assert given.heads == own.heads
    # The gradients are those that are given, each for its own query, whatever they come from.
    made_up = PopulationGradient(0.0, np.arange(4.0), -np.ones(4))
    step = step_along(V, theta, other, made_up, 0.5)
    np.testing.assert_array_equal(step.theta, theta - 0.5 * np.arange(4.0))
    np.testing.assert_array_equal(step.theta_tilde, other + 0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"theta": [1.0, 0.0, 0.0]}, r"^theta=array of shape \(3,\)"),
        ({"theta_tilde": [np.nan, 0.0]}, r"^theta_tilde"),
        ({"start": PopulationGradient(0.0, np.ones(3), np.ones(2))}, r"^start\.theta=array"),
        ({"start": PopulationGradient(0.0, np.ones(2), np.array([np.inf, 0]))}, r"^start\.theta_t"),
        ({"eta": float("nan")}, r"^eta="),
        ({"eta": 1e308, "theta": [1e300, 1e300]}, r"^eta=1e\+308: the scores after the step"),
    ],
)
def test_a_step_along_what_does_not_fit_is_refused(wrong, message):
    start = PopulationGradient(0.0, np.array([1.0, 2.0]), np.array([-1.0, 3.0]))
    at = {"theta": [1.0, 0.0], "theta_tilde": [0.0, 1.0], "start": start, "eta": 1.0}
    with pytest.raises(InvalidArgumentError, match=message):
        step_along(1e3 * C4, **(at | wrong))
