"""Parity of k bits with k heads: the population loss and its gradient, for any queries.

As for two heads, the square is multiplied out. The cross term is a permanent; the square of the
prediction is a moment of 2k forms, of which each head is two.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("parity")

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import mpmath
import sympy as sp

from derivations import gradient, population
from derivations.calculus.power_sums import PowerSum, Unit, density
from derivations.calculus.variation import Variation
from derivations.moments import (
    even_partitions,
    moment,
    moment_by_coincidences,
    rademacher_cumulant,
)
from derivations.notation import a, b, gamma, gamma_tilde, t, u
from derivations.parities.joint_cumulants import (
    cumulant,
    even_exponents,
    in_power_sums,
    moment_in_cumulants,
    monomial,
    multiplicity,
)
from derivations.parities.notation import attention, relevant
from derivations.permanents import cross_moment, permanent, pull
from derivations.printing.latex import equation
from derivations.proof.differentiation import NumericModel
from derivations.proof.enumeration import dot, inputs
from derivations.proof.evaluation import evaluate, evaluate_over
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_attention, random_integers, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require
from derivations.softmax import attention_velocity

__all__ = ["attention_gradient", "derive", "gradient_along", "loss", "square_moment"]

_HEADS = (2, 3, 4)


@cache
def square_moment(k: int) -> sp.Expr:
    """Return E prod_h p_h^2, by the moment rule."""
    return sp.expand(moment([attention(h) for h in range(1, k + 1) for _ in range(2)]))


@cache
def loss(k: int) -> sp.Expr:
    """Return L = E (f - y)^2 for k heads."""
    return sp.expand(1 - 2 * cross_moment(k) + square_moment(k))


@cache
def attention_gradient(k: int) -> sp.Expr:
    """Return the sequence g_i = dL/dgamma^1_i; the other heads by exchange."""
    return density(Variation({attention(1): u})(loss(k)), u)


@cache
def gradient_along(k: int) -> sp.Expr:
    """Return A.grad_theta_1 L, in terms of t_i = v_i.A, by the chain rule."""
    velocity = attention_velocity(t).xreplace({gamma: attention(1)})
    return sp.expand(PowerSum(attention_gradient(k) * velocity))


def derive(title: str) -> Derivation:
    """Derive loss and gradient for k = 2, 3, 4."""
    losses = {k: Formula(name=f"loss_{k}", left="L", right=loss(k)) for k in _HEADS}
    slopes = tuple(
        Formula(name=f"slope_{k}", left=r"A \cdot \nabla_{\theta_{1}} L", right=gradient_along(k))
        for k in _HEADS
    )
    steps = (
        Step(
            label="square",
            statement=r"(f - y)^{2} = 1 - 2 \prod_{h} p_{h} \prod_{s \in S} x_{s} + \prod_{h}"
            r" p_{h}^{2}",
            reason=r"Label and prediction share the sign $(-1)^{k-1}$, which makes $k = 2$ the"
            r" model $f = -p q$, $y = -x_{a} x_{b}$; squared, it is gone, and so are the relevant"
            r" signs. Checked for all their values, $k = 2, 3, 4$.",
            check=_check_square,
        ),
        Step(
            label="partitions",
            statement=r"|\mathcal{P}_{2k}| = "
            + ", ".join(str(len(even_partitions(2 * k))) for k in _HEADS)
            + r" \text{ for } k = 2, 3, 4, \quad \sum_{k} |\mathcal{P}_{2k}| \frac{x^{2k}}{(2k)!}"
            r" = e^{\cosh x - 1}",
            reason=r"$\mathcal{P}_{n}$ is the set of partitions of $\{1, \ldots, n\}$ into blocks"
            r" of even size. The block of the last element has $2j$ elements, so"
            r" $|\mathcal{P}_{2k}| = \sum_{j \ge 1} \binom{2k-1}{2j-1} |\mathcal{P}_{2k-2j}|$; in"
            r" generating functions, sets of nonempty even sets. Checked against the partitions"
            r" that the moment rule uses, and against the series.",
            check=_check_partitions,
        ),
        Step(
            label="moment",
            uses=("partitions", "moments:cumulants", "moments:rule"),
            statement=equation(r"\mathbb{E} p_{1}^{2} p_{2}^{2} p_{3}^{2}", square_moment(3)),
            reason=r"The moment rule for six forms: 31 partitions of 12 types. $k = 2$ has 4 of 3"
            r" types, $k = 4$ has 379 of 77. All three are checked against the count by coinciding"
            r" indices, and with all weight on one position, where the moment is $1$.",
            check=_check_square_moments,
        ),
        Step(
            label="cumulants",
            uses=("moment", "moments:rule"),
            statement=r"\frac{\partial}{\partial \kappa_{f}} \mathbb{E} \prod_{h} p_{h}^{2} ="
            r" \prod_{h} \binom{2}{f_{h}} \cdot \mathbb{E} \prod_{h} p_{h}^{2 - f_{h}}, \quad"
            r" \kappa_{f} = \kappa_{|f|} \sum_{i} \prod_{h} (\gamma^{h}_{i})^{f_{h}}",
            reason=r"$f \in \{0, 1, 2\}^{k}$, $|f| = \sum_{h} f_{h}$ even and positive. The"
            r" moments are the coefficients of $\exp \sum_{f} \kappa_{f} z^{f} / f!$, whose"
            r" derivative by $\kappa_{f}$ is itself times $z^{f} / f!$. Checked with a symbol for"
            r" every cumulant, the moments from a recursion over the block of one form.",
            check=_check_cumulant_derivatives,
        ),
        *(
            Step(
                label=f"loss-{k}",
                uses=("square", "moment", *uses),
                statement=equation("L", losses[k].right),
                reason=reason,
                check=partial(_check_closed_loss, k),
            )
            for k, uses, reason in (
                (
                    2,
                    ("permanents:permanent-2", "population:loss"),
                    r"$k = 2$: with $\gamma, \tilde{\gamma}$ for the heads and $a, b$ for the"
                    r" positions it is the loss of derivation population.",
                ),
                (
                    3,
                    ("permanents:permanent-3",),
                    r"$k = 3$. $k = 4$ has 102 terms, and is evaluated, not printed.",
                ),
            )
        ),
        Step(
            label="attention",
            uses=(
                "square",
                "moment",
                "cumulants",
                "loss-2",
                "loss-3",
                "permanents:permanent-4",
                "permanents:pulls",
                "gradient:attention",
            ),
            statement=r"g_{i} = \frac{\partial L}{\partial \gamma^{1}_{i}} = -2 \sum_{r} \delta_{i"
            r" s_{r}} \frac{w_{1 s_{r}}}{\gamma^{1}_{i}} + \sum_{f: f_{1} \ge 1} \prod_{h}"
            r" \binom{2}{f_{h}} \mathbb{E} \prod_{h} p_{h}^{2 - f_{h}} \cdot \kappa_{|f|} f_{1}"
            r" \frac{\prod_{h} (\gamma^{h}_{i})^{f_{h}}}{\gamma^{1}_{i}}",
            reason=r"The derivative of $L$ along $\gamma^{1} + h u$ is $\langle g, u \rangle$ for"
            r" every $u$. Checked for symbolic $d$, $k = 2, 3, 4$, against the chain rule through"
            r" the cumulants; $k = 2$ is the gradient of derivation gradient.",
            check=_check_attention_gradient,
        ),
        Step(
            label="gradient",
            uses=("attention", "softmax:vector", "gradient:query", "gradient:other-query"),
            statement=r"\nabla_{\theta_{h}} L = \sum_{i} \gamma^{h}_{i} g_{i} (v_{i} -"
            r" \bar{v}_{h}), \quad \bar{v}_{h} = \sum_{i} \gamma^{h}_{i} v_{i}",
            reason=r"The derivative of softmax; the loss does not change when heads are exchanged."
            r" Checked for $k = 2, 3, 4$, multiplied out, and at $k = 2$ against derivation"
            r" gradient for both heads.",
            check=_check_gradient_along,
        ),
        Step(
            uses=("loss-2", "loss-3"),
            statement=r"L = 2^{-d} \sum_{x} (f(x) - y(x))^{2}, \quad k = 2, 3, 4, \quad d = k,"
            r" \ldots, 8",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic.",
            check=_check_loss,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("gradient",),
            statement=r"A \cdot \nabla_{\theta_{1}} L = \frac{L(\gamma^{1} + D \gamma^{1}) -"
            r" L(\gamma^{1} - D \gamma^{1})}{2}",
            reason=r"Independent check: $L$ is a quadratic polynomial in $\gamma^{1}$, so a central"
            r" difference of the enumerated loss is its derivative exactly, whatever the step."
            r" $D \gamma^{1}_{i} = \gamma^{1}_{i} (t_{i} - \langle \gamma^{1}, t \rangle)$; $k = 2,"
            r" 3, 4$, $d = k, \ldots, 7$.",
            check=_check_slopes,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("gradient",),
            statement=r"A \cdot \nabla_{\theta_{1}} L = \lim_{\epsilon \to 0} \frac{L(\theta_{1} +"
            r" \epsilon A, \theta_{2}, \theta_{3}) - L(\theta_{1}, \theta_{2}, \theta_{3})}"
            r"{\epsilon}",
            reason=r"Independent check, from the queries on: numeric derivatives of the enumerated"
            r" loss with 50 digits at random points, $(d, m) = (3, 1), (5, 2)$.",
            check=_check_numeric,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="parity",
        title=title,
        source="ours; k = 2 is the population loss of arXiv:2502.07553v2",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, $y = (-1)^{k-1} \prod_{s \in S} x_{s}$ with"
        r" $|S| = k$, $p_{h} = \langle \gamma^{h}, x \rangle$ with the softmax attention"
        r" $\gamma^{h}$ of $\theta_{h}$, $f = (-1)^{k-1} \prod_{h=1}^{k} p_{h}$. The loss is $L ="
        r" \mathbb{E} (f - y)^{2}$, with no factor $1/2$.",
        steps=steps,
        formulas=(losses[2], losses[3]),
        constants=(losses[4], *slopes),
    )


def _check_square() -> None:
    for k in _HEADS:
        forms = sp.symbols(f"p_1:{k + 1}", real=True)
        for signs in itertools.product((-1, 1), repeat=k):
            sign, parity, product = (-1) ** (k - 1), math.prod(signs), sp.Mul(*forms)
            require_equal(
                (sign * product - sign * parity) ** 2,
                1 - 2 * product * parity + sp.Mul(*(form**2 for form in forms)),
                f"the squares for k = {k}",
            )


def _check_partitions() -> None:
    x, most = sp.Symbol("x"), _HEADS[-1]
    # Both series, as far as x^(2 most) needs them.
    grown = sp.Add(*(x ** (2 * j) / math.factorial(2 * j) for j in range(1, most + 1)))
    series = sp.expand(sp.Add(*(grown**j / math.factorial(j) for j in range(most + 1))))
    counts = {0: 1}
    for k in range(1, most + 1):
        counts[k] = sum(math.comb(2 * k - 1, 2 * j - 1) * counts[k - j] for j in range(1, k + 1))
        found = len(even_partitions(2 * k))
        require(found == counts[k], f"{found} partitions for k = {k}, not {counts[k]}")
        by_series = series.coeff(x, 2 * k) * math.factorial(2 * k)
        require_equal(by_series, sp.Integer(counts[k]), f"the series and the count for k = {k}")


def _check_square_moments() -> None:
    for k, types in zip(_HEADS, (3, 12, 77), strict=True):
        forms = [attention(h) for h in range(1, k + 1) for _ in range(2)]
        require_equal(square_moment(k), moment_by_coincidences(forms), f"the counts for k = {k}")
        on_one = square_moment(k).xreplace(dict.fromkeys(forms, Unit(a)))
        require_equal(on_one, sp.S.One, f"the moment on one position and 1, k = {k}")
        found = len(square_moment(k).args)
        require(found == types, f"{found} types of partitions for k = {k}")


def _check_cumulant_derivatives() -> None:
    for k in _HEADS:
        whole = moment_in_cumulants((2,) * k)
        require_equal(in_power_sums(whole, k), square_moment(k), f"the recursion for k = {k}")
        for f in even_exponents(k):
            require_equal(
                sp.diff(whole, cumulant(f)),
                multiplicity(f) * moment_in_cumulants(tuple(2 - exponent for exponent in f)),
                f"the derivative by {cumulant(f)}",
            )


def _check_closed_loss(k: int) -> None:
    forms = [attention(h) for h in range(1, k + 1) for _ in range(2)]
    require_equal(loss(k), 1 - 2 * permanent(k) + moment_by_coincidences(forms), "the losses")
    if k == 2:
        require_equal(_as_two_heads(loss(2)), population.loss(), "the loss of two heads")


def _as_two_heads(expr: sp.Expr, *, exchanged: bool = False) -> sp.Expr:
    heads = (gamma_tilde, gamma) if exchanged else (gamma, gamma_tilde)
    names = {attention(1): heads[0], attention(2): heads[1], relevant(1): a, relevant(2): b}
    return expr.xreplace(names)


def _check_attention_gradient() -> None:
    for k in _HEADS:
        # gamma^1_i g_i, so that monomials in gamma^1 have no negative powers.
        weighted = -2 * sp.Add(*(pull(k, 1, r) * Unit(relevant(r)) for r in range(1, k + 1)))
        for f in even_exponents(k):
            rest = in_power_sums(moment_in_cumulants(tuple(2 - exponent for exponent in f)), k)
            scalar = multiplicity(f) * rademacher_cumulant(sum(f)) * f[0] * rest
            weighted += scalar * monomial(f)
        along = PowerSum(sp.expand(weighted) * t)
        found = PowerSum(sp.expand(attention_gradient(k) * attention(1)) * t)
        require_equal(found, along, f"the gradients for k = {k}")
    two = _as_two_heads(attention_gradient(2))
    require_equal(PowerSum(two * u), PowerSum(gradient.attention_gradient() * u), "two heads")


def _check_gradient_along() -> None:
    for k in _HEADS:
        g, head = attention_gradient(k), attention(1)
        require_equal(
            gradient_along(k),
            PowerSum(g * head * t) - PowerSum(g * head) * PowerSum(head * t),
            f"the gradients for k = {k}",
        )
    along = gradient_along(2)
    require_equal(_as_two_heads(along), gradient.gradient_along(), "the gradient by theta")
    require_equal(
        _as_two_heads(along, exchanged=True),
        gradient.gradient_along_tilde(),
        "the gradient by theta_tilde",
    )


def _enumerated_loss(heads: Sequence[Sequence[Any]]) -> Any:
    """Return the mean over all inputs of (f - y)^2, for the support (0, ..., k-1), in any ring."""
    k, d = len(heads), len(heads[0])
    total = 0
    for x in inputs(d):
        prediction, label = math.prod(dot(head, x) for head in heads), math.prod(x[:k])
        total = total + (prediction - label) ** 2
    return total / 2**d


def _instance(heads: Sequence[Sequence[Any]], **others: Sequence[Any]) -> dict[str, Any]:
    """Return sequences and positions, as the evaluators take them."""
    numbers = range(1, len(heads) + 1)
    named = {attention(h).name: head for h, head in zip(numbers, heads, strict=True)}
    return {
        "sequences": {**named, **others},
        "positions": {relevant(r).name: r - 1 for r in numbers},
    }


def _check_loss() -> None:
    rng = seeded(41)
    for k in _HEADS:
        for d in range(k, 9):
            heads = [random_attention(rng, d) for _ in range(k)]
            found = evaluate(loss(k), **_instance(heads))
            expected = _enumerated_loss(heads)
            require(found == expected, f"k = {k}, d = {d}: {found}, by enumeration {expected}")


def _check_slopes() -> None:
    rng = seeded(43)
    for k in _HEADS:
        along = gradient_along(k)
        for d in range(k, 8):
            first, *others = (random_attention(rng, d) for _ in range(k))
            rates = random_integers(rng, d)
            mean = dot(first, rates)
            velocity = [g * (rate - mean) for g, rate in zip(first, rates, strict=True)]
            ahead, behind = (
                _enumerated_loss(
                    [[g + sign * speed for g, speed in zip(first, velocity, strict=True)], *others]
                )
                for sign in (1, -1)
            )
            found = evaluate(along, **_instance([first, *others], t=rates))
            expected = (ahead - behind) / Fraction(2)
            require(found == expected, f"k = {k}, d = {d}: {found}, by enumeration {expected}")


def _check_numeric() -> None:
    rng = seeded(47)
    along = gradient_along(3)
    for d, m in ((3, 1), (5, 2)):
        model = NumericModel(rng, d=d, m=m)
        third = [x - 2 * y for x, y in zip(model.theta, model.theta_tilde, strict=True)]
        others = [model.attention(model.theta_tilde), model.attention(third)]
        heads = [model.attention(model.theta), *others]
        at = _instance(heads, t=model.t)
        found = evaluate_over(along, rational=model.rational, **at)
        expected = model.slope(partial(_loss_of_first, model, others), model.theta)
        model.require_close(found, expected, "the derivative by theta_1")


def _loss_of_first(
    model: NumericModel, others: list[list[mpmath.mpf]], query: list[mpmath.mpf]
) -> mpmath.mpf:
    value: mpmath.mpf = _enumerated_loss([model.attention(query), *others])
    return value
