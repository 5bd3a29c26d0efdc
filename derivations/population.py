"""Population loss and its gradient, for any pair of queries.

The loss is a moment of four linear forms; the gradient with respect to the attention is read off
its derivative in an arbitrary direction, and the gradient with respect to the query follows by the
derivative of softmax.
"""

from __future__ import annotations

import sympy as sp

from derivations.differentiation import NumericModel, SymbolicModel
from derivations.enumeration import enumerated_loss
from derivations.evaluation import evaluate, evaluate_over
from derivations.identities import require, require_equal
from derivations.instances import random_attention, seeded
from derivations.latex import equation
from derivations.ledger import Derivation, Formula, Method, Step
from derivations.moments import moment, moment_by_coincidences
from derivations.notation import a, b, gamma, gamma_tilde, i, t, u
from derivations.power_sums import Entry, PowerSum, Unit, density
from derivations.softmax import (
    ATTENTION,
    attention_velocity,
    in_attention,
    score_motion,
    vectorial,
)
from derivations.variation import Variation

__all__ = [
    "SWAP",
    "attention_gradient",
    "cross_moment",
    "derive",
    "gradient_along",
    "gradient_along_tilde",
    "loss",
    "quartic_moment",
]

SWAP = {gamma: gamma_tilde, gamma_tilde: gamma}
"""The exchange of the two heads, under which the loss does not change."""


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


def attention_gradient() -> sp.Expr:
    """Return the sequence g_i = dL/dgamma_i: the derivative along u is <g, u> for every u."""
    return density(Variation({gamma: u})(loss()), u)


def gradient_along() -> sp.Expr:
    """Return A.grad_theta L, in terms of t_i = v_i.A, by the chain rule."""
    return sp.expand(PowerSum(attention_gradient() * attention_velocity(t)))


def gradient_along_tilde() -> sp.Expr:
    """Return A.grad_theta_tilde L: the same with the heads exchanged."""
    return gradient_along().xreplace(SWAP)


