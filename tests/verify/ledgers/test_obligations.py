from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import flint
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from derivations.proof.obligations import Obligation
from numerics.arguments import InvalidArgumentError
from verify.ledgers.obligations import Discharge, Verdict, discharge

X = sp.Symbol("x", real=True)


def stated(expression, lower, upper, *, zero=None, order: int = 0) -> Obligation:
    return Obligation(
        name="stated",
        expression=expression,
        variable=X,
        lower=sp.Rational(lower),
        upper=sp.Rational(upper),
        zero=None if zero is None else sp.Rational(zero),
        order=order,
    )


def parabola(offset: Fraction) -> sp.Expr:
    """Lowest at 2/3, which no halving of [0, 1] meets, with value -offset."""
    return (X - sp.Rational(2, 3)) ** 2 - sp.Rational(offset.numerator, offset.denominator)


# Negative on an interval of width 2^-20.
DIP = parabola(Fraction(1, 2**42))

TRUE = {
    "positive": stated(sp.exp(X) - X, -4, 4),
    "an end that is no dyadic number": stated(sp.log(3 * X) + sp.Rational(1, 10**6), "1/3", 2),
    "just above 0": stated(parabola(Fraction(-1, 2**42)), 0, 1),
    "zero at the lower end": stated(sp.sinh(X) - X, 0, 5, zero=0, order=3),
    "zero at the upper end, odd": stated((1 - X) * sp.exp(X), 0, 1, zero=1, order=1),
    "zero at the upper end, even": stated(sp.exp(X - 1) - X, 0, 1, zero=1, order=2),
    "zero inside": stated(sp.cosh(X) - 1 - X**2 / 2, -3, 2, zero=0, order=4),
    "zero inside, no dyadic number": stated(parabola(Fraction(0)), 0, 1, zero="2/3", order=2),
    "a long interval": stated(X - sp.atan(X), 0, 100, zero=0, order=3),
    "a root": stated(sp.sqrt(1 + X) - 1 - X / 4, 0, 2, zero=0, order=1),
}

FALSE = {
    "everywhere": stated(X - sp.sinh(X), "1/8", 1),
    "up to its zero": stated(X - sp.sinh(X), 0, 1),
    "on a tiny interval": stated(DIP, 0, 1),
    "on a tiny interval, far from its zero": stated(X**2 * DIP, 0, 1, zero=0, order=2),
    "far on the left of its zero": stated(X**2 * (X + sp.Rational(3, 4)), -1, 1, zero=0, order=2),
    "far on the right of its zero": stated(X**2 * (1 - 2 * X), -1, 1, zero=0, order=2),
    "on a tiny interval, before its zero": stated((1 - X) * DIP, 0, 1, zero=1, order=1),
    "next to an end, where it is concave": stated(1 - (1 + sp.Rational(1, 2**12)) * X**2, -1, 1),
    "only at one end and next to it": stated(sp.Rational(4095, 4096) - X, 0, 1),
}

OPEN = {
    "a zero that is not named": stated(sp.sinh(X) - X, 0, 1),
    "a zero inside that is not named": stated(parabola(Fraction(0)), 0, 1),
    "a pole": stated(1 / X**2, -1, 1),
    "a pole beyond the zero": stated(X**2 / (X - sp.Rational(2, 3)) ** 2, 0, 1, zero=0, order=2),
    "undefined on one half": stated(sp.sqrt(X), -1, 1),
    # Undefined everywhere, with a derivative that is positive everywhere.
    "undefined": stated(sp.log(X**2 - 2) - sp.log(X - 2), 0, "1/4", zero=0, order=1),
}

MISSTATED = {
    "a zero that is none": stated(X + 1, 0, 1, zero=0, order=1),
    "an order too high": stated(X, 0, 1, zero=0, order=3),
    "an even order for a change of sign": stated(X, -1, 1, zero=0, order=2),
    "an order too low": stated(X**4, 0, 1, zero=0, order=2),
    "a change of sign": stated(X**3, -1, 1, zero=0, order=3),
    "negative next to its zero": stated(X - sp.sinh(X), 0, 1, zero=0, order=3),
    "negative before its zero": stated(X - 1, 0, 1, zero=1, order=1),
    "no interval": stated(sp.exp(X), 1, 0),
    "another symbol": stated(X + sp.Symbol("y"), 0, 1),
}


@pytest.mark.parametrize("obligation", TRUE.values(), ids=TRUE)
@pytest.mark.parametrize("bits", [64, 256])
def test_what_holds_is_proved(obligation: Obligation, bits: int) -> None:
    found = discharge(obligation, bits=bits)
    assert found.verdict is Verdict.PROVED, found
    assert found.bits == bits
    assert found.witness is None
    assert found.reason == ""
    if obligation.zero is None:
        assert found.least_at_zero is None


@pytest.mark.parametrize("obligation", FALSE.values(), ids=FALSE)
def test_what_fails_is_refuted_by_a_number_that_shows_it(obligation: Obligation) -> None:
    found = discharge(obligation)
    assert found.verdict is Verdict.REFUTED, found
    at = sp.Rational(found.witness.numerator, found.witness.denominator)
    assert obligation.lower <= at <= obligation.upper
    assert obligation.expression.subs(X, at).is_negative
    assert found.least is None


