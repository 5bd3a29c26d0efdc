from fractions import Fraction

import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.population import loss
from derivations.proof.enumeration import dot, inputs
from derivations.proof.evaluation import evaluate
from verify.testing.strategies import rational_attention, supports


def _heads(d):
    head = rational_attention(d, smallest=1)
    return st.tuples(head, head, supports(d))


@given(st.integers(2, 7).flatmap(_heads))
@settings(max_examples=settings().max_examples // 4)
def test_the_loss_for_any_support(heads):
    weights, weights_tilde, (first, second) = heads
    found = evaluate(
        loss(),
        sequences={"gamma": weights, "gamma_tilde": weights_tilde},
        positions={"a": first, "b": second},
    )
    losses = [
        (-dot(weights, x) * dot(weights_tilde, x) + x[first] * x[second]) ** 2
        for x in inputs(len(weights))
    ]
    assert found == sum(losses) * Fraction(1, len(losses))


def test_the_loss_is_written_in_power_sums():
    cross = Entry(gamma, a) * Entry(gamma_tilde, b) + Entry(gamma, b) * Entry(gamma_tilde, a)
    quartic = (
        PowerSum(gamma**2) * PowerSum(gamma_tilde**2)
        + 2 * PowerSum(gamma * gamma_tilde) ** 2
        - 2 * PowerSum(gamma**2 * gamma_tilde**2)
    )
    assert loss() == sp.expand(1 - 2 * cross + quartic)
    assert loss().xreplace({gamma: gamma_tilde, gamma_tilde: gamma}) == loss()


def test_perfect_attention_has_no_loss():
    sequences = {"gamma": [0, 1, 0, 0], "gamma_tilde": [0, 0, 1, 0]}
    assert evaluate(loss(), sequences=sequences, positions={"a": 1, "b": 2}) == 0
