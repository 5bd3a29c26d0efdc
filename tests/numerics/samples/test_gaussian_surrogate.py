from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr

from numerics.arguments import InvalidArgumentError
from numerics.population import gradient
from numerics.samples.covariance import sample_covariance, sample_variance
from numerics.samples.empirical import empirical_gradient
from numerics.samples.gaussian_surrogate import GaussianSurrogate, covariance_factor
from verify.testing.strategies import instance_at

UNIT = 2.0**-53


def both(found):
    return np.concatenate([found.theta, found.theta_tilde])


def assert_factor_of(factor, covariance):
    deviations = np.sqrt(np.diag(covariance))
    allowed = 100 * len(covariance) * UNIT * np.outer(deviations, deviations)
    assert factor.shape == covariance.shape
    assert np.all(np.abs(factor @ factor.T - covariance) <= allowed)


@pytest.mark.parametrize("rank", [0, 1, 4, 7])
def test_factor_of_a_matrix_of_any_rank(rank):
    root = np.random.default_rng(rank).standard_normal((7, rank))
    factor = covariance_factor(root @ root.T)
    assert_factor_of(factor, root @ root.T)
    assert np.sum(factor.any(axis=0)) == rank


def test_factor_keeps_a_head_beside_one_of_another_size():
    root = np.random.default_rng(0).standard_normal((6, 6))
    root[:3] *= 1e-150
    root[4] = 0.0
    covariance = root @ root.T
    factor = covariance_factor(covariance)
    assert_factor_of(factor, covariance)
    assert np.linalg.matrix_rank(1e150 * factor[:3]) == 3
    assert not factor[4].any()


def test_factor_of_a_covariance_with_more_dimensions_than_differences():
    V, theta, support = 3 * np.eye(6, 9), np.linspace(0, 1, 9), (0, 2)
    covariance = sample_covariance(V, theta, -theta, support)
    constant = ~covariance.any(axis=0)
    assert constant.sum() == 6
    factor = covariance_factor(covariance)
    assert_factor_of(factor, covariance)
    assert not factor[constant].any()
    assert np.sum(factor.any(axis=0)) == 10


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"^covariance=array of shape \(2, 3\): must be a square matrix$"),
        (np.ones((0, 0)), r"^covariance=array of shape \(0, 0\): must be a square matrix$"),
        ([[1, np.nan], [0, 1]], r"^covariance\[0, 1\]=nan: must be finite$"),
        ([[1.0, 0], [0, -1e-30]], r"^covariance\[1, 1\]=-1e-30: must be nonnegative$"),
        ([[1, 2], [2, 1]], r"^covariance=matrix whose correlations .* positive semidefinite$"),
        ([[1, 0.5], [0.5001, 1]], r"^covariance=matrix whose correlations .* symmetric"),
        ([[1, 1 + 1e-8], [1 + 1e-8, 1]], r"^covariance=matrix whose correlations"),
        ([[1e-300, 1e200], [1e200, 1e-300]], r"^covariance=matrix whose correlations .* nan"),
    ],
)
def test_factor_refuses(matrix, message):
    with pytest.raises(InvalidArgumentError, match=message):
        covariance_factor(matrix)


def test_draws_shrink_with_the_number_of_samples_and_repeat_with_the_generator():
    instance = instance_at(d=12, m=4, seed=1, support=(3, 0))
    V, theta, theta_tilde, support = (
        instance.V,
        instance.theta,
        instance.theta_tilde,
        instance.support,
    )
    surrogate = GaussianSurrogate.at(V, theta, theta_tilde, support)
    population = gradient(V, theta, theta_tilde, support)
    assert np.array_equal(both(surrogate.mean), both(population))
    one, four, many, same = (
        surrogate.draw(np.random.default_rng(4), n) for n in (1, 4, np.int64(10**12), 10**12)
    )
    assert one.loss == many.loss == population.loss
    noise, noise_four, noise_many = (both(found) - both(population) for found in (one, four, many))
    # The means are below 1, and so is the rounding of a sum with them below a unit.
    np.testing.assert_allclose(2 * noise_four, noise, rtol=0, atol=4 * UNIT)
    np.testing.assert_allclose(1e6 * noise_many, noise, rtol=0, atol=2e6 * UNIT)
    assert np.array_equal(both(many), both(same))
    rng = np.random.default_rng(4)
    z = rng.standard_normal(8)
    np.testing.assert_allclose(noise, surrogate.factor @ z, rtol=0, atol=20 * UNIT)
    again = np.random.default_rng(4)
    surrogate.draw(again, 7)
    assert again.random() == rng.random()
    with pytest.raises(InvalidArgumentError, match=r"^n=0: must be an integer >= 1$"):
        surrogate.draw(rng, 0)
    with pytest.raises(InvalidArgumentError, match=r"^support=\(3, 12\)"):
        GaussianSurrogate.at(V, theta, theta_tilde, (3, 12))


