from __future__ import annotations

import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.arguments import BLOCK_ENTRIES, InvalidArgumentError
from numerics.attention import softmax
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.population import gradient
from numerics.samples.covariance import sample_covariance, sample_variance
from numerics.samples.moments import slope_moments
from verify.testing.strategies import CORNERS, adversarial_instances, instance_at, instances

UNIT = 2.0**-53

ORDINARY = instances(max_d=9, max_m=5, start="independent") | instances(max_d=9, max_m=12)
MODERATE = adversarial_instances(
    *(name for name in CORNERS if name not in {"huge theta", "unequal rows"}), max_d=9, max_m=5
)


def arguments(instance):
    return instance.V, instance.theta, instance.theta_tilde, instance.support


def enumerated(V, theta, theta_tilde, support):
    """Mean and covariance of the gradients of all inputs, from the definition."""
    d = len(V)
    x = 2.0 * (np.arange(2**d)[:, np.newaxis] >> np.arange(d) & 1) - 1
    gamma, gamma_tilde = softmax(V @ theta), softmax(V @ theta_tilde)
    p, q = x @ gamma, x @ gamma_tilde
    error = -p * q - -x[:, support[0]] * x[:, support[1]]
    by_theta = -2 * (error * q)[:, np.newaxis] * (x * gamma @ (V - gamma @ V))
    by_theta_tilde = -2 * (error * p)[:, np.newaxis] * (x * gamma_tilde @ (V - gamma_tilde @ V))
    both = np.hstack([by_theta, by_theta_tilde])
    return both.mean(axis=0), np.cov(both.T, bias=True)


@given(ORDINARY | MODERATE)
def test_covariance_is_the_enumerated_one(instance):
    V, theta, theta_tilde, support = arguments(instance)
    covariance = sample_covariance(V, theta, theta_tilde, support)
    mean, expected = enumerated(V, theta, theta_tilde, support)
    length = np.abs(V).max()
    # A gradient is at most 2 * 2 * 2 max |v_ik|, of which each factor errs by d u; the moments err
    # by 1385 units at worst where the attention is on one position.
    tolerance = (1385 + 64 * instance.d) * UNIT * length**2
    np.testing.assert_allclose(covariance, expected, rtol=0, atol=tolerance)
    assert np.array_equal(covariance, covariance.T)
    # The enumeration's own mean, to be sure of what is subtracted.
    found = gradient(V, theta, theta_tilde, support)
    both = np.concatenate([found.theta, found.theta_tilde])
    np.testing.assert_allclose(both, mean, rtol=0, atol=64 * instance.d * UNIT * length)


