"""The explicit corollary as its users see it: numbers of samples, certified, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.corollary3 import sample_failure_events
from numerics.balls.bounds.events import total
from numerics.balls.bounds.explicit_corollary3 import explicit_corollary3
from numerics.balls.bounds.explicit_theorem2 import MOST_D

QUARTER = Fraction(1, 4)


@pytest.fixture(scope="module")
def found():
    return explicit_corollary3(1000, 1024)


def test_samples_suffice_and_not_many_fewer_with_the_same_thresholds(found):
    d, m, n = found.d, found.m, found.n_sufficient
    assert not found.vacuous
    assert found.failure == QUARTER
    assert n < 11 * d * d
    assert n % 10 ** (len(str(n)) - 4) == 0
    with working_precision(300):
        at_n = upper_end(total(sample_failure_events(d, m, n, found.budget)))
        with_fewer = upper_end(total(sample_failure_events(d, m, n * 99 // 100, found.budget)))
    assert 0.24 < found.failure_upper <= QUARTER < with_fewer
    # More digits are no more than that: the bound is one number in balls.
    assert at_n == pytest.approx(float(found.failure_upper), rel=1e-15)


def test_events_add_up_to_the_bound(found):
    assert len(found.events) == 5 + 2 * 9
    assert len({(event.name, event.head) for event in found.events}) == 5 + 2 * 9
    summed = sum(float(event.probability) for event in found.events)
    assert summed == pytest.approx(float(found.failure_upper), rel=1e-14)


def test_range_alone_asks_for_the_order_of_the_paper(found):
    d = found.d
    assert d**4 < found.n_hoeffding < 100 * d**4
    assert found.n_hoeffding > d * found.n_sufficient


@pytest.mark.long  # eight searches of some seconds
@pytest.mark.parametrize(
    ("d", "m", "multiple"),
    [(10**3, 1024, 11), (10**4, 512, 6.6), (10**6, 512, 6.0), (10**9, 1024, 4.4)],
)
def test_samples_that_suffice_for_a_quarter(d, m, multiple):
    found = explicit_corollary3(d, m)
    assert found.failure_upper <= QUARTER
    leading = (1 + m / d) / (4 * (math.pi / 32 - 1 / d))
    assert leading < found.n_sufficient / d**2 < multiple
    assert d**4 < found.n_hoeffding < 1000 * d**4


@pytest.mark.parametrize(
    ("d", "m", "name", "condition"),
    [
        (2, 1024, "ambient alignment", "d=2: the theorem asks for d >= 3"),
        (1000, 1, "near margin", "m=1: the theorem asks for m >= 6"),
        (1000, 2, "near margin", "m=2: the theorem asks for m >= 6"),
    ],
)
def test_least_sizes_are_vacuous_with_the_event_named(d, m, name, condition):
    found = explicit_corollary3(d, m)
    assert found.vacuous
    assert (found.n_sufficient, found.n_hoeffding, found.budget) == (None, None, None)
    assert found.failure_upper == 1
    (only,) = found.events
    assert (only.name, only.reason) == (name, condition)
    assert float(only.probability) == 1


def test_no_number_of_samples_does_better_than_the_population():
    # One population step fails with probability about (2/pi) arctan(1/sqrt(d)), here .0201.
    found = explicit_corollary3(1000, 1024, failure=Fraction(1, 50))
    assert found.vacuous
    assert found.failure_upper == 1
    costliest = max(found.events, key=lambda event: float(event.probability))
    assert costliest.name == "near margin"
    assert float(total(found.events)) > Fraction(1, 50)


@pytest.mark.parametrize(
    ("d", "m", "options", "message"),
    [
        (1, 10, {}, "d=1: must be"),
        (MOST_D + 1, 10, {}, f"d={MOST_D + 1}: must be at most {MOST_D}"),
        (10, 0, {}, "m=0: must be"),
        (10.5, 10, {}, "d=10.5: must be"),
        (10, 10, {"failure": Fraction(0)}, "failure=0: must be strictly between 0 and 1"),
        (10, 10, {"failure": Fraction(1)}, "failure=1: must be strictly between 0 and 1"),
        (10, 10, {"failure": Fraction(-1, 2)}, "failure=-1/2: must be strictly between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(d, m, options, message):
    with pytest.raises(InvalidArgumentError) as refused:
        explicit_corollary3(d, m, **options)
    assert str(refused.value).startswith(message)
