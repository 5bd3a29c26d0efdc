"""The second moment of the gradient of one sample's loss, for any pair of queries.

Along a direction A the gradient of one sample is G = 2 (p q - x_a x_b) q <r, x>, with r_i =
gamma_i (t_i - tbar). Its square is a sum of products of four, six and eight linear forms in the
signs x, whose expectations the moment rule gives in full.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("sample_noise")

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

import sympy as sp

from derivations.antisymmetric import START, at_start
from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.calculus.variation import Variation
from derivations.gradient import SWAP, gradient_along
from derivations.moments import moment, moment_by_coincidences
from derivations.notation import (
    E,
    Sequence,
    a,
    b,
    d,
    declare,
    gamma,
    gamma_tilde,
    omega,
    t,
    x,
)
from derivations.printing.latex import equation
from derivations.proof.enumeration import dot, expectation
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_attention, random_fractions, random_integers, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require
from derivations.sample_step import form_bounds
from derivations.sample_step.form_bounds import r
from derivations.softmax import attention_velocity

__all__ = [
    "SWAP_HEADS",
    "derive",
    "overlap_of_spread",
    "second_moment",
    "spread_moments",
    "start_moment",
]

r_tilde = declare(Sequence, "r_tilde", r"\tilde{r}", real=True)
"""The same of head 2."""

SWAP_HEADS = {**SWAP, r: r_tilde, r_tilde: r}
"""The exchange of the two heads."""

_CROSS_FORMS = (gamma, *(gamma_tilde,) * 3, r, r, Unit(a), Unit(b))
_EIGHT_FORMS = (gamma, gamma, *(gamma_tilde,) * 4, r, r)
_FOUR_FORMS = (gamma_tilde, gamma_tilde, r, r)


def spread_moments() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return E[q^2 <r,x>^2], E[p q^3 <r,x>^2 x_a x_b] and E[p^2 q^4 <r,x>^2]."""
    four, cross, eight = (moment(forms) for forms in (_FOUR_FORMS, _CROSS_FORMS, _EIGHT_FORMS))
    return four, cross, eight


def second_moment() -> sp.Expr:
    """Return E G^2 for head 1, in gamma, gamma_tilde and r."""
    four, cross, eight = spread_moments()
    return sp.expand(4 * (four - 2 * cross + eight))


def start_moment(general: sp.Expr) -> sp.Expr:
    """Return a second moment at the antisymmetric start, by (2 omega)^2: in units of a slope."""
    return sp.expand(at_start(general) / (2 * omega) ** 2)


def overlap_of_spread() -> sp.Expr:
    """Return <gamma_tilde, r> at the antisymmetric start."""
    return omega * (PowerSum(t) - d * PowerSum(gamma * t))


def derive(title: str) -> Derivation:
    """Derive the second moments, their form at the antisymmetric start and simple bounds."""
    four, cross, eight = spread_moments()
    total = second_moment()
    total_tilde = total.xreplace(SWAP_HEADS)
    formulas = (
        Formula(
            name="four_forms",
            left=r"\mathbb{E} [q^{2} \langle r, x \rangle^{2}]",
            right=four,
        ),
        Formula(
            name="cross_forms",
            left=r"\mathbb{E} [p q^{3} \langle r, x \rangle^{2} x_{a} x_{b}]",
            right=cross,
        ),
        Formula(
            name="eight_forms",
            left=r"\mathbb{E} [p^{2} q^{4} \langle r, x \rangle^{2}]",
            right=eight,
        ),
        Formula(name="second_moment", left=r"\mathbb{E} G^{2}", right=total),
        Formula(
            name="second_moment_tilde",
            left=r"\mathbb{E} \tilde{G}^{2}",
            right=total_tilde,
        ),
        Formula(
            name="start_moment",
            left=r"\frac{\mathbb{E} G^{2}}{4 \omega^{2}}",
            right=start_moment(total),
        ),
        Formula(
            name="start_moment_tilde",
            left=r"\frac{\mathbb{E} \tilde{G}^{2}}{4 \omega^{2}}",
            right=start_moment(total_tilde),
        ),
    )
    return Derivation(
        name="sample_noise",
        title=title,
        source="ours",
        setting=r"$x$ is one sample, uniform on $\{-1, +1\}^{d}$, $y = -x_{a} x_{b}$ with $a \ne"
        r" b$, $p = \langle \gamma, x \rangle$, $q = \langle \tilde{\gamma}, x \rangle$, $f = -p"
        r" q$; $t_{i} = v_{i} \cdot A$ for a direction $A$, $\bar{t} = \langle \gamma, t \rangle$,"
        r" $r_{i} = \gamma_{i} (t_{i} - \bar{t})$, and $\tilde{r}_{i} = \tilde{\gamma}_{i} (t_{i} -"
        r" \langle \tilde{\gamma}, t \rangle)$. $G = A \cdot \nabla_{\theta} (f(x) - y)^{2}$ and"
        r" $\tilde{G} = A \cdot \nabla_{\tilde{\theta}} (f(x) - y)^{2}$. Nothing is assumed of"
        r" $\theta$ and $\tilde{\theta}$, except where the antisymmetric start is named.",
        steps=(*_moment_steps(formulas), *_start_steps(formulas), *form_bounds.steps()),
        formulas=(),
        constants=formulas,
    )


