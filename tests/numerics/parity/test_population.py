from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.embeddings import sample_embeddings
from numerics.one_step import one_step
from numerics.parity import population
from numerics.parity.enumeration import enumerate_parity_loss
from numerics.parity.population import (
    check_heads,
    check_parity_support,
    parity_gradient,
    parity_loss,
    parity_step,
)
from numerics.parity.start import draw_start
from numerics.population import gradient, loss

UNIT = 2.0**-53


def rational_heads(seed: int, k: int, d: int) -> tuple[list[list[Fraction]], tuple[int, ...]]:
    """Attention with integer weights 0..7 over their sum, and a support in any order."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 8, size=(k, d))
    weights[range(k), rng.integers(d, size=k)] += 1
    heads = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
    return heads, tuple(rng.permutation(d)[:k].tolist())


def instance(seed: int, k: int, d: int, m: int):
    rng = np.random.default_rng(seed)
    return sample_embeddings(rng, d, m), rng.standard_normal((k, m)), rng.permutation(d)[:k]


@given(st.integers(0, 999), st.integers(2, 4), st.integers(0, 6))
def test_the_loss_is_the_mean_over_all_inputs(seed: int, k: int, more: int) -> None:
    heads, support = rational_heads(seed, k, k + more)
    found = parity_loss([[float(w) for w in row] for row in heads], support)
    # 41 moments, each a sum of fewer than 41 terms that are at most 128 in total.
    assert abs(found - float(enumerate_parity_loss(heads, support))) <= 2000 * UNIT


@given(st.integers(0, 999), st.integers(2, 4), st.integers(0, 3))
@settings(max_examples=settings().max_examples // 4)
def test_the_weights_are_the_slopes_of_the_enumerated_loss(seed: int, k: int, more: int) -> None:
    heads, support = rational_heads(seed, k, k + more)
    h = seed % k
    slopes = [weighted_slope(heads, support, h, i) for i in range(k + more)]
    gamma = np.array([[float(w) for w in row] for row in heads])
    found = population._Heads(gamma, support).weights()[h]
    for i, slope in enumerate(slopes):
        expected = slope - heads[h][i] * sum(slopes)
        # As for the loss, of whose terms each weight has at most twice as many.
        assert abs(found[i] - float(expected)) <= 4000 * UNIT


def weighted_slope(heads, support, h: int, i: int) -> Fraction:
    """Return gamma^h_i dL/dgamma^h_i; L is quadratic in gamma^h, so a difference is exact."""
    ahead, behind = ([list(row) for row in heads] for _ in range(2))
    ahead[h][i] += 1
    behind[h][i] -= 1
    difference = enumerate_parity_loss(ahead, support) - enumerate_parity_loss(behind, support)
    return heads[h][i] * difference / 2


@pytest.mark.parametrize("seed", range(5))
def test_two_heads_are_the_model_of_the_paper(seed: int) -> None:
    V, theta, support = instance(seed, 2, 40, 6)
    found, expected = parity_gradient(V, theta, support), gradient(V, *theta, support)
    scale = np.abs(expected.theta).max()
    assert found.loss == pytest.approx(expected.loss, abs=100 * UNIT)
    assert np.abs(found.theta[0] - expected.theta).max() <= 1e-12 * scale
    assert np.abs(found.theta[1] - expected.theta_tilde).max() <= 1e-12 * scale
    gamma = np.stack([softmax(V @ row) for row in theta])
    assert parity_loss(gamma, support) == pytest.approx(loss(*gamma, support), abs=100 * UNIT)


def test_the_step_of_two_heads_is_that_of_the_paper() -> None:
    V, (theta, _), support = instance(3, 2, 40, 16)
    eta = 1e3 * 40**2
    expected = one_step(V, theta, support, eta)
    found = parity_step(V, np.stack([theta, -theta]), support, eta)
    assert found.heads == expected.heads
    assert np.abs(found.gamma - np.stack([expected.gamma, expected.gamma_tilde])).max() <= 1e-9
    assert found.loss == pytest.approx(
        loss(expected.gamma, expected.gamma_tilde, support), abs=1e-9
    )


@pytest.mark.parametrize("k", [3, 4])
def test_the_gradient_by_the_queries_by_complex_steps(k: int) -> None:
    # The loss is analytic, so the imaginary part at an imaginary step of 1e-20 is the derivative
    # without any cancellation: written out from the definition, over all inputs.
    V, theta, support = instance(4, k, k + 3, 4)
    x = np.array(list(itertools.product((-1.0, 1.0), repeat=k + 3)))
    A = np.random.default_rng(5).standard_normal(theta.shape)

    def enumerated(queries):
        weights = np.exp(V @ queries.T)
        forms = x @ (weights / weights.sum(axis=0))
        return np.mean((forms.prod(axis=1) - x[:, support].prod(axis=1)) ** 2)

    found = parity_gradient(V, theta, support)
    for h in range(k):
        direction = np.zeros_like(A)
        direction[h] = A[h]
        slope = enumerated(theta + 1e-20j * direction).imag / 1e-20
        assert found.theta[h] @ A[h] == pytest.approx(slope, rel=1e-11)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_at_zero_all_heads_move_alike(k: int) -> None:
    d, m = 30, 5
    V, _, support = instance(6, k, d, m)
    found = parity_gradient(V, np.zeros((k, m)), support)
    signal = 2 * math.factorial(k - 1) / d**k
    expected = -signal * (V[support].sum(axis=0) - k * V.mean(axis=0))
    assert np.abs(found.theta - expected).max() <= 1e-12 * signal


@pytest.mark.parametrize("k", [2, 3, 4])
def test_perfect_attention_has_no_loss(k: int) -> None:
    gamma = np.eye(6)[[4, 1, 3, 0][:k]]
    assert parity_loss(gamma, sorted([4, 1, 3, 0][:k])) == 0
    assert parity_loss(gamma, [5, 2, 4, 1][:k]) == 2  # parities of different bits, orthogonal


def test_a_step_succeeds_and_says_so() -> None:
    rng = np.random.default_rng(0)
    V, theta = sample_embeddings(rng, 64, 64), draw_start(rng, 3, 64, norm=6.0)
    start = parity_gradient(V, theta, (5, 9, 2))
    found = parity_step(V, theta, (5, 9, 2), 1e6 * 64**3, start=start)
    assert found.start is start
    assert found.one_to_one((2, 5, 9))
    assert found.loss < 1e-9
    assert np.array_equal(found.theta, theta - 1e6 * 64**3 * start.theta)
    again = parity_step(V, theta, (5, 9, 2), 1e6 * 64**3)
    assert np.array_equal(again.theta, found.theta)


def test_heads_that_share_a_position_are_not_one_to_one() -> None:
    V, theta, support = instance(7, 3, 20, 8)
    found = parity_step(V, theta, support, 0.0)
    for heads, parted in (((4, 4, 7), False), ((7, 4, 5), True), ((7, 4, 6), False)):
        made_up = population.ParityStep(found.start, found.theta, found.gamma, heads, found.loss)
        assert made_up.one_to_one((4, 5, 7)) is parted


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check_heads(1), "k=1: must be an integer >= 2"),
        (lambda: check_heads(5), "k=5: must be at most 4 heads"),
        (
            lambda: check_parity_support((1, 2), 5, 3),
            "support=(1, 2): must be 3 positions, one for a head",
        ),
        (
            lambda: check_parity_support((1, 1, 2), 5, 3),
            "support=(1, 1, 2): the positions must differ",
        ),
        (
            lambda: check_parity_support((1, 5, 2), 5, 3),
            "support=(1, 5, 2): positions must be in 0..4",
        ),
        (lambda: parity_loss([[0.5, 0.6], [1, 0]], (0, 1)), "gamma[0]=array of total 1.1"),
        (
            lambda: parity_gradient(np.eye(3), np.ones((2, 2)), (0, 1)),
            "theta=array of shape (2, 2): must have 3 columns, as V has",
        ),
        (
            lambda: parity_gradient(np.full((3, 1), 1e300), np.full((2, 1), 1e300), (0, 1)),
            "theta=query with an infinite score: must not overflow",
        ),
        (lambda: parity_step(np.eye(3), np.ones((2, 3)), (0, 1), np.inf), "eta=inf"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        call()
    assert str(refusal.value).startswith(message)


def test_a_step_that_overflows_names_eta() -> None:
    V, theta, support = instance(8, 3, 10, 4)
    with pytest.raises(InvalidArgumentError, match=r"^eta=1e\+308"):
        parity_step(1e3 * V, 1e-3 * theta, support, 1e308)