def derive(title: str) -> Derivation:
    """Derive the loss and both gradients."""
    cross, quartic, population_loss = cross_moment(), quartic_moment(), loss()
    entry_of_gradient = Entry(attention_gradient(), i)
    along, along_tilde = gradient_along(), gradient_along_tilde()
    formulas = (
        Formula(name="cross_moment", left=r"\mathbb{E} [p q x_{a} x_{b}]", right=cross),
        Formula(name="quartic_moment", left=r"\mathbb{E} [p^{2} q^{2}]", right=quartic),
        Formula(name="loss", left="L", right=population_loss),
        Formula(
            name="attention_gradient",
            left=r"\frac{\partial L}{\partial \gamma_{i}}",
            right=entry_of_gradient,
        ),
        Formula(name="gradient", left=r"A \cdot \nabla_{\theta} L", right=along),
        Formula(
            name="gradient_tilde",
            left=r"A \cdot \nabla_{\tilde{\theta}} L",
            right=along_tilde,
        ),
    )
    steps = (
        Step(
            statement=r"(f - y)^{2} = 1 - 2 p q x_{a} x_{b} + p^{2} q^{2}",
            reason=r"$f - y = x_{a} x_{b} - p q$ and $(x_{a} x_{b})^{2} = 1$. Checked for all four"
            r" values of $(x_{a}, x_{b})$.",
            check=_check_square,
        ),
        Step(
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
            statement=equation(formulas[1].left, quartic),
            reason=r"The moment rule for four forms; the last term is the block of four, which"
            r" Gaussian moments miss. Checked against the count by coinciding indices, and with"
            r" all weight on one position, where $p^{2} = q^{2} = 1$.",
            check=lambda: _check_quartic(quartic),
        ),
        Step(
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
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad d = 2, \ldots, 8",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic.",
            check=lambda: _check_loss(population_loss),
            method=Method.INSTANCES,
        ),
        Step(
            statement=equation(
                r"g_{i} = \frac{\partial L}{\partial \gamma_{i}}", entry_of_gradient
            ),
            reason=r"The derivative of $L$ along $\gamma + h u$ is $\langle g, u \rangle$ for"
            r" every $u$. Checked as that identity for symbolic $d$, and against SymPy's"
            r" derivative of the enumerated loss by each $\gamma_{i}$ at $d = 2, 3, 4$.",
            check=_check_attention_gradient,
        ),
        Step(
            statement=r"\nabla_{\theta} L = \sum_{i} \gamma_{i} g_{i} (v_{i} - \bar{v}), \quad"
            r" \bar{v} = \sum_{i} \gamma_{i} v_{i}",
            reason=r"The chain rule, $D L = \sum_{i} g_{i} D \gamma_{i}$ for every direction $A$."
            r" Checked against the derivative of $L$ as a function of the scores, term by term.",
            check=lambda: require_equal(along, _gradient_through_scores()),
        ),
        Step(
            statement=equation(r"\nabla_{\theta} L", vectorial(_by_mean(along, gamma))),
            reason=r"The same, multiplied out. Checked against $D L = \langle g \gamma, t \rangle"
            r" - \langle g, \gamma \rangle \langle \gamma, t \rangle$.",
            check=lambda: require_equal(
                along,
                PowerSum(attention_gradient() * gamma * t)
                - PowerSum(attention_gradient() * gamma) * PowerSum(gamma * t),
            ),
        ),
        Step(
            statement=equation(
                r"\nabla_{\tilde{\theta}} L", vectorial(_by_mean(along_tilde, gamma_tilde))
            ),
            reason=r"$L$ does not change when the heads are exchanged. Checked against the"
            r" derivation from the start with $\tilde{\theta}$ in the place of $\theta$.",
            check=lambda: _check_tilde(along_tilde),
        ),
        Step(
            statement=r"\nabla_{\theta} L \text{ and } \nabla_{\tilde{\theta}} L \text{ at }"
            r" (d, m) = (2, 1), (2, 2), (3, 1)",
            reason=r"Independent check: $L$ written out over all inputs with explicit"
            r" exponentials, every entry of $V$, $\theta$, $\tilde{\theta}$ a symbol, and"
            r" differentiated by SymPy.",
            check=lambda: _check_explicit(along, along_tilde),
            method=Method.INSTANCES,
        ),
        Step(
            statement=r"A \cdot \nabla_{\theta} L = \lim_{h \to 0}"
            r" \frac{L(\theta + h A, \tilde{\theta}) - L(\theta, \tilde{\theta})}{h}",
            reason=r"Independent check: numeric derivatives of the enumerated loss with 50 digits"
            r" at random points, for both queries, $(d, m) = (2, 1), (4, 2), (6, 3)$.",
            check=lambda: _check_numeric(along, along_tilde),
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="population",
        title=title,
        source="arXiv:2502.07553v2, the population gradient; closed forms ours",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, $y = -x_{a} x_{b}$ with $a \ne b$, $p ="
        r" \langle \gamma, x \rangle$, $q = \langle \tilde{\gamma}, x \rangle$, $f = -p q$;"
        r" $\gamma$, $\tilde{\gamma}$ are the softmax attentions of $\theta$, $\tilde{\theta}$."
        r" The loss is $L = \mathbb{E} (f - y)^{2}$, with no factor $1/2$.",
        steps=steps,
        formulas=formulas,
    )


def _by_mean(along: sp.Expr, attention: sp.Expr) -> sp.Expr:
    """Collect the terms with the mean of t under the attention."""
    return sp.collect(along, PowerSum(attention * t))


def _gradient_through_scores() -> sp.Expr:
    return in_attention(score_motion(t)(loss().xreplace({gamma: ATTENTION})))


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


def _check_attention_gradient() -> None:
    require_equal(PowerSum(attention_gradient() * u), Variation({gamma: u})(loss()), "<g, u>, D L")
    for d in (2, 3, 4):
        weights = sp.symbols(f"gamma_0:{d}", real=True)
        weights_tilde = sp.symbols(f"gamma_tilde_0:{d}", real=True)
        enumerated = sp.expand(enumerated_loss(weights, weights_tilde))
        for j in range(d):
            found = evaluate_over(
                Entry(attention_gradient(), i),
                rational=sp.Rational,
                sequences={"gamma": weights, "gamma_tilde": weights_tilde},
                positions={"a": 0, "b": 1, "i": j},
            )
            require_equal(found, sp.diff(enumerated, weights[j]), f"dL/dgamma_{j} at d = {d}")


def _check_tilde(expr: sp.Expr) -> None:
    moving = loss().xreplace(SWAP).xreplace({gamma: ATTENTION})
    require_equal(loss().xreplace(SWAP), loss(), "the loss with the heads exchanged and the loss")
    direct = in_attention(score_motion(t)(moving)).xreplace(SWAP)
    require_equal(expr, direct, "the mirror image and the direct derivative")


def _check_explicit(along: sp.Expr, along_tilde: sp.Expr) -> None:
    for d, m in ((2, 1), (2, 2), (3, 1)):
        model, model_tilde = SymbolicModel(d, m, "theta"), SymbolicModel(d, m, "theta_tilde")
        enumerated = enumerated_loss(model.attention, model_tilde.attention)
        for r in range(m):
            sequences = {
                "gamma": [model.algebraic(weight) for weight in model.attention],
                "gamma_tilde": [model_tilde.algebraic(weight) for weight in model_tilde.attention],
                "t": [row[r] for row in model.V],
            }
            for expr, coordinate in ((along, model.theta[r]), (along_tilde, model_tilde.theta[r])):
                found = evaluate_over(
                    expr, rational=sp.Rational, sequences=sequences, positions={"a": 0, "b": 1}
                )
                expected = model_tilde.algebraic(model.algebraic(sp.diff(enumerated, coordinate)))
                require_equal(found, expected, f"derivatives by {coordinate}, d = {d}, m = {m}")


def _check_numeric(along: sp.Expr, along_tilde: sp.Expr) -> None:
    rng = seeded(13)
    for d, m in ((2, 1), (4, 2), (6, 3)):
        model = NumericModel(rng, d=d, m=m)
        sequences = {
            "gamma": model.attention(model.theta),
            "gamma_tilde": model.attention(model.theta_tilde),
            "t": model.t,
        }
        found, found_tilde = (
            evaluate_over(
                expr, rational=model.rational, sequences=sequences, positions={"a": 0, "b": 1}
            )
            for expr in (along, along_tilde)
        )
        model.require_close(found, model.slope_of_loss(), "the derivative by theta")
        model.require_close(found_tilde, model.slope_of_loss_tilde(), "that by theta_tilde")


if __name__ == "__main__":
    from derivations.command import run

    run("population")
