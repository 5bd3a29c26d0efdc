"""The population loss, for any pair of queries.

The square of the error is multiplied out, and each term is a moment of four linear forms.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("population")

import sympy as sp

from derivations.calculus.power_sums import Entry, Unit
from derivations.moments import moment, moment_by_coincidences
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.printing.latex import equation
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_attention, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = ["cross_moment", "derive", "loss", "quartic_moment"]


def cross_moment() -> sp.Expr:
    """Return E[p q x_a x_b]."""
    return moment((gamma, gamma_tilde, Unit(a), Unit(b)))


def quartic_moment() -> sp.Expr:
    """Return E[p^2 q^2]."""
    return moment((gamma, gamma, gamma_tilde, gamma_tilde))


def loss() -> sp.Expr:
    """Return L = E (f - y)^2 with f - y = x_a x_b - p q, the square multiplied out."""
    label = moment((Unit(a), Unit(a), Unit(b), Unit(b)))
    return sp.expand(label - 2 * cross_moment() + quartic_moment())


def derive(title: str) -> Derivation:
    """Derive the loss."""
    cross, quartic, population_loss = cross_moment(), quartic_moment(), loss()
    formulas = (
        Formula(name="cross_moment", left=r"\mathbb{E} [p q x_{a} x_{b}]", right=cross),
        Formula(name="quartic_moment", left=r"\mathbb{E} [p^{2} q^{2}]", right=quartic),
        Formula(name="loss", left="L", right=population_loss),
    )
    steps = (
        Step(
            label="square",
            statement=r"(f - y)^{2} = 1 - 2 p q x_{a} x_{b} + p^{2} q^{2}",
            reason=r"$f - y = x_{a} x_{b} - p q$ and $(x_{a} x_{b})^{2} = 1$. Checked for all four"
            r" values of $(x_{a}, x_{b})$.",
            check=_check_square,
        ),
        Step(
            label="cross",
            uses=("moments:four-forms",),
            statement=equation(formulas[0].left, cross),
            reason=r"The moment rule for four forms. Of the pairings, $\langle \gamma,"
            r" \tilde{\gamma} \rangle \mathbb{E} [x_{a} x_{b}]$ vanishes as $a \ne b$; so does the"
            r" block of four.",
            check=lambda: require_equal(
                cross,
                Entry(gamma, a) * Entry(gamma_tilde, b) + Entry(gamma, b) * Entry(gamma_tilde, a),
            ),
        ),
        Step(
            label="quartic",
            uses=("moments:four-forms",),
            statement=equation(formulas[1].left, quartic),
            reason=r"The moment rule for four forms; the last term is the block of four, which"
            r" Gaussian moments miss. Checked against the count by coinciding indices, and with"
            r" all weight on one position, where $p^{2} = q^{2} = 1$.",
            check=lambda: _check_quartic(quartic),
        ),
        Step(
            label="loss",
            uses=("square", "cross", "quartic"),
            statement=equation("L", population_loss),
            reason=r"Linearity of the mean.",
            check=lambda: require_equal(
                population_loss,
                1
                - 2 * moment_by_coincidences((gamma, gamma_tilde, Unit(a), Unit(b)))
                + moment_by_coincidences((gamma, gamma, gamma_tilde, gamma_tilde)),
            ),
        ),
        Step(
            uses=("loss",),
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad d = 2, \ldots, 8",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic.",
            check=lambda: _check_loss(population_loss),
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="population",
        title=title,
        source="arXiv:2502.07553v2, the population loss; closed form ours",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, $y = -x_{a} x_{b}$ with $a \ne b$, $p ="
        r" \langle \gamma, x \rangle$, $q = \langle \tilde{\gamma}, x \rangle$, $f = -p q$;"
        r" $\gamma$, $\tilde{\gamma}$ are the softmax attentions of $\theta$, $\tilde{\theta}$."
        r" The loss is $L = \mathbb{E} (f - y)^{2}$, with no factor $1/2$.",
        steps=steps,
        formulas=formulas,
    )


def _check_square() -> None:
    p, q = sp.symbols("p q", real=True)
    for x_a in (-1, 1):
        for x_b in (-1, 1):
            prediction, label = -p * q, -x_a * x_b
            require_equal(
                (prediction - label) ** 2, 1 - 2 * p * q * x_a * x_b + p**2 * q**2, "the squares"
            )


def _check_quartic(expr: sp.Expr) -> None:
    require_equal(expr, moment_by_coincidences((gamma, gamma, gamma_tilde, gamma_tilde)))
    on_one_position = expr.xreplace({gamma: Unit(a), gamma_tilde: Unit(a)})
    require_equal(on_one_position, sp.S.One, "the moment on one position and 1")


def _check_loss(expr: sp.Expr) -> None:
    rng = seeded(11)
    for d in range(2, 9):
        for _ in range(2):
            attention, attention_tilde = random_attention(rng, d), random_attention(rng, d)
            found = evaluate(
                expr,
                sequences={"gamma": attention, "gamma_tilde": attention_tilde},
                positions={"a": 0, "b": 1},
            )
            expected = enumerated_loss(attention, attention_tilde)
            require(found == expected, f"d = {d}: {found}, by enumeration {expected}")
