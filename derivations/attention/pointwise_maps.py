"""Pointwise attention maps by their formula: the derivative and the gradient follow from it.

A map applies one function phi to every score. SymPy differentiates phi; the gradient of the
population loss for it is then the general one, and is held against the loss written out over all
inputs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import mpmath
import sympy as sp

from derivations.attention.pointwise_attention import OF_ANY_SIGN, weight, weight_tilde
from derivations.calculus.power_sums import PowerSum
from derivations.gradient import attention_gradient
from derivations.notation import Sequence as PositionSequence
from derivations.notation import declare, t
from derivations.population import loss
from derivations.printing.latex import latex
from derivations.proof.differentiation import NumericModel
from derivations.proof.enumeration import dot, enumerated_loss
from derivations.proof.evaluation import evaluate_over
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_integers, seeded
from derivations.proof.ledger import Derivation, Method, Step

__all__ = [
    "ERF",
    "LINEAR",
    "SWAP",
    "PointwiseMap",
    "derive_map",
    "general_loss",
    "map_steps",
    "pointwise_along",
    "score",
    "setting",
    "slope",
    "slope_tilde",
    "slopes",
]

score = sp.Symbol("s", real=True)
"""The argument of a pointwise map: the score of one position."""

slope = declare(PositionSequence, "slope", r"\phi'", real=True)
slope_tilde = declare(PositionSequence, "slope_tilde", r"\tilde{\phi}'", real=True)

SWAP = {
    weight: weight_tilde,
    weight_tilde: weight,
    slope: slope_tilde,
    slope_tilde: slope,
}
"""The exchange of the two heads, under which the loss does not change."""


@dataclass(frozen=True)
class PointwiseMap:
    """A map that applies one function to every score: gamma_i = phi(s_i).

    Parameters
    ----------
    name : str
        A short name: ``tanh``.
    value : sympy.Expr
        phi as a formula in `score`; differentiable.

    Raises
    ------
    ValueError
        If the formula has another free symbol.
    """

    name: str
    value: sp.Expr

    def __post_init__(self) -> None:
        others = self.value.free_symbols - {score}
        if others:
            raise ValueError(f"value={self.value}: may depend on the score alone, not on {others}")

    @property
    def derivative(self) -> sp.Expr:
        """The derivative phi', as a formula in `score`."""
        return sp.diff(self.value, score)

    def at(self, expr: sp.Expr) -> sp.Expr:
        """Return phi at a score."""
        return self.value.xreplace({score: expr})

    def derivative_at(self, expr: sp.Expr) -> sp.Expr:
        """Return phi' at a score."""
        return self.derivative.xreplace({score: expr})


LINEAR = PointwiseMap("linear", score)
ERF = PointwiseMap("erf", sp.erf(score))


def general_loss() -> sp.Expr:
    """Return the population loss of weights of any sign and any sum."""
    return loss().xreplace(OF_ANY_SIGN)


def slopes() -> sp.Expr:
    """Return the sequence g_i = dL/dgamma_i for such weights."""
    return attention_gradient().xreplace(OF_ANY_SIGN)


def pointwise_along() -> sp.Expr:
    """Return A.grad_theta L for a pointwise map, in terms of t_i = v_i.A and phi'_i = phi'(s_i)."""
    return sp.expand(PowerSum(slopes() * slope * t))


def derive_map(attention: PointwiseMap) -> Derivation:
    """Derive the gradient for one map, for example of one's own."""
    return Derivation(
        name=attention.name,
        title=f"The gradient of the population loss for {attention.name} attention",
        source="ours",
        setting=setting(
            r"$\gamma_{i} = \phi(s_{i})$, $\tilde{\gamma}_{i} ="
            r" \phi(\tilde{s}_{i})$ and $g_{i} = \partial L / \partial \gamma_{i}$."
        ),
        steps=map_steps(attention),
        formulas=(),
    )


def map_steps(
    attention: PointwiseMap, *, label: str = "map", general: str = "attention_maps:pointwise"
) -> tuple[Step, ...]:
    """Return what makes the general gradient that of one map, with its checks.

    Parameters
    ----------
    attention : PointwiseMap
        The map.
    label : str
        The label of the step with its derivative.
    general : str
        What the step with the general gradient is called where these steps stand.
    """
    of_the_map = rf"\text{{ for {attention.name} attention}}"
    exactly = Step(
        uses=(general, label),
        statement=r"A \cdot \nabla_{\theta} L = D \; 2^{-d} \sum_{x} (f(x) - y(x))^{2}"
        + of_the_map
        + r", \quad d = 2, \ldots, 5",
        reason=r"Independent check: the mean over all $2^{d}$ inputs along $\theta + h A$ is a"
        r" polynomial in $h$, and $D$ its first coefficient; all numbers are rational.",
        check=partial(_check_exactly, attention),
        method=Method.INSTANCES,
    )
    return (
        Step(
            label=label,
            statement=rf"\phi(s) = {latex(attention.value)}, \quad \phi'(s) ="
            rf" {latex(attention.derivative)}",
            reason=rf"SymPy's rules of differentiation, for {attention.name} attention. Checked by"
            r" numeric derivatives with 50 digits at random scores.",
            check=partial(_check_derivative, attention),
            method=Method.INSTANCES,
        ),
        *([exactly] if attention.value.is_polynomial(score) else []),
        Step(
            uses=(general, label),
            statement=r"A \cdot \nabla_{\theta} L = \lim_{h \to 0} \frac{L(\theta + h A,"
            r" \tilde{\theta}) - L(\theta, \tilde{\theta})}{h}" + of_the_map,
            reason=r"Independent check: numeric derivatives of the enumerated loss with 50 digits"
            r" at random points, for both queries, $(d, m) = (2, 1), (3, 2), (5, 3)$.",
            check=partial(_check_numeric, attention),
            method=Method.INSTANCES,
        ),
    )


