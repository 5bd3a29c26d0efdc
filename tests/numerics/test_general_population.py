from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics import population
from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.attention_maps import MAPS, SOFTMAX, AttentionMap, pointwise
from numerics.enumeration import enumerate_loss
from numerics.general_population import gradient, loss
from verify.testing.strategies import instance_at, supports

UNIT = 2.0**-53
LINEAR, ERF = MAPS["linear"], MAPS["erf"]


def exact(vector):
    return [Fraction(float(entry)) for entry in vector]


def exact_loss(u, t, support):
    """Parseval's sum over all pairs, in rational arithmetic."""
    d = len(u)
    terms = [sum(x * y for x, y in zip(u, t, strict=True)) ** 2]
    for i, j in itertools.combinations(range(d), 2):
        pair = u[i] * t[j] + u[j] * t[i]
        terms.append((pair - (1 if {i, j} == set(support) else 0)) ** 2)
    return sum(terms)


def exact_slopes(u, t, support):
    """dL/dgamma_i: L is a quadratic in gamma, so a central difference of any step is exact."""
    slopes = []
    for i in range(len(u)):
        up, down = ([x + (h if j == i else 0) for j, x in enumerate(u)] for h in (1, -1))
        slopes.append((exact_loss(up, t, support) - exact_loss(down, t, support)) / 2)
    return slopes


def norm(values):
    return math.sqrt(float(sum(x * x for x in values)))


def split(u, support):
    return [u[i] for i in support], [x for i, x in enumerate(u) if i not in support]


def loss_error_scale(u, t, support, value):
    """What the documented error is (4 d + 20) u times of."""
    (on, rest), (on_tilde, rest_tilde) = split(u, support), split(t, support)
    mixed = norm(on) * norm(rest_tilde) + norm(on_tilde) * norm(rest)
    return value + math.sqrt(value) * mixed + (norm(rest) * norm(rest_tilde)) ** 2


def assert_loss_close(gamma, gamma_tilde, support):
    u, t = exact(gamma), exact(gamma_tilde)
    truth = exact_loss(u, t, support)
    found = loss(gamma, gamma_tilde, support)
    tolerance = (4 * len(u) + 20) * UNIT * loss_error_scale(u, t, support, float(truth))
    assert found >= 0
    assert abs(Fraction(found) - truth) <= tolerance
    return float(truth)


def assert_slopes_close(gamma, gamma_tilde, support):
    """With V the identity and linear attention, the gradient is g itself."""
    u, t = exact(gamma), exact(gamma_tilde)
    d = len(u)
    found = gradient(np.eye(d), gamma, gamma_tilde, support, attention=LINEAR)
    for slopes, truth, scale in (
        (found.theta, exact_slopes(u, t, support), slope_scale(u, t, support)),
        (found.theta_tilde, exact_slopes(t, u, support), slope_scale(t, u, support)),
    ):
        for slope, exact_slope, size in zip(slopes, truth, scale, strict=True):
            assert abs(Fraction(float(slope)) - exact_slope) <= (d + 20) * UNIT * size


def slope_scale(u, t, support):
    """T_i, the documented sum with every term counted positive."""
    a, b = support
    product = sum(x * y for x, y in zip(u, t, strict=True))
    rest = [(u[i], t[i]) for i in range(len(u)) if i not in support]
    rest_products = sum(abs(x * y) for x, y in rest)
    rest_square = sum(y * y for _, y in rest)
    short = 1 - u[a] * t[b] - u[b] * t[a]
    square = sum(y * y for y in t)
    scale = [
        2 * (abs(x) * square + abs(y) * (2 * abs(product) + 2 * rest_products + abs(x * y)))
        for x, y in zip(u, t, strict=True)
    ]
    for i, other in ((a, b), (b, a)):
        scale[i] = 2 * (
            abs(t[other] * short)
            + abs(t[i]) * (abs(product) + 2 * rest_products)
            + abs(u[i]) * rest_square
        )
    return scale


