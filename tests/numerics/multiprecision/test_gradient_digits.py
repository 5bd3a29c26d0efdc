from __future__ import annotations

import itertools
import threading
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.multiprecision import gradient_digits
from numerics.multiprecision.differences import numeric_gradient
from numerics.multiprecision.gradient_digits import population_gradient_digits
from verify.testing.strategies import instance_at, instances

C4 = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


FIXED = instance_at(d=8, m=3, seed=3, support=(5, 2), start="independent")

arguments = attrgetter("V", "theta", "theta_tilde", "support")


def significant(text):
    return len(text.lower().split("e")[0].replace(".", "").lstrip("-0"))


def test_reference_instance():
    theta = np.array([1.0, 0.0])
    found = population_gradient_digits(C4, theta, -theta, (0, 1), digits=15)
    assert found.theta == ("-0.0518517666402136", "-0.0284416809826276")
    assert found.theta_tilde == ("-0.186747090670938", "-0.210157176328524")
    assert population_gradient_digits(C4, theta, -theta, (0, 1), digits=19).loss == (
        "0.9328189895953062103"
    )
    assert found.reason is None


@settings(max_examples=settings().max_examples // 4)
@given(instances(max_d=6, max_m=3, start="independent"))
def test_loss_and_exact_scores_against_plain_mpmath(instance):
    # Shares nothing with the module: scores by Fractions, moments by the definition.
    V, theta, theta_tilde, (a, b) = arguments(instance)
    found = population_gradient_digits(V, theta, theta_tilde, (a, b), digits=40)
    with mpmath.workdps(60):
        heads = []
        for query in (theta, theta_tilde):
            scores = [
                sum(Fraction(v) * Fraction(t) for v, t in zip(row, query.tolist(), strict=True))
                for row in V.tolist()
            ]
            powers = [mpmath.exp(mpmath.mpf(s.numerator) / s.denominator) for s in scores]
            heads.append([power / mpmath.fsum(powers) for power in powers])
        losses = [
            (x[a] * x[b] - mpmath.fprod(mpmath.fdot(zip(head, x, strict=True)) for head in heads))
            ** 2
            for x in itertools.product((-1, 1), repeat=instance.d)
        ]
        mean = mpmath.fsum(losses) / 2**instance.d
        assert abs(mpmath.mpf(found.loss) / mean - 1) < mpmath.mpf(10) ** -39


@settings(max_examples=settings().max_examples // 4)
@given(
    instance=instances(max_d=6, max_m=3, start="independent"),
    digits=st.sampled_from([1, 5, 17, 40]),
)
def test_digits_agree_with_differentiation_of_the_definition(instance, digits):
    V, theta, theta_tilde, support = arguments(instance)
    found = population_gradient_digits(V, theta, theta_tilde, support, digits=digits)
    exact = numeric_gradient(V, theta, theta_tilde, support, digits=60, enumerated=True)
    for texts, values in zip((found.theta, found.theta_tilde), exact, strict=True):
        for text, value in zip(texts, values, strict=True):
            if text == "0":
                assert abs(value) < 1e-50
                continue
            assert significant(text) == digits
            with mpmath.workdps(80):
                unit = mpmath.mpf(10) ** (Decimal(text).adjusted() - digits + 1)
                # Nearest, up to the error 1e-60 of the differences.
                assert abs(mpmath.mpf(text) - value) <= unit / 2 + mpmath.mpf(10) ** -59


def test_uniform_attention_is_rational():
    for V in (C4, C4 + 0.25):
        zero = np.zeros(2)
        found = population_gradient_digits(V, zero, zero, (0, 1), digits=5)
        assert found.theta == found.theta_tilde == ("-0.12500", "-0.12500")
        assert found.loss == "0.90625"
        assert found.bits == 0
    # Equal scores of any size, by a column that every row shares.
    V = np.column_stack([C4, np.full(4, 7.0)])
    theta = np.array([0.0, 0.0, 1e3])
    found = population_gradient_digits(V, theta, 2 * theta, (0, 2), digits=4)
    assert found.theta == ("0", "0", "0")
    assert found.loss == "0.9062"


def test_zeros_are_proved_and_nothing_else_is_zero():
    # Mirror images 1 and 3 with equal scores; a and b on the mirror.
    theta = np.array([1.0, 0.0])
    found = population_gradient_digits(C4, theta, -theta, (0, 2))
    assert found.theta[1] == found.theta_tilde[1] == "0"
    assert found.theta[0] != "0"
    V, theta, theta_tilde, support = arguments(
        instance_at(d=50, m=3, seed=1, support=(7, 31), start="independent")
    )
    V[:, 1] = 0
    found = population_gradient_digits(V, theta, theta_tilde, support)
    assert [text == "0" for text in found.theta] == [False, True, False]
    # At d = 2 a uniform head 2 makes the gradient of head 1 zero, by no symmetry of V.
    found = population_gradient_digits([[0.3, 1.0], [-0.9, 2.0]], [1.0, 0.0], [0.0, 0.0], (0, 1))
    assert found.theta == ("0", "0")
    assert "0" not in found.theta_tilde
    # The smallest break of the symmetry shows.
    V = C4.copy()
    V[1, 1] = 1 + 2.0**-52
    found = population_gradient_digits(V, np.array([1.0, 0.0]), np.array([-1.0, 0.0]), (0, 2))
    assert 0 < abs(float(found.theta[1])) < 1e-15


@pytest.mark.parametrize("height", [60.0, 340.0, 2000.0])
def test_digits_survive_attention_that_rounds_to_one(height):
    # At any working precision below height / log 2 bits, 1 - gamma_a is lost entirely, and every
    # such precision agrees with every other. With x = exp(-h), on three positions, head 1 at
    # (h, 0, 0), head 2 at (0, h, 0): gamma_a = gamma~_b = 1/(1 + 2x), the others x/(1 + 2x).
    V = height * np.eye(3)
    found = population_gradient_digits(V, [1.0, 0, 0], [0, 1.0, 0], (0, 1))
    with mpmath.workdps(3000):
        x = mpmath.exp(-mpmath.mpf(height))
        main, other = 1 / (1 + 2 * x), x / (1 + 2 * x)
        # L = (1 - mu)^2 + <gamma, gamma~>^2 + sum over {a,c} and {b,c}.
        mu = main**2 + other**2
        loss = (
            (1 - mu) ** 2 + (2 * main * other + other**2) ** 2 + 2 * (main * other + other**2) ** 2
        )
        error = abs(mpmath.mpf(found.loss) / loss - 1)
        assert error < mpmath.mpf(10) ** -16
    derivative = found.theta[0]
    with mpmath.workdps(3000):
        # dL/dtheta_0 = h dL/ds_a, by a difference of the same formula in s_a.
        def value(s):
            first = [mpmath.exp(s), 1, 1]
            gamma = [f / sum(first) for f in first]
            tilde = [other, main, other]
            mu = gamma[0] * tilde[1] + gamma[1] * tilde[0]
            pairs = [(gamma[i] * tilde[2] + gamma[2] * tilde[i]) ** 2 for i in (0, 1)]
            overlap = sum(g * t for g, t in zip(gamma, tilde, strict=True))
            return (1 - mu) ** 2 + overlap**2 + sum(pairs)

        step = mpmath.mpf(10) ** -1000
        s = mpmath.mpf(height)
        slope = s * (value(s + step) - value(s - step)) / (2 * step)
        assert abs(mpmath.mpf(derivative) / slope - 1) < mpmath.mpf(10) ** -16


def test_many_digits_extend_few():
    V, theta, theta_tilde, support = arguments(FIXED)
    long = population_gradient_digits(V, theta, theta_tilde, support, digits=1000)
    short = population_gradient_digits(V, theta, theta_tilde, support, digits=30)
    for many, few in zip((long.loss, *long.theta), (short.loss, *short.theta), strict=True):
        assert significant(many) == 1000
        assert abs(Fraction(many) - Fraction(few)) <= abs(Fraction(many)) / 10**29


def test_what_does_not_settle_is_none_with_a_reason(monkeypatch):
    V, theta, theta_tilde, support = arguments(FIXED)
    monkeypatch.setattr(gradient_digits, "MAX_BITS", 200)
    found = population_gradient_digits(V, theta, theta_tilde, support)
    assert found.loss is None
    assert set(found.theta) == {None}
    assert found.reason.startswith("digits not settled at 121 bits")


def test_no_precision_leaks():
    # Set, not assumed: an earlier leak would hide a later one.
    mpmath.mp.prec = 53
    V, theta, theta_tilde, support = arguments(
        instance_at(d=30, m=4, seed=3, support=(11, 4), start="independent")
    )
    seen = []

    def watch():
        while not done.is_set():
            seen.append(mpmath.mp.prec)

    done = threading.Event()
    before = mpmath.mp.prec
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        population_gradient_digits(V, theta, theta_tilde, support, digits=300)
        numeric_gradient(V[:5], theta, theta_tilde, (0, 1))
        with pytest.raises(InvalidArgumentError):
            population_gradient_digits(V, theta, theta_tilde, (0, 99))
    finally:
        done.set()
        thread.join()
    assert set(seen) == {before}
    assert mpmath.mp.prec == before


@pytest.mark.parametrize("digits", [0, 1001, 17.0, True])
def test_digit_counts_out_of_range_are_refused(digits):
    with pytest.raises(InvalidArgumentError, match=f"^digits={digits}"):
        population_gradient_digits(C4, [1.0, 0.0], [0.0, 1.0], (0, 1), digits=digits)
