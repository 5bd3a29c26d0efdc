"""Loss and gradient for any attention map, with linear and erf attention as examples.

Softmax was used for nothing but the derivative of the attention by the scores. So another map
changes that one factor; `derivations.attention.pointwise_maps` has it for maps that apply a
function to each score.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("attention_maps")

import sympy as sp

from derivations.attention.pointwise_attention import weight, weight_tilde
from derivations.attention.pointwise_maps import (
    ERF,
    LINEAR,
    SWAP,
    general_loss,
    map_steps,
    pointwise_along,
    setting,
    slope,
    slope_tilde,
    slopes,
)
from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.calculus.variation import Variation
from derivations.gradient import attention_gradient, gradient_along
from derivations.moments import moment_by_coincidences
from derivations.notation import a, b, gamma, i, t, u
from derivations.printing.latex import equation
from derivations.proof.enumeration import dot, enumerated_loss
from derivations.proof.evaluation import evaluate, evaluate_over
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_integers, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require
from derivations.softmax import attention_velocity

__all__ = ["derive", "pull_back_of_softmax"]


def pull_back_of_softmax() -> sp.Expr:
    """Return the sequence w_i = dL/ds_i for softmax."""
    g = attention_gradient()
    return gamma * (g - PowerSum(gamma * g))


def derive(title: str) -> Derivation:
    """Derive loss and gradients for any map, and for softmax, linear and erf attention."""
    along = pointwise_along()
    along_tilde = along.xreplace(SWAP)
    steps = (
        Step(
            label="loss",
            uses=("moments:four-forms", "population:square", "population:loss"),
            statement=equation("L", general_loss()),
            reason=r"The formula of softmax, and the derivation too: the moment rule holds for"
            r" all real coefficients, the label has nothing to do with the weights, and neither"
            r" $\gamma_{i} > 0$ nor $\sum_{i} \gamma_{i} = 1$ was used. Checked by deriving it"
            r" again, for weights of which nothing is assumed, from the count by coinciding"
            r" indices.",
            check=_check_loss,
        ),
        Step(
            uses=("loss",),
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad d = 2, \ldots, 7",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, weights of"
            r" any sign and sum; as polynomials in $2 d$ free symbols for $d = 2, 3$.",
            check=_check_enumeration,
            method=Method.INSTANCES,
        ),
        Step(
            label="slopes",
            uses=("loss",),
            statement=equation(
                r"g_{i} = \frac{\partial L}{\partial \gamma_{i}}", Entry(slopes(), i)
            ),
            reason=r"The derivative of $L$ along $\gamma + h u$ is $\langle g, u \rangle$ for"
            r" every $u$.",
            check=lambda: require_equal(
                PowerSum(slopes() * u), Variation({weight: u})(general_loss()), "<g, u> and D L"
            ),
        ),
        Step(
            label="chain",
            uses=("slopes", "softmax:attention", "softmax:jacobian", "gradient:query"),
            statement=r"\nabla_{\theta} L = \sum_{i} w_{i} v_{i}, \quad w_{i} = \sum_{k} g_{k}"
            r" \frac{\partial \gamma_{k}}{\partial s_{i}}; \quad w_{i} = \gamma_{i} (g_{i} -"
            r" \langle \gamma, g \rangle) \text{ for softmax}",
            reason=r"The chain rule, $s_{i} = v_{i} \cdot \theta$; for softmax with $\partial"
            r" \gamma_{k} / \partial s_{i} = \gamma_{k} (\delta_{ik} - \gamma_{i})$. Checked as the"
            r" linear form $\langle w, t \rangle = \langle g, D \gamma \rangle$ in $t$, and against"
            r" the gradient for softmax.",
            check=_check_softmax,
        ),
        Step(
            label="pointwise",
            uses=("slopes", "chain"),
            statement=equation(r"w_{i} = \phi'_{i} g_{i}; \quad A \cdot \nabla_{\theta} L", along),
            reason=r"If $\gamma_{i} = \phi(s_{i})$, only $\gamma_{i}$ depends on $s_{i}$. Checked"
            r" against the derivative of $L$ while $D \gamma_{i} = \phi'_{i} t_{i}$, term by term;"
            r" $\tilde{\theta}$ by the exchange of the heads, and directly.",
            check=_check_pointwise,
        ),
        Step(
            uses=("pointwise",),
            statement=r"\nabla_{\theta} L \text{ and } \nabla_{\tilde{\theta}} L \text{ at }"
            r" (d, m) = (2, 1), (2, 2), (3, 1), \quad \phi \text{ any function}",
            reason=r"Independent check: $L$ written out over all inputs with an undefined function"
            r" $\phi$ and every entry of $V$, $\theta$, $\tilde{\theta}$ a symbol, and"
            r" differentiated by SymPy.",
            check=_check_explicit,
            method=Method.INSTANCES,
        ),
        *map_steps(LINEAR, label="linear", general="pointwise"),
        *map_steps(ERF, label="erf", general="pointwise"),
    )
    return Derivation(
        name="attention_maps",
        title=title,
        source="arXiv:2502.07553v2 compares with linear and erf attention; closed forms ours",
        setting=setting(
            r"A pointwise map is $\gamma_{i} = \phi(s_{i})$; $\phi'_{i} = \phi'(s_{i})$"
            r" and $\tilde{\phi}'_{i} = \phi'(\tilde{s}_{i})$."
        ),
        steps=steps,
        formulas=(
            Formula(name="theta", left=r"A \cdot \nabla_{\theta} L", right=along),
            Formula(
                name="theta_tilde", left=r"A \cdot \nabla_{\tilde{\theta}} L", right=along_tilde
            ),
        ),
        constants=(Formula(name="loss", left="L", right=general_loss()),),
    )


def _check_loss() -> None:
    again = (
        1
        - 2 * moment_by_coincidences((weight, weight_tilde, Unit(a), Unit(b)))
        + moment_by_coincidences((weight, weight, weight_tilde, weight_tilde))
    )
    require_equal(general_loss(), again)
    assumed = [symbol for symbol in general_loss().free_symbols if symbol.is_positive]
    require(not assumed, f"{assumed} are positive")


def _check_enumeration() -> None:
    rng = seeded(29)
    for d in range(2, 8):
        weights, weights_tilde = random_integers(rng, d), random_integers(rng, d)
        found = evaluate(
            general_loss(),
            sequences={"weight": weights, "weight_tilde": weights_tilde},
            positions={"a": 0, "b": 1},
        )
        expected = enumerated_loss(
            [sp.Integer(each) for each in weights], [sp.Integer(each) for each in weights_tilde]
        )
        require(found == expected, f"d = {d}: {found}, by enumeration {expected}")
    for d in (2, 3):
        free = sp.symbols(f"w_0:{d}", real=True), sp.symbols(f"w_tilde_0:{d}", real=True)
        found = evaluate_over(
            general_loss(),
            rational=sp.Rational,
            sequences={"weight": free[0], "weight_tilde": free[1]},
            positions={"a": 0, "b": 1},
        )
        require_equal(found, enumerated_loss(*free), f"the losses at d = {d}")


def _check_softmax() -> None:
    w = pull_back_of_softmax()
    chain = PowerSum(attention_gradient() * attention_velocity(t))
    require_equal(PowerSum(w * t), chain, "<w, t> and <g, D gamma>")
    require_equal(PowerSum(w * t), gradient_along(), "the gradients")


def _check_pointwise() -> None:
    along = pointwise_along()
    direct = Variation({weight: slope * t})(general_loss())
    require_equal(along, direct, "A.grad L and D L")
    tilde = Variation({weight_tilde: slope_tilde * t})(general_loss())
    require_equal(along.xreplace(SWAP), tilde, "the mirror image and D L")


def _check_explicit() -> None:
    along = pointwise_along()
    phi, x = sp.Function("phi"), sp.Dummy("x", real=True)
    for d, m in ((2, 1), (2, 2), (3, 1)):
        V = [[sp.Symbol(f"V_{j}_{r}", real=True) for r in range(m)] for j in range(d)]
        theta, theta_tilde = (
            [sp.Symbol(f"{name}_{r}", real=True) for r in range(m)]
            for name in ("theta", "theta_tilde")
        )
        heads = [[dot(row, query) for row in V] for query in (theta, theta_tilde)]
        weights, weights_tilde = ([phi(s) for s in scores] for scores in heads)
        rates, rates_tilde = ([sp.diff(phi(x), x).subs(x, s) for s in scores] for scores in heads)
        atoms = (*weights, *weights_tilde, *rates, *rates_tilde)
        names = {atom: sp.Dummy(str(atom), real=True) for atom in atoms}
        enumerated = enumerated_loss(weights, weights_tilde)
        for r in range(m):
            sequences = {
                "weight": [names[each] for each in weights],
                "weight_tilde": [names[each] for each in weights_tilde],
                "slope": [names[each] for each in rates],
                "slope_tilde": [names[each] for each in rates_tilde],
                "t": [row[r] for row in V],
            }
            for expr, coordinate in ((along, theta[r]), (along.xreplace(SWAP), theta_tilde[r])):
                found = evaluate_over(
                    expr, rational=sp.Rational, sequences=sequences, positions={"a": 0, "b": 1}
                )
                expected = sp.diff(enumerated, coordinate).xreplace(names)
                require_equal(found, expected, f"derivatives by {coordinate}, d = {d}, m = {m}")
