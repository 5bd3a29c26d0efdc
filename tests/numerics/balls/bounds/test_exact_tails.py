from __future__ import annotations

import math

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from numerics import sphere
from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.exact_tails import exact_coordinate_tail
from numerics.balls.bounds.tails import coordinate_tail

TINY = mpf(10) ** -60  # the references have 70 digits


@pytest.fixture(autouse=True)
def seventy_digits():
    with mpmath.workdps(70):
        yield


def real(x):
    return mpf(x.numerator) / x.denominator


def mp_tail(t, n):
    """P(y > t), by the other of Arb's two forms, from another library."""
    if t < 0:
        return 1 - mp_tail(-t, n)
    return mpmath.betainc(mpf(n - 1) / 2, mpf(1) / 2, 0, (1 - t) * (1 + t), regularized=True) / 2


@given(t=st.integers(-256, 256), bits=st.sampled_from([20, 64, 128]))
def test_exact_tails_known_in_closed_form(t, bits):
    with working_precision(bits):
        x = arb(t) / 256
        for n, tail in [
            (2, x.acos() / arb.pi()),
            (3, (1 - x) / 2),
            (4, (x.acos() - x * (1 - x * x).sqrt()) / arb.pi()),
            (5, (2 - 3 * x + x**3) / 4),
        ]:
            found = exact_coordinate_tail(x, n)
            assert found.overlaps(tail)
            assert found.rel_accuracy_bits() >= bits - 8


@pytest.mark.parametrize("n", [2, 3, 50, 1001, 10**6])
@pytest.mark.parametrize("z", [0.1, 1.7, 6.0])
def test_exact_tail_agrees_with_scipy(n, z):
    t = z / math.sqrt(n) if z * z < n else 0.875
    with working_precision(64):
        found = exact_coordinate_tail(arb(t), n)
    # SciPy's incomplete beta function is good to a few 1e-13 at parameters of 10^6.
    assert float(found) == pytest.approx(sphere.coordinate_tail(t, n) / 2, rel=1e-11)


@pytest.mark.parametrize(
    ("t", "n"), [(0.5, 40), (0.99, 700), (0.9999, 400), (0.25, 20_000), (-0.125, 300), (0.99, 7)]
)
def test_exact_tail_agrees_with_mpmath(t, n):
    # Among them tails of 10^-600 and less, where the difference from 1/2 is no longer taken.
    with working_precision(100):
        found = exact_coordinate_tail(arb(t), n)
    assert real(lower_end(found)) <= mp_tail(mpf(t), n) * (1 + TINY)
    assert real(upper_end(found)) >= mp_tail(mpf(t), n) * (1 - TINY)
    assert found.rel_accuracy_bits() >= 80


def test_exact_tail_of_wide_balls_and_outside():
    with working_precision(64):
        assert exact_coordinate_tail(arb(1), 9) == 0
        assert exact_coordinate_tail(arb(-1), 9) == 1
        assert exact_coordinate_tail(arb(0), 9) == 0.5
        wide = exact_coordinate_tail(arb(0.25, 0.25), 9)
        for t in (0, 0.1, 0.5):
            assert wide.contains(exact_coordinate_tail(arb(t), 9))
        assert not wide.contains(exact_coordinate_tail(arb(0.51), 9))
        assert exact_coordinate_tail(arb(0, 9), 9).overlaps(arb(1))
        for nothing in (arb.nan(), arb.pos_inf(), arb.neg_inf(), arb(0, arb.pos_inf())):
            assert exact_coordinate_tail(nothing, 9).contains(arb(1))
            assert exact_coordinate_tail(nothing, 9).contains(arb(0))


# Thresholds that fit the precision: others are rounded both ways first.
@pytest.mark.parametrize(
    ("bits", "t", "n"),
    [(bits, t, n) for bits in (4, 64) for t, n in [(0.9375, 2), (0.75, 50), (2.0**-15, 10**9)]]
    + [(64, 1 - 2.0**-53, 2), (64, 0.90625, 400)],
)
def test_exact_tail_is_accurate_at_its_working_precision(bits, t, n):
    with working_precision(bits):
        found = exact_coordinate_tail(arb(t), n)
    assert found.rel_accuracy_bits() >= bits - 4


def test_exact_tail_where_the_incomplete_beta_function_is_not_found():
    n = 10**15
    with working_precision(16):
        t = arb(2.0**-16)
        found, bound = exact_coordinate_tail(t, n), coordinate_tail(t, n)
        assert found.contains(bound)
        assert found.contains(arb(0))
        assert found <= 2 * bound


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^n=1"):
        exact_coordinate_tail(arb(1), 1)
