from fractions import Fraction

import mpmath
import pytest
import sympy as sp

from derivations.evaluation import evaluate, evaluate_over
from derivations.notation import Delta, Z, a, b, d, gamma, gamma_tilde, i, k, omega
from derivations.power_sums import Entry, PowerSum

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
