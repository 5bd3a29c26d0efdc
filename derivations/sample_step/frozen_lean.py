"""What changes in scores and weights when the lean y of the support is put to 0.

Steps of `derivations.corollary3`; a circle marks what is frozen. In `derivations.score_bounds` the
two scores of the support are put to 0; here to their common value at y = 0, which changes less: y
is small.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import d, rho
from derivations.population_step.constants import defined, value
from derivations.population_step.freezing import Moves
from derivations.population_step.frozen_sums import check_omega
from derivations.population_step.notation import rho_0, sigma, symbol, y_high
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import INDEPENDENT_LEAN
from derivations.sample_step.notation import sigma_0, y_I

__all__ = ["OWN", "steps"]

OWN = sp.sqrt((1 + rho_0) / 2)
"""Bounds |t_a| = |t_b| = |A| / 2, as |rho| <= rho_0."""

_MOVED = Moves(
    first=symbol("pi_lean"),
    second=2 * symbol("Z_2_high") * symbol("zeta_2") / d,
    total=symbol("zeta") / d,
    total_2=symbol("zeta_2") / d,
    reach=2 * y_high,
    M="M_lean",
    kappa="k_lean",
    K="K_lean",
    weight="lambda_lean",
)


def steps() -> tuple[Step, ...]:
    """Return the steps from the scores of the support to the weights off it."""
    return (
        Step(
            label="frozen",
            statement=r"s_{a} = \frac{|B| \beta' \sqrt{1 - y^{2}} + |A| y}{2}, \quad s_{b} ="
            r" \frac{|B| \beta' \sqrt{1 - y^{2}} - |A| y}{2}, \quad s^{\circ} = \frac{|B|"
            r" \beta'}{2}, \quad |A|^{2} + |B|^{2} = 4",
            reason=r"$A = v_{a} - v_{b}$ and $B = v_{a} + v_{b}$ are orthogonal, and $\theta = y A"
            r" / |A| + \sqrt{1 - y^{2}} \theta'$. Frozen, $y$ is $0$ in the scores of the support,"
            r" and $v_{j} \cdot A / |A|$ is $t_{j}^{\circ} = v_{j}^{\perp} \cdot n'$ off"
            r" it. So whatever is frozen is a function of $\rho$, $\beta'$, $n'$, the $v_{j}$ off"
            r" $S$ and the samples, and independent of $y$.",
            check=_check_scores,
            method=Method.LEMMA,
            lemmas=(INDEPENDENT_LEAN,),
        ),
        Step(
            uses=("frozen",),
            statement=rf"|s_{{j}}|, |s^{{\circ}}| \le \sigma \text{{ if }} y \le y_{{I}}, \quad"
            rf" {defined('sigma')}",
            reason=r"$s^{\circ} \sqrt{1 - y^{2}} = (s_{a} + s_{b}) / 2$. All bounds of derivation"
            r" score_bounds hold with this $\sigma$, for the frozen scores too.",
            check=_check_sigma,
        ),
        Step(
            label="moved-scores",
            uses=("frozen",),
            statement=r"|s_{a} - s^{\circ}|, |s_{b} - s^{\circ}| \le \delta, \quad"
            rf" {defined('delta_s')}",
            reason=r"$|A| / 2 = \sqrt{(1 - \rho) / 2}$, $|s^{\circ}| \le |B| / 2 \le 1$ and $1 -"
            r" \sqrt{1 - y^{2}} \le y^{2}$.",
            check=_check_delta,
        ),
        Step(
            label="moved-sums",
            uses=("moved-scores",),
            statement=r"|Z - Z^{\circ}| \le \zeta, \quad |Z_{2} - Z_{2}^{\circ}| \le \zeta_{2},"
            rf" \quad {defined('zeta')}, \quad {defined('zeta_2')}",
            reason=r"Two terms change, each by at most $e^{k \sigma} (e^{k \delta} - 1)$; the same"
            r" for $\tilde{Z}$ and $\tilde{Z}_{2}$.",
            check=_check_sums,
        ),
        Step(
            label="moved-products",
            uses=("moved-sums",),
            statement=r"|Z \tilde{Z} - Z^{\circ} \tilde{Z}^{\circ}| \le \varpi d^{2}, \quad"
            r" d^{2} |\omega - \omega^{\circ}| \le \varpi, \quad |1 / \omega - 1 / \omega^{\circ}|"
            rf" \le \varpi d^{{2}}, \quad {defined('pi_lean')}",
            reason=r"$Z \tilde{Z} - Z^{\circ} \tilde{Z}^{\circ} = (Z - Z^{\circ}) \tilde{Z} +"
            r" Z^{\circ} (\tilde{Z} - \tilde{Z}^{\circ})$, and $1 / \omega = Z \tilde{Z} \ge"
            r" d^{2}$. Likewise $|Z_{2} \tilde{Z}_{2} - Z_{2}^{\circ} \tilde{Z}_{2}^{\circ}| \le 2"
            r" Z_{2,+} \zeta_{2} d$.",
            check=_check_products,
        ),
        Step(
            label="moved-kappa",
            uses=("moved-products", "score_bounds:frozen-kappa"),
            statement=r"|\kappa - \kappa^{\circ}| \le k_{y}, \quad"
            rf" {defined('k_lean')}",
            reason=r"$\cosh \Delta$ changes by at most $\cosh 2 y_{i + 1} - 1$, as $\Delta = |A|"
            r" y$; the products as in derivation score_bounds.",
            check=_MOVED.check_kappa,
        ),
        Step(
            label="moved-K-M",
            uses=(
                "moved-sums",
                "moved-products",
                "moved-kappa",
                "score_bounds:frozen-K",
                "score_bounds:frozen-M",
            ),
            statement=r"d |K - K^{\circ}| \le \delta_{K,y}, \quad d |M - M^{\circ}| \le"
            rf" \delta_{{M,y}}, \quad {defined('K_lean')}, \quad {defined('M_lean')}",
            reason=r"As in derivation score_bounds, with $\zeta$ for $e d$.",
            check=_check_K_M,
        ),
        Step(
            label="moved-weights",
            uses=("moved-products", "moved-K-M", "score_bounds:frozen-weights"),
            statement=r"d |c_{j} - c_{j}^{\circ}| \le \lambda_{y} \text{ for } j \notin S, \quad"
            rf" {defined('lambda_lean')}",
            reason=r"$c_{j} = K e^{s_{j}} + M e^{2 s_{j}} + 2 (d - 1) \omega$, and $s_{j}$ is not"
            r" changed.",
            check=_MOVED.check_weights,
        ),
    )


def _check_scores() -> None:
    a_length, b_length, y = sp.symbols("a_length b_length y", nonnegative=True)
    b_part, root = sp.symbols("b_part root", real=True)
    # theta.A and theta.B, and v_a, v_b from A and B.
    along, across = a_length * y, b_length * b_part * root
    at_a, at_b = (across + along) / 2, (across - along) / 2
    require_equal(at_a - at_b, along, "Delta")
    frozen = {y: sp.S.Zero, root: sp.S.One}
    require_equal(at_a.subs(frozen), at_b.subs(frozen), "the two frozen scores")
    require_equal((2 - 2 * rho) + (2 + 2 * rho), sp.Integer(4), "|A|^2 + |B|^2")
    require_equal(at_a.subs(frozen), b_length * b_part / 2, "the frozen score")


def _check_sigma() -> None:
    size, root = sp.symbols("size root", nonnegative=True)
    least = sp.Symbol("least", positive=True)
    room, above, longer = sp.symbols("room above longer", nonnegative=True)
    bound = value("sigma").subs(sp.sqrt(1 - y_I**2), least)
    require_at_least(
        bound,
        size,
        (room + size * above) / least,
        "the bound of the frozen score",
        slacks={room: sigma_0 - size * root, above: root - least},
    )
    require_at_least(
        bound,
        sigma_0,
        sigma_0 * longer / least,
        "the bound of the other scores",
        slacks={longer: 1 - least},
    )


def _check_delta() -> None:
    half, y, size = sp.symbols("half y size", nonnegative=True)
    own = sp.Symbol("own", positive=True)
    wider, above, inside = sp.symbols("wider above inside", nonnegative=True)
    root, drop, curve = sp.symbols("root drop curve", nonnegative=True)
    fall = 1 - root  # 1 - sqrt(1 - y^2)
    require_at_least(
        value("delta_s").subs(OWN, own),
        half * y + fall * size,
        wider * y + own * above + above * (y_high + y) + curve + drop * inside,
        "delta and the change of a score",
        slacks={
            wider: own - half,
            above: y_high - y,
            inside: 1 - size,
            curve: y**2 - fall,
            drop: fall,
        },
    )
    # With y^2 = 1 - root^2.
    require_at_least(1 - root**2, fall, root * drop, "y^2", slacks={drop: fall})
    require_at_least(
        OWN**2, (1 - rho) / 2, inside / 2, "the half of |A|", slacks={inside: rho_0 + rho}
    )
    require_at_least(sp.S.One, (1 + rho) / 2, inside / 2, "|B|", slacks={inside: 1 - rho})


def _check_sums() -> None:
    growth, wide, frozen, ratio = sp.symbols("growth wide frozen ratio", positive=True)
    below, over, under, apart = sp.symbols("below over under apart", nonnegative=True)
    # frozen is e^(k s^o), ratio e^(k (s - s^o)), wide e^(k delta), growth e^(k sigma).
    require_at_least(
        growth * (wide - 1),
        frozen * (ratio - 1),
        below * apart + frozen * over,
        "a term that grows",
        slacks={below: growth - frozen, apart: wide - 1, over: wide - ratio},
    )
    require_at_least(
        growth * (wide - 1),
        frozen * (1 - ratio),
        below * apart + frozen * (apart**2 / wide + under),
        "a term that falls",
        slacks={below: growth - frozen, apart: wide - 1, under: ratio - 1 / wide},
    )
    delta = symbol("delta_s")
    for k, name in ((1, "zeta"), (2, "zeta_2")):
        one = sp.exp(k * sigma) * (sp.exp(k * delta) - 1)
        require_equal(value(name), 2 * one, f"{name} and two terms")


def _check_products() -> None:
    mean, frozen = sp.symbols("mean frozen", positive=True)  # Z~/d and Z^o/d
    move, move_tilde = sp.symbols("move move_tilde", real=True)
    names = ("room", "room_frozen", "left", "left_tilde")
    slack = {name: sp.Symbol(name, nonnegative=True) for name in names}
    bounds = (
        (value("pi_lean"), symbol("Z_high"), symbol("zeta")),
        (_MOVED.second, symbol("Z_2_high"), symbol("zeta_2")),
    )
    for bound, high, most in bounds:
        for sign in (1, -1):
            require_at_least(
                d**2 * bound,
                sign * (move * mean * d + frozen * d * move_tilde),
                d
                * (
                    slack["left"] * mean
                    + most * slack["room"]
                    + slack["left_tilde"] * frozen
                    + most * slack["room_frozen"]
                ),
                "the change of the product",
                slacks={
                    slack["left"]: most - sign * move,
                    slack["left_tilde"]: most - sign * move_tilde,
                    slack["room"]: high - mean,
                    slack["room_frozen"]: high - frozen,
                },
            )
    total, total_tilde, still, still_tilde = sp.symbols("total total_tilde still still_tilde")
    require_equal(
        total * total_tilde - still * still_tilde,
        (total - still) * total_tilde + still * (total_tilde - still_tilde),
        "the change of the product",
    )
    check_omega(symbol("pi_lean"))


def _check_K_M() -> None:
    _MOVED.check_K()
    _MOVED.check_M()
