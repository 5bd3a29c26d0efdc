from __future__ import annotations

import math
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.enumeration import enumerate_loss
from numerics.multiprecision.gradient_digits import population_gradient_digits
from numerics.population import _sums_of_others, antisymmetric_gradient, gradient, loss
from verify.testing.strategies import (
    CORNERS,
    adversarial_instances,
    instance_at,
    instances,
    rational_attention,
    supports,
)

UNIT = 2.0**-53

C4 = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
ORDINARY = instances(max_d=9, max_m=5, start="independent")


def hard_instances(*, without):
    corners = [corner for corner in CORNERS if corner not in without]
    return adversarial_instances(*corners, max_d=9, max_m=5)


# Those with rows and queries of length at most 1: no weight underflows, no score is large.
MODERATE = hard_instances(without={"huge theta", "underflowing attention", "unequal rows"})
FIXED = instance_at(d=9, m=4, seed=5, support=(2, 7), start="independent")

arguments = attrgetter("V", "theta", "theta_tilde", "support")


def error_scale(V, theta, theta_tilde, support):
    """Sum_i T_i |v_ik|, T_i the weight w_i with every term counted positive, for both heads."""
    a, b = support

    def one(gamma, gamma_tilde):
        slopes = 2 * gamma * (gamma_tilde @ gamma_tilde)
        slopes += 4 * gamma_tilde * (gamma @ gamma_tilde)
        slopes[a] += 2 * gamma_tilde[b]
        slopes[b] += 2 * gamma_tilde[a]
        return gamma * (slopes + gamma @ slopes) @ np.abs(V)

    gamma, gamma_tilde = softmax(V @ theta), softmax(V @ theta_tilde)
    return one(gamma, gamma_tilde), one(gamma_tilde, gamma)


def assert_close_to_digits(found, V, theta, theta_tilde, support):
    exact = population_gradient_digits(V, theta, theta_tilde, support, digits=25)
    # To first order a weight is a polynomial of degree at most 4 in the attention, whose relative
    # error is twice that of the scores, m u |v||theta| at most, plus a few u; products and sums
    # of the weights and of the final pass over d rows add their own units.
    d, m = V.shape
    longest = max(np.linalg.norm(theta), np.linalg.norm(theta_tilde))
    tolerance = (8 * m * longest + d + 30) * UNIT
    # The loss: the same attention errors on a value of at most 2.
    assert abs(found.loss - float(exact.loss)) <= 2 * tolerance
    scales = error_scale(V, theta, theta_tilde, support)
    for gradients, digits, scale in (
        (found.theta, exact.theta, scales[0]),
        (found.theta_tilde, exact.theta_tilde, scales[1]),
    ):
        assert np.all(np.abs(gradients - np.array(digits, dtype=np.float64)) <= tolerance * scale)


def test_reference_instance():
    theta = np.array([1.0, 0.0])
    for found in (gradient(C4, theta, -theta, (0, 1)), antisymmetric_gradient(C4, theta, (0, 1))):
        assert found.loss == pytest.approx(0.9328189895953062103, abs=4 * UNIT)
        # Given to 15 digits.
        expected = [-0.0518517666402136, -0.0284416809826276]
        np.testing.assert_allclose(found.theta, expected, rtol=0, atol=1e-16)
        expected = [-0.186747090670938, -0.210157176328524]
        np.testing.assert_allclose(found.theta_tilde, expected, rtol=0, atol=1e-15)
    products = softmax(C4 @ theta) * softmax(-C4 @ theta)
    np.testing.assert_allclose(products, 0.038656252292952916682, rtol=8 * UNIT)


def test_zero_queries():
    zero = np.zeros(2)
    for found in (gradient(C4, zero, zero, (0, 1)), antisymmetric_gradient(C4, zero, (0, 1))):
        assert found.loss == 29 / 32
        assert found.theta.tolist() == found.theta_tilde.tolist() == [-0.125, -0.125]


@given(ORDINARY | MODERATE)
def test_product_of_attentions_is_constant_at_the_antisymmetric_start(instance):
    scores = instance.V @ instance.theta
    products = softmax(scores) * softmax(-scores)
    # Each factor errs by (d + 10) u at most.
    np.testing.assert_allclose(products, products[0], rtol=4 * (instance.d + 10) * UNIT)


def rational_heads(d):
    head = rational_attention(d, largest=50) | rational_attention(d, largest=1)
    return st.tuples(head, head, supports(d))


@given(st.integers(2, 8).flatmap(rational_heads))
def test_loss_is_the_enumerated_mean(heads):
    gamma, gamma_tilde, support = heads
    d = len(gamma)
    mean = enumerate_loss(gamma, gamma_tilde, support).mean
    found = loss([float(g) for g in gamma], [float(t) for t in gamma_tilde], support)
    assert 0 <= found <= 4
    # A sum of squares of products: the relative error is a few units for each term.
    assert abs(Fraction(found) - mean) <= (4 * d + 20) * UNIT * mean


