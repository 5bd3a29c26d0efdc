import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.calculus.variation import Variation
from derivations.notation import E, Z, a, d, gamma, t, u
from derivations.proof.evaluation import evaluate_over
from derivations.proof.identities import residue


def test_rules():
    D = Variation({gamma: u, Z: sp.Integer(1)})
    assert D(d) == 0
    assert D(Z**3) == 3 * Z**2
    assert D(PowerSum(gamma**2)) == 2 * PowerSum(gamma * u)
    assert D(Entry(gamma, a)) == Entry(u, a)
    assert D(Z * PowerSum(gamma)) == PowerSum(gamma) + Z * PowerSum(u)
    assert D(PowerSum(gamma**-1)) == -PowerSum(gamma**-2 * u)
    assert D(sp.exp(d)) == 0


def test_no_rule_no_answer():
    with pytest.raises(TypeError, match="no rule"):
        Variation({Z: sp.Integer(1)})(sp.exp(Z))


@pytest.mark.parametrize(
    "expr",
    [
        PowerSum(E**2 * t) / PowerSum(E) ** 3,
        Entry(E, a) ** 2 * PowerSum(E**-2) - 7 * PowerSum(E) ** -1,
        (PowerSum(E) + PowerSum(E * t)) ** 4,
    ],
)
def test_agrees_with_sympy_on_explicit_entries(expr):
    h = sp.Symbol("h")
    entries, speeds, directions = sp.symbols("E_0:3"), sp.symbols("w_0:3"), sp.symbols("t_0:3")

    def explicit(formula, values):
        return evaluate_over(
            formula,
            rational=sp.Rational,
            sequences={"E": values, "u": speeds, "t": directions},
            positions={"a": 1},
        )

    moving = [x + h * y for x, y in zip(entries, speeds, strict=True)]
    expected = sp.diff(explicit(expr, moving), h).subs(h, 0)
    assert residue(explicit(Variation({E: u})(expr), entries), expected) == 0
