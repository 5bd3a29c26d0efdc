"""Proved digits against the multiprecision witness, exact zeros, and the reasons for none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import settled_digits
from numerics.arguments import InvalidArgumentError
from numerics.balls import gradient_digits
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.gradient_digits import population_gradient_digits
from numerics.decimals import rational_digits
from numerics.multiprecision.gradient_digits import population_gradient_digits as witness
from verify.testing.strategies import instance_at, instances

C4 = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def test_reference_instance():
    theta = np.array([1.0, 0.0])
    found = population_gradient_digits(C4, theta, -theta, (0, 1), digits=15)
    assert found.theta == ("-0.0518517666402136", "-0.0284416809826276")
    assert found.theta_tilde == ("-0.186747090670938", "-0.210157176328524")
    nineteen = population_gradient_digits(C4, theta, -theta, (0, 1), digits=19)
    assert nineteen.loss == "0.9328189895953062103"
    assert found.reason is None


def test_uniform_attention_is_rational():
    found = population_gradient_digits(C4, [0.0, 0.0], [0.0, 0.0], (0, 1), digits=5)
    assert found.loss == "0.90625"
    assert found.theta == found.theta_tilde == ("-0.12500", "-0.12500")
    assert found.bits == 0


def numbers(found):
    return found.loss, *found.theta, *found.theta_tilde


def check_against_the_witness(V, theta, theta_tilde, support, digits):
    found = population_gradient_digits(V, theta, theta_tilde, support, digits=digits)
    assert numbers(found) == numbers(witness(V, theta, theta_tilde, support, digits=digits))
    return found


def test_next_to_a_tie_the_precision_rises_until_the_side_is_known():
    # L = 3/2 - 4.2e-87 rounds to 1, and 29/32 + 2^-542 to 0.9063.
    V = np.array([[-1.0], [1.0], [-1.0], [1.0]])
    assert check_against_the_witness(V, [-100.0], [-100.0], (0, 1), digits=1).loss == "1"
    V = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    theta = [-(2.0**-540), 0.0]
    assert check_against_the_witness(V, theta, theta, (0, 1), digits=4).loss == "0.9063"


def test_digits_far_below_one_do_not_stop_at_half_the_cap():
    V = np.array([[1.0], [-1.0]])
    found = population_gradient_digits(V, [6000.0], [-6000.0], (0, 1), digits=300)
    assert found.reason is None
    assert found.loss.startswith("6.8473780913649427")
    assert found.loss.endswith("e-10423")


DIGITS = st.sampled_from([1, 5, 17, 60])


@settings(max_examples=settings().max_examples * 80 // 100)
@given(
    instance=instances(max_d=7, max_m=3, start="independent"),
    exponent=st.integers(-3, 2),
    digits=DIGITS,
)
def test_every_digit_agrees_with_the_multiprecision_witness(instance, exponent, digits):
    theta, theta_tilde = (10.0**exponent * x for x in (instance.theta, instance.theta_tilde))
    check_against_the_witness(instance.V, theta, theta_tilde, instance.support, digits)


@settings(max_examples=settings().max_examples * 40 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), m=st.integers(1, 3), digits=DIGITS)
def test_so_it_does_for_small_integers(seed, d, m, digits):
    # Repeated rows, equal scores, components that are exactly zero.
    rng = np.random.default_rng(seed)
    V = rng.integers(-2, 3, (d, m)).astype(float)
    theta = rng.integers(-2, 3, m).astype(float)
    support = tuple(rng.permutation(d)[:2].tolist())
    check_against_the_witness(V, theta, -theta, support, digits)


def test_a_thousand_digits():
    drawn = instance_at(d=5, m=2, seed=1, support=(3, 0), start="independent")
    found = check_against_the_witness(
        drawn.V, drawn.theta, drawn.theta_tilde, drawn.support, digits=1000
    )
    assert len(Decimal(found.loss).as_tuple().digits) == 1000


def test_exact_zeros_are_printed_as_zero():
    # The second column is constant, and the weights sum to zero.
    V = np.array([[1.0, 3.0], [2.0, 3.0], [0.5, 3.0]])
    found = population_gradient_digits(V, [1.0, 0.0], [0.5, 1.0], (0, 2))
    assert found.theta[1] == found.theta_tilde[1] == "0"
    assert "0" not in (found.theta[0], found.theta_tilde[0])


def test_what_the_cap_leaves_open_is_null_with_a_reason(monkeypatch):
    monkeypatch.setattr(gradient_digits, "MAX_BITS", 128)
    monkeypatch.setattr(settled_digits, "MAX_GROUPS", 0)
    monkeypatch.setattr(settled_digits, "balanced", lambda *_: False)
    # A constant column has component zero, and no ball around zero has a digit.
    V = np.array([[1.0, 1.0], [1.5, 1.0], [2.0, 1.0], [2.0, 1.0]])
    found = population_gradient_digits(V, [1.0, 0.0], [-1.0, 0.0], (0, 1))
    assert found.theta[1] is None
    assert found.theta[0] is not None
    assert "128 bits" in found.reason


@settings(max_examples=2 * settings().max_examples)
@given(
    st.fractions(min_value=Fraction(-(10**6)), max_value=10**6).filter(bool),
    st.integers(-(1 << 60), 1 << 60),
    st.integers(1, 12),
    st.sampled_from([20, 40, 60]),
)
def test_a_string_is_given_only_if_every_member_rounds_to_it(x, shift, digits, bits):
    with working_precision(bits):
        ball = arb(flint.fmpq(x.numerator, x.denominator), arb((1, 3 - bits)))
    text = gradient_digits._digits(ball, digits)
    ends = [
        Fraction(int(n)) * Fraction(2) ** int(e)
        for n, e in (ball.mid().man_exp(), ball.rad().man_exp())
    ]
    low, high = ends[0] - ends[1], ends[0] + ends[1]
    strings = {rational_digits(end, digits) for end in (low, high)}
    if text is not None:
        assert strings == {text}
    elif low * high > 0:
        # Left open only next to a boundary between two strings.
        widened = Fraction(2) ** (8 - bits) * (1 + abs(x))
        assert len({rational_digits(end, digits) for end in (low - widened, high + widened)}) == 2
    # Far outside the range of binary64 the same holds of the leading digits.
    moved = ball * arb((1, shift >> 22))
    scaled = gradient_digits._digits(moved, digits)
    assert scaled is None or Decimal(scaled) != 0


@pytest.mark.parametrize("digits", [0, 1001, 1.5])
def test_bad_digits_are_refused(digits):
    with pytest.raises(InvalidArgumentError, match="digits="):
        population_gradient_digits(C4, [1.0, 0.0], [0.0, 1.0], (0, 1), digits=digits)
