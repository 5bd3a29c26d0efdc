"""Gradient descent in balls, against exact fractions, the definition and binary64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.attention_descent import MAPS, certify_descent
from numerics.enumeration import enumerate_loss
from verify.testing.strategies import instance_at

TOLERANCE = Fraction(1, 100)


def descend(instance, attention, eta, steps, tolerance=TOLERANCE, **options):
    return certify_descent(
        instance.V,
        instance.theta,
        instance.theta_tilde,
        instance.support,
        attention=attention,
        eta=eta,
        steps=steps,
        tolerance=tolerance,
        **options,
    )


def rational_losses(instance, eta, steps):
    """Mean and largest loss of linear attention, with the gradient by differences of the mean.

    The loss is a polynomial of degree two in each query, so central differences are exact.
    """
    V = [[Fraction(x) for x in row] for row in instance.V.tolist()]
    queries = [
        [Fraction(x) for x in query.tolist()] for query in (instance.theta, instance.theta_tilde)
    ]

    def losses(queries):
        heads = [
            [sum((v * x for v, x in zip(row, q, strict=True)), Fraction(0)) for row in V]
            for q in queries
        ]
        return enumerate_loss(*heads, instance.support)

    def slope(head, k):
        ends = []
        for sign in (1, -1):
            moved = [list(query) for query in queries]
            moved[head][k] += sign
            ends.append(losses(moved).mean)
        return (ends[0] - ends[1]) / 2

    for _ in range(steps):
        slopes = [[slope(head, k) for k in range(instance.m)] for head in range(2)]
        queries = [
            [x - eta * g for x, g in zip(query, row, strict=True)]
            for query, row in zip(queries, slopes, strict=True)
        ]
    return losses(queries)


@given(
    seed=st.integers(0, 10**6), d=st.integers(2, 4), m=st.integers(1, 3), steps=st.integers(0, 2)
)
def test_linear_attention_is_enclosed_exactly(seed, d, m, steps):
    instance = instance_at(d=d, m=m, seed=seed, support=(d - 1, 0), start="independent")
    eta = Fraction(3, 10)
    exact = rational_losses(instance, eta, steps)
    found = descend(instance, "linear", eta, steps)
    assert found.mean_loss[0] <= exact.mean <= found.mean_loss[1]
    assert found.mean_loss[1] - found.mean_loss[0] < Fraction(1, 2**100)
    assert found.sup_loss[0] <= exact.supremum <= found.sup_loss[1]


VALUES = {"linear": lambda s: s, "erf": erf, "tanh": np.tanh}
DERIVATIVES = {
    "linear": np.ones_like,
    "erf": lambda s: 2 / np.sqrt(np.pi) * np.exp(-(s**2)),
    "tanh": lambda s: 1 - np.tanh(s) ** 2,
}


def float_loss(gamma, gamma_tilde, support):
    return float(enumerate_loss(gamma, gamma_tilde, support).mean)


@pytest.mark.parametrize("name", MAPS)
def test_ten_steps_are_those_of_differences_of_the_enumerated_loss(name):
    instance = instance_at(d=5, m=7, seed=1, support=(1, 3), start="independent")
    queries, phi, h = np.stack([instance.theta, instance.theta_tilde]), VALUES[name], 2.0**-17

    def loss(queries):
        return float_loss(*(phi(instance.V @ query) for query in queries), instance.support)

    for _ in range(10):
        slopes = np.zeros_like(queries)
        for place in np.ndindex(*queries.shape):
            step = np.zeros_like(queries)
            step[place] = h
            slopes[place] = (loss(queries + step) - loss(queries - step)) / (2 * h)
        queries = queries - 0.2 * slopes
    found = descend(instance, name, Fraction(1, 5), 10)
    # Central differences err by h^2 and u/h, each about 1e-10 of slopes of size 1.
    assert float(found.mean_loss[0]) == pytest.approx(loss(queries), abs=1e-8)


@pytest.mark.parametrize("name", MAPS)
def test_the_maps_and_their_derivatives(name):
    with working_precision(80):
        for s in (-2.5, -0.1, 0.0, 0.7, 3.0):
            assert float(MAPS[name].value(arb(s))) == pytest.approx(float(VALUES[name](s)))
            expected = float(DERIVATIVES[name](np.float64(s)))
            assert float(MAPS[name].derivative(arb(s))) == pytest.approx(expected)


def test_independent_starts_learn_and_opposite_ones_keep_one_half():
    learning = instance_at(d=8, m=24, seed=0, support=(2, 5), start="independent")
    stuck = instance_at(d=8, m=24, seed=0, support=(2, 5))
    # erf converges slowly at a bounded map's ends, and the bound of every loss is not close.
    for name, eta, steps, tolerance in (
        ("linear", Fraction(1, 5), 120, TOLERANCE),
        ("erf", Fraction(1, 10), 250, 4 * TOLERANCE),
    ):
        found = descend(learning, name, eta, steps, tolerance)
        assert found.verdict == "certified"
        assert 0 <= found.mean_loss[0] <= found.sup_loss[1] <= tolerance
        kept = descend(stuck, name, eta, steps, tolerance=Fraction(499, 1000))
        assert kept.verdict == "refuted"
        assert kept.mean_loss[1] >= Fraction(1, 2)


def test_more_precision_decides_what_little_could_not():
    instance = instance_at(d=8, m=24, seed=0, support=(2, 5), start="independent")
    low = descend(instance, "linear", Fraction(1, 5), 120, max_bits=64)
    assert (low.verdict, low.mean_loss, low.sup_loss, low.bits) == ("undecided", None, None, 64)
    assert low.reason == "at 64 bits the balls are too wide"
    high = descend(instance, "linear", Fraction(1, 5), 120)
    assert high.verdict == "certified"
    assert high.bits > 256


def test_between_mean_and_bound_nothing_is_decided():
    instance = instance_at(d=4, m=6, seed=2, support=(0, 1), start="independent")
    found = descend(instance, "linear", Fraction(1, 10), 3)
    low, high = found.sup_loss
    assert low < high
    between = descend(instance, "linear", Fraction(1, 10), 3, tolerance=(low + high) / 2)
    # More precision could not change that, and is not tried.
    assert (between.verdict, between.bits) == ("undecided", 256)
    assert between.reason.startswith("the tolerance is above the mean loss")
    assert between.sup_loss is not None
    above = descend(instance, "linear", Fraction(1, 10), 3, tolerance=high * 2)
    assert above.verdict == "certified"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention": "cubic"}, "attention=cubic: must be one of linear, erf, tanh"),
        ({"eta": Fraction(0)}, "eta=0: must be positive"),
        ({"tolerance": Fraction(-1)}, "tolerance=-1: must be positive"),
        ({"steps": -1}, "steps=-1: must be an integer >= 0"),
        ({"max_bits": 1}, "max_bits=1: must be an integer >= 2"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    instance = instance_at(d=4, m=6, seed=2, support=(0, 1))
    arguments = {"attention": "linear", "eta": Fraction(1), "steps": 1, "tolerance": TOLERANCE}
    with pytest.raises(InvalidArgumentError) as refusal:
        certify_descent(
            instance.V, instance.theta, -instance.theta, instance.support, **arguments | change
        )
    assert str(refusal.value) == message
