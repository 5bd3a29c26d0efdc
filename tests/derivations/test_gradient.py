import pytest
import sympy as sp
from hypothesis import given, settings

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.gradient import SWAP, attention_gradient, gradient_along, gradient_along_tilde
from derivations.notation import a, b, gamma, gamma_tilde, i
from derivations.proof.differentiation import SymbolicModel
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate, evaluate_over
from derivations.proof.identities import residue
from verify.testing.strategies import rational_attention, supports


def test_the_gradient_by_the_attention():
    expected = (
        -2 * Unit(a) * Entry(gamma_tilde, b)
        - 2 * Unit(b) * Entry(gamma_tilde, a)
        + 2 * gamma * PowerSum(gamma_tilde**2)
        + 4 * gamma_tilde * PowerSum(gamma * gamma_tilde)
        - 4 * gamma * gamma_tilde**2
    )
    assert residue(Entry(attention_gradient(), i), Entry(expected, i)) == 0


def test_the_heads_are_exchanged():
    assert gradient_along().xreplace(SWAP) == gradient_along_tilde()
    assert gradient_along() != gradient_along_tilde()


GRADIENTS = pytest.mark.parametrize("expr", [gradient_along, gradient_along_tilde])


@GRADIENTS
def test_perfect_attention_has_no_gradient(expr):
    sequences = {"gamma": [0, 1, 0, 0], "gamma_tilde": [0, 0, 1, 0], "t": [5, -2, 7, 3]}
    assert evaluate(expr(), sequences=sequences, positions={"a": 1, "b": 2}) == 0


@GRADIENTS
@given(
    weights=rational_attention(6, smallest=1),
    weights_tilde=rational_attention(6, smallest=1),
    support=supports(6),
)
@settings(max_examples=settings().max_examples * 10 // 100)
def test_a_common_shift_of_the_scores_changes_nothing(expr, weights, weights_tilde, support):
    sequences = {"gamma": weights, "gamma_tilde": weights_tilde, "t": [1] * 6}
    positions = dict(zip("ab", support, strict=True))
    assert evaluate(expr(), sequences=sequences, positions=positions) == 0


def test_explicit_derivatives_at_three_positions_in_the_plane():
    model, model_tilde = SymbolicModel(3, 2, "theta"), SymbolicModel(3, 2, "theta_tilde")
    enumerated = enumerated_loss(model.attention, model_tilde.attention)
    sequences = {
        "gamma": [model.algebraic(weight) for weight in model.attention],
        "gamma_tilde": [model_tilde.algebraic(weight) for weight in model_tilde.attention],
    }
    for r in (0, 1):
        found = evaluate_over(
            gradient_along(),
            rational=sp.Rational,
            sequences={**sequences, "t": [row[r] for row in model.V]},
            positions={"a": 0, "b": 1},
        )
        expected = model_tilde.algebraic(model.algebraic(sp.diff(enumerated, model.theta[r])))
        assert residue(found, expected) == 0
