from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import flint
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from numerics import binomial
from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.binomial import clopper_pearson

LEVELS = [Fraction(1, 100), Fraction(1, 2), Decimal("0.95"), 1 - Fraction(1, 10**9)]


def ends(count, trials, level):
    found = clopper_pearson(count, trials, level=level)
    assert all(end.is_exact() for end in found)
    return tuple(map(upper_end, found))


def at_least(count, trials, p):
    """P(at least `count` events), as a rational number."""
    return sum(
        math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(count, trials + 1)
    )


def test_no_failure_in_a_thousand_trials():
    lower, upper = ends(0, 1000, Decimal("0.95"))
    assert lower == 0
    assert Decimal("0.00368208385") < upper < Decimal("0.00368208395")
    # The exact end solves (1 - p)^1000 = 1/40.
    assert (1 - upper) ** 1000 <= Fraction(1, 40) < (1 - upper * (1 - Fraction(1, 2**38))) ** 1000


def check_ends(count, trials, level, accuracy):
    lower, upper = ends(count, trials, level)
    share = (1 - Fraction(level)) / 2
    assert 0 <= lower < upper <= 1
    if count > 0:
        assert at_least(count, trials, lower) <= share
        inside = lower + accuracy * min(lower, 1 - lower)
        assert at_least(count, trials, inside) > share
    else:
        assert lower == 0
    if count < trials:
        assert 1 - at_least(count + 1, trials, upper) <= share
        inside = upper - accuracy * min(upper, 1 - upper)
        assert 1 - at_least(count + 1, trials, inside) > share
    else:
        assert upper == 1


@given(trials=st.integers(1, 12), data=st.data(), level=st.sampled_from(LEVELS))
def test_ends_are_outside_and_not_far(trials, data, level):
    check_ends(data.draw(st.integers(0, trials)), trials, level, Fraction(1, 2**38))


@pytest.mark.parametrize("count", [0, 1, 7, 13, 40])
def test_unresolved_tails_move_no_end(monkeypatch, count):
    # Six bits decide little: the ends stay outside, and far.
    monkeypatch.setattr("numerics.balls.binomial._BITS", 6)
    check_ends(count, 40, Decimal("0.95"), Fraction(1))


def test_ends_too_near_to_the_corner_for_the_grid_stay_in_it():
    # The exact ends are 2^-141 from the corners.
    level = 1 - Fraction(1, 2**140)
    assert ends(1, 1, level) == (0, 1)
    assert ends(0, 1, level) == (0, 1)


@pytest.mark.parametrize(
    ("count", "trials"),
    [(1, 1000), (250, 1000), (1, 10**6), (3000, 10**6), (500_000, 10**6), (999_999, 10**6)],
)
def test_agreement_with_floating_point(count, trials):
    # Both levels are binary64 numbers, and so are their tails.
    for level in (Fraction(1, 2), Fraction(1023, 1024)):
        found = ends(count, trials, level)
        reference = binomial.clopper_pearson(count, trials, level=float(level))
        for end, other in zip(found, reference, strict=True):
            assert float(end) == pytest.approx(other, rel=3e-12)
            assert float(1 - end) == pytest.approx(1 - other, rel=3e-12, abs=1e-15)


def test_events_and_their_absence_mirror_each_other():
    lower, upper = ends(3, 50, Decimal("0.9"))
    mirrored = ends(47, 50, Decimal("0.9"))
    # Other bisections, of the same accuracy.
    assert abs(mirrored[0] + upper - 1) < Fraction(1, 2**38)
    assert abs(mirrored[1] + lower - 1) < Fraction(1, 2**38)


def test_callers_precision_is_neither_used_nor_changed():
    reference = ends(5, 77, Fraction(9, 10))
    with working_precision(11):
        assert ends(5, 77, Fraction(9, 10)) == reference
        assert flint.ctx.prec == 11


@pytest.mark.parametrize(
    ("count", "trials", "level", "what"),
    [
        (2, 1, Fraction(1, 2), "count=2"),
        (-1, 5, Fraction(1, 2), "count=-1"),
        (0, 0, Fraction(1, 2), "trials=0"),
        (0, 5, 0.95, "level=0.95"),
        (0, 5, Fraction(1), "level=1"),
        (0, 5, Fraction(0), "level=0"),
        (0, 5, Decimal("NaN"), "level=NaN"),
        (0, 5, Decimal("Infinity"), "level=Infinity"),
        (0, 5, arb(1) / 2, "level="),
    ],
)
def test_refusals(count, trials, level, what):
    with pytest.raises(InvalidArgumentError, match=f"^{what}"):
        clopper_pearson(count, trials, level=level)
