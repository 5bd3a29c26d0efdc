import pytest
import sympy as sp

from derivations.catalogue import load, names
from derivations.population_step.growth_signs import OBLIGATIONS
from derivations.proof.obligations import Obligation
from derivations.proof.refusal import CheckError

u, w = sp.symbols("u w", real=True)


def _obligation(expression, *, lower=-1, upper=1, zero=None, order=0):
    return Obligation(
        name="sign",
        expression=expression,
        variable=u,
        lower=sp.Rational(lower),
        upper=sp.Rational(upper),
        zero=None if zero is None else sp.Rational(zero),
        order=order,
    )


@pytest.mark.parametrize(
    "obligation",
    [
        _obligation(1 + u**2),
        _obligation(sp.exp(u) - 1 - u, zero=0, order=2),
        _obligation(sp.sinh(u) - u, lower=0, zero=0, order=3),
        _obligation((1 - u) ** 3, zero=1, order=3),
        _obligation((u - sp.Rational(1, 2)) ** 2, zero="1/2", order=2),
    ],
)
def test_zeros_of_the_stated_order(obligation):
    obligation.check()


@pytest.mark.parametrize(
    ("obligation", "message"),
    [
        (_obligation(1 + w), "other symbols"),
        (_obligation(sp.Integer(1)), "other symbols"),
        (_obligation(1 + u, lower=1, upper=1), "1 to 1"),
        (_obligation(1 + u, order=1), "order without a zero"),
        (_obligation(u**2, zero=2, order=2), "zero is outside"),
        (_obligation(u**2, zero=0), "zero of order 0"),
        (_obligation(u**3, zero=0, order=3), "changes sign"),
        (_obligation(sp.exp(u) - 1 - u, zero=0, order=4), "derivative 2 is 1 at 0"),
        (_obligation(sp.exp(u) - 1 - 2 * u, zero=0, order=2), "derivative 1 is -1 at 0"),
        (_obligation(sp.cosh(u), zero=0, order=2), "derivative 0 is 1 at 0"),
        (_obligation(u**4, zero=0, order=2), "derivative 2 is 0 at 0"),
        (_obligation(-(u**2), zero=0, order=2), "derivative 2 is -2 at 0"),
        (_obligation(u - sp.sinh(u), lower=0, zero=0, order=3), "derivative 3 is -1 at 0"),
        (_obligation((u - 1) ** 3, zero=1, order=3), "derivative 3 is 6 at 1"),
    ],
)
def test_other_zeros_are_refused(obligation, message):
    with pytest.raises(CheckError, match=message):
        obligation.check()


@pytest.mark.parametrize("obligation", OBLIGATIONS.values(), ids=str)
def test_the_derivative_of_the_stated_order_is_positive_next_to_the_zero(obligation):
    # What ball arithmetic starts from: beyond that order nothing vanishes.
    leading = obligation.derivative(obligation.order)
    assert leading.subs(obligation.variable, obligation.zero) > 0
    for at in (sp.Rational(1, 3), sp.Rational(-1, 3)):
        if obligation.lower <= at:
            assert obligation.expression.subs(obligation.variable, at).evalf() > 0


def test_names_are_unique_within_a_derivation():
    for name in names():
        found = [obligation.name for obligation in load(name).obligations]
        assert len(set(found)) == len(found)
    assert [each.name for each in load("score_bounds").obligations] == list(OBLIGATIONS)