@settings(max_examples=settings().max_examples * 60 // 100)
@given(instance=ORDINARY, seed=st.integers(0, 10**6))
def test_variance_is_a_value_of_the_covariance(instance, seed):
    V, theta, theta_tilde, support = arguments(instance)
    m = V.shape[1]
    direction, direction_tilde = np.random.default_rng(seed).standard_normal((2, m))
    covariance = sample_covariance(V, theta, theta_tilde, support)
    for pair in (
        (direction, direction_tilde),
        (direction, 0 * direction),
        (0 * direction, direction_tilde),
    ):
        both = np.concatenate(pair)
        found = sample_variance(V, theta, theta_tilde, support, *pair)
        scale = np.abs(both) @ np.sqrt(np.outer(*2 * [np.diag(covariance)])) @ np.abs(both)
        assert found == pytest.approx(both @ covariance @ both, rel=0, abs=200 * UNIT * scale)


@pytest.mark.parametrize("height", [0.5, 10.0, 40.0])
@pytest.mark.parametrize("positions", [(1, 3), (1, 1), (2, 3), (2, 4), (2, 2)])
def test_relative_accuracy_as_the_heads_concentrate(height, positions):
    # Orthonormal embeddings and exact scores. At height 40 where the heads succeed the loss is
    # about 1e-34, the variance in its order.
    V = np.eye(5)
    theta, theta_tilde = np.linspace(0, 0.5, 5), np.linspace(0.25, 0, 5)
    theta[positions[0]] += height
    theta_tilde[positions[1]] += height
    direction, direction_tilde = np.array([1.0, -2, 0, 0.5, 1]), np.array([0.5, 1, -1, 0, 2])
    for pair in (
        (direction, direction_tilde),
        (direction, 0 * direction),
        (0 * direction, direction_tilde),
    ):
        exact = variance_digits(V, theta, theta_tilde, (1, 3), *pair)
        found = sample_variance(V, theta, theta_tilde, (1, 3), *pair)
        # As for the moments, with a few units more for softmax.
        units = 1385 if positions == (2, 2) else 100
        assert abs(found / exact - 1) <= units * UNIT
    covariance = sample_covariance(V, theta, theta_tilde, (1, 3))
    for k, unit in enumerate(np.eye(5)):
        for entry, pair in ((k, (unit, 0 * unit)), (5 + k, (0 * unit, unit))):
            found = sample_variance(V, theta, theta_tilde, (1, 3), *pair)
            assert found > 0
            assert abs(covariance[entry, entry] / found - 1) <= units * UNIT


def variance_digits(V, theta, theta_tilde, support, direction, direction_tilde):
    """The variance over all inputs with 120 digits, from the definition."""
    d = len(V)
    with mpmath.workdps(120):
        heads = []
        for query, along in ((theta, direction), (theta_tilde, direction_tilde)):
            # V is the identity: scores and products are the entries.
            powers = [mpmath.exp(mpmath.mpf(float(score))) for score in query]
            gamma = [power / mpmath.fsum(powers) for power in powers]
            t = [mpmath.mpf(float(entry)) for entry in along]
            mean = mpmath.fdot(gamma, t)
            heads.append((gamma, [g * (entry - mean) for g, entry in zip(gamma, t, strict=True)]))
        (gamma, r), (gamma_tilde, r_tilde) = heads
        values = []
        for number in range(2**d):
            x = [2 * (number >> i & 1) - 1 for i in range(d)]
            p, q = mpmath.fdot(gamma, x), mpmath.fdot(gamma_tilde, x)
            e = p * q - x[support[0]] * x[support[1]]
            values.append(2 * e * (q * mpmath.fdot(r, x) + p * mpmath.fdot(r_tilde, x)))
        mean = mpmath.fsum(values) / 2**d
        return mpmath.fsum((value - mean) ** 2 for value in values) / 2**d


def eigenvalues_of_correlations(covariance):
    deviations = np.sqrt(np.diag(covariance))
    return np.linalg.eigvalsh(covariance / deviations / deviations[:, np.newaxis])


@pytest.mark.parametrize(("d", "m"), [(30, 3), (12, 40), (1500, 30), (60, 80)])
def test_positive_semidefinite_and_singular_where_it_has_to_be(d, m):
    instance = instance_at(d=d, m=m, seed=2, support=(1, 0))
    V, theta, _, support = arguments(instance)
    covariance = sample_covariance(V, theta, -theta, support)
    eigenvalues = eigenvalues_of_correlations(covariance)
    rounding = 2 * m * d * UNIT
    assert eigenvalues[0] > -rounding
    # Differences of d embeddings span d - 1 dimensions.
    missing = max(0, 2 * m - 2 * (d - 1))
    assert np.sum(eigenvalues < rounding) == missing
    assert eigenvalues[missing] > 1e-5
    # Equal heads have equal gradients.
    same = sample_covariance(V, theta, theta, support)
    parts = same[:m, :m], same[:m, m:], same[m:, m:]
    scale = np.abs(same).max()
    for part in parts[1:]:
        np.testing.assert_allclose(part, parts[0], rtol=0, atol=20 * UNIT * scale)
    assert eigenvalues_of_correlations(same)[0] > -rounding


@pytest.mark.parametrize(("d", "m"), [(500, 40), (3000, 20)])
def test_large_sizes_agree_with_the_slopes_in_other_coordinates(d, m):
    instance = instance_at(d=d, m=m, seed=3, support=(5, 2), start="independent")
    V, theta, theta_tilde, support = arguments(instance)
    gamma, gamma_tilde = softmax(V @ theta), softmax(V @ theta_tilde)
    form = slope_moments(gamma, gamma_tilde, support).second
    direction = V[5] - V[2]
    r, r_tilde = (g * (V @ direction - g @ V @ direction) for g in (gamma, gamma_tilde))
    found = gradient(V, theta, theta_tilde, support)
    for pair, weights in (
        ((1, 0), (r, 0 * r)),
        ((0, 1), (0 * r, r_tilde)),
        ((1, -1), (r, -r_tilde)),
    ):
        mean = pair[0] * found.theta @ direction + pair[1] * found.theta_tilde @ direction
        variance = form.quadratic(*weights) - mean**2
        # d unit roundings of the sums, as they are formed in two ways.
        value = sample_variance(
            V, theta, theta_tilde, support, pair[0] * direction, pair[1] * direction
        )
        assert value == pytest.approx(variance, rel=100 * UNIT)
        both = np.concatenate([pair[0] * direction, pair[1] * direction])
        covariance = sample_covariance(V, theta, theta_tilde, support)
        assert both @ covariance @ both == pytest.approx(variance, rel=1e-12)


def test_several_blocks_in_either_layout():
    instance = instance_at(d=11_000, m=100, seed=3, support=(10_999, 2))
    V, theta, theta_tilde, support = arguments(instance)
    assert V.size > BLOCK_ENTRIES
    covariance = sample_covariance(V, theta, theta_tilde, support)
    other = sample_covariance(np.asfortranarray(V), theta, theta_tilde, support)
    np.testing.assert_allclose(other, covariance, rtol=0, atol=1e-12 * covariance.max())
    direction = V[2] - V[10_999]
    both = np.concatenate([direction, -direction])
    found = sample_variance(V, theta, theta_tilde, support, direction, -direction)
    assert both @ covariance @ both == pytest.approx(found, rel=1e-12)


def test_embeddings_are_not_copied():
    rng = np.random.default_rng(1)
    d, m = 20_000, 200
    V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
    peaks = []
    for call in (
        lambda: sample_covariance(V, theta, -theta, (0, 7)),
        lambda: sample_variance(V, theta, -theta, (0, 7), theta, theta),
    ):
        tracemalloc.start()
        call()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Some fifty vectors of length d; for the covariance, a few blocks and matrices of its size.
    vectors = 60 * 8 * d
    blocks = 5 * 8 * BLOCK_ENTRIES + 3 * 8 * (2 * m) ** 2
    assert peaks[1] < vectors < V.nbytes
    assert peaks[0] < vectors + blocks
    assert vectors + blocks - peaks[0] < V.nbytes  # a copy would be seen


def test_equal_rows_have_no_variance():
    V = np.full((6, 3), 0.5)
    theta = np.array([1.0, 0.0, 2.0])
    assert not sample_covariance(V, theta, -theta, (0, 1)).any()
    assert sample_variance(V, theta, -theta, (0, 1), theta, theta) <= 1e-30


def test_far_queries_stay_silent():
    V = instance_at(d=9, m=4, seed=5, support=(2, 7)).V
    theta = np.array([900.0, 20.0, -300.0, 5.0])
    with np.errstate(all="raise"):
        covariance = sample_covariance(V, theta, -theta / 3, (2, 7))
        variance = sample_variance(V, theta, -theta / 3, (2, 7), theta, theta)
    assert np.isfinite(covariance).all()
    assert variance >= 0


def test_refusals():
    V, theta, theta_tilde, support = arguments(instance_at(d=9, m=4, seed=5, support=(2, 7)))
    with pytest.raises(InvalidArgumentError, match=r"^theta=array of shape \(3,\): must have 4"):
        sample_covariance(V, theta[:3], theta_tilde, support)
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=array of shape \(3,\)"):
        sample_covariance(V, theta, theta_tilde[:3], support)
    with pytest.raises(InvalidArgumentError, match=r"^support=\(2, 2\)"):
        sample_covariance(V, theta, theta_tilde, (2, 2))
    with pytest.raises(InvalidArgumentError, match=r"^direction=array of shape \(2,\)"):
        sample_variance(V, theta, theta_tilde, support, [1, 2], theta)
    with pytest.raises(InvalidArgumentError, match=r"^direction_tilde\[1\]=inf"):
        sample_variance(V, theta, theta_tilde, support, theta, [0, np.inf, 0, 0])
    bad = V.copy()
    bad[8, 3] = np.nan
    with pytest.raises(InvalidArgumentError, match=r"^V\[8, 3\]=nan: must be finite$"):
        sample_covariance(bad, theta, theta_tilde, support)
