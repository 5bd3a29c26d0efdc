from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.differentiation import SymbolicModel
from derivations.enumeration import dot, enumerated_loss, inputs
from derivations.evaluation import evaluate, evaluate_over
from derivations.identities import residue
from derivations.instances import random_attention, seeded
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.population import SWAP, gradient_along, gradient_along_tilde, loss
from derivations.power_sums import Entry, PowerSum


@given(seed=st.integers(0, 999), d=st.integers(2, 7))
@settings(max_examples=25, deadline=None)
def test_the_loss_for_any_support(seed, d):
    rng = seeded(seed)
    first, second = rng.sample(range(d), 2)
    weights, weights_tilde = random_attention(rng, d), random_attention(rng, d)
    found = evaluate(
        loss(),
        sequences={"gamma": weights, "gamma_tilde": weights_tilde},
        positions={"a": first, "b": second},
    )
    losses = [
        (-dot(weights, x) * dot(weights_tilde, x) + x[first] * x[second]) ** 2 for x in inputs(d)
    ]
    assert found == sum(losses) * Fraction(1, 2**d)


def test_the_loss_is_written_in_power_sums():
    cross = Entry(gamma, a) * Entry(gamma_tilde, b) + Entry(gamma, b) * Entry(gamma_tilde, a)
    quartic = (
        PowerSum(gamma**2) * PowerSum(gamma_tilde**2)
        + 2 * PowerSum(gamma * gamma_tilde) ** 2
        - 2 * PowerSum(gamma**2 * gamma_tilde**2)
    )
    assert loss() == sp.expand(1 - 2 * cross + quartic)
    assert loss().xreplace(SWAP) == loss()
    assert gradient_along().xreplace(SWAP) == gradient_along_tilde()


def test_perfect_attention_has_no_loss_and_no_gradient():
    positions = {"a": 1, "b": 2}
    sequences = {"gamma": [0, 1, 0, 0], "gamma_tilde": [0, 0, 1, 0], "t": [5, -2, 7, 3]}
    for expr in (loss(), gradient_along(), gradient_along_tilde()):
        assert evaluate(expr, sequences=sequences, positions=positions) == 0


@pytest.mark.parametrize("expr", [gradient_along, gradient_along_tilde])
def test_a_common_shift_of_the_scores_changes_nothing(expr):
    rng = seeded(5)
    sequences = {
        "gamma": random_attention(rng, 6),
        "gamma_tilde": random_attention(rng, 6),
        "t": [1] * 6,
    }
    assert evaluate(expr(), sequences=sequences, positions={"a": 0, "b": 4}) == 0


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
