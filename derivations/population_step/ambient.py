"""The positions off the support. Steps of `derivations.theorem2`."""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.notation import Delta, a, b, d, rho
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.far_slices import check_density_decreases, density, exponent
from derivations.population_step.notation import (
    D,
    T_t,
    T_z,
    h,
    l_A,
    l_a,
    m,
    q,
    r_high,
    r_low,
    sigma,
    symbol,
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

__all__ = ["steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps on the positions off the support."""
    return (
        Step(
            label="noise-support",
            uses=("score_bounds:norm",),
            statement=r"P(\sum_{j \notin S} c_{j} v_{j}^{\perp} \cdot v_{a} > w \sqrt{2 l_{a} / (m"
            rf" - 1)}}) \le {right_side('noise_support')} \text{{ for each head}}",
            reason=r"Given the scores, $v_{a}$ and $v_{b}$; head 2 with $v_{b}$ and $\tilde{c}$."
            r" The exponent at this threshold is $l_{a}$.",
            check=lambda: _check_level(l_a, value("noise_support"), 1),
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, INVARIANCE),
        ),
        Step(
            label="noise-ambient",
            uses=("score_bounds:norm",),
            statement=r"P(-\sum_{j \notin S \cup k} c_{j} v_{j}^{\perp} \cdot v_{k} > w \sqrt{2"
            r" l_{A} / (m - 1)} \text{ for some } k) \le"
            rf" {right_side('noise_ambient')} \text{{ for each head}}",
            reason=r"Given also $v_{k}$; $d - 2$ positions off the support.",
            check=lambda: _check_level(
                l_A, value("noise_ambient"), PowerSum(1 - Unit(a) - Unit(b))
            ),
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, INVARIANCE, UNION_BOUND),
        ),
        Step(
            label="slope-ambient",
            uses=(
                "noise-support",
                "noise-ambient",
                "one_step:slope-ambient",
                "score_bounds:weights",
                "score_bounds:structured",
            ),
            statement=r"\text{slope}_{k} \ge e^{\Delta} + \rho e^{-\Delta} - w_{1} \cdot v_{k} -"
            rf" \nu + \tau_{{a}}, \quad {defined('nu')}",
            reason=r"The formula of derivation one_step, off the two noise events. $|c_{a} -"
            r" c_{k}| \le 2 \bar{f}$ meets a factor of at most $2$, $c_{b}$ one of at most $2$,"
            r" $c_{k}$ one of at most $1$; the structured part is bounded as $\beta$ is, with one"
            r" score more left out, and meets $|s_{a} - s_{k}| \le 2 \sigma$.",
            check=_check_nu,
        ),
        Step(
            label="monotone",
            uses=("slope-ambient",),
            statement=r"\frac{\partial t}{\partial \Delta} \ge 0, \quad \frac{\partial"
            r" t}{\partial \rho} \le 0 \text{ for } \rho \le \rho^{*}, \ge 0 \text{ beyond}, \quad"
            rf" {defined('t_cell')}, \quad {defined('rho_star')}",
            reason=r"$|w_{1}|^{3}$ times the derivatives are $2 (1 - \rho^{2}) e^{-\Delta} + 2 \nu"
            r" \sinh 2 \Delta$ and $e^{-3 \Delta} + \rho e^{-\Delta} + \nu = e^{-\Delta} (\rho -"
            r" \rho^{*})$; $\nu \ge 0$, $\Delta \ge 0$.",
            check=_check_monotone,
        ),
        Step(
            label="cell",
            uses=("monotone",),
            statement=r"t \ge t(\Delta_{ij}, \rho_{ij}) \text{ for } y \ge y_{i}, \; r_{j} \le"
            rf" \rho \le r_{{j + 1}}, \quad {defined('Delta_cell')}, \quad {defined('rho_cell')}",
            reason=r"$\Delta = \sqrt{2 - 2 \rho} y \ge \Delta_{ij}$, where $t$ increases; then"
            r" over the cell, $t$ is least at the point nearest to $\rho^{*}$.",
            check=_check_cell,
        ),
        Step(
            label="cells",
            uses=("density", "tail"),
            statement=r"P(r_{j} \le \rho \le r_{j + 1}) \le P_{j}, \quad"
            rf" {defined('P_cell')}, \quad {defined('z_cell')}",
            reason=r"The length of the cell times its largest density, at the point $z_{j}$ of"
            r" size nearest to $0$; or the tail beyond it, if the cell is on one side of $0$"
            r" ($T_{m}$ counts as $1$ at $0$).",
            check=_check_cell_probability,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, COORDINATE_TAIL),
        ),
        Step(
            label="ambient-alignment",
            uses=("tail", "slices", "slope-ambient", "cell", "cells"),
            statement=r"P(\text{ambient alignment}) \le \sum_{i} P_{i} \min(1, \sum_{j} P_{j}"
            r" \min(1, (d - 2) T_{m}(t_{ij}))) \text{ for each head}",
            reason=r"$w_{1} \cdot v_{k} / |w_{1}|$ is a coordinate of $v_{k}$, which is"
            r" independent of $y$ and $\rho$; $d - 2$ positions. $y$ and $\rho$ are independent.",
            check=_check_alignment,
            method=Method.LEMMA,
            lemmas=(COORDINATE_TAIL, INVARIANCE, UNION_BOUND),
        ),
    )


