from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Delta, Z, a, b, d, gamma, gamma_tilde, i, k, omega
from derivations.proof.evaluation import REAL_FUNCTIONS, evaluate, evaluate_over, evaluate_real

HALVES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def test_power_sums_entries_and_the_number_of_positions():
    expr = d * PowerSum(gamma**2 * gamma_tilde) + Entry(gamma, a) / Entry(gamma_tilde, b)
    value = evaluate(
        expr, sequences={"gamma": HALVES, "gamma_tilde": [1, 2, 3]}, positions={"a": 0, "b": 2}
    )
    assert value == 3 * (Fraction(1, 4) + Fraction(2, 9) + Fraction(3, 36)) + Fraction(1, 6)
    assert isinstance(value, Fraction)


def test_deltas_read_the_positions():
    delta = sp.KroneckerDelta(i, k)
    assert evaluate(delta, sequences={}, positions={"i": 2, "k": 2}) == 1
    assert evaluate(delta, sequences={}, positions={"i": 2, "k": 1}) == 0


def test_a_scalar_known_by_its_exponential():
    growth = {"Delta": Fraction(3)}
    assert evaluate(sp.exp(2 * Delta), sequences={}, exponentials=growth) == 9
    assert evaluate(sp.exp(-Delta), sequences={}, exponentials=growth) == Fraction(1, 3)
    assert evaluate(sp.cosh(Delta), sequences={}, exponentials=growth) == Fraction(5, 3)
    assert evaluate(sp.sinh(Delta), sequences={}, exponentials=growth) == Fraction(4, 3)


def test_other_rings():
    weights = sp.symbols("w_0:3")
    found = evaluate_over(PowerSum(gamma**2), rational=sp.Rational, sequences={"gamma": weights})
    assert found == sum(w**2 for w in weights)
    context = mpmath.MPContext()
    context.dps = 40
    third = evaluate_over(
        sp.Rational(1, 3) * omega,
        rational=lambda p, q: context.mpf(p) / q,
        sequences={},
        scalars={"omega": context.mpf(1)},
    )
    assert context.nstr(third, 30) == "0." + 30 * "3"


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (PowerSum(gamma_tilde), "sequences=.*gamma_tilde is missing"),
        (Entry(gamma, a), "positions=.*a is missing"),
        (Z, "scalars=.*Z is missing"),
        (sp.exp(Delta), "exponentials=.*Delta is missing"),
        (sp.exp(Delta / 2), "not an integer multiple"),
        (sp.sqrt(2), "has no value"),
    ],
)
def test_what_is_missing_is_named(expr, message):
    with pytest.raises(ValueError, match=message):
        evaluate(expr, sequences={"gamma": HALVES})


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="same length"):
        evaluate(d, sequences={"gamma": HALVES, "gamma_tilde": HALVES[:2]})


x, y = sp.symbols("x y", positive=True)
REALS = mpmath.MPContext()
REALS.dps = 40
FUNCTIONS = {
    **{name: getattr(REALS, name) for name in REAL_FUNCTIONS if hasattr(REALS, name)},
    "abs": abs,
    "max": max,
    "pi": lambda: +REALS.pi,
}


def _real(expr, **scalars):
    return evaluate_real(
        expr,
        rational=lambda p, q: REALS.mpf(p) / q,
        scalars={name: REALS.mpf(value) for name, value in scalars.items()},
        functions=FUNCTIONS,
    )


@pytest.mark.parametrize(
    "expr",
    [
        3 * x - y / 7 + sp.Rational(1, 3),
        x**3 / y**2,
        sp.sqrt(x) + y ** sp.Rational(-3, 2),
        x ** sp.Rational(3, 4) * y ** sp.Rational(-1, 4),
        (1 - x**2) ** ((y - 1) / 2),
        x ** sp.Rational(2, 3),
        sp.exp(-(x**2)) * sp.log(y),
        sp.cosh(2 * x) - sp.sinh(x * y),
        sp.atan(x) / sp.pi,
        sp.gamma(x + y) / sp.gamma(x),
        sp.Max(x, y, 2 * x) - sp.Min(x, y, sp.Rational(1, 2)),
        sp.Abs(x - y) + sp.Abs(y - x**2),
    ],
)
def test_real_functions_agree_with_sympy(expr):
    at = {x: sp.Rational(2, 7), y: sp.Rational(9, 4)}
    found = _real(expr, x=REALS.mpf(2) / 7, y=REALS.mpf(9) / 4)
    expected = REALS.mpf(str(expr.subs(at).evalf(45)))
    assert abs(found - expected) <= abs(expected) * REALS.mpf(10) ** -36


def test_a_formula_needs_only_the_functions_that_occur():
    found = evaluate_real(x**2 + 1, rational=Fraction, scalars={"x": Fraction(1, 2)}, functions={})
    assert found == Fraction(5, 4)


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (x + y, "scalars=.*y is missing"),
        (sp.tan(x), "tan has no real value"),
        (PowerSum(gamma), "PowerSum has no real value"),
        (gamma, "gamma has no real value|Sequence has no real value"),
        (sp.erf(x), "erf has no real value"),
    ],
)
def test_what_has_no_real_value_is_named(expr, message):
    with pytest.raises(ValueError, match=message):
        _real(expr, x=1)


def test_a_missing_function_is_named():
    with pytest.raises(ValueError, match=r"functions=.*exp is missing"):
        evaluate_real(sp.exp(x), rational=Fraction, scalars={"x": 1}, functions={})
