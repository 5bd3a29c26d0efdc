"""The functions of one variable behind the score bounds, and the signs that make them monotone.

Scores are coordinates of unit vectors, so e^s and e^{2s} are read on [-2, 2], and cosh and sinh of
up to twice a score on [0, 2]. Each sign is stated without a quotient, as an obligation.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import declare
from derivations.population_step.constants import growth_rate
from derivations.printing.latex import latex
from derivations.proof.identities import require_equal
from derivations.proof.ledger import Method, Step
from derivations.proof.obligations import Obligation

__all__ = ["OBLIGATIONS", "steps", "u_real"]

u_real = declare(sp.Symbol, "u_real", "u", real=True)
"""The variable of the obligations."""

_TWO, _ZERO = sp.Integer(2), sp.Integer(0)

OBLIGATIONS = {
    each.name: each
    for each in (
        Obligation(
            name="exponential above its tangent",
            expression=sp.exp(u_real) - 1 - u_real,
            variable=u_real,
            lower=-_TWO,
            upper=_TWO,
            zero=_ZERO,
            order=2,
        ),
        Obligation(
            name="curvature of the exponential increases",
            expression=u_real * ((u_real - 2) * sp.exp(u_real) + u_real + 2),
            variable=u_real,
            lower=-_TWO,
            upper=_TWO,
            zero=_ZERO,
            order=4,
        ),
        Obligation(
            name="curvature of cosh increases",
            expression=u_real * sp.sinh(u_real) - 2 * (sp.cosh(u_real) - 1),
            variable=u_real,
            lower=_ZERO,
            upper=_TWO,
            zero=_ZERO,
            order=4,
        ),
        Obligation(
            name="excess of sinh grows faster than a square",
            expression=u_real * sp.cosh(u_real) + u_real - 2 * sp.sinh(u_real),
            variable=u_real,
            lower=_ZERO,
            upper=_TWO,
            zero=_ZERO,
            order=3,
        ),
        Obligation(
            name="sinh above its tangent",
            expression=sp.sinh(u_real) - u_real,
            variable=u_real,
            lower=_ZERO,
            upper=_TWO,
            zero=_ZERO,
            order=3,
        ),
        Obligation(
            name="slope of the chords of sinh increases",
            expression=u_real * sp.cosh(u_real) - sp.sinh(u_real),
            variable=u_real,
            lower=_ZERO,
            upper=_TWO,
            zero=_ZERO,
            order=3,
        ),
    )
}
"""The obligations by name."""


def steps() -> tuple[Step, ...]:
    """Return the steps that state the signs, and what each of them makes monotone."""
    tangent, curvature, cosh, sinh, chord, chords = OBLIGATIONS.values()
    return (
        _step(
            tangent,
            r"e^{u} \ge 1 + u \text{ for } |u| \le 2",
            r"A convex function is above its tangent at $0$. So is $e^{u} - 1 - u = u^{2} g(u)$,"
            r" and $g > 0$.",
            quotient=u_real**2 * growth_rate(u_real),
            factor=sp.S.One,
            derivatives=0,
        ),
        _step(
            curvature,
            r"g(u) = (e^{u} - 1 - u) / u^{2} \text{ increases on } [-2, 2]",
            r"$u^{4} g'(u)$ is the expression of the obligation; at $0$, $g$ is continued by $1 /"
            r" 2$.",
            quotient=growth_rate(u_real),
            factor=u_real**4,
            label="chord",
        ),
        _step(
            cosh,
            r"(\cosh u - 1) / u^{2} \text{ increases on } [0, 2]",
            r"$u^{3}$ times its derivative is the expression of the obligation. As cosh is even,"
            r" $\cosh u - 1 \le u^{2} (\cosh v - 1) / v^{2}$ for $|u| \le v \le 2$.",
            quotient=(sp.cosh(u_real) - 1) / u_real**2,
            factor=u_real**3,
            label="cosh-rate",
        ),
        _step(
            sinh,
            r"(\sinh u - u) / u^{2} \text{ increases on } [0, 2]",
            r"$u^{3}$ times its derivative is the expression of the obligation. As sinh is odd,"
            r" $|\sinh u - u| \le u^{2} (\sinh v - v) / v^{2}$ for $|u| \le v \le 2$.",
            quotient=(sp.sinh(u_real) - u_real) / u_real**2,
            factor=u_real**3,
        ),
        _step(
            chord,
            r"\sinh u \ge u \text{ for } 0 \le u \le 2",
            r"sinh is convex there and above its tangent at $0$.",
            quotient=sp.sinh(u_real) - u_real,
            factor=sp.S.One,
            derivatives=0,
            label="sinh-tangent",
        ),
        _step(
            chords,
            r"(\sinh u) / u \text{ increases on } [0, 2]",
            r"$u^{2}$ times its derivative is the expression of the obligation.",
            quotient=sp.sinh(u_real) / u_real,
            factor=u_real**2,
            label="sinh-rate",
        ),
    )


def _step(
    obligation: Obligation,
    statement: str,
    reason: str,
    *,
    quotient: sp.Expr,
    factor: sp.Expr,
    derivatives: int = 1,
    label: str = "",
) -> Step:
    """Return the step that an obligation proves; `factor` is positive away from 0."""

    def check() -> None:
        decided = sp.diff(quotient, u_real, derivatives) * factor
        require_equal(decided, obligation.expression, f"{obligation.name}: what it decides")

    return Step(
        statement=statement,
        reason=rf"{reason} Obligation: ${latex(obligation.expression)} \ge 0$"
        rf" for ${latex(obligation.lower)} \le u \le {latex(obligation.upper)}$,"
        rf" with a zero of order ${obligation.order}$ at $0$.",
        check=check,
        method=Method.OBLIGATION,
        obligations=(obligation,),
        label=label,
    )
