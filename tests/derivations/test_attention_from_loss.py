import pytest
import sympy as sp

from derivations import attention_from_loss
from derivations.calculus.power_sums import Entry
from derivations.catalogue import load
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.proof.ledger import Status


def statuses():
    return [result.status for result in load("attention_from_loss").check()]


def test_every_step_holds():
    assert statuses() == [*[Status.PROVED] * 5, Status.AGREES]


@pytest.mark.parametrize(
    "wrong",
    [
        Entry(gamma, a) * Entry(gamma_tilde, b),
        Entry(gamma, a) * Entry(gamma_tilde, b) - Entry(gamma, b) * Entry(gamma_tilde, a),
        Entry(gamma, a) * Entry(gamma_tilde, a) + Entry(gamma, b) * Entry(gamma_tilde, b),
    ],
)
def test_a_wrong_moment_is_noticed(monkeypatch, wrong: sp.Expr):
    monkeypatch.setattr(attention_from_loss, "cross_moment", lambda: wrong)
    assert statuses()[0] is Status.FAILED


def test_the_instances_refute_more_than_is_true():
    """The root matters: no head needs 1 - T of its attention in one place."""
    head = [sp.Rational(99, 100), sp.Rational(1, 100)]
    attention_from_loss._check_instance(head, head[::-1])
    largest = max(
        abs(x[0] * x[1] - attention_from_loss.dot(head, x) * attention_from_loss.dot(head[::-1], x))
        for x in attention_from_loss.inputs(2)
    )
    assert 1 - largest <= head[0] < 1 - largest**2
