"""One edge of the zonotope: how far inside it the residual 1 - P Q can exceed its ends.

Flipping x_i from -1 to 1 moves (p, q) by 2 (gamma_i, gamma_tilde_i), into the positive quadrant, so
along an edge P Q is a convex quadratic. On the branch x_a x_b = 1 the least P Q is wanted, and it
may be inside an edge, where no input is.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry
from derivations.notation import R_2, R_e, R_s, gamma, gamma_tilde, i
from derivations.printing.latex import equation
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_above, require_at_least
from derivations.proof.ledger import Step

__all__ = ["edge_peak", "edge_product", "edge_residual", "stationary_point", "steps"]

_P, _Q = sp.symbols("P Q", real=True)
_gamma_i, _gamma_tilde_i = Entry(gamma, i), Entry(gamma_tilde, i)

r = sp.Symbol("r", nonnegative=True)
"""The fraction of an edge, from 0 to 1."""


def edge_product(
    start: tuple[sp.Expr, sp.Expr] = (_P, _Q),
    generator: tuple[sp.Expr, sp.Expr] = (_gamma_i, _gamma_tilde_i),
) -> sp.Expr:
    """Return P Q along an edge, at the fraction r of its length."""
    return (start[0] + 2 * generator[0] * r) * (start[1] + 2 * generator[1] * r)


def edge_residual() -> sp.Expr:
    """Return 1 - P Q along an edge of the branch +1, at the fraction r of its length."""
    return 1 - edge_product()


def edge_peak() -> sp.Expr:
    """Return the greatest residual inside an edge, from its ends and R_2 = 4 gamma_i gamma_tilde_i.

    The residual is the quadratic with the values R_s at 0, R_e at 1 and leading coefficient -R_2.
    """
    residual = _residual_between_ends()
    return R_s + sp.factor(sp.expand(residual.subs(r, stationary_point(residual)) - R_s))


def stationary_point(quadratic: sp.Expr) -> sp.Expr:
    """Return the r at which a quadratic in r is stationary."""
    slope = sp.diff(quadratic, r)
    return sp.together(-slope.subs(r, 0) / sp.diff(slope, r))


def steps() -> tuple[Step, ...]:
    """Return the steps about one edge."""
    peak = edge_peak()
    return (
        Step(
            label="edge",
            statement=r"P Q = (1 - r) (P Q)_{s} + r (P Q)_{e} - 4 r (1 - r) \gamma_{i}"
            r" \tilde{\gamma}_{i} \ge \min ((P Q)_{s}, (P Q)_{e}) - \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"$(P Q)_{s}$ and $(P Q)_{e}$ are the values at the ends of the edge that flips"
            r" $i$, $0 \le r \le 1$, and $1 - 4 r (1 - r) = (1 - 2 r)^{2}$. The ends are inputs, so"
            r" on an edge $P Q$ is at most $\gamma_{i} \tilde{\gamma}_{i}$ below an input.",
            check=_check_gap,
        ),
        Step(
            uses=("edge",),
            statement=equation(r"\max_{0 \le r \le 1} R(r)", peak)
            + r" \text{ if } |R_{e} - R_{s}| < R_{2}, \text{ else } \max(R_{s}, R_{e});"
            r" \quad R_{2} = 4 \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"$R = 1 - P Q$ along an edge of the branch $\tau = 1$ is the quadratic with"
            r" leading coefficient $-R_{2}$ and the values $R_{s}$, $R_{e}$ at the ends. It is"
            r" below its value at $r = (R_{e} - R_{s} + R_{2}) / (2 R_{2})$ by a square, and that"
            r" point is inside the edge under the stated condition. If $R_{e} - R_{s} \ge R_{2}$,"
            r" it is below $R_{e}$ by $(1 - r) (R_{e} - R_{s} - R_{2} r) \ge 0$, and if $R_{s} -"
            r" R_{e} \ge R_{2}$ below $R_{s}$ by $r (R_{s} - R_{e} - R_{2} + R_{2} r) \ge 0$.",
            check=lambda: _check_peak(peak),
        ),
    )


def _residual_between_ends() -> sp.Expr:
    return R_s + (R_e - R_s + R_2) * r - R_2 * r**2


def _check_gap() -> None:
    product, both = edge_product(), _gamma_i * _gamma_tilde_i
    start, end = product.subs(r, 0), product.subs(r, 1)
    chord = (1 - r) * start + r * end
    require_equal(product, chord - 4 * r * (1 - r) * both, "P Q and its chord")
    least = sp.Symbol("least", real=True)
    above_start, above_end, remaining = sp.symbols(
        "above_start above_end remaining", nonnegative=True
    )
    require_at_least(
        product,
        least - both,
        remaining * above_start + r * above_end + (1 - 2 * r) ** 2 * both,
        "P Q inside an edge and at its ends",
        slacks={above_start: start - least, above_end: end - least, remaining: 1 - r},
    )


def _check_peak(peak: sp.Expr) -> None:
    residual, between = edge_residual(), _residual_between_ends()
    ends = {
        R_s: residual.subs(r, 0),
        R_e: residual.subs(r, 1),
        R_2: 4 * _gamma_i * _gamma_tilde_i,
    }
    require_equal(residual, between.xreplace(ends), "the residual and the quadratic between ends")
    difference, at = R_e - R_s, stationary_point(between)
    inner = sp.Symbol("inner", positive=True)
    require_above(
        at, sp.S.Zero, inner / (2 * R_2), "inside the edge", slacks={inner: R_2 + difference}
    )
    require_above(
        sp.S.One, at, inner / (2 * R_2), "inside the edge", slacks={inner: R_2 - difference}
    )
    require_equal(between.subs(r, at), peak, "the residual there and the peak")
    require_at_least(peak, between, R_2 * (r - at) ** 2, "the peak and the residual")
    outer, remaining = sp.symbols("outer remaining", nonnegative=True)
    require_at_least(
        R_e,
        between,
        remaining * (outer + R_2 * remaining),
        "the end and the residual",
        slacks={outer: difference - R_2, remaining: 1 - r},
    )
    require_at_least(
        R_s,
        between,
        r * (outer + R_2 * r),
        "the start and the residual",
        slacks={outer: -difference - R_2},
    )
