"""Attention, loss, gradient weights and the step against mpmath at high precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.balls.arithmetic.exact import lower_end, upper_end
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.model import (
    attention,
    dot,
    gradient_weights,
    population_loss,
    powers,
    starts,
    step,
)
from numerics.enumeration import enumerate_loss
from numerics.multiprecision.differences import numeric_gradient
from verify.testing.strategies import instances


def rational(x):
    """A high-precision number as the rational number it is."""
    sign, mantissa, exponent, _ = x._mpf_
    return Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent


def inside(ball, value, allowance):
    return lower_end(ball) - allowance <= value <= upper_end(ball) + allowance


@settings(max_examples=settings().max_examples * 40 // 100)
@given(
    instance=instances(max_d=6, max_m=3, start="independent"),
    scale=st.sampled_from([0.1, 1.0, 10.0]),
    bits=st.sampled_from([12, 20, 53, 128]),
)
def test_the_step_encloses_what_differentiating_the_definition_gives(instance, scale, bits):
    V, theta, theta_tilde = scale * instance.V, instance.theta, instance.theta_tilde
    support = instance.support
    eta = Fraction(10 * instance.d**2, 3)
    gradients = numeric_gradient(V, theta, theta_tilde, support, digits=50, enumerated=True)
    matrix = IntegerMatrix(V)
    with working_precision(bits):
        heads = step(matrix, starts(matrix, theta, theta_tilde), support, eta=eta, bits=bits)
    for head, query, gradient in zip(heads, (theta, theta_tilde), gradients, strict=True):
        moved = [
            Fraction(x) - eta * rational(g) for x, g in zip(query.tolist(), gradient, strict=True)
        ]
        slack = upper_end(head.slack)
        unit = Fraction(2) ** head.unit
        for n, row in zip(head.integers, V.tolist(), strict=True):
            score = sum(Fraction(v) * x for v, x in zip(row, moved, strict=True))
            assert abs(score - n * unit) <= slack + Fraction(1, 10**40)
        # And it is narrow: the radius is what the precision leaves of eta times the gradient.
        if bits >= 53:
            assert slack <= Fraction(2) ** (30 - bits) * eta


@settings(max_examples=settings().max_examples * 40 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), bits=st.sampled_from([8, 20, 128]))
def test_attention_loss_and_weights_are_enclosed(seed, d, bits):
    rng = np.random.default_rng(seed)
    scores = [[int(n) for n in rng.integers(-4000, 4001, d)] for _ in range(2)]
    support = tuple(rng.permutation(d)[:2].tolist())
    with working_precision(bits):
        gamma, gamma_tilde = (attention(powers(integers, -10)) for integers in scores)
        loss = population_loss(gamma, gamma_tilde, support)
        weights = gradient_weights(gamma, gamma_tilde, support)
        product = dot(gamma, gamma_tilde)
    exact = []
    with mpmath.workprec(400):
        for integers in scores:
            terms = [mpmath.exp(mpmath.mpf(n) / 1024) for n in integers]
            exact.append([rational(term / mpmath.fsum(terms)) for term in terms])
    allowance = Fraction(1, 10**90)
    for balls, values in ((gamma, exact[0]), (gamma_tilde, exact[1])):
        assert all(
            inside(ball, value, allowance) for ball, value in zip(balls, values, strict=True)
        )
    assert inside(loss, enumerate_loss(exact[0], exact[1], support).mean, allowance)
    overlap = sum(g * t for g, t in zip(*exact, strict=True))
    assert inside(product, overlap, allowance)
    # w_i is the derivative of the loss along s_i: a difference of losses, exact in the limit.
    slopes = []
    for i in range(d):
        losses = []
        for sign in (1, -1):
            moved = list(exact[0])
            moved[i] += sign * Fraction(1, 10**3)
            # The loss is a quadratic in gamma, so that a central difference is its derivative.
            losses.append(enumerate_loss(moved, exact[1], support).mean)
        slopes.append((losses[0] - losses[1]) * 500)
    mean = sum(g * slope for g, slope in zip(exact[0], slopes, strict=True))
    for ball, g, slope in zip(weights, exact[0], slopes, strict=True):
        assert inside(ball, g * (slope - mean), allowance)


def test_differences_of_huge_scores_keep_their_radius():
    # Ratios of exponentials of 2^70 would have no digit left at 128 bits.
    with working_precision(128):
        largest, other = powers([(1 << 70) + 1, 1 << 70], 0)
    assert largest == 1
    assert other.rel_accuracy_bits() > 120
    assert abs(float(other.mid()) - 0.36787944117144233) < 1e-15


def test_slack_is_zero_before_a_step():
    matrix = IntegerMatrix(np.eye(2))
    first, _ = starts(matrix, np.array([1.0, 2.0]), np.array([0.0, 0.0]))
    assert first.scores.slack == arb(0)
    unit = Fraction(2) ** first.scores.unit
    assert [n * unit for n in first.scores.integers] == [1, 2]
