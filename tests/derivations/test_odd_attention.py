"""Odd attention from the antisymmetric start: what breaks the derivation."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import odd_attention
from derivations.attention.pointwise_attention import weight
from derivations.calculus.power_sums import PowerSum
from derivations.catalogue import load
from derivations.odd_attention import loss_of_opposite_heads
from derivations.proof.ledger import Method


def failing(*, instances=False):
    """Return the numbers of the proofs that fail; with `instances`, of the other steps too."""
    derivation = load("odd_attention")
    return [
        number
        for number, step in enumerate(derivation.steps, start=1)
        if (instances or step.method is Method.PROOF)
        and replace(derivation, steps=(step,)).check()[0].failed
    ]


def test_a_wrong_loss_is_noticed(monkeypatch):
    wrong = loss_of_opposite_heads() + PowerSum(weight**4)
    monkeypatch.setattr(odd_attention, "loss_of_opposite_heads", lambda: wrong)
    assert failing() == [5]


def test_heads_that_are_not_opposite_have_other_gradients(monkeypatch):
    monkeypatch.setattr(odd_attention, "_OPPOSITE", {odd_attention.weight_tilde: -2 * weight})
    assert set(failing(instances=True)) >= {1, 2, 5}


def test_labels_with_a_mean_are_noticed(monkeypatch):
    monkeypatch.setattr(odd_attention, "moment", lambda _: sp.S.One)
    assert failing() == [4]


@pytest.mark.parametrize("phi", [lambda s: s + s**2, sp.exp])
def test_a_map_that_is_not_odd_leaves_the_antisymmetric_queries(monkeypatch, phi):
    monkeypatch.setattr(odd_attention, "_MAPS", (phi,))
    assert failing(instances=True) == [6]