def _moment_steps(formulas: tuple[Formula, ...]) -> tuple[Step, ...]:
    four, cross, eight, total, total_tilde = formulas[:5]
    return (
        Step(
            label="sample",
            uses=("softmax:attention", "gradient:query"),
            statement=r"G = 2 (p q - x_{a} x_{b}) q \langle r, x \rangle, \quad \mathbb{E} G = A"
            r" \cdot \nabla_{\theta} L",
            reason=r"$f - y = x_{a} x_{b} - p q$, and along $A$ the attention moves by $r$"
            r" (derivation softmax), so that $p$ moves by $\langle r, x \rangle$ and $q$ stands"
            r" still. Checked: the derivative for any $x$, and its mean by the moment rule against"
            r" derivation gradient.",
            check=_check_gradient,
        ),
        *(
            Step(
                label=label,
                uses=(f"moments:{rule}",),
                statement=equation(formula.left, formula.right),
                reason=rf"The moment rule for {count} forms, of which some are equal. Checked"
                r" against the count by coinciding indices, which knows no cumulants.",
                check=partial(_check_moment, formula, forms),
            )
            for label, rule, formula, forms, count in (
                ("query-square", "four-forms", four, _FOUR_FORMS, "four"),
                ("mixed", "rule", cross, _CROSS_FORMS, "eight"),
                ("sixth", "rule", eight, _EIGHT_FORMS, "eight"),
            )
        ),
        Step(
            label="second-moment",
            uses=("sample", "query-square", "mixed", "sixth"),
            statement=rf"\mathbb{{E}} G^{{2}} = 4 \left({four.left} - 2 {cross.left} +"
            rf" {eight.left}\right)",
            reason=r"The square multiplied out, with $(x_{a} x_{b})^{2} = 1$.",
            check=_check_square,
        ),
        Step(
            label="second-moment-tilde",
            uses=("second-moment",),
            statement=r"\mathbb{E} \tilde{G}^{2} = \mathbb{E} G^{2} \text{ with } \gamma,"
            r" \tilde{\gamma}, r \text{ replaced by } \tilde{\gamma}, \gamma, \tilde{r}",
            reason=r"$f$ does not change when the heads are exchanged. Checked against the"
            r" moments of $\tilde{G} = 2 (p q - x_{a} x_{b}) p \langle \tilde{r}, x \rangle$,"
            r" derived from the start.",
            check=lambda: _check_tilde(total_tilde.right),
        ),
        Step(
            uses=("second-moment", "second-moment-tilde"),
            statement=r"\mathbb{E} G^{2} = 2^{-d} \sum_{x} G(x)^{2}, \quad \mathbb{E}"
            r" \tilde{G}^{2} = 2^{-d} \sum_{x} \tilde{G}(x)^{2}, \quad d = 2, \ldots, 6",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, for two"
            r" unrelated attentions, both heads, and the support at two places.",
            check=lambda: _check_enumeration(total.right, total_tilde.right),
            method=Method.INSTANCES,
        ),
    )