def drawn_weights(seed, d):
    """Weights of any sign and of sizes from 1e-3 to 10."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (2, d)) * 10.0 ** rng.uniform(-3, 1, (2, d))


def drawn_pairs(d):
    return st.tuples(st.integers(0, 10**6), st.just(d), supports(d))


@given(st.integers(2, 9).flatmap(drawn_pairs))
def test_loss_and_slopes_of_any_weights_against_rational_arithmetic(drawn):
    seed, d, support = drawn
    gamma, gamma_tilde = drawn_weights(seed, d)
    assert_loss_close(gamma, gamma_tilde, support)
    assert_slopes_close(gamma, gamma_tilde, support)


@given(st.integers(2, 7).flatmap(drawn_pairs))
def test_loss_is_the_enumerated_mean(drawn):
    seed, d, support = drawn
    u, t = (exact(weights) for weights in drawn_weights(seed, d))
    assert exact_loss(u, t, support) == enumerate_loss(u, t, support).mean


# Heads that are right on all inputs without being softmax-like: products of opposite sign cancel.
# (x, y) and (-y, x)/(x^2 - y^2); in most cases the second is rounded.
PERFECT = [
    ((1.0, 0.0), (0.0, 1.0)),
    ((3.0, -1.0), (0.125, 0.375)),
    ((1.1, 0.7), (-0.7 / 0.72, 1.1 / 0.72)),
    ((-0.3, 1.3), (1.3 / 1.6, 0.3 / 1.6)),
]


@pytest.mark.parametrize(("own", "tilde"), PERFECT)
@pytest.mark.parametrize("size", [1e-2, 1e-8, 1e-20, 1e-120])
def test_small_losses_keep_their_relative_accuracy(own, tilde, size):
    d, support = 12, (3, 7)
    rng = np.random.default_rng(1)
    gamma, gamma_tilde = size * rng.standard_normal((2, d))
    gamma[list(support)], gamma_tilde[list(support)] = own, tilde
    truth = assert_loss_close(gamma, gamma_tilde, support)
    # Rounding the second head already costs u^2.
    assert truth < 1000 * size**2 + 10 * UNIT**2
    # The condition number of these heads is below 10: relative accuracy, whatever the loss.
    relative = abs(loss(gamma, gamma_tilde, support) / truth - 1)
    assert relative <= 15 * (4 * d + 20) * UNIT
    assert_slopes_close(gamma, gamma_tilde, support)


def test_a_difference_that_binary64_cannot_form():
    # 1 - mu = 1 - (1 + 2^-30) (1 - 2^-30) = 2^-60, and the product rounds to 1.
    gamma, gamma_tilde = [1 + 2.0**-30, 0.0], [0.0, 1 - 2.0**-30]
    assert loss(gamma, gamma_tilde, (0, 1)) == 2.0**-120
    assert_slopes_close(gamma, gamma_tilde, (0, 1))


@pytest.mark.parametrize("seed", range(20))
def test_weights_off_the_support_that_cancel_give_no_negative_loss(seed):
    # p q = x_2^2 - x_3^2 = 0, up to a factor: L = 1, but for rounding of terms of size 1e20.
    size = 1e5 * np.random.default_rng(seed).uniform(1, 2, 2)
    gamma, gamma_tilde = np.zeros((2, 4))
    gamma[2:], gamma_tilde[2:] = size[0], [size[1], -size[1]]
    assert loss(gamma, gamma_tilde, (0, 1)) >= 1
    assert_loss_close(gamma, gamma_tilde, (0, 1))


def mp_loss(context, weights, V, queries, support):
    """The mean over all inputs, with 40 digits."""
    heads = [
        [weights(context, context.fdot(row, query)) for row in V.tolist()] for query in queries
    ]
    total = context.mpf(0)
    for x in itertools.product((-1, 1), repeat=len(V)):
        p, q = (context.fdot(head, x) for head in heads)
        total += (p * q - x[support[0]] * x[support[1]]) ** 2
    return total / 2 ** len(V)


DIGITS = {
    "linear": (LINEAR, lambda _context, s: s),
    "erf": (ERF, lambda context, s: context.erf(s)),
    "tanh": (
        pointwise("tanh", "tanh", np.tanh, lambda s: 1 / np.cosh(s) ** 2, odd=True),
        lambda context, s: context.tanh(s),
    ),
    "even": (
        pointwise("cos", "cos", np.cos, lambda s: -np.sin(s)),
        lambda context, s: context.cos(s),
    ),
}


@pytest.mark.parametrize("name", DIGITS)
@pytest.mark.parametrize(("d", "m"), [(2, 1), (3, 2), (5, 3)])
def test_gradients_against_forty_digits(name, d, m):
    attention, value = DIGITS[name]
    context = mpmath.MPContext()
    context.dps = 40
    instance = instance_at(d=d, m=m, seed=d, support=(d - 1, 0), start="independent")
    V, support = instance.V, instance.support
    queries = [instance.theta.tolist(), instance.theta_tilde.tolist()]
    found = gradient(V, *queries, support, attention=attention)
    # Rows and queries of length 1: scores err by m u, weights, slopes and sums, of at most 4 terms
    # of size 1 for each position, by some d + m + 30 units.
    tolerance = 8 * d * (d + m + 30) * UNIT
    expected = mp_loss(context, value, V, queries, support)
    assert abs(found.loss - float(expected)) <= tolerance
    for head, part in ((0, found.theta), (1, found.theta_tilde)):
        for k in range(m):

            def moved(h, head=head, k=k):
                at = [list(query) for query in queries]
                at[head][k] += h
                return mp_loss(context, value, V, at, support)

            assert abs(part[k] - float(context.diff(moved, 0))) <= tolerance


def test_softmax_is_left_to_its_own_module():
    instance = instance_at(d=9, m=4, seed=5, support=(2, 7), start="independent")
    arguments = instance.V, instance.theta, instance.theta_tilde, instance.support
    expected = population.gradient(*arguments)
    found = gradient(*arguments, attention=SOFTMAX)
    # Spread attention: neither form loses digits, so that the general one agrees with it.
    other = AttentionMap("other", "other", softmax, SOFTMAX.pull_back)
    general = gradient(*arguments, attention=other)
    for ours, theirs in ((found.theta, expected.theta), (found.theta_tilde, expected.theta_tilde)):
        assert ours.tolist() == theirs.tolist()
    assert found.loss == expected.loss
    assert general.loss == pytest.approx(expected.loss, rel=40 * UNIT)
    np.testing.assert_allclose(general.theta, expected.theta, rtol=0, atol=100 * UNIT)
    np.testing.assert_allclose(general.theta_tilde, expected.theta_tilde, rtol=0, atol=100 * UNIT)


def test_an_odd_map_at_the_antisymmetric_start_never_gets_below_a_half():
    for seed in range(20):
        instance = instance_at(d=8, m=16, seed=seed, support=(1, 2))
        for attention in (LINEAR, ERF):
            found = gradient(
                3 * instance.V, instance.theta, -instance.theta, (1, 2), attention=attention
            )
            # f = p^2 >= 0, and half of the labels are -1.
            assert found.loss >= 0.5
            np.testing.assert_allclose(found.theta, -found.theta_tilde, rtol=0, atol=1e-12)


def test_layouts_agree_and_strict_floating_point_errors_stay_silent():
    instance = instance_at(d=9, m=4, seed=5, support=(2, 7), start="independent")
    for attention in (LINEAR, ERF):
        given_ = instance.theta, instance.theta_tilde, instance.support
        with np.errstate(all="raise"):
            found = gradient(instance.V, *given_, attention=attention)
            other = gradient(np.asfortranarray(instance.V), *given_, attention=attention)
            tiny = gradient(1e-200 * instance.V, *given_, attention=attention)
        np.testing.assert_allclose(found.theta, other.theta, rtol=0, atol=40 * UNIT)
        assert tiny.loss == 1.0


def test_refusals():
    V, theta, tilde = np.eye(3), np.ones(3), np.ones(3)
    with pytest.raises(InvalidArgumentError, match=r"^gamma=array of shape \(1,\): must have d"):
        loss([1.0], [1.0], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^gamma_tilde=array of shape \(2,\)"):
        loss([1.0, 2.0, 3.0], [1.0, 2.0], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^gamma\[1\]=nan: must be finite$"):
        loss([1.0, np.nan], [1.0, 2.0], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^support=\(0, 3\)"):
        loss(theta, tilde, (0, 3))
    with pytest.raises(InvalidArgumentError, match=r"^V\[0, 1\]=inf"):
        gradient([[1.0, np.inf]] * 3, [0.0, 0.0], [0.0, 0.0], (0, 1), attention=LINEAR)
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=array of shape \(2,\)"):
        gradient(V, theta, tilde[:2], (0, 1), attention=ERF)
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=query with score inf"):
        gradient(1e200 * V, theta, 1e200 * tilde, (0, 1), attention=ERF)


@pytest.mark.parametrize(
    ("gamma", "gamma_tilde"),
    [
        ([1e200, 1e200, 1.0], [1e200, -1e200, 1.0]),
        ([1e100, 0.0, 0.0], [0.0, 1e100, 0.0]),
        ([1.0, 1.0, 1e100], [1.0, 1.0, 1e100]),
        ([0.0, 0.0, 1e160], [0.0, 0.0, 1e160]),
        ([1e160, 0.0, 0.0], [1e160, 0.0, 0.0]),
    ],
)
def test_a_loss_that_overflows_is_refused(gamma, gamma_tilde):
    with pytest.raises(InvalidArgumentError, match=r"^gamma=weights up to 1e\+\d+: the loss and"):
        loss(gamma, gamma_tilde, (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^theta=weights up to 1e\+\d+: the loss and"):
        gradient(np.eye(3), gamma, gamma_tilde, (0, 1), attention=LINEAR)


def test_a_gradient_that_overflows_is_refused():
    steep = pointwise("steep", "steep", np.tanh, lambda s: np.full_like(s, 1e308))
    with pytest.raises(InvalidArgumentError, match=r"^theta=weights up to .*: the loss and its gr"):
        gradient(np.full((3, 1), 9.0), [1.0], [-1.0], (0, 1), attention=steep)
