"""Bounds as text: rounded to the safe side, without zeros that say nothing."""

from fractions import Fraction

import pytest
from flint import arb

from numerics.balls.bounds.events import Event
from verify.commands.bound_events import (
    brief_above,
    brief_below,
    costliest,
    decimal_above,
    decimal_below,
    event_entry,
    vacuous_reason,
)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (Fraction(10), "10"),
        (Fraction(1), "1"),
        (Fraction(1, 4), "0.25"),
        (Fraction(614_100_000), "614100000"),
        (Fraction(3 * 10**40), "3e+40"),
    ],
)
def test_few_digits_are_exact_and_end_without_zeros(x: Fraction, text: str) -> None:
    assert Fraction(decimal_above(x)) == Fraction(decimal_below(x)) == x
    assert decimal_above(x).lower().replace("e+", "e") == text.replace("e+", "e")


def test_other_numbers_are_rounded_to_either_side() -> None:
    third = Fraction(1, 3)
    assert Fraction(decimal_below(third)) < third < Fraction(decimal_above(third))
    assert brief_below("0.123456") == "0.1234"
    assert brief_above("0.123416") == "0.1235"
    assert decimal_above(None) is None


RARE = Event(name="overlap", head=None, probability=arb("0.001"))
LIKELY = Event(name="near margin", head="theta", probability=arb("0.7"))
NO_NUMBER = Event(name="far margin", head=None, probability=arb("nan"))


def test_what_is_no_number_counts_as_one() -> None:
    assert costliest([RARE, LIKELY]) is LIKELY
    assert costliest([LIKELY, NO_NUMBER, RARE]) is NO_NUMBER
    assert event_entry(NO_NUMBER)["probability_upper"] == "1"


def test_an_event_keeps_its_head_and_its_reason() -> None:
    assert event_entry(LIKELY)["name"] == "near margin (theta)"
    assert "reason" not in event_entry(LIKELY)
    unmet = Event(name="overlap", head=None, probability=arb(1), reason="c > rho_0")
    assert event_entry(unmet)["reason"] == "c > rho_0"
    reason = vacuous_reason([LIKELY, unmet])
    assert reason.startswith("overlap")
    assert reason.endswith("c > rho_0")


def test_the_costliest_event_explains_a_sum_that_is_too_large() -> None:
    reason = vacuous_reason([RARE, LIKELY], total="more than 0.1")
    assert "add up to more than 0.1; the costliest is near margin (theta), 0.7" in reason