def setting(of_the_map: str) -> str:
    """Return the definitions and conventions of a derivation about attention maps."""
    return (
        r"$L = \mathbb{E} (f - y)^{2}$ is the population loss, with no factor $1/2$; $f = -p q$,"
        r" $p = \langle \gamma, x \rangle$, $q = \langle \tilde{\gamma}, x \rangle$ for weights of"
        r" any sign and sum that depend on the scores $s = V \theta$ and $\tilde{s} = V"
        r" \tilde{\theta}$. $D$ is the derivative along $\theta + h A$ at $h = 0$, for an arbitrary"
        r" direction $A$, and $t_{i} = v_{i} \cdot A$. " + of_the_map
    )


class _MapModel(NumericModel):
    """A model at a random point whose heads apply a pointwise map."""

    def __init__(self, attention: PointwiseMap, rng: random.Random, *, d: int, m: int) -> None:
        super().__init__(rng, d=d, m=m)
        self._map = attention

    def number(self, formula: sp.Expr, at: mpmath.mpf) -> mpmath.mpf:
        """Return the value of a formula in the score, to the working precision."""
        sign, mantissa, exponent, _ = at._mpf_
        exact = (-1) ** sign * sp.Integer(mantissa) * sp.Integer(2) ** exponent
        digits = self._context.dps + 5
        value = sp.Float(formula.xreplace({score: exact}).evalf(digits), digits)
        return self._context.make_mpf(value._mpf_)

    def attention(self, query: Sequence[mpmath.mpf]) -> list[mpmath.mpf]:
        """Return phi(V query), shape (d,)."""
        return [self.number(self._map.value, dot(row, query)) for row in self.V]

    def sequences(self) -> dict[str, list[mpmath.mpf]]:
        """Return the values of the sequences in the gradient."""
        scores, scores_tilde = (
            [dot(row, query) for row in self.V] for query in (self.theta, self.theta_tilde)
        )
        return {
            "weight": self.attention(self.theta),
            "weight_tilde": self.attention(self.theta_tilde),
            "slope": [self.number(self._map.derivative, s) for s in scores],
            "slope_tilde": [self.number(self._map.derivative, s) for s in scores_tilde],
            "t": self.t,
        }


def _check_derivative(attention: PointwiseMap) -> None:
    model = _MapModel(attention, seeded(31), d=7, m=1)
    model.A = [model.rational(1, 1)]
    for (at,) in model.V:
        found = model.number(attention.derivative, at)
        expected = model.slope(lambda point: model.number(attention.value, point[0]), [at])
        model.require_close(found, expected, f"phi' at {float(at)}")


def _check_exactly(attention: PointwiseMap) -> None:
    rng = seeded(37)
    h = sp.Symbol("h", real=True)
    for d in range(2, 6):
        s, s_tilde, rates = (
            [sp.Rational(each, 7) for each in random_integers(rng, d)] for _ in range(3)
        )
        found = evaluate_over(
            pointwise_along(),
            rational=sp.Rational,
            sequences={
                "weight": [attention.at(each) for each in s],
                "weight_tilde": [attention.at(each) for each in s_tilde],
                "slope": [attention.derivative_at(each) for each in s],
                "t": rates,
            },
            positions={"a": 0, "b": 1},
        )
        moving = [attention.at(each + h * rate) for each, rate in zip(s, rates, strict=True)]
        enumerated = enumerated_loss(moving, [attention.at(each) for each in s_tilde])
        expected = sp.Poly(enumerated, h).coeff_monomial(h)
        require_equal(found, expected, f"the derivatives at d = {d}")


def _check_numeric(attention: PointwiseMap) -> None:
    rng = seeded(41)
    along = pointwise_along()
    for d, m in ((2, 1), (3, 2), (5, 3)):
        model = _MapModel(attention, rng, d=d, m=m)
        sequences = model.sequences()
        found, found_tilde = (
            evaluate_over(
                expr, rational=model.rational, sequences=sequences, positions={"a": 0, "b": 1}
            )
            for expr in (along, along.xreplace(SWAP))
        )
        model.require_close(found, model.slope_of_loss(), "the derivative by theta")
        model.require_close(found_tilde, model.slope_of_loss_tilde(), "that by theta_tilde")