@settings(max_examples=settings().max_examples * 60 // 100)
@given(instance=ORDINARY, stretch=st.sampled_from([0.1, 1.0, 3.0]))
def test_gradients_against_twenty_five_digits(instance, stretch):
    V, theta, theta_tilde, support = arguments(instance)
    theta, theta_tilde = stretch * theta, stretch * theta_tilde
    assert_close_to_digits(gradient(V, theta, theta_tilde, support), V, theta, theta_tilde, support)
    assert_close_to_digits(antisymmetric_gradient(V, theta, support), V, theta, -theta, support)


@settings(max_examples=settings().max_examples * 60 // 100)
# Scores of 2^300 and more would need as many bits: there is no truth to compare with.
@given(hard_instances(without={"huge theta", "unequal rows"}))
def test_gradients_of_hard_instances_against_twenty_five_digits(instance):
    V, theta, theta_tilde, support = arguments(instance)
    assert_close_to_digits(gradient(V, theta, theta_tilde, support), V, theta, theta_tilde, support)
    assert_close_to_digits(antisymmetric_gradient(V, theta, support), V, theta, -theta, support)


@pytest.mark.parametrize(("d", "m"), [(300, 40), (1000, 16)])
def test_relative_error_in_the_norm_at_larger_sizes(d, m):
    V, theta, _, support = arguments(instance_at(d=d, m=m, seed=d + m, support=(1, 0)))
    exact = population_gradient_digits(V, theta, -theta, support)
    for found in (gradient(V, theta, -theta, support), antisymmetric_gradient(V, theta, support)):
        for part, digits in ((found.theta, exact.theta), (found.theta_tilde, exact.theta_tilde)):
            truth = np.array(digits, dtype=np.float64)
            # The documented accuracy; the signal is of order 2/d^2 = 2e-6 here.
            assert np.linalg.norm(part - truth) <= 1e-15 * m * np.linalg.norm(truth)


@pytest.mark.parametrize("height", [3.0, 10.0, 60.0, 340.0])
def test_gradient_and_loss_keep_relative_accuracy_as_the_heads_succeed(height):
    # Orthonormal embeddings and exact scores: all error is that of the kernel. At 340 the loss is
    # about 1e-295 and the gradient smaller still.
    V = np.eye(6)
    theta, theta_tilde = np.zeros(6), np.zeros(6)
    theta[1], theta_tilde[4] = height, height
    theta[3] = 1.0
    found = gradient(V, theta, theta_tilde, (1, 4))
    exact = population_gradient_digits(V, theta, theta_tilde, (1, 4))
    assert found.loss == pytest.approx(float(exact.loss), rel=100 * UNIT)
    for part, digits in ((found.theta, exact.theta), (found.theta_tilde, exact.theta_tilde)):
        truth = np.array(digits, dtype=np.float64)
        # Largest entries rather than norms, whose squares underflow.
        assert np.abs(part - truth).max() <= 100 * UNIT * np.abs(truth).max()
    assert 0 < np.abs(found.theta).max() < 1


@given(ORDINARY | adversarial_instances(max_d=9, max_m=5))
def test_swapping_the_heads_swaps_the_gradients(instance):
    V, theta, theta_tilde, (a, b) = arguments(instance)
    d = instance.d
    found = gradient(V, theta, theta_tilde, (a, b))
    swapped = gradient(V, theta_tilde, theta, (b, a))
    scales = error_scale(V, theta, theta_tilde, (a, b))
    # The same numbers in another order.
    assert abs(found.loss - swapped.loss) <= (d + 20) * UNIT
    assert np.all(np.abs(found.theta - swapped.theta_tilde) <= (d + 20) * UNIT * scales[0])
    assert np.all(np.abs(found.theta_tilde - swapped.theta) <= (d + 20) * UNIT * scales[1])


@given(instance=ORDINARY | MODERATE, seed=st.integers(0, 10**6))
def test_positions_permute_and_space_rotates(instance, seed):
    V, theta, theta_tilde, (a, b) = arguments(instance)
    d, m = V.shape
    rng = np.random.default_rng(seed)
    order = rng.permutation(d)
    place = np.argsort(order)
    found = gradient(V, theta, theta_tilde, (a, b))
    # Every step errs by (8 m + d + 30) u of terms below 4 in all, and the rotation by m u.
    tolerance = 8 * (8 * m + d + 30) * UNIT
    moved = gradient(V[order], theta, theta_tilde, (int(place[a]), int(place[b])))
    np.testing.assert_allclose(moved.theta, found.theta, rtol=0, atol=tolerance)
    np.testing.assert_allclose(moved.theta_tilde, found.theta_tilde, rtol=0, atol=tolerance)
    assert abs(moved.loss - found.loss) <= tolerance
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    turned = gradient(V @ Q.T, Q @ theta, Q @ theta_tilde, (a, b))
    np.testing.assert_allclose(turned.theta, Q @ found.theta, rtol=0, atol=tolerance)
    np.testing.assert_allclose(turned.theta_tilde, Q @ found.theta_tilde, rtol=0, atol=tolerance)
    assert abs(turned.loss - found.loss) <= tolerance


def circle(d):
    angles = 2 * np.pi * np.arange(d) / d
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_the_signal_on_the_circle():
    # vbar = 0 up to rounding and v_a + v_b = (1, 1): each component is -2/d^2.
    V, zero = circle(1024), np.zeros(2)
    for found in (gradient(V, zero, zero, (0, 256)), antisymmetric_gradient(V, zero, (0, 256))):
        for part in (found.theta, found.theta_tilde):
            np.testing.assert_allclose(part, -1.9073486328125e-6, rtol=1e-14)


def test_taylor_remainder_has_slope_two():
    V, start = circle(1024), np.array([0.3, -0.2])
    direction = np.array([0.6, 0.8])
    found = gradient(V, start, -start, (0, 256))
    slope = (found.theta - found.theta_tilde) @ direction

    def remainder(h):
        moved = start + h * direction
        value = loss(softmax(V @ moved), softmax(-(V @ moved)), (0, 256))
        return abs(value - found.loss - h * slope)

    # The loss is about 1 with changes of order h/d^2 = 1e-6 h; steps of order 1 down to 1/8 keep
    # the remainder, 1e-6 h^2, seven orders above rounding. The next order bends the slope by O(h).
    steps = [0.5, 0.25, 0.125, 0.0625]
    orders = [math.log2(remainder(h) / remainder(h / 2)) for h in steps]
    assert abs(orders[-1] - 2) < 0.1
    assert abs(orders[-1] - 2) < abs(orders[0] - 2)


def test_layouts_agree_and_strict_floating_point_errors_stay_silent():
    V, theta, theta_tilde, support = arguments(FIXED)
    with np.errstate(all="raise"):
        found = gradient(V, theta, theta_tilde, support)
        other = gradient(np.asfortranarray(V), theta, theta_tilde, support)
        far = gradient(1e3 * V, theta, theta_tilde, support)
        start = antisymmetric_gradient(1e3 * V, theta, support)
    np.testing.assert_allclose(found.theta, other.theta, rtol=0, atol=20 * UNIT)
    assert all(np.isfinite(part).all() for part in (far.theta, start.theta, start.theta_tilde))


def test_refusals():
    V, theta, theta_tilde, support = arguments(FIXED)
    with pytest.raises(InvalidArgumentError, match=r"^theta=array of shape \(3,\): must have 4"):
        gradient(V, theta[:3], theta_tilde, support)
    with pytest.raises(InvalidArgumentError, match=r"^support=\(2, 2\)"):
        antisymmetric_gradient(V, theta, (2, 2))
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=query with score"):
        gradient(1e200 * V, theta, 1e200 * theta_tilde, support)
    bad = V.copy()
    bad[8, 3] = np.inf
    with pytest.raises(InvalidArgumentError, match=r"^V\[8, 3\]=inf: must be finite$"):
        gradient(bad, theta, theta_tilde, support)
    with pytest.raises(InvalidArgumentError, match=r"^gamma_tilde=array of shape \(3,\)"):
        loss([0.5, 0.5], [0.5, 0.25, 0.25], (0, 1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_an_entry_that_is_not_finite_is_named_whatever_it_is_multiplied_with(order, entry, factors):
    V = np.ones((9, 4), order=order)
    V[6, 2], V[7, 1] = entry, np.nan
    theta, theta_tilde = np.full(4, 0.5), np.full(4, -0.25)
    theta[2], theta_tilde[2] = factors
    for function, queries in (
        (gradient, (theta, theta_tilde)),
        (antisymmetric_gradient, (theta,)),
    ):
        with pytest.raises(InvalidArgumentError, match=rf"^V\[6, 2\]={entry}: must be finite$"):
            function(V, *queries, (0, 1))


def test_a_blas_that_leaves_out_columns_hides_no_entry(monkeypatch):
    def skipping(V, queries):
        used = queries.any(axis=0)
        return queries[:, used] @ V[:, used].T

    monkeypatch.setattr("numerics.population.all_scores", skipping)
    V = np.ones((9, 4))
    V[6, 2] = np.inf
    query = np.array([0.5, 0.5, 0.0, 0.5])
    with pytest.raises(InvalidArgumentError, match=r"^V\[6, 2\]=inf: must be finite$"):
        gradient(V, query, -query, (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^V\[6, 2\]=inf: must be finite$"):
        antisymmetric_gradient(V, query, (0, 1))


def test_sums_of_others_do_not_cancel_beside_a_large_term():
    others = _sums_of_others(np.array([1e-20, 1.0, 2e-20, 0.0]))
    np.testing.assert_allclose(others, [1.0, 3e-20, 1.0, 1.0], rtol=4 * UNIT)
