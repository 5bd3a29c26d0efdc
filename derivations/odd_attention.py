"""Odd attention from the antisymmetric start: the loss stays at 1/2 or above for ever.

The two heads stay each other's negatives, so that the prediction is a square and can only ever be
right on the inputs with one of the two labels.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("odd_attention")

import itertools
from collections.abc import Callable

import sympy as sp

from derivations.attention.pointwise_attention import OF_ANY_SIGN, weight, weight_tilde
from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.gradient import SWAP, attention_gradient
from derivations.moments import moment
from derivations.notation import Sequence as PositionSequence
from derivations.notation import a, b, declare, i, t
from derivations.population import loss
from derivations.printing.latex import equation
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.instances import seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = ["derive", "loss_of_opposite_heads"]

_map_slope = declare(PositionSequence, "map_slope", r"\phi'(s)", real=True)

_OPPOSITE = {weight_tilde: -weight}


def loss_of_opposite_heads() -> sp.Expr:
    """Return the population loss at gamma_tilde = -gamma."""
    return sp.expand(loss().xreplace(OF_ANY_SIGN).xreplace(_OPPOSITE))


def derive(title: str) -> Derivation:
    """Derive that the heads stay opposite, and what that costs."""
    opposite = loss_of_opposite_heads()
    return Derivation(
        name="odd_attention",
        title=title,
        source="ours",
        setting=r"$\gamma_{i} = \phi(s_{i})$, $s = V \theta$, $\tilde{\gamma}_{i} ="
        r" \phi(\tilde{s}_{i})$, $\tilde{s} = V \tilde{\theta}$, with $\phi$ odd and"
        r" differentiable, and any $V$. Training starts at $\tilde{\theta} = -\theta$. $g_{i} ="
        r" \partial L / \partial \gamma_{i}$ and $\tilde{g}_{i} = \partial L / \partial"
        r" \tilde{\gamma}_{i}$.",
        steps=_steps(opposite),
        formulas=(),
        constants=(Formula(name="opposite_heads", left="L", right=opposite),),
    )


def _steps(opposite: sp.Expr) -> tuple[Step, ...]:
    return (
        Step(
            label="slopes",
            uses=("attention_maps:loss", "attention_maps:slopes"),
            statement=r"\tilde{g}_{i} = -g_{i} \text{ at } \tilde{\gamma} = -\gamma, \quad"
            r" \frac{\partial (x_{a} x_{b} - p q)^{2}}{\partial \tilde{\gamma}_{i}} ="
            r" -\frac{\partial (x_{a} x_{b} - p q)^{2}}{\partial \gamma_{i}} \text{ at } q = -p",
            reason=r"The loss does not change when the heads are exchanged, nor when both change"
            r" their signs: $g$ is odd in $(\gamma, \tilde{\gamma})$. The same for the loss of"
            r" every single sample.",
            check=_check_slopes,
        ),
        Step(
            label="gradients",
            uses=("slopes", "attention_maps:pointwise"),
            statement=r"\nabla_{\tilde{\theta}} L = \sum_{i} \tilde{g}_{i} \phi'(\tilde{s}_{i})"
            r" v_{i} = -\nabla_{\theta} L \text{ at } \tilde{\theta} = -\theta",
            reason=r"$\tilde{s} = -s$, and the derivative of an odd function is even. Contracted"
            r" with an arbitrary direction, $t_{i} = v_{i} \cdot A$.",
            check=_check_gradients,
        ),
        Step(
            label="opposite",
            uses=("slopes", "gradients"),
            statement=r"\tilde{\theta} = -\theta, \; \tilde{\gamma} = -\gamma, \; f = p^{2} \ge 0"
            r" \text{ after any number of steps, of any sizes}",
            reason=r"By induction: $\tilde{\theta} - \eta \nabla_{\tilde{\theta}} L = -(\theta -"
            r" \eta \nabla_{\theta} L)$. The same for stochastic gradients with the same samples"
            r" for both heads, for momentum from rest, and for every other rule that treats both"
            r" queries alike and is odd in the gradients.",
            check=_check_step,
        ),
        Step(
            label="half",
            uses=("opposite", "moments:signs"),
            statement=r"L = \frac{1}{2} \mathbb{E} [(p^{2} - 1)^{2} | y = 1] + \frac{1}{2}"
            r" \mathbb{E} [(p^{2} + 1)^{2} | y = -1] \ge \frac{1}{2}",
            reason=r"$\mathbb{E} y = 0$, so half of the inputs have $y = -1$, where $f = p^{2} \ge"
            r" 0$ errs by at least $1$; this is the population loss, that of a few samples may be"
            r" smaller. An output gain changes nothing: with $f = c p^{2}$ and $c < 0$ the inputs"
            r" with $y = 1$ take the place of the others.",
            check=_check_half,
        ),
        Step(
            uses=("attention_maps:loss",),
            statement=equation("L", opposite)
            + r" = \frac{1}{2} \text{ at } \gamma_{a} = -\gamma_{b} = \frac{1}{2}, \; \gamma_{i} ="
            r" 0 \text{ else}",
            reason=r"The population loss at $\tilde{\gamma} = -\gamma$. There $p = (x_{a} - x_{b})"
            r" / 2$ is $0$ or $\pm 1$, and right where $y = 1$. If the rows of $V$ are"
            r" independent, so that $m \ge d$, and $\phi$ reaches $1/2$, there is such a $\theta$.",
            check=lambda: _check_equality(opposite),
        ),
        Step(
            uses=("opposite", "half"),
            statement=r"\tilde{\theta} = -\theta, \quad L \ge \frac{1}{2} \text{ for two steps, at"
            r" instances}",
            reason=r"Independent check: $L$ as the mean over all $2^{d}$ inputs, its derivatives"
            r" by SymPy, in exact rational arithmetic; $\phi(s) = s$ and $s - s^{3} / 9$, $(d, m) ="
            r" (3, 1), (3, 2)$.",
            check=_check_descent,
            method=Method.INSTANCES,
        ),
    )


def _slopes() -> tuple[sp.Expr, sp.Expr]:
    """Return the sequences g and g_tilde at gamma_tilde = -gamma."""
    by_head = attention_gradient()
    return tuple(
        each.xreplace(OF_ANY_SIGN).xreplace(_OPPOSITE) for each in (by_head, by_head.xreplace(SWAP))
    )


def _check_slopes() -> None:
    by_head, by_other = _slopes()
    require_equal(Entry(by_other, i), -Entry(by_head, i), "the slopes of both heads")
    p, q, label, x_i = sp.symbols("p q label x_i", real=True)
    one = (label - p * q) ** 2  # p moves by x_i with gamma_i, and q with gamma_tilde_i
    first, second = ((sp.diff(one, form) * x_i).subs(q, -p) for form in (p, q))
    require_equal(second, -first, "the slopes of one sample")


def _check_gradients() -> None:
    u, x = sp.symbols("u x", real=True)
    phi = sp.Function("phi")
    at_minus_u = sp.Subs(sp.Derivative(phi(x), x), x, -u)
    require(sp.diff(phi(-u), u) == -at_minus_u, "the derivative of phi(-u) is not -phi'(-u)")
    by_head, by_other = _slopes()
    along, along_tilde = (PowerSum(each * _map_slope * t) for each in (by_head, by_other))
    require_equal(along_tilde, -along, "both gradients along A")


def _check_step() -> None:
    query, gradient, eta = sp.symbols("query gradient eta", real=True)
    require_equal(-query - eta * (-gradient), -(query - eta * gradient), "the queries after a step")
    p, q = sp.symbols("p q", real=True)
    require_equal((-p * q).subs(q, -p), p**2, "the prediction")


def _check_half() -> None:
    require_equal(moment((Unit(a), Unit(b))), sp.S.Zero, "E x_a x_b")
    p = sp.Symbol("p", real=True)
    gain = sp.Symbol("gain", nonnegative=True)
    for sign in (1, -1):  # of c = sign * gain, and the label that f cannot reach is -sign
        error = (sign * gain * p**2 + sign) ** 2
        require_at_least(error, sp.S.One, gain * p**2 * (gain * p**2 + 2), "the error at one label")
    half = sp.Rational(1, 2)
    split = half * (p**2 - 1) ** 2 + half * (p**2 + 1) ** 2
    require_at_least(split, half, half * (p**2 - 1) ** 2 + half * p**2 * (p**2 + 2), "the mean")


def _check_equality(opposite: sp.Expr) -> None:
    g_a, g_b = Entry(weight, a), Entry(weight, b)
    expected = 1 + 4 * g_a * g_b + 3 * PowerSum(weight**2) ** 2 - 2 * PowerSum(weight**4)
    require_equal(opposite, expected, "the loss of opposite heads")
    half = sp.Rational(1, 2)
    at_equality = opposite.xreplace({weight: half * Unit(a) - half * Unit(b)})
    require_equal(at_equality, half, "the loss at equality")
    for x_a, x_b in itertools.product((-1, 1), repeat=2):
        p = sp.Rational(x_a - x_b, 2)
        require(p**2 == (1 if -x_a * x_b == 1 else 0), f"p = {p} at x_a = {x_a}, x_b = {x_b}")


_ETA = sp.Rational(1, 5)
_MAPS: tuple[Callable[[sp.Expr], sp.Expr], ...] = (lambda s: s, lambda s: s - s**3 / 9)


def _check_descent() -> None:
    rng = seeded(17)
    for (d, m), phi in itertools.product(((3, 1), (3, 2)), _MAPS):
        V = sp.Matrix(d, m, [rng.randint(-2, 2) for _ in range(d * m)]) / 2
        queries = sp.symbols(f"theta_0:{m}"), sp.symbols(f"theta_tilde_0:{m}")
        heads = [[phi(score) for score in V * sp.Matrix(query)] for query in queries]
        L = enumerated_loss(*heads)
        variables = (*queries[0], *queries[1])
        slopes = [sp.diff(L, variable) for variable in variables]
        start = [sp.Rational(rng.randint(1, 3), 2) for _ in range(m)]
        point = [*start, *(-each for each in start)]
        for step in (1, 2):
            at = dict(zip(variables, point, strict=True))
            point = [x - _ETA * g.xreplace(at) for x, g in zip(point, slopes, strict=True)]
            opposite = all(x == -y for x, y in zip(point[:m], point[m:], strict=True))
            found = L.xreplace(dict(zip(variables, point, strict=True)))
            # The numbers have thousands of digits by now: none is shown.
            require(opposite, f"d = {d}, m = {m}: the queries are not opposite after {step} steps")
            require(bool(found >= sp.Rational(1, 2)), f"d = {d}, m = {m}: a loss below 1/2")