def _check_level(level: sp.Symbol, bound: sp.Expr, positions: sp.Expr) -> None:
    threshold = symbol("w") * sp.sqrt(2 * level / (m - 1))
    require_equal(sp.expand(exponent(threshold)), level, "the exponent and its level")
    require_equal(bound / sp.exp(-level), positions, "the number of tails")


def _check_nu() -> None:
    f_max, c_max, w, R = (symbol(name) for name in ("f_max", "c_max", "w", "R"))
    own_a, own_k, weight_b, weight_k = sp.symbols("own_a own_k weight_b weight_k", real=True)
    at_ak, at_b, at_k, gap = sp.symbols("at_ak at_b at_k gap", real=True)
    structured, along, across = sp.symbols("structured along across", real=True)
    start = sp.exp(Delta) + rho * sp.exp(-Delta) - sp.Symbol("aligned", real=True)
    slope = start - _lost(
        (own_a - own_k) * at_ak, weight_b * at_b, gap * structured, along, weight_k * at_k, across
    )
    noise = w * (sp.sqrt(2 * l_a / (m - 1)) + sp.sqrt(2 * l_A / (m - 1)))
    cosh_part = 2 * sp.cosh(D) * (h + sigma / d)
    names = ("own", "b", "structure", "k", "support", "outside")
    slack = {name: sp.Symbol(f"slack_{name}", nonnegative=True) for name in names}
    require_at_least(
        slope,
        start - value("nu") + symbol("tau_a"),
        sp.Add(*slack.values()),
        "slope_k and its bound",
        slacks={
            slack["own"]: 4 * f_max - (own_a - own_k) * at_ak,
            slack["b"]: 2 * c_max - weight_b * at_b,
            slack["structure"]: 2 * sigma * (cosh_part + R * sp.sqrt(q * d)) - gap * structured,
            slack["k"]: c_max + weight_k * at_k,
            slack["support"]: w * sp.sqrt(2 * l_a / (m - 1)) - along,
            slack["outside"]: w * sp.sqrt(2 * l_A / (m - 1)) + across,
        },
    )
    require_equal(noise, value("nu").coeff(w) * w, "the two noises")
    _check_products(f_max, c_max)
    _check_structured(R)


def _lost(
    own: sp.Expr,
    at_b: sp.Expr,
    structured: sp.Expr,
    along: sp.Expr,
    at_k: sp.Expr,
    across: sp.Expr,
) -> sp.Expr:
    """Return what derivation one_step takes off; the last two with the sign they have there."""
    return own + at_b + structured + along - at_k - across


def _check_products(f_max: sp.Symbol, c_max: sp.Symbol) -> None:
    """Check |x y| <= X Y for |x| <= X, |y| <= Y, at the pairs of bounds in nu."""
    size, factor = sp.symbols("size factor", nonnegative=True)
    room, left = sp.symbols("room left", nonnegative=True)
    for largest, most in ((2 * f_max, 2), (c_max, 2), (c_max, 1)):
        require_at_least(
            largest * most,
            size * factor,
            room * most + size * left,
            "the product of two bounds",
            slacks={room: largest - size, left: most - factor},
        )
    first, second = sp.symbols("first second", nonnegative=True)
    own_a, own_k = sp.symbols("own_a own_k", real=True)
    for sign in (1, -1):
        require_at_least(
            2 * f_max,
            sign * (own_a - own_k),
            first + second,
            "twice the largest |f|",
            slacks={first: f_max - sign * own_a, second: f_max + sign * own_k},
        )