def _start_steps(formulas: tuple[Formula, ...]) -> tuple[Step, ...]:
    total, total_tilde, start, start_tilde = (formula.right for formula in formulas[3:])
    return (
        Step(
            uses=("second-moment",),
            statement=r"\frac{\mathbb{E} G^{2}}{4 \omega^{2}} \text{ at } \gamma_{i} = E_{i} / Z,"
            r" \tilde{\gamma}_{i} = 1 / (E_{i} \tilde{Z})",
            reason=r"At the antisymmetric start $\tilde{\theta} = -\theta$ both attentions are"
            r" functions of $E_{i} = e^{s_{i}}$, and $\langle \gamma, \tilde{\gamma} \rangle = d"
            r" \omega$; a push of $2 \omega$ is a slope of $1$. Substituted in the formula, of"
            rf" {len(start.args)} terms. Checked at random scores against the formula before, for"
            r" both heads.",
            check=lambda: _check_start((total, start), (total_tilde, start_tilde)),
            method=Method.INSTANCES,
        ),
        Step(
            label="cross",
            statement=equation(r"\langle \tilde{\gamma}, r \rangle", overlap_of_spread()),
            reason=r"At the antisymmetric start $\gamma_{i} \tilde{\gamma}_{i} = \omega$ for every"
            r" position.",
            check=_check_overlap,
        ),
        Step(
            label="cross-off-support",
            uses=("cross",),
            statement=r"\langle \tilde{\gamma}, r \rangle = \omega \sum_{j \notin S} t_{j} (1 - d"
            r" \gamma_{j}) \text{ if } t_{a} = -t_{b}, \gamma_{a} = \gamma_{b}",
            reason=r"The two positions of the support cancel in both sums.",
            check=_check_frozen_overlap,
        ),
    )


def _check_gradient() -> None:
    p, q, y = PowerSum(gamma * x), PowerSum(gamma_tilde * x), -Entry(x, a) * Entry(x, b)
    velocity = attention_velocity(t)
    found = Variation({gamma: velocity})((-p * q - y) ** 2)
    require_equal(found, 2 * (p * q + y) * q * PowerSum(velocity * x), "the gradient of a sample")
    mean = moment((gamma, gamma_tilde, gamma_tilde, velocity))
    mean -= moment((gamma_tilde, velocity, Unit(a), Unit(b)))
    in_attention = {PowerSum(gamma): sp.S.One}
    require_equal(
        sp.expand(2 * mean).xreplace(in_attention), gradient_along(), "the mean and the gradient"
    )


def _check_moment(formula: Formula, forms: tuple[sp.Expr, ...]) -> None:
    require_equal(formula.right, moment_by_coincidences(forms), formula.name)


def _check_square() -> None:
    p, q, spread, label = sp.symbols("p q spread label", real=True)
    square = sp.expand((2 * (p * q - label) * q * spread) ** 2).xreplace({label**2: sp.S.One})
    four, cross, eight = q**2 * spread**2, p * q**3 * spread**2 * label, p**2 * q**4 * spread**2
    require_equal(square, 4 * (four - 2 * cross + eight), "the square")
    expected = [
        moment_by_coincidences(forms) for forms in (_FOUR_FORMS, _CROSS_FORMS, _EIGHT_FORMS)
    ]
    require_equal(
        second_moment(), 4 * (expected[0] - 2 * expected[1] + expected[2]), "the second moment"
    )


def _check_tilde(found: sp.Expr) -> None:
    signs = (Unit(a), Unit(b))
    four = moment_by_coincidences((gamma, gamma, r_tilde, r_tilde))
    cross = moment_by_coincidences((*(gamma,) * 3, gamma_tilde, r_tilde, r_tilde, *signs))
    eight = moment_by_coincidences((*(gamma,) * 4, gamma_tilde, gamma_tilde, r_tilde, r_tilde))
    require_equal(found, 4 * (four - 2 * cross + eight), "the second moment of head 2")


