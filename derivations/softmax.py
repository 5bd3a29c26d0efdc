"""The derivative of softmax attention, along an arbitrary direction of the query.

If theta moves with velocity A, the score s_i = v_i.theta moves with velocity t_i = v_i.A, and the
quotient rule gives D gamma_i = gamma_i (t_i - <gamma, t>). An identity that is linear in t and
holds for every A is a vector identity, with v in the place of t.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("softmax")

import mpmath
import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit, density
from derivations.calculus.variation import Variation
from derivations.notation import E, Z, gamma, i, k, t, v
from derivations.printing.latex import equation, latex
from derivations.proof.differentiation import NumericModel, SymbolicModel
from derivations.proof.evaluation import evaluate_over
from derivations.proof.identities import require_equal
from derivations.proof.instances import seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step

__all__ = ["ATTENTION", "attention_velocity", "derive", "in_attention", "score_motion", "vectorial"]

ATTENTION = E / PowerSum(E)
"""The attention in terms of the exponentials of the scores."""


def score_motion(direction: sp.Expr) -> Variation:
    """Return the derivative while the scores move with velocity `direction`: D E = E D s."""
    return Variation({E: E * direction})


def in_attention(expr: sp.Expr) -> sp.Expr:
    """Rewrite a formula in E by gamma: E = Z gamma, and the entries of gamma sum to one."""
    return sp.expand(sp.expand(expr).xreplace({E: Z * gamma})).xreplace({PowerSum(gamma): sp.S.One})


def attention_velocity(direction: sp.Expr) -> sp.Expr:
    """Return the sequence D gamma, while the scores move with velocity `direction`."""
    return in_attention(score_motion(direction)(ATTENTION))


def vectorial(expr: sp.Expr) -> sp.Expr:
    """Return the vector identity behind a formula linear in t_i = v_i.A.

    Raises
    ------
    ValueError
        If `expr` is not a linear form in t.
    """
    density(expr, t)
    return expr.xreplace({t: v})


def derive(title: str) -> Derivation:
    """Derive the velocity of the attention and its Jacobian."""
    velocity = Entry(attention_velocity(t), i)
    jacobian = Entry(attention_velocity(Unit(i)), k)
    steps = (
        Step(
            label="exponentials",
            statement=r"D E_{i} = " + latex(Entry(score_motion(t)(E), i)) + r", \quad"
            r" D Z = " + latex(score_motion(t)(PowerSum(E))),
            reason=r"$E_{i} = e^{s_{i}}$ and $D s_{i} = v_{i} \cdot A = t_{i}$; the sum $Z ="
            r" \sum_{i} E_{i}$ is differentiated term by term. Checked against SymPy's derivative"
            r" of $e^{s_{i} + h t_{i}}$ in $h$, $d = 3$.",
            check=_check_exponentials,
            method=Method.INSTANCES,
        ),
        Step(
            label="attention",
            uses=("exponentials",),
            statement=equation(r"D \gamma_{i}", velocity, sp.factor(velocity)),
            reason=r"The quotient rule for $\gamma_{i} = E_{i} / Z$. Checked as an identity of"
            r" rational functions: $Z D E_{i} - E_{i} D Z$ over $Z^{2}$.",
            check=lambda: require_equal(
                _in_exponentials(velocity),
                (PowerSum(E) * Entry(E * t, i) - Entry(E, i) * PowerSum(E * t)) / PowerSum(E) ** 2,
            ),
        ),
        Step(
            label="jacobian",
            uses=("attention",),
            statement=equation(
                r"\frac{\partial \gamma_{k}}{\partial s_{i}}",
                jacobian,
                sp.factor(jacobian),
            ),
            reason=r"Let only $s_{i}$ move: $t$ is the indicator of $i$. Checked by the quotient"
            r" rule for symbolic $d$, and entry by entry against SymPy's derivative of $e^{s_{k}}"
            r" / \sum_{j} e^{s_{j}}$ at $d = 2$ and $3$.",
            check=_check_jacobian,
        ),
        Step(
            label="shift",
            uses=("attention",),
            statement=r"\sum_{i} D \gamma_{i} = 0, \quad D \gamma = 0 \text{ if } t_{i} = 1"
            r" \text{ for all } i",
            reason=r"The weights keep their sum, and softmax does not see a common shift of the"
            r" scores.",
            check=_check_invariance,
        ),
        Step(
            label="vector",
            uses=("attention",),
            statement=r"\nabla_{\theta} \gamma_{i} = "
            + latex(vectorial(velocity))
            + r" = \gamma_{i} (v_{i} - \bar{v}), \quad \bar{v} = \sum_{j} \gamma_{j} v_{j}",
            reason=r"$D \gamma_{i} = A \cdot \nabla_{\theta} \gamma_{i}$ is linear in $A$ for"
            r" every $A$. Checked by SymPy's derivative of the explicit softmax by each coordinate"
            r" of $\theta$, with every entry of $V$ and $\theta$ a symbol, at $(d, m) = (2, 1),"
            r" (2, 2), (3, 2)$.",
            check=_check_explicit,
            method=Method.INSTANCES,
        ),
        Step(
            uses=("attention",),
            statement=r"D \gamma_{i} = \lim_{h \to 0}"
            r" \frac{\gamma_{i}(\theta + h A) - \gamma_{i}(\theta)}{h}",
            reason=r"Independent check: numeric derivatives with 50 digits at random points, $(d,"
            r" m) = (2, 1), (5, 3), (9, 4)$.",
            check=_check_numeric,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="softmax",
        title=title,
        source="arXiv:2502.07553v2, the attention of the model",
        setting=r"$\gamma_{i} = E_{i} / Z$ with $E_{i} = e^{s_{i}}$, $s_{i} = v_{i} \cdot \theta$"
        r" and $Z = \sum_{i} E_{i}$. $D$ is the derivative at $h = 0$ along $\theta + h A$, for an"
        r" arbitrary direction $A$, and $t_{i} = v_{i} \cdot A$.",
        steps=steps,
        formulas=(
            Formula(name="attention_velocity", left=r"D \gamma_{i}", right=velocity),
            Formula(
                name="jacobian",
                left=r"\frac{\partial \gamma_{k}}{\partial s_{i}}",
                right=jacobian,
            ),
        ),
    )


def _in_exponentials(expr: sp.Expr) -> sp.Expr:
    return expr.xreplace({gamma: ATTENTION})


def _check_exponentials() -> None:
    h = sp.Symbol("h", real=True)
    s = sp.symbols("s_0:3", real=True)
    speed = sp.symbols("t_0:3", real=True)
    moving = [sp.exp(x + h * y) for x, y in zip(s, speed, strict=True)]
    explicit = {"E": [sp.exp(x) for x in s], "t": list(speed)}
    for j in range(3):
        found = evaluate_over(
            Entry(score_motion(t)(E), i),
            rational=sp.Rational,
            sequences=explicit,
            positions={"i": j},
        )
        require_equal(found.subs(_names(s)), sp.diff(moving[j], h).subs(h, 0).subs(_names(s)))
    found = evaluate_over(score_motion(t)(PowerSum(E)), rational=sp.Rational, sequences=explicit)
    require_equal(found.subs(_names(s)), sp.diff(sum(moving), h).subs(h, 0).subs(_names(s)))


def _names(scores: tuple[sp.Symbol, ...]) -> dict[sp.Expr, sp.Symbol]:
    """Return names for the exponentials of the scores, so that only rational functions remain."""
    return {sp.exp(s): sp.Symbol(f"exp_{s.name}", positive=True) for s in scores}


def _check_jacobian() -> None:
    same = sp.KroneckerDelta(i, k)
    require_equal(
        _in_exponentials(Entry(attention_velocity(Unit(i)), k)),
        Entry(E, k) * (same * PowerSum(E) - Entry(E, i)) / PowerSum(E) ** 2,
        "the Jacobian and the quotient rule",
    )
    for d in (2, 3):
        s = sp.symbols(f"s_0:{d}", real=True)
        attention = [sp.exp(x) / sum(sp.exp(y) for y in s) for x in s]
        for row in range(d):
            for column in range(d):
                found = evaluate_over(
                    Entry(attention_velocity(Unit(i)), k),
                    rational=sp.Rational,
                    sequences={"gamma": attention},
                    positions={"i": column, "k": row},
                )
                expected = sp.diff(attention[row], s[column])
                require_equal(found.xreplace(_names(s)), expected.xreplace(_names(s)))


def _check_invariance() -> None:
    total = in_attention(_in_exponentials(PowerSum(attention_velocity(t))))
    require_equal(total, sp.S.Zero, "the sum of D gamma and 0")
    require_equal(
        Entry(attention_velocity(sp.S.One), i), sp.S.Zero, "D gamma under a common shift and 0"
    )


def _check_explicit() -> None:
    for d, m in ((2, 1), (2, 2), (3, 2)):
        model = SymbolicModel(d, m, "theta")
        attention = [model.algebraic(weight) for weight in model.attention]
        for r in range(m):
            for j in range(d):
                found = evaluate_over(
                    Entry(attention_velocity(t), i),
                    rational=sp.Rational,
                    sequences={"gamma": attention, "t": [row[r] for row in model.V]},
                    positions={"i": j},
                )
                expected = sp.diff(model.attention[j], model.theta[r])
                require_equal(found, model.algebraic(expected))


def _check_numeric() -> None:
    rng = seeded(7)
    velocity = Entry(attention_velocity(t), i)
    for d, m in ((2, 1), (5, 3), (9, 4)):
        model = NumericModel(rng, d=d, m=m)
        for j in range(d):
            found = evaluate_over(
                velocity,
                rational=model.rational,
                sequences={"gamma": model.attention(model.theta), "t": model.t},
                positions={"i": j},
            )

            def weight(
                query: list[mpmath.mpf], model: NumericModel = model, j: int = j
            ) -> mpmath.mpf:
                return model.attention(query)[j]

            model.require_close(found, model.slope(weight, model.theta), f"D gamma_{j}")
