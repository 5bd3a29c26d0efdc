from __future__ import annotations

import time
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.events import total
from numerics.balls.bounds.explicit_theorem2 import MOST_D, explicit_theorem2
from numerics.balls.bounds.theorem2 import failure_events
from numerics.balls.bounds.theorem2_search import leading_order


@cache
def at(d, m, **options):
    return explicit_theorem2(d, m, **options)


SIZES = [(1000, 256), (10**4, 512), (10**6, 512), (10**12, 256), (10**12, 1024), (10**15, 10**9)]


@pytest.mark.parametrize(("d", "m"), SIZES)
def test_the_bounds_are_in_order_and_the_certificate_is_what_is_reported(d, m):
    found = at(d, m)
    assert 0 < found.failure_lower <= found.failure_limit <= found.failure_upper < 1
    assert not found.vacuous
    assert found.failure_upper <= Fraction(3, 2) * found.failure_limit
    # Evaluated again at the budget reported, and at another precision.
    with working_precision(300):
        again = total(
            failure_events(d, m, found.budget, scale=found.scale, tolerance=found.tolerance)
        )
    assert upper_end(again) <= found.failure_upper <= upper_end(again) * (1 + Fraction(1, 2**100))
    assert len(found.events) == 15


@pytest.mark.parametrize(("d", "m"), SIZES)
def test_the_step_size_found_is_of_few_digits_and_nearly_the_least(d, m):
    found = at(d, m)
    assert len(str(found.scale.numerator).rstrip("0")) <= 4
    assert found.scale.denominator in {1, 2, 5, 10}
    # With the same budget a tenth less is not enough.
    with working_precision(192):
        below = total(
            failure_events(
                d, m, found.budget, scale=found.scale * Fraction(9, 10), tolerance=found.tolerance
            )
        )
    assert upper_end(below) > Fraction(3, 2) * found.failure_limit


@pytest.mark.parametrize(("d", "m"), [(10**4, 512), (10**6, 512), (10**12, 1024), (10**15, 10**9)])
def test_the_law_is_proved_from_both_sides(d, m):
    found = at(d, m)
    law = leading_order(d)
    # The corrections fall like log(d)/m and log(d)/sqrt(d).
    assert 1 < found.failure_limit / law < 1.05
    assert 0.9 < found.failure_lower / law < 1


@pytest.mark.parametrize(
    ("d", "m", "most"),
    # At all but the first, within a few percent of the law, (2/pi) arctan(1/sqrt d).
    [
        (1000, 256, 0.022),
        (10**4, 512, 0.0065),
        (10**6, 512, 6.45e-4),
        (10**12, 1024, 6.4e-7),
        (10**12, 256, 6.5e-7),
    ],
)
def test_how_far_the_bound_reaches(d, m, most):
    assert leading_order(d) < at(d, m).failure_limit < most


def test_larger_steps_fail_less_often():
    d, m = 1000, 256
    scales = [Fraction(10), Fraction(700), Fraction(10**4), Fraction(10**7)]
    founds = [at(d, m, scale=scale) for scale in scales]
    assert founds[0].vacuous
    uppers = [found.failure_upper for found in founds]
    # Two budgets for neighbouring scales are not the very best ones: some per mille.
    assert all(later <= Fraction(1001, 1000) * one for one, later in pairwise(uppers))
    assert [found.scale for found in founds] == scales
    limit = at(d, m).failure_limit
    assert uppers[-1] <= Fraction(101, 100) * limit
    for found in founds:
        assert found.failure_lower <= found.failure_limit <= found.failure_upper
        assert found.failure_lower == at(d, m).failure_lower


def test_smaller_losses_ask_for_larger_steps():
    tolerances = [Fraction(5), Fraction(1), Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**12)]
    scales = [at(1000, 256, tolerance=tolerance).scale for tolerance in tolerances]
    # Nothing is gained beyond a loss of 1, and every factor of 100 costs about as much.
    assert scales[0] == scales[1]
    assert all(one < later for one, later in pairwise(scales[1:]))
    assert scales[-1] < 8 * scales[-2]


@pytest.mark.parametrize("exponent", [60, 3000])
def test_tolerances_below_every_binary64_number(exponent):
    tolerance = Fraction(1, 10**exponent)
    found = at(1000, 256, tolerance=tolerance)
    assert found.failure_limit == at(1000, 256).failure_limit
    assert found.failure_upper <= Fraction(3, 2) * found.failure_limit
    # tau_0 is log(1/sqrt T)/(2 C) up to a constant, and what decides.
    ratio = found.scale / at(1000, 256, tolerance=Fraction(1, 10**30)).scale
    assert exponent / 30 * 0.6 < ratio < exponent / 30 * 1.1


def test_huge_and_tiny_scales():
    assert at(1000, 256, scale=Fraction(1, 10**400)).vacuous
    huge = at(1000, 256, scale=Fraction(10**400))
    assert huge.failure_upper <= Fraction(101, 100) * at(1000, 256).failure_limit


@pytest.mark.parametrize(("d", "m"), [(1000, 36), (95, 64)])
def test_a_limit_next_to_one_half_or_more_still_has_a_step_size(d, m):
    # One and a half times such a limit is no bound any more, or hardly: it must not be 1.
    found = at(d, m)
    assert 0.5 < found.failure_limit < 1
    assert found.scale is not None
    assert found.failure_limit <= found.failure_upper < 1


@pytest.mark.parametrize(
    ("d", "m", "name"),
    [
        (2, 256, "ambient alignment"),
        (2, 1, "ambient alignment"),
        (1000, 1, "near margin"),
        (1000, 2, "near margin"),
        (1000, 5, "near margin"),
    ],
)
@pytest.mark.parametrize("scale", [None, Fraction(100)])
def test_sizes_without_a_theorem_name_what_is_missing(d, m, name, scale):
    found = at(d, m, scale=scale)
    assert found.vacuous
    assert found.failure_upper == found.failure_limit == 1
    assert found.failure_lower == 0
    assert found.budget is None
    assert found.scale == scale
    (event,) = found.events
    assert event.name == name
    assert "the theorem asks for" in event.reason


@pytest.mark.parametrize(("d", "m"), [(3, 6), (10, 10), (3, 10**6), (1000, 16), (10**15, 6)])
def test_small_sizes_are_vacuous_without_an_error(d, m):
    found = at(d, m)
    assert found.vacuous
    assert found.scale is None
    assert found.failure_lower <= found.failure_limit == 1


def test_every_answer_comes_quickly():
    start = time.process_time()
    explicit_theorem2(2345, 345)
    # Two seconds are promised; half a minute is a hang.
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, 10), {}, r"^d=1: must be an integer >= 2"),
        ((MOST_D + 1, 10), {}, r"^d=1000000000000001: must be at most 10{15}$"),
        ((10, 0), {}, r"^m=0: must be an integer >= 1"),
        ((10.0, 10), {}, r"^d=10\.0: "),
        ((10, True), {}, r"^m=True: "),
        ((10, 10), {"tolerance": Fraction(0)}, r"^tolerance=0: must be positive"),
        ((10, 10), {"scale": Fraction(-1, 2)}, r"^scale=-1/2: must be positive"),
    ],
)
def test_bad_arguments_are_refused(arguments, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        explicit_theorem2(*arguments, **options)
