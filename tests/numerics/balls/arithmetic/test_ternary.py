from __future__ import annotations

import pytest
from flint import arb

from numerics.balls.arithmetic.ternary import Ternary, less, less_equal


def test_overlapping_balls_are_in_no_order():
    # From 0 to 2, and from 1 to 3.
    assert less(arb(1, 1), arb(2, 1)) is Ternary.UNKNOWN
    assert less_equal(arb(1, 1), arb(2, 1)) is Ternary.UNKNOWN


def test_separate_balls_and_exact_numbers():
    low, high = arb(1, 1), arb(4, 1)  # from 0 to 2, from 3 to 5
    assert less(low, high) is Ternary.TRUE
    assert less(high, low) is Ternary.FALSE
    assert less(arb(2), arb(2)) is Ternary.FALSE
    assert less_equal(arb(2), arb(2)) is Ternary.TRUE


@pytest.mark.parametrize(
    "strange", [arb.nan(), arb.pos_inf(), arb.neg_inf(), arb(0, arb.pos_inf())]
)
def test_nan_and_infinite_balls_prove_nothing(strange):
    for compare in (less, less_equal):
        for other in (arb(0), arb(0, 1), strange):
            assert compare(strange, other) is Ternary.UNKNOWN
            assert compare(other, strange) is Ternary.UNKNOWN


@pytest.mark.parametrize("answer", list(Ternary))
def test_an_answer_is_no_bool(answer):
    with pytest.raises(TypeError, match="no bool"):
        bool(answer)
    with pytest.raises(TypeError, match="no bool"):
        not answer  # noqa: B018 (the negation is the point)


def test_negation():
    assert ~Ternary.TRUE is Ternary.FALSE
    assert ~Ternary.FALSE is Ternary.TRUE
    assert ~Ternary.UNKNOWN is Ternary.UNKNOWN