# Below, real empirical gradients of n samples are drawn REAL times at a fixed start; the seeds are
# fixed. What a mean of n >= 1000 samples still has of a sample's skewness and kurtosis (less than
# 10) is below the allowances, five standard deviations of the draws.
CELLS = {"n = 4 d^2": (16, 8, 12, 4 * 16**2), "n = 50 d": (64, 32, 1, 50 * 64)}
REAL, SURROGATE = 2000, 20_000


@cache
def drawn(name):
    d, m, seed, n = CELLS[name]
    instance = instance_at(d=d, m=m, seed=seed, support=(0, 1))
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    surrogate = GaussianSurrogate.at(*arguments)
    rng = np.random.default_rng(seed)
    real = np.stack([both(empirical_gradient(rng, *arguments, n=n)) for _ in range(REAL)])
    drawn_instead = np.stack([both(surrogate.draw(rng, n)) for _ in range(SURROGATE)])
    return arguments, n, surrogate, real, drawn_instead


def assert_standard(whitened):
    """Mean 0 and covariance 1 in each of k dimensions, at five and a half standard deviations."""
    count, k = whitened.shape
    assert np.abs(whitened.mean(axis=0)).max() < 5.5 / math.sqrt(count)
    excess = np.abs(whitened.T @ whitened / count - np.eye(k))
    assert np.diag(excess).max() < 5.5 * math.sqrt(2 / count)
    assert (excess - np.diag(np.diag(excess))).max() < 5.5 / math.sqrt(count)


@pytest.mark.parametrize("name", CELLS)
def test_mean_and_covariance_in_every_direction(name):
    _, n, surrogate, real, drawn_instead = drawn(name)
    for gradients in (real, drawn_instead):
        noise = (gradients - both(surrogate.mean)).T * math.sqrt(n)
        assert_standard(np.linalg.solve(surrogate.factor, noise).T)


def margins(arguments, gradients):
    """How much head 1's step prefers the position it leans to, and head 2's the other one."""
    V, theta, _, (a, b) = arguments
    A = V[a] - V[b]
    if theta @ A < 0:
        A = -A
    m = len(theta)
    return -gradients[:, :m] @ A, gradients[:, m:] @ A


@pytest.mark.parametrize("name", CELLS)
def test_heads_err_as_often_as_with_real_samples(name):
    arguments, _, _, real, drawn_instead = drawn(name)
    of_real, of_surrogate = (
        np.stack([margin > 0 for margin in margins(arguments, gradients)])
        for gradients in (real, drawn_instead)
    )
    for event in (
        lambda right: right[0],
        lambda right: right[1],
        lambda right: right[0] & right[1],
        lambda right: right[0] != right[1],
    ):
        share, expected = event(of_real).mean(), event(of_surrogate).mean()
        assert 0.05 < expected < 0.95
        deviation = math.sqrt(expected * (1 - expected) * (1 / REAL + 1 / SURROGATE))
        assert abs(share - expected) < 5 * deviation


@pytest.mark.parametrize("name", CELLS)
def test_margins_are_gaussian(name):
    arguments, n, surrogate, real, _ = drawn(name)
    V, theta, theta_tilde, (a, b) = arguments
    A = V[a] - V[b] if theta @ (V[a] - V[b]) > 0 else V[b] - V[a]
    found = margins(arguments, real)
    means = -surrogate.mean.theta @ A, surrogate.mean.theta_tilde @ A
    pairs = (A, 0 * A), (0 * A, A)
    for margin, mean, pair in zip(found, means, pairs, strict=True):
        variance = sample_variance(V, theta, theta_tilde, (a, b), *pair) / n
        law = ndtr((np.sort(margin) - mean) / math.sqrt(variance))
        steps = np.arange(REAL + 1) / REAL
        distance = max(np.max(steps[1:] - law), np.max(law - steps[:-1]))
        # Kolmogorov's bound at 1e-6, 2 exp(-2 N D^2), by Massart.
        assert distance < math.sqrt(math.log(2e6) / (2 * REAL))
