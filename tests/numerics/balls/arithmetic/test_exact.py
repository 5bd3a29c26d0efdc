from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import (
    UnresolvedError,
    block_integers,
    from_float,
    from_fraction,
    lower_digits,
    lower_end,
    scaled_integers,
    symmetric,
    upper_digits,
    upper_end,
)
from numerics.balls.arithmetic.precision import working_precision


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
@example(-0.0)
def test_binary64_is_exact_at_any_precision(x):
    with working_precision(2):
        ball = from_float(x)
    assert ball.is_exact()
    assert ball.fmpq() == fmpq(*x.as_integer_ratio())


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_floats_that_are_no_numbers_are_refused(x):
    with pytest.raises(InvalidArgumentError):
        from_float(x)


@given(st.fractions(), st.integers(2, 60))
def test_fractions_are_enclosed_and_dyadic_ones_exact(x, bits):
    with working_precision(bits):
        ball = from_fraction(x)
    assert lower_end(ball) <= x <= upper_end(ball)
    if x.denominator.bit_count() == 1:
        assert lower_end(ball) == x == upper_end(ball)


def test_decimals_are_enclosed_as_decimals_not_as_binary64():
    with working_precision(300):
        tenth = from_fraction(Fraction("0.1"))
        assert not tenth.contains(from_float(0.1))
        assert tenth.contains(arb(1) / 10)
        assert from_fraction(Fraction("-1.5e-3")).contains(-arb(3) / 2000)
        assert from_fraction(Fraction("1e3")).is_exact()


@given(st.fractions(), st.fractions(min_value=0), st.integers(2, 40))
def test_ends_lie_outside_and_are_exact(middle, radius, bits):
    with working_precision(bits):
        ball = arb(from_fraction(middle), from_fraction(radius))
    low, high = lower_end(ball), upper_end(ball)
    assert low <= middle - radius
    assert middle + radius <= high
    # Exactly midpoint minus and plus radius: nothing is added on the way.
    mantissa, exponent = map(int, ball.mid().man_exp())
    assert low + high == 2 * mantissa * Fraction(2) ** exponent


def test_ends_do_not_depend_on_the_precision_they_are_read_at():
    with working_precision(300):
        third = arb(1) / 3
    with working_precision(10):
        low, high = lower_end(third), upper_end(third)
    assert low <= Fraction(1, 3) <= high
    assert high - low < Fraction(1, 2**290)


def test_ends_of_what_cannot_be_written_out():
    assert upper_end(arb.nan()) is None
    assert lower_end(arb(0, arb.pos_inf())) is None
    assert upper_end(arb((1, 1 << 70))) is None
    tiny = arb((1, -(1 << 70)))
    assert lower_end(tiny) == 0
    assert upper_end(tiny) == Fraction(1, 2**65536)
    assert lower_end(-tiny) == -Fraction(1, 2**65536)


@given(st.fractions(), st.integers(1, 30))
def test_decimal_ends_are_rounded_outwards(x, digits):
    low, high = lower_digits(x, digits), upper_digits(x, digits)
    assert Fraction(Decimal(low)) <= x <= Fraction(Decimal(high))
    assert Fraction(Decimal(high)) - Fraction(Decimal(low)) <= abs(x) * Fraction(10) ** (1 - digits)


@given(
    st.lists(st.tuples(st.fractions(), st.fractions(min_value=0, max_value=1)), max_size=8),
    st.integers(2, 40),
)
def test_block_integers_account_for_every_radius_and_rounding(pairs, bits):
    with working_precision(max(bits, 2)):
        balls = [arb(from_fraction(x), from_fraction(r)) for x, r in pairs]
        integers, unit, bound = block_integers(balls, bits)
    step = Fraction(2) ** unit
    lost = Fraction(0)
    for ball, n in zip(balls, integers, strict=True):
        lost += max(abs(upper_end(ball) - n * step), abs(lower_end(ball) - n * step))
    assert lost <= lower_end(bound)


def test_block_integers_refuse_what_is_not_finite():
    with pytest.raises(UnresolvedError):
        block_integers([arb(1), arb.nan()], 10)


def test_symmetric_balls_and_scaled_integers():
    radius = arb(1, arb(1) / 2)  # [0.5, 1.5]
    assert symmetric(radius).contains(arb(3) / 2)
    assert symmetric(radius).contains(-arb(3) / 2)
    with working_precision(20):
        (ball,) = scaled_integers([3**60], -5)
    assert ball.contains(arb((3**60, -5)))
