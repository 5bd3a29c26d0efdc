from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.antisymmetric import (
    MIRROR,
    at_start,
    closed_loss,
    kappa_value,
    push,
    push_tilde,
    rest,
    rest_weights,
    signal,
)
from derivations.calculus.power_sums import Entry, PowerSum
from derivations.catalogue import load
from derivations.gradient import gradient_along, gradient_along_tilde
from derivations.notation import (
    Z_2,
    Delta,
    E,
    Z,
    Z_tilde,
    Z_tilde_2,
    d,
    gamma,
    gamma_tilde,
    i,
    kappa,
    omega,
    t,
)
from derivations.population import loss
from derivations.proof.evaluation import evaluate, evaluate_over
from derivations.proof.identities import residue
from derivations.proof.instances import random_fractions, random_integers, seeded


def test_omega():
    assert at_start(Entry(gamma * gamma_tilde, i)) == omega
    assert at_start(PowerSum(gamma * gamma_tilde)) == d * omega


def test_closed_forms():
    assert (
        residue(
            closed_loss(),
            1 - 4 * omega * sp.cosh(Delta) + omega**2 * (Z_2 * Z_tilde_2 + 2 * d**2 - 2 * d),
        )
        == 0
    )
    assert (
        residue(
            kappa_value(), 2 * sp.cosh(Delta) - omega * Z_2 * Z_tilde_2 - 2 * d * (d - 1) * omega
        )
        == 0
    )
    assert (
        residue(
            rest(),
            kappa_value() / Z * PowerSum(E * t)
            + omega * Z_tilde_2 * PowerSum(E**2 * t)
            + 2 * (d - 1) * omega * PowerSum(t),
        )
        == 0
    )
    assert residue(at_start(PowerSum(rest_weights())), 2 * sp.cosh(Delta)) == 0
    assert residue(push(), signal() - rest()) == 0


def test_the_reflection_exchanges_the_heads():
    mirrored = push().xreplace(MIRROR).xreplace({Z_tilde: 1 / (omega * Z)})
    assert residue(mirrored, push_tilde()) == 0
    assert residue(closed_loss().xreplace(MIRROR), closed_loss()) == 0


@given(seed=st.integers(0, 999), size=st.integers(2, 7))
@settings(max_examples=settings().max_examples // 4)
def test_closed_forms_agree_with_the_general_ones(seed, size):
    rng = seeded(seed)
    first, second = rng.sample(range(size), 2)
    exponentials, directions = random_fractions(rng, size), random_integers(rng, size)
    total, total_tilde = sum(exponentials), sum(1 / x for x in exponentials)
    scalars = {
        "Z": total,
        "Z_tilde": total_tilde,
        "Z_2": sum(x * x for x in exponentials),
        "Z_tilde_2": sum(1 / (x * x) for x in exponentials),
        "omega": 1 / (total * total_tilde),
    }
    general = {
        "gamma": [x / total for x in exponentials],
        "gamma_tilde": [1 / (x * total_tilde) for x in exponentials],
        "t": directions,
    }
    positions = {"a": first, "b": second}
    growth = {"Delta": exponentials[first] / exponentials[second]}

    def closed(expr):
        return evaluate(
            expr.xreplace({kappa: kappa_value()}),
            sequences={"E": exponentials, "t": directions},
            positions=positions,
            scalars=scalars,
            exponentials=growth,
        )

    formula = load("antisymmetric").formula
    assert closed(formula("loss").right) == evaluate(loss(), sequences=general, positions=positions)
    for name, gradient in (("push", gradient_along()), ("push_tilde", gradient_along_tilde())):
        assert -2 * scalars["omega"] * closed(formula(name).right) == evaluate(
            gradient, sequences=general, positions=positions
        )
    weights = [
        evaluate(
            formula("rest_weight").right,
            sequences={"E": exponentials},
            positions={"i": position},
            scalars={**scalars, "kappa": closed(kappa)},
        )
        for position in range(size)
    ]
    assert sum(weights) == growth["Delta"] + 1 / growth["Delta"]


def test_four_points_on_the_circle():
    context = mpmath.MPContext()
    context.dps = 40
    V = ((1, 0), (0, 1), (-1, 0), (0, -1))
    exponentials = [context.exp(context.mpf(row[0])) for row in V]
    total, total_tilde = sum(exponentials), sum(1 / x for x in exponentials)
    scalars = {
        "Z": total,
        "Z_tilde": total_tilde,
        "Z_2": sum(x * x for x in exponentials),
        "Z_tilde_2": sum(1 / (x * x) for x in exponentials),
        "omega": 1 / (total * total_tilde),
    }

    def value(expr, r):
        return evaluate_over(
            expr,
            rational=lambda p, q: context.mpf(p) / q,
            sequences={"E": exponentials, "t": [context.mpf(row[r]) for row in V]},
            positions={"a": 0, "b": 1},
            scalars=scalars,
            exponentials={"Delta": exponentials[0] / exponentials[1]},
        )

    def shown(number, digits):
        return context.nstr(number, digits)

    assert shown(scalars["omega"], 20) == "0.038656252292952916682"
    assert shown(value(closed_loss(), 0), 19) == "0.9328189895953062103"
    gradient = [value(-2 * omega * push(), r) for r in (0, 1)]
    gradient_tilde = [value(-2 * omega * push_tilde(), r) for r in (0, 1)]
    assert [shown(x, 15) for x in gradient] == ["-0.0518517666402136", "-0.0284416809826276"]
    assert [shown(x, 15) for x in gradient_tilde] == ["-0.186747090670938", "-0.210157176328524"]


def test_evaluation_needs_all_sums():
    with pytest.raises(ValueError, match=r"scalars=.*missing"):
        evaluate(
            closed_loss(),
            sequences={"E": [Fraction(1)] * 3},
            exponentials={"Delta": Fraction(1)},
        )
