from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.one_step import one_step
from numerics.population import antisymmetric_gradient
from numerics.theorem2.slopes import one_step_slopes
from verify.testing.strategies import instances

UNIT = 2.0**-53


def draw(d, m, seed):
    rng = np.random.default_rng(seed)
    return sample_embeddings(rng, d, m), uniform_direction(rng, m)


def slopes_of_gradient(V, theta, support, found):
    """The slopes of both heads, from the gradient and not from the decomposition."""
    gradient = antisymmetric_gradient(V, theta, support)
    for head, part in ((found.theta, gradient.theta), (found.theta_tilde, gradient.theta_tilde)):
        push = -part / (2 * found.omega)
        yield head, push @ (V[head.own] - V[head.other]), (V[head.own] - V[found.ambient]) @ push


@given(instances(min_d=3, max_d=40, min_m=2, max_m=12))
def test_slopes_are_those_of_the_gradient(instance):
    V, theta, support = instance.V, instance.theta, instance.support
    found = one_step_slopes(V, theta, support)
    # Both sides are sums of some d + m products each, whose absolute values add up to less than 20:
    # the weights c_j do to a few units, as does e^Delta.
    allowed = 20 * (instance.d + instance.m + 20) * UNIT
    for head, support_slope, ambient_slopes in slopes_of_gradient(V, theta, support, found):
        assert head.support_slope == pytest.approx(support_slope, rel=0, abs=allowed)
        np.testing.assert_allclose(head.ambient_slopes, ambient_slopes, rtol=0, atol=allowed)


@pytest.mark.parametrize(("d", "m"), [(2, 3), (2000, 24), (300, 700)])
def test_other_sizes(d, m):
    V, theta = draw(d, m, 7)
    found = one_step_slopes(V, theta, (1, 0))
    for head, support_slope, ambient_slopes in slopes_of_gradient(V, theta, (1, 0), found):
        assert head.support_slope == pytest.approx(support_slope, rel=0, abs=1e-12)
        np.testing.assert_allclose(head.ambient_slopes, ambient_slopes, rtol=0, atol=1e-12)


def test_scores_after_a_step_move_by_the_slopes():
    V, theta = draw(50, 20, 3)
    support, eta = (4, 9), 37.0
    found, step = one_step_slopes(V, theta, support), one_step(V, theta, support, eta)
    for head, before, after in (
        (found.theta, V @ theta, step.scores),
        (found.theta_tilde, -V @ theta, step.scores_tilde),
    ):
        rise = 2 * eta * found.omega
        moved = before[head.own] - before[head.other] + rise * head.support_slope
        assert after[head.own] - after[head.other] == pytest.approx(moved, abs=1e-13)
        moved = before[head.own] - before[found.ambient] + rise * head.ambient_slopes
        np.testing.assert_allclose(after[head.own] - after[found.ambient], moved, atol=1e-13)


@given(instances(min_d=3, max_d=20, min_m=3, max_m=8))
def test_every_part_read_literally(instance):
    V, theta, (a, b) = instance.V, instance.theta, instance.support
    found = one_step_slopes(V, theta, (a, b))
    d, s = instance.d, V @ theta
    off = [j for j in range(d) if j not in (a, b)]
    assert found.ambient.tolist() == off
    assert found.omega == pytest.approx(1 / (np.exp(s).sum() * np.exp(-s).sum()), rel=1e-13)
    assert found.lean == pytest.approx(abs(s[a] - s[b]), abs=1e-15)
    assert found.overlap == pytest.approx(V[a] @ V[b], abs=1e-15)
    assert found.distance == pytest.approx(np.linalg.norm(V[a] - V[b]), rel=1e-14)
    assert {found.theta.own, found.theta_tilde.own} == {a, b}
    assert s[found.theta.own] >= s[found.theta_tilde.own]
    perp = V - np.outer(s, theta)
    for head, scores in ((found.theta, s), (found.theta_tilde, -s)):
        own, other = head.own, head.other
        Z, Z_2_tilde = np.exp(scores).sum(), np.exp(-2 * scores).sum()
        Z_2 = np.exp(2 * scores).sum()
        kappa = 2 * math.cosh(found.lean) - found.omega * Z_2 * Z_2_tilde
        kappa -= 2 * d * (d - 1) * found.omega
        c = kappa / Z * np.exp(scores) + found.omega * Z_2_tilde * np.exp(2 * scores)
        c += 2 * (d - 1) * found.omega
        np.testing.assert_allclose(head.weights, c, rtol=0, atol=1e-13)
        assert c.sum() == pytest.approx(2 * math.cosh(found.lean), rel=1e-13)
        W = c[off] @ perp[off]
        room = 1 - found.overlap
        parts = {
            "signal": 2 * math.sinh(found.lean) * room,
            "support_weights": -(c[own] - c[other]) * room,
            "structured": -found.lean * (c[off] @ scores[off]),
            "noise": -W @ (V[own] - V[other]),
            "support_noise": W @ V[own],
        }
        for name, value in parts.items():
            assert getattr(head, name) == pytest.approx(value, abs=1e-13), name
        pull = math.exp(found.lean) * V[own] + math.exp(-found.lean) * V[other]
        np.testing.assert_allclose(head.pulls, V[off] @ pull, rtol=0, atol=1e-13)
        noises = [(W - c[k] * perp[k]) @ V[k] for k in off]
        np.testing.assert_allclose(head.ambient_noises, noises, rtol=0, atol=1e-13)


def test_exchanging_the_support_changes_nothing_and_the_other_query_exchanges_the_heads():
    V, theta = draw(30, 9, 5)
    found, again, turned = (
        one_step_slopes(V, query, support)
        for query, support in ((theta, (2, 8)), (theta, (8, 2)), (-theta, (2, 8)))
    )
    # The same sums, in the same order.
    assert again.theta.support_slope == found.theta.support_slope
    assert again.theta_tilde.own == found.theta_tilde.own
    assert turned.theta.own == found.theta_tilde.own
    for name in ("support_slope", "signal", "support_weights", "structured", "noise"):
        value = getattr(found.theta_tilde, name)
        assert getattr(turned.theta, name) == pytest.approx(value, abs=1e-14), name


def test_bad_arguments_are_refused():
    V, theta = draw(6, 4, 0)
    long, holed = V.copy(), V.copy()
    long[3] *= 2
    holed[2, 1] = np.nan
    for arguments, message in [
        ((long, theta, (0, 1)), r"^V\[3\]=vector of length 2\.0\d*: must have length 1"),
        ((V, theta / 2, (0, 1)), r"^theta=vector of length 0\.5\d*: must have length 1"),
        ((V, theta[:3], (0, 1)), r"^theta=array of shape"),
        ((V, theta, (0, 6)), r"^support="),
        ((holed, theta, (0, 1)), r"^V\[2, 1\]=nan: must be finite"),
        ((V[[0, 0, 1]], theta, (0, 1)), r"^support=\(0, 1\): the embeddings there must differ"),
        ((1e200 * V, theta, (0, 1)), r"^V\[0\]=vector of length inf"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            one_step_slopes(*arguments)


def test_the_arguments_are_left_alone():
    V, theta = draw(6, 4, 1)
    before = V.copy(), theta.copy()
    one_step_slopes(V, theta, (0, 1))
    assert np.array_equal(V, before[0])
    assert np.array_equal(theta, before[1])
