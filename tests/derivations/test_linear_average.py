"""The mean over supports of what linear attention reaches: what breaks it."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import linear_average
from derivations.catalogue import load
from derivations.linear_average import lambda_0, r
from derivations.notation import d
from derivations.population_step.notation import m
from derivations.proof.ledger import Method


def failing(*, instances=False):
    """Return the numbers of the proofs that fail; with `instances`, of the other steps too."""
    derivation = load("linear_average")
    return [
        number
        for number, step in enumerate(derivation.steps, start=1)
        if (instances or step.method is Method.PROOF)
        and replace(derivation, steps=(step,)).check()[0].failed
    ]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("mean_bound", 1 - (r + lambda_0) / (d * (d - 1) / 2)),
        ("mean_bound", 1 - (r - lambda_0) / (d * (d + 1) / 2)),
        ("mean_bound", 1 - r / (d * (d - 1) / 2)),
        ("loose_bound", 1 - m * (m - 1) / (d * (d - 1))),
        ("loose_bound", 1 - m**2 / (d * (d - 1))),
    ],
)
def test_a_wrong_bound_is_noticed(monkeypatch, name, wrong):
    monkeypatch.setattr(linear_average, name, lambda: wrong)
    assert failing() == [5]


def test_a_wrong_moment_is_noticed(monkeypatch):
    right = linear_average.moment
    monkeypatch.setattr(linear_average, "moment", lambda forms: 2 * right(forms))
    assert 2 in failing()


def test_forms_without_the_constant_are_noticed(monkeypatch):
    right = linear_average._forms
    monkeypatch.setattr(linear_average, "_forms", lambda V: right(V)[1:, :])
    assert failing(instances=True) == [6]


def test_monomials_that_are_not_orthonormal_are_noticed(monkeypatch):
    right = linear_average._monomials
    monkeypatch.setattr(
        linear_average, "_monomials", lambda size: [right(size)[1], *right(size)[1:]]
    )
    assert set(failing(instances=True)) >= {4}


def test_the_loose_bound_is_empty_from_m_next_to_d_on():
    bound = linear_average.loose_bound()
    assert bound.subs({m: 9, d: 10}) == 0
    assert bound.subs({m: 10, d: 10}) < 0
    assert sp.simplify(bound.subs({m: 8, d: 24}) - sp.Rational(20, 23)) == 0


def test_monomials_without_a_common_position_are_checked_to_be_orthogonal(monkeypatch):
    # A wrong moment of four positions that differ, right wherever a position occurs twice.
    right = linear_average.moment
    i, k = (linear_average.Unit(each) for each in (linear_average.i, linear_average.k))
    monkeypatch.setattr(
        linear_average, "moment", lambda forms: right(forms) + (1 if {i, k} <= {*forms} else 0)
    )
    assert failing() == [2]


def test_what_is_checked_for_few_positions_only_is_no_proof():
    methods = [step.method for step in load("linear_average").steps]
    assert [number for number, each in enumerate(methods, 1) if each is Method.INSTANCES] == [
        1,
        4,
        6,
        8,
    ]
