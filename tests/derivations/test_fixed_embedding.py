"""The derivation on fixed embeddings, and that a wrong rule in it makes a step fail."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import fixed_embedding
from derivations.calculus.power_sums import PowerSum
from derivations.catalogue import load
from derivations.parities import orthonormal as orthonormal_parities
from derivations.proof.ledger import Status


def failing():
    """Numbers of the steps that fail."""
    derivation = load("fixed_embedding")
    singles = (replace(derivation, steps=(step,)).check() for step in derivation.steps)
    return {number for number, (result,) in enumerate(singles, start=1) if result.failed}


def test_every_step_holds_and_the_bound_is_proved():
    assert failing() == set()
    statuses = [result.status for result in load("fixed_embedding").check()]
    agreeing = {number for number, each in enumerate(statuses, start=1) if each is Status.AGREES}
    assert agreeing == {5, 10}


_c, _e = fixed_embedding._c, fixed_embedding._e


@pytest.mark.parametrize(
    ("module", "name", "wrong", "expected"),
    [
        (orthonormal_parities, "sign_moment", lambda _n: sp.Integer(1), {1, 3, 7}),
        (orthonormal_parities, "sign_moment", lambda n: sp.Rational(1 + (-1) ** n, 4), {1, 7}),
        (
            fixed_embedding,
            "projection_loss",
            lambda: 1 - PowerSum(_c * _e) + PowerSum(_c**2),
            {2, 4, 7},
        ),
        (
            fixed_embedding,
            "projection_loss",
            lambda: 1 + 2 * PowerSum(_c * _e) + PowerSum(_c**2),
            {2, 4, 7},
        ),
        (fixed_embedding, "captured", lambda: 2 * PowerSum(_e**2), {2, 4, 7}),
        (fixed_embedding, "captured", lambda: PowerSum(_e) ** 2, {2, 4, 7}),
        (fixed_embedding, "parity", lambda x, support: sum(x[i] for i in support), {10}),
        (fixed_embedding, "_orthogonal", lambda functions: [list(f) for f in functions], {10}),
        (fixed_embedding, "_least_loss", lambda _features, _labels: sp.S.One, {10}),
    ],
)
def test_a_wrong_rule_fails_where_it_is_used(monkeypatch, module, name, wrong, expected):
    monkeypatch.setattr(module, name, wrong)
    assert failing() == expected


def test_what_depends_on_others_drops_out_of_the_basis():
    basis = fixed_embedding._orthogonal([[1, 1, 1], [1, 2, 3], [2, 3, 4], [0, 0, 0]])
    assert basis == [[1, 1, 1], [-1, 0, 1]]
