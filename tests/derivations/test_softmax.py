import pytest
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import a, gamma, i, k, t, v
from derivations.proof.differentiation import SymbolicModel
from derivations.proof.evaluation import evaluate_over
from derivations.proof.identities import residue
from derivations.softmax import attention_velocity, vectorial


def test_velocity_and_jacobian():
    assert sp.expand(attention_velocity(t) - gamma * (t - PowerSum(gamma * t))) == 0
    jacobian = Entry(attention_velocity(Unit(i)), k)
    assert sp.expand(jacobian - Entry(gamma, k) * (sp.KroneckerDelta(i, k) - Entry(gamma, i))) == 0


def test_the_jacobian_at_two_positions_is_not_zero():
    # The number that an index captured by a bound index gets wrong.
    value = evaluate_over(
        Entry(attention_velocity(Unit(i)), k),
        rational=sp.Rational,
        sequences={"gamma": [sp.Rational(1, 3), sp.Rational(2, 3)]},
        positions={"i": 0, "k": 0},
    )
    assert value == sp.Rational(2, 9)


def test_vector_identities_are_linear():
    assert vectorial(Entry(t, a) + PowerSum(gamma * t)) == Entry(v, a) + PowerSum(gamma * v)
    with pytest.raises(ValueError, match="not linear"):
        vectorial(PowerSum(gamma * t) ** 2)


@pytest.mark.parametrize(("d", "m"), [(3, 3), (4, 2)])
def test_explicit_derivatives_at_larger_sizes(d, m):
    model = SymbolicModel(d, m, "theta")
    attention = [model.algebraic(weight) for weight in model.attention]
    for r in range(m):
        for j in range(d):
            found = evaluate_over(
                Entry(attention_velocity(t), i),
                rational=sp.Rational,
                sequences={"gamma": attention, "t": [row[r] for row in model.V]},
                positions={"i": j},
            )
            expected = model.algebraic(sp.diff(model.attention[j], model.theta[r]))
            assert residue(found, expected) == 0
