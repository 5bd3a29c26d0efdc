"""The gradient of the population loss, for any pair of queries.

The gradient by the attention is read off the derivative of the loss in an arbitrary direction; the
gradient by the query follows by the derivative of softmax.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("gradient")

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, density
from derivations.calculus.variation import Variation
from derivations.notation import gamma, gamma_tilde, i, t, u
from derivations.population import loss
from derivations.printing.latex import equation
from derivations.proof.differentiation import NumericModel, SymbolicModel
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate_over
from derivations.proof.identities import require_equal
from derivations.proof.instances import seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.softmax import (
    ATTENTION,
    attention_velocity,
    in_attention,
    score_motion,
    vectorial,
)

__all__ = ["SWAP", "attention_gradient", "derive", "gradient_along", "gradient_along_tilde"]

SWAP = {gamma: gamma_tilde, gamma_tilde: gamma}
"""The exchange of the two heads, under which the loss does not change."""


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
    """Derive the gradients by the attention and by both queries."""
    entry_of_gradient = Entry(attention_gradient(), i)
    along, along_tilde = gradient_along(), gradient_along_tilde()
    formulas = (
        Formula(
            name="attention",
            left=r"\frac{\partial L}{\partial \gamma_{i}}",
            right=entry_of_gradient,
        ),
        Formula(name="theta", left=r"A \cdot \nabla_{\theta} L", right=along),
        Formula(
            name="theta_tilde",
            left=r"A \cdot \nabla_{\tilde{\theta}} L",
            right=along_tilde,
        ),
    )
    steps = (
        Step(
            label="attention",
            uses=("population:loss",),
            statement=equation(
                r"g_{i} = \frac{\partial L}{\partial \gamma_{i}}", entry_of_gradient
            ),
            reason=r"The derivative of $L$ along $\gamma + h u$ is $\langle g, u \rangle$ for"
            r" every $u$. Checked as that identity for symbolic $d$, and against SymPy's"
            r" derivative of the enumerated loss by each $\gamma_{i}$ at $d = 2, 3, 4$.",
            check=_check_attention_gradient,
        ),
        Step(
            label="chain",
            uses=("attention", "softmax:vector"),
            statement=r"\nabla_{\theta} L = \sum_{i} \gamma_{i} g_{i} (v_{i} - \bar{v}), \quad"
            r" \bar{v} = \sum_{i} \gamma_{i} v_{i}",
            reason=r"The chain rule, $D L = \sum_{i} g_{i} D \gamma_{i}$ for every direction $A$."
            r" Checked against the derivative of $L$ as a function of the scores, term by term.",
            check=lambda: require_equal(along, _gradient_through_scores()),
        ),
        Step(
            label="query",
            uses=("attention", "chain"),
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
            label="other-query",
            uses=("query",),
            statement=equation(
                r"\nabla_{\tilde{\theta}} L", vectorial(_by_mean(along_tilde, gamma_tilde))
            ),
            reason=r"$L$ does not change when the heads are exchanged. Checked against the"
            r" derivation from the start with $\tilde{\theta}$ in the place of $\theta$.",
            check=lambda: _check_tilde(along_tilde),
        ),
        Step(
            uses=("query", "other-query"),
            statement=r"\nabla_{\theta} L \text{ and } \nabla_{\tilde{\theta}} L \text{ at }"
            r" (d, m) = (2, 1), (2, 2), (3, 1)",
            reason=r"Independent check: $L$ written out over all inputs with explicit"
            r" exponentials, every entry of $V$, $\theta$, $\tilde{\theta}$ a symbol, and"
            r" differentiated by SymPy.",
            check=lambda: _check_explicit(along, along_tilde),
            method=Method.INSTANCES,
        ),
        Step(
            uses=("query", "other-query"),
            statement=r"A \cdot \nabla_{\theta} L = \lim_{h \to 0}"
            r" \frac{L(\theta + h A, \tilde{\theta}) - L(\theta, \tilde{\theta})}{h}",
            reason=r"Independent check: numeric derivatives of the enumerated loss with 50 digits"
            r" at random points, for both queries, $(d, m) = (2, 1), (4, 2), (6, 3)$.",
            check=lambda: _check_numeric(along, along_tilde),
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="gradient",
        title=title,
        source="arXiv:2502.07553v2, the population gradient; closed forms ours",
        setting=r"$L = \mathbb{E} (f - y)^{2}$ is the population loss, with no factor $1/2$;"
        r" $\gamma$, $\tilde{\gamma}$ are the softmax attentions of $\theta$, $\tilde{\theta}$. $D$"
        r" is the derivative along $\theta + h A$ at $h = 0$, for an arbitrary direction $A$, and"
        r" $t_{i} = v_{i} \cdot A$.",
        steps=steps,
        formulas=formulas,
    )


def _by_mean(along: sp.Expr, attention: sp.Expr) -> sp.Expr:
    """Collect the terms with the mean of t under the attention."""
    return sp.collect(along, PowerSum(attention * t))


def _gradient_through_scores() -> sp.Expr:
    return in_attention(score_motion(t)(loss().xreplace({gamma: ATTENTION})))


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
