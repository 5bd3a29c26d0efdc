"""The start at zero: both queries vanish, both attentions are uniform."""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("zero")

from fractions import Fraction

import sympy as sp

from derivations.antisymmetric import closed_loss, push
from derivations.calculus.power_sums import Entry, PowerSum
from derivations.gradient import gradient_along, gradient_along_tilde
from derivations.notation import (
    Z_2,
    Delta,
    E,
    Z,
    Z_tilde_2,
    a,
    b,
    d,
    gamma,
    gamma_tilde,
    omega,
    t,
)
from derivations.population import loss
from derivations.printing.latex import equation
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require
from derivations.softmax import vectorial

__all__ = ["at_zero", "derive"]

_UNIFORM = {gamma: 1 / d, gamma_tilde: 1 / d}


def at_zero(expr: sp.Expr) -> sp.Expr:
    """Return the value of a formula in gamma and gamma_tilde at theta = theta_tilde = 0."""
    return sp.expand(expr.xreplace(_UNIFORM))


def derive(title: str) -> Derivation:
    """Derive loss and gradients at zero."""
    value = at_zero(loss())
    along, along_tilde = at_zero(gradient_along()), at_zero(gradient_along_tilde())
    mean = 2 / d * PowerSum(t)
    formulas = (
        Formula(name="loss", left="L", right=value),
        Formula(name="gradient", left=r"A \cdot \nabla_{\theta} L", right=along),
        Formula(
            name="gradient_tilde", left=r"A \cdot \nabla_{\tilde{\theta}} L", right=along_tilde
        ),
    )
    steps = (
        Step(
            label="loss",
            uses=("population:loss", "antisymmetric:loss"),
            statement=equation("L", value),
            reason=r"$\gamma_{i} = \tilde{\gamma}_{i} = 1 / d$ in the population loss. Checked"
            r" against the closed loss of the antisymmetric start, with $s = 0$.",
            check=lambda: require_equal(value, _at_vanishing_scores(closed_loss())),
        ),
        Step(
            label="gradient",
            uses=("gradient:query", "gradient:other-query", "antisymmetric:push"),
            statement=equation(r"\nabla_{\theta} L = \nabla_{\tilde{\theta}} L", vectorial(along)),
            reason=r"The same in both gradients: $-(2 / d^{2}) (v_{a} + v_{b} - 2 \bar{v})$ with"
            r" $\bar{v} = \sum_{i} v_{i} / d$. Every term that does not read the support cancels."
            r" Checked against the push of the antisymmetric start, with $s = 0$.",
            check=lambda: _check_gradient(along, along_tilde, mean),
        ),
        Step(
            uses=("loss",),
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad d = 2, \ldots, 10",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic.",
            check=lambda: _check_loss(value),
            method=Method.INSTANCES,
        ),
        Step(
            label="circle",
            uses=("loss", "gradient"),
            statement=r"L = 29 / 32, \quad \nabla_{\theta} L = \nabla_{\tilde{\theta}} L"
            r" = (-1/8, -1/8)",
            reason=r"An instance: $v_{i} = (1, 0), (0, 1), (-1, 0), (0, -1)$ and $(a, b) = (0,"
            r" 1)$. The two queries are separate parameters; one that is tied, $\tilde{\theta} ="
            r" -\theta$, would have gradient $0$.",
            check=lambda: _check_circle(formulas),
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="zero",
        title=title,
        source="ours",
        setting=r"$\theta = \tilde{\theta} = 0$, so that $\gamma_{i} = \tilde{\gamma}_{i} = 1 /"
        r" d$. $L = \mathbb{E} (f - y)^{2}$, with no factor $1/2$.",
        steps=steps,
        formulas=formulas,
    )


def _at_vanishing_scores(expr: sp.Expr) -> sp.Expr:
    """Return a formula of the antisymmetric start at s = 0."""
    sums = dict.fromkeys((Z, Z_2, Z_tilde_2), d)
    return expr.xreplace({E: sp.S.One, Delta: sp.S.Zero, omega: 1 / d**2, **sums})


def _check_gradient(along: sp.Expr, along_tilde: sp.Expr, mean: sp.Expr) -> None:
    signal = Entry(t, a) + Entry(t, b)
    require_equal(along, -2 / d**2 * (signal - mean), "the gradient and its closed form")
    require_equal(along, along_tilde, "the two gradients")
    require_equal(along, -2 / d**2 * _at_vanishing_scores(push()), "the gradient and the push")


def _check_loss(value: sp.Expr) -> None:
    for size in range(2, 11):
        uniform = [Fraction(1, size)] * size
        found = evaluate(value, sequences={"gamma": uniform})
        expected = enumerated_loss(uniform, uniform)
        require(found == expected, f"d = {size}: {found}, by enumeration {expected}")


def _check_circle(formulas: tuple[Formula, ...]) -> None:
    V = ((1, 0), (0, 1), (-1, 0), (0, -1))
    for formula in formulas:
        values = [
            evaluate(
                formula.right,
                sequences={"t": [row[r] for row in V]},
                positions={"a": 0, "b": 1},
            )
            for r in (0, 1)
        ]
        expected = Fraction(29, 32) if formula.name == "loss" else Fraction(-1, 8)
        require(values == [expected, expected], f"{formula.name}: {values}, not {expected}")