@pytest.mark.parametrize("obligation", OPEN.values(), ids=OPEN)
def test_what_no_cell_can_decide_stays_undecided(obligation: Obligation) -> None:
    found = discharge(obligation, most_cells=500)
    assert found.verdict is Verdict.UNDECIDED
    assert found.cells == 500
    assert found.reason.startswith("open after 500 cells")
    assert (found.least, found.least_at_zero) == (None, None)


@pytest.mark.parametrize("obligation", MISSTATED.values(), ids=MISSTATED)
def test_where_the_exact_part_fails_nothing_is_decided(obligation: Obligation) -> None:
    found = discharge(obligation)
    assert found.verdict is Verdict.UNDECIDED
    assert found.cells == 0
    assert found.reason.startswith("stated")


@pytest.mark.parametrize("most_cells", [1, 10, 50])
def test_too_few_cells_prove_nothing_and_refute_nothing(most_cells: int) -> None:
    for obligation in (TRUE["just above 0"], FALSE["on a tiny interval"]):
        found = discharge(obligation, most_cells=most_cells)
        assert (found.verdict, found.cells) == (Verdict.UNDECIDED, most_cells)


def test_the_cells_that_are_needed_are_enough() -> None:
    obligation = TRUE["a long interval"]
    needed = discharge(obligation).cells
    assert discharge(obligation, most_cells=needed).verdict is Verdict.PROVED
    assert discharge(obligation, most_cells=needed - 1).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("power", [0, 10, 30])
def test_the_least_lower_bound_is_below_the_minimum_and_near_it(power: int) -> None:
    minimum = Fraction(1, 2**power)
    found = discharge(stated(parabola(-minimum), 0, 1))
    assert 0 < Fraction(found.least) <= minimum


def test_the_least_lower_bound_is_rounded_downwards() -> None:
    found = discharge(stated(X + sp.Rational(1, 3), 0, sp.Rational(1, 2**200)))
    assert found.least == "0.33333333333333333"


def test_the_least_bound_at_a_zero_is_one_of_the_derivative() -> None:
    # The third derivative of sinh x - x is cosh x, at least 1, and one cell in balls holds it.
    found = discharge(stated(sp.sinh(X) - X, 0, "1/1024", zero=0, order=3))
    assert found.cells == 1
    assert found.least is None
    assert Fraction(99, 100) < Fraction(found.least_at_zero) <= 1


def test_a_precision_below_what_the_values_need_proves_nothing_wrong() -> None:
    tiny = sp.Rational(1, 2**90)
    for sign, verdict in ((1, Verdict.PROVED), (-1, Verdict.REFUTED)):
        # e^x e^-x - 1 vanishes, and no ball of 60 bits tells.
        obligation = stated(sp.exp(X) * (sp.exp(-X) + sign * tiny) - 1, 0, 1)
        assert discharge(obligation, bits=60, most_cells=300).verdict is Verdict.UNDECIDED
        narrow = stated(obligation.expression, 0, sp.Rational(1, 2**100))
        assert discharge(narrow, bits=200).verdict is verdict


@given(
    roots=st.lists(st.tuples(st.integers(-2, 10), st.integers(1, 2)), min_size=1, max_size=3),
    sign=st.sampled_from([1, -1]),
)
def test_polynomials_with_known_roots(roots: list[tuple[int, int]], sign: int) -> None:
    factored = sp.Integer(sign)
    for sevenths, multiplicity in roots:
        factored *= (X - sp.Rational(sevenths, 7)) ** multiplicity
    # Between neighbouring roots the sign is that at one point.
    ends = sorted({sp.Integer(0), sp.Integer(1), *(sp.Rational(n, 7) for n, _ in roots)})
    inside = [end for end in ends if 0 <= end <= 1]
    signs = [factored.subs(X, (low + high) / 2) for low, high in pairwise(inside)]
    found = discharge(stated(sp.expand(factored), 0, 1), most_cells=400)
    if any(value < 0 for value in signs):
        assert found.verdict is Verdict.REFUTED
        assert factored.subs(X, sp.Rational(str(found.witness))) < 0
    elif any(factored.subs(X, end) == 0 for end in inside):
        assert found.verdict is Verdict.UNDECIDED
    else:
        assert found.verdict is Verdict.PROVED


def test_the_callers_precision_is_left_alone() -> None:
    before = flint.ctx.prec
    discharge(TRUE["positive"], bits=before + 100)
    assert flint.ctx.prec == before


@pytest.mark.parametrize(
    "wrong", [{"bits": 1}, {"bits": 64.5}, {"most_cells": 0}, {"most_cells": True}]
)
def test_bad_options_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{next(iter(wrong))}="):
        discharge(TRUE["positive"], **wrong)


def test_a_function_without_an_evaluation_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no real value"):
        discharge(stated(2 + sp.sin(X), 0, 1))


def test_an_outcome_is_immutable() -> None:
    found = discharge(TRUE["positive"])
    assert isinstance(found, Discharge)
    with pytest.raises(AttributeError):
        found.verdict = Verdict.REFUTED