def _spread(attention: list[Fraction], along: list[int]) -> list[Fraction]:
    mean = dot(attention, along)
    return [weight * (each - mean) for weight, each in zip(attention, along, strict=True)]


def _check_enumeration(total: sp.Expr, total_tilde: sp.Expr) -> None:
    rng = seeded(31)
    for size in range(2, 7):
        for positions in ({"a": 0, "b": 1}, {"a": size - 1, "b": 0}):
            attention, attention_tilde = random_attention(rng, size), random_attention(rng, size)
            along = random_integers(rng, size)
            spread, spread_tilde = _spread(attention, along), _spread(attention_tilde, along)
            sequences = {
                "gamma": attention,
                "gamma_tilde": attention_tilde,
                "r": spread,
                "r_tilde": spread_tilde,
            }
            for expr, other, moving in (
                (total, "gamma_tilde", spread),
                (total_tilde, "gamma", spread_tilde),
            ):
                found = evaluate(expr, sequences=sequences, positions=positions)
                expected = _enumerated_square(sequences, positions, sequences[other], moving)
                require(found == expected, f"d = {size}: {found}, by enumeration {expected}")


def _enumerated_square(
    sequences: Mapping[str, list[Fraction]],
    positions: Mapping[str, int],
    other: list[Fraction],
    moving: list[Fraction],
) -> Fraction:
    """Return the mean over all inputs of the square of one sample's gradient.

    `other` is the attention of the head that stands still, `moving` the motion of the other.
    """

    def square(signs: tuple[int, ...]) -> Fraction:
        p, q = dot(sequences["gamma"], signs), dot(sequences["gamma_tilde"], signs)
        label = signs[positions["a"]] * signs[positions["b"]]
        gradient: Fraction = 2 * (p * q - label) * dot(other, signs) * dot(moving, signs)
        return gradient**2

    return expectation(square, len(moving))


def _check_start(*pairs: tuple[sp.Expr, sp.Expr]) -> None:
    """Compare moments in the attentions with what they become at the start, at random scores."""
    rng = seeded(32)
    for size in (2, 3, 5):
        positions = {"a": 0, "b": size - 1}
        grown, along = random_fractions(rng, size), random_integers(rng, size)
        decayed, ones = [1 / each for each in grown], [Fraction(1)] * size
        attention = [each / dot(grown, ones) for each in grown]
        attention_tilde = [each / dot(decayed, ones) for each in decayed]
        sequences = {
            "E": grown,
            "gamma": attention,
            "gamma_tilde": attention_tilde,
            "r": _spread(attention, along),
            "r_tilde": _spread(attention_tilde, along),
        }
        rate = 1 / (dot(grown, ones) * dot(decayed, ones))
        scalars = {
            "Z": dot(grown, ones),
            "Z_2": dot(grown, grown),
            "Z_tilde_2": dot(decayed, decayed),
            "omega": rate,
        }
        for general, start in pairs:
            found = evaluate(
                start,
                sequences=sequences,
                positions=positions,
                scalars=scalars,
                exponentials={"Delta": grown[0] / grown[-1]},
            )
            expected = evaluate(general, sequences=sequences, positions=positions)
            expected /= (2 * rate) ** 2
            require(found == expected, f"d = {size}: {found}, by the general formula {expected}")


def _check_overlap() -> None:
    found = at_start(PowerSum(gamma_tilde * gamma * t)) - at_start(
        PowerSum(gamma_tilde * gamma)
    ) * PowerSum(gamma * t)
    require_equal(found, overlap_of_spread(), "<gamma_tilde, r>")
    require(START[gamma] * START[gamma_tilde] * PowerSum(E) * PowerSum(E**-1) == 1, "gamma gamma~")


def _check_frozen_overlap() -> None:
    off = 1 - Unit(a) - Unit(b)
    frozen = {Entry(t, b): -Entry(t, a), Entry(gamma, b): Entry(gamma, a)}
    found = overlap_of_spread() - omega * PowerSum(off * t * (1 - d * gamma))
    require_equal(found.xreplace(frozen), sp.S.Zero, "the two positions of the support")
