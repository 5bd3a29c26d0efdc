"""The slices of larger leans. Steps of `derivations.theorem2`."""

from __future__ import annotations

import sympy as sp

from derivations.notation import rho
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.notation import (
    T_low,
    m,
    phi_m,
    rho_0,
    sigma,
    symbol,
    y_high,
    y_low,
)
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import (
    COORDINATE_LAW,
    COORDINATE_TAIL,
    INVARIANCE,
    SUB_GAUSSIAN,
    UNION_BOUND,
)
from derivations.proof.refusal import require

__all__ = ["check_density_decreases", "density", "exponent", "steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps on the other slices."""
    return (
        Step(
            label="slices",
            uses=("density", "tail"),
            statement=r"P(y_{i} \le |y| < y_{i + 1}) \le P_{i}, \quad"
            rf" {defined('P_slice')}; \quad 0 \le \Delta \le {defined('D_slice')}",
            reason=r"Two signs, each with the tail beyond $y_{i}$ or with the length of the slice"
            r" times its largest density, at $y_{i}$. $\Delta = |A| y$ with $|A| \le 2$, and"
            r" $\Delta = s_{a} - s_{b} \le 2 \sigma$.",
            check=_check_slice,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, COORDINATE_TAIL),
        ),
        Step(
            label="slice-margin",
            uses=("score_bounds:slope",),
            statement=r"g(\rho) y - \tau_{0} / |A| \ge x_{i} \text{ if } x_{i} \ge 0, \quad"
            rf" {defined('x_slice')}",
            reason=r"If $\alpha (1 - \rho_{0}) < \beta$ then $x_{i} \le 0$, and at $0$ the next"
            r" bound is that of the slice alone. Else $g(\rho) y$ is least at $\rho_{0}$ and"
            r" $y_{i}$, and $|A| = \sqrt{2 - 2 \rho}$ at $\rho_{0}$.",
            check=_check_threshold,
        ),
        Step(
            label="far-margin",
            uses=("slices", "slice-margin", "score_bounds:norm"),
            statement=rf"P(\text{{far margin}}) \le \sum_{{i \ge 1}} {right_side('far_margin')}"
            r" \text{ for each head}",
            reason=r"A slope below $\tau_{0}$ asks for $Y > x_{i}$. Given the scores, $v_{a}$ and"
            r" $v_{b}$, $Y$ is a sum with weights $c_{j}$, $|c| \le w$, of independent coordinates"
            r" on the sphere of $\mathbb{R}^{m - 1}$, scaled by at most $1$.",
            check=_check_far_margin,
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, INVARIANCE, UNION_BOUND),
        ),
    )


def density(at: sp.Expr) -> sp.Expr:
    """Return the density of a coordinate in R^m."""
    return phi_m * (1 - at**2) ** ((m - 3) / 2)


def check_density_decreases() -> None:
    """Check that the density does not increase on [0, 1), m >= 3."""
    y, excess = sp.symbols("y excess", nonnegative=True)
    rate = sp.diff(sp.expand_log(sp.log(density(y)), force=True), y)
    inside = sp.Symbol("inside", positive=True)
    require_at_least(
        -rate,
        sp.S.Zero,
        excess * y / inside,
        "the logarithmic derivative",
        slacks={excess: m - 3, inside: 1 - y**2},
    )


def _check_slice() -> None:
    check_density_decreases()
    either = sp.Min(T_low, (y_high - y_low) * density(y_low))
    require(value("P_slice") == 2 * either, "not twice the smaller of tail and mass")
    require(value("D_slice") == sp.Min(2 * sigma, 2 * y_high), "not the smaller of both bounds")
    below, apart = sp.symbols("below apart", nonnegative=True)
    y = sp.Symbol("y", nonnegative=True)
    length = sp.Symbol("length", nonnegative=True)  # |A|
    require_at_least(
        2 * y_high,
        length * y,
        2 * below + apart * y,
        "2 y_{i+1} and Delta",
        slacks={below: y_high - y, apart: 2 - length},
    )


def _check_threshold() -> None:
    alpha, beta, tau = symbol("alpha_slope"), symbol("beta_slope"), symbol("tau_0")
    y, length, least = sp.symbols("y length least", positive=True)
    inner, room, above, longer = sp.symbols("inner room above longer", nonnegative=True)
    at_least_length = {rho_0: 1 - least**2 / 2}  # least = |A| at rho_0, length = |A|
    bound = value("x_slice").subs(at_least_length)
    require_at_least(
        2 * (alpha * (1 - rho) - beta) * y - tau / length,
        bound,
        2 * alpha * room * y + 2 * inner * above + tau * longer / (length * least),
        "the threshold and its bound",
        slacks={
            inner: (alpha * (1 - rho_0) - beta).subs(at_least_length),
            room: (rho_0 - rho).subs(at_least_length),
            above: y - y_low,
            longer: length - least,
        },
    )
    negative = sp.Symbol("negative", nonnegative=True)
    require_at_least(
        sp.S.Zero,
        bound,
        2 * negative * y_low + tau / least,
        "0 and the threshold",
        slacks={negative: (beta - alpha * (1 - rho_0)).subs(at_least_length)},
    )


def exponent(threshold: sp.Expr) -> sp.Expr:
    """Return the exponent t^2 / (2 proxy) of a tail, for the proxy w^2 / (m - 1)."""
    return threshold**2 * (m - 1) / (2 * symbol("w") ** 2)


def _check_far_margin() -> None:
    positive_part = sp.Max(0, symbol("x_slice"))
    expected = symbol("P_slice") * sp.exp(-exponent(positive_part))
    require_equal(sp.expand(sp.log(value("far_margin") / expected), log=True), sp.S.Zero)
    # v_j^perp.n is a coordinate times sqrt(1 - s_j^2) and the length of n orthogonal to theta.
    score, lean = sp.symbols("score lean", real=True)
    inside = sp.Symbol("inside", nonnegative=True)
    require_at_least(
        sp.S.One,
        (1 - score**2) * (1 - lean**2),
        score**2 + inside * lean**2,
        "1 and the scale of a term",
        slacks={inside: 1 - score**2},
    )