def _check_structured(R: sp.Symbol) -> None:
    """Check the bound of sum_{j not in S, k} c_j s_j, mean and deviation apart."""
    cosh, total = sp.Symbol("cosh", positive=True), sp.Symbol("total", real=True)
    deviation = sp.Symbol("deviation", real=True)
    grown, room, at_k, cauchy = sp.symbols("grown room at_k cauchy", nonnegative=True)
    score = sp.Symbol("score", real=True)
    for sign in (1, -1):
        require_at_least(
            2 * sp.cosh(D) * (h + sigma / d) + R * sp.sqrt(q * d),
            sign * (2 * cosh * (total - score) / d + deviation),
            2 * grown * (h + sigma / d) + 2 * cosh * (room + at_k) / d + cauchy,
            "the structured part",
            slacks={
                grown: sp.cosh(D) - cosh,
                room: h * d - sign * total,
                at_k: sigma + sign * score,
                cauchy: R * sp.sqrt(q * d) - sign * deviation,
            },
        )


def _check_monotone() -> None:
    nu, t = symbol("nu"), value("t_cell")
    square = 2 * sp.cosh(2 * Delta) + 2 * rho
    root = sp.Symbol("root", positive=True)
    require_equal(
        t**2 * square,
        (sp.exp(Delta) + rho * sp.exp(-Delta) - nu) ** 2,
        "t^2 |w_1|^2 and the square of what w_1.v_k must exceed",
    )
    by_lean, by_overlap = (
        sp.expand(sp.diff(t, variable) * square ** sp.Rational(3, 2)) for variable in (Delta, rho)
    )
    # Odd powers of the root have cancelled; what is left is put in terms of the square.
    by_lean, by_overlap = (
        each.xreplace({square ** sp.Rational(k, 2): root**k for k in (-3, -1, 1, 3)})
        for each in (by_lean, by_overlap)
    )
    by_lean, by_overlap = (
        sp.expand(each).xreplace({root**2: square}) for each in (by_lean, by_overlap)
    )
    require_equal(
        by_lean,
        2 * (1 - rho**2) * sp.exp(-Delta) + 2 * nu * sp.sinh(2 * Delta),
        "the derivative by Delta",
    )
    require_equal(
        by_overlap, sp.exp(-3 * Delta) + rho * sp.exp(-Delta) + nu, "the derivative by rho"
    )
    require_equal(by_overlap, sp.exp(-Delta) * (rho - value("rho_star")), "its zero")
    inside, sinh = sp.symbols("inside sinh", nonnegative=True)
    decay = sp.Symbol("decay", positive=True)
    require_at_least(
        by_lean,
        sp.S.Zero,
        2 * inside * decay + 2 * nu * sinh,
        "the derivative by Delta",
        slacks={inside: 1 - rho**2, decay: sp.exp(-Delta), sinh: sp.sinh(2 * Delta)},
    )


def _check_cell() -> None:
    y, length = sp.symbols("y length", nonnegative=True)
    least = sp.Symbol("least", positive=True)  # |A| at r_{j+1}
    longer, above = sp.symbols("longer above", nonnegative=True)
    require_at_least(
        length * y,
        value("Delta_cell").subs(r_high, 1 - least**2 / 2),
        longer * y + least * above,
        "Delta and its least value",
        slacks={longer: length - least, above: y - y_low},
    )
    room = sp.Symbol("room", nonnegative=True)
    require_at_least(2 - 2 * rho, 2 - 2 * r_high, 2 * room, "|A|^2", slacks={room: r_high - rho})
    nearest = value("rho_cell")
    turn = symbol("rho_star")
    require(nearest == sp.Min(r_high, sp.Max(r_low, turn)), "not the point nearest to rho*")
    for at, expected in ((-2, -1), (0, 0), (2, 1)):
        found = nearest.subs({r_low: -1, r_high: 1, turn: at})
        require(found == expected, f"{found} is not nearest to {at} between -1 and 1")


def _check_cell_probability() -> None:
    check_density_decreases()
    at = symbol("z_cell")
    require(value("P_cell") == sp.Min(T_z, (r_high - r_low) * density(at)), "not tail and mass")
    for low, high in ((-3, -1), (-2, 1), (-1, 2), (1, 3), (-1, 0)):
        ends = {r_low: sp.Rational(low, 4), r_high: sp.Rational(high, 4)}
        nearest = min(abs(sp.Rational(each, 4)) for each in range(low, high + 1))
        found = value("z_cell").subs(ends)
        require(found == nearest, f"{found} for the cell {low}/4 to {high}/4")


def _check_alignment() -> None:
    positions = PowerSum(1 - Unit(a) - Unit(b))
    in_cell = symbol("P_cell") * sp.Min(1, positions * T_t)
    require(value("cells") == in_cell, "not the union over the positions in a cell")
    in_slice = symbol("P_slice") * sp.Min(1, symbol("cells"))
    require(value("ambient_alignment") == in_slice, "not the sum over the cells in a slice")
