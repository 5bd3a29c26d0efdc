"""What changes in attention and its motion when the lean y is put to 0.

Steps of `derivations.corollary3`.

Along n = A/|A|: off the support t_j = s_j y + sqrt(1 - y^2) t_j^o, and on it t_a = -t_b stays.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import E, Z, a, b, d, declare, rho, u
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import OFF_SUPPORT, h, q, rho_0, s, sigma, symbol, y_high
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step
from derivations.proof.refusal import require
from derivations.sample_step.frozen_lean import OWN
from derivations.sample_step.notation import y_I

__all__ = ["steps"]

_Z_frozen = declare(sp.Symbol, "Z_frozen", r"Z^{\circ}", positive=True)

_share = symbol("zeta") / (d * symbol("Z_low"))
"""Bounds |Z - Z^o| / Z, by which all weights off the support change."""

_N, _high, _spread, _mean = (
    symbol(name) for name in ("N_norm", "gamma_high", "R_high", "tau_mean")
)


def steps() -> tuple[Step, ...]:
    """Return the steps from the attention to its motion r along the support."""
    return (
        Step(
            label="moved-attention",
            uses=("attention-norm", "moved-scores", "moved-sums"),
            statement=r"|\gamma - \gamma^{\circ}|, |\tilde{\gamma} - \tilde{\gamma}^{\circ}| \le"
            r" N', \quad |\gamma_{a} - \gamma_{a}^{\circ}|, |\gamma_{b} - \gamma_{b}^{\circ}| \le"
            rf" s', \quad {defined('N_move')}, \quad {defined('s_move')}",
            reason=r"$\gamma - \gamma^{\circ} = (E - E^{\circ}) / Z + \gamma^{\circ} (Z^{\circ} -"
            r" Z) / Z$, where $E - E^{\circ}$ is $0$ off $S$ and at most $\zeta / 2$ on it.",
            check=_check_attention,
        ),
        Step(
            label="energy",
            uses=("frozen",),
            statement=r"\sum_{i} t_{i}^{2}, \sum_{i} t_{i}^{\circ 2} \le \mathcal{E}, \quad"
            rf" {defined('E_support')}",
            reason=r"Off the event of the energy $\sum_{i \notin S} t_{i}^{2} \le q_{E} d$;"
            r" $\sqrt{1 - y^{2}} t_{i}^{\circ} = t_{i} - s_{i} y$ off $S$, where the triangle"
            r" inequality applies; and $t_{a}^{2} + t_{b}^{2} = 1 - \rho$.",
            check=_check_energy,
        ),
        Step(
            label="centred-bounds",
            uses=("attention-norm", "centred", "energy"),
            statement=r"|r|, |r^{\circ}| \le R_{+}, \quad |\bar{t}|, |\bar{t}^{\circ}| \le \tau,"
            rf" \quad {defined('R_high')}, \quad {defined('tau_mean')}",
            reason=r"$|r|^{2} \le \gamma_{+}^{2} \sum_{i} t_{i}^{2}$ and $\bar{t}^{2} \le"
            r" \gamma_{+} \sum_{i} t_{i}^{2}$, frozen or not.",
            check=_check_spread,
        ),
        Step(
            label="mean-split",
            uses=("frozen",),
            statement=r"\bar{t} - \bar{t}^{\circ} = (\gamma_{a} - \gamma_{b}) t_{a} +"
            r" \frac{Z^{\circ} - Z}{Z} \bar{t}^{\circ} + y \sum_{i \notin S} \gamma_{i} s_{i} - (1"
            r" - \sqrt{1 - y^{2}}) \sum_{i \notin S} \gamma_{i} t_{i}^{\circ}",
            reason=r"$t_{b} = -t_{a}$, and the two frozen weights of $S$ are equal; off $S$"
            r" $\gamma_{i} Z = \gamma_{i}^{\circ} Z^{\circ}$.",
            check=_check_mean_identity,
        ),
        Step(
            label="moved-mean",
            uses=("moved-sums", "moved-attention", "centred-bounds", "mean-split"),
            statement=rf"|\bar{{t}} - \bar{{t}}^{{\circ}}| \le \tau', \quad {defined('tau_move')}",
            reason=r"The four terms: $|\gamma_{a} - \gamma_{b}| \le 2 s'$; $|\sum_{i \notin S}"
            r" s_{i} e^{s_{i}}| \le h d + q d (e^{\sigma} - 1) / \sigma$, as $(e^{u} - 1) / u ="
            r" \int_{0}^{1} e^{u w} \mathrm{d} w$ increases; and $(\sum_{i \notin S} \gamma_{i}"
            r" t_{i}^{\circ})^{2} \le \sum_{i} \gamma_{i} t_{i}^{\circ 2} \le \tau^{2}$; $1 -"
            r" \sqrt{1 - y^{2}} \le y^{2}$.",
            check=_check_mean,
        ),
        Step(
            label="moved-centred",
            uses=("moved-sums", "moved-attention", "centred-bounds", "moved-mean"),
            statement=rf"|r - r^{{\circ}}| \le R', \quad {defined('R_move')}",
            reason=r"$r_{i} - r_{i}^{\circ} = (\gamma_{i} - \gamma_{i}^{\circ}) (t_{i}^{\circ} -"
            r" \bar{t}^{\circ}) + \gamma_{i} (t_{i} - t_{i}^{\circ}) - \gamma_{i} (\bar{t} -"
            r" \bar{t}^{\circ})$. On $S$ the first term is at most $s' (|t_{a}| + \tau)$; off it"
            r" the first is $\gamma_{i}^{\circ} (t_{i}^{\circ} - \bar{t}^{\circ})$ times"
            r" $(Z^{\circ} - Z) / Z$, and the second $\gamma_{i} (y s_{i} - (1 - \sqrt{1 - y^{2}})"
            r" t_{i}^{\circ})$.",
            check=_check_spread_moves,
        ),
    )


def _check_attention() -> None:
    zeta, low = symbol("zeta"), symbol("Z_low")
    term = sp.Symbol("term", real=True)
    E_frozen, Z_now, Z_then = sp.symbols("E_frozen Z_now Z_then", positive=True)
    require_equal(
        term / Z_now - E_frozen / Z_then,
        (term - E_frozen) / Z_now + E_frozen / Z_then * (Z_then - Z_now) / Z_now,
        "the change of a weight",
    )
    mean = sp.Symbol("mean", positive=True)  # Z/d
    first, second = sp.symbols("first second", nonnegative=True)  # |E - E^o| at a and at b
    length, moved, norm = sp.symbols("length moved norm", nonnegative=True)
    near_a, near_b, above, room, left, closer = sp.symbols(
        "near_a near_b above room left closer", nonnegative=True
    )
    require_at_least(
        zeta**2 / 2,
        first**2 + second**2,
        near_a * (zeta / 2 + first) + near_b * (zeta / 2 + second),
        "the change on S",
        slacks={near_a: zeta / 2 - first, near_b: zeta / 2 - second},
    )
    # length is |E - E^o|, moved is |Z - Z^o|, norm is |gamma^o|.
    root = sp.Symbol("root", positive=True)  # 1/sqrt(2)
    require_at_least(
        value("N_move").subs(1 / sp.sqrt(2), root),
        (length + norm * moved) / (d * mean),
        (closer + left * zeta + norm * room) / (d * mean)
        + (root + _N) * zeta * above / (d * mean * low),
        "N' and the change of the attention",
        slacks={
            closer: root * zeta - length,
            room: zeta - moved,
            left: _N - norm,
            above: mean - low,
        },
    )
    growth, wide = sp.symbols("growth wide", positive=True)  # e^sigma, e^delta - 1
    frozen_mean = sp.Symbol("frozen_mean", positive=True)  # Z^o/d
    size = sp.Symbol("size", positive=True)  # e^(s^o)
    above_frozen, below = sp.symbols("above_frozen below", nonnegative=True)
    bound = value("s_move").xreplace({sp.exp(sigma): growth, sp.exp(symbol("delta_s")): wide + 1})
    require_at_least(
        bound,
        first / (d * mean) + size * moved / (d**2 * mean * frozen_mean),
        near_a / (d * low)
        + first * above / (d * mean * low)
        + (below * zeta + size * room) / (d**2 * low**2)
        + size
        * moved
        * (above * frozen_mean + low * above_frozen)
        / (d**2 * low**2 * mean * frozen_mean),
        "s' and the change of a weight on S",
        slacks={
            near_a: growth * wide - first,
            below: growth - size,
            room: zeta - moved,
            above: mean - low,
            above_frozen: frozen_mean - low,
        },
    )


def _check_energy() -> None:
    level, inside = sp.symbols("level inside", nonnegative=True)  # sqrt(q_E d), sqrt(q d)
    size, root, y = sp.symbols("size root y", nonnegative=True)
    least = sp.Symbol("least", positive=True)  # sqrt(1 - y_I^2)
    room, longer, overlap, nearer = sp.symbols("room longer overlap nearer", nonnegative=True)
    in_roots = {
        sp.sqrt(symbol("q_E") * d): level,
        sp.sqrt(q * d): inside,
        1 - y_I**2: least**2,
    }
    bound = value("E_support").subs(in_roots)
    most = level + y_I * inside
    # size is the norm of t^o off S, with size sqrt(1 - y^2) <= level + y inside.
    require_at_least(
        bound,
        size**2 + 1 - rho,
        (room + nearer * inside) * (most + size * root) / least**2
        + size**2 * longer * (root + least) / least**2
        + overlap,
        "the frozen energy",
        slacks={
            room: level + y * inside - size * root,
            nearer: y_I - y,
            longer: root - least,
            overlap: rho_0 + rho,
        },
    )
    energy = sp.Symbol("energy", nonnegative=True)
    more, below = sp.symbols("more below", nonnegative=True)
    require_at_least(
        bound.xreplace({least: sp.sqrt(1 - y_I**2)}),
        energy + 1 - rho,
        (2 * level * y_I * inside + y_I**2 * inside**2 + y_I**2 * level**2) * more
        + below
        + overlap,
        "the energy",
        slacks={more: 1 / (1 - y_I**2), below: level**2 - energy, overlap: rho_0 + rho},
    )
    require_equal(
        value("E_support"),
        (sp.sqrt(symbol("q_E") * d) + y_I * sp.sqrt(q * d)) ** 2 / (1 - y_I**2) + 1 + rho_0,
        "the two roots",
    )
    require_equal(2 * ((1 - rho) / 2), 1 - rho, "t_a^2 + t_b^2")


def _check_spread() -> None:
    energy = symbol("E_support")
    require(value("R_high") == sp.sqrt(_high**2 * energy), "not the root of the bound of |r|^2")
    require(value("tau_mean") == sp.sqrt(_high * energy), "not the root of the bound of tbar^2")


def _check_mean_identity() -> None:
    # u is t^o off the support; E is e^s there, and on the support before freezing.
    y, root, own, frozen = sp.symbols("y root own frozen", real=True)
    along = OFF_SUPPORT * (y * s + root * u) + own * (Unit(a) - Unit(b))
    mean = PowerSum(E * along) / Z
    grown = OFF_SUPPORT * E + frozen * (Unit(a) + Unit(b))
    mean_frozen = PowerSum(grown * (OFF_SUPPORT * u + own * (Unit(a) - Unit(b)))) / _Z_frozen
    require_equal(
        mean - mean_frozen,
        (Entry(E, a) - Entry(E, b)) / Z * own
        + (_Z_frozen - Z) / Z * mean_frozen
        + y * PowerSum(OFF_SUPPORT * E * s) / Z
        - (1 - root) * PowerSum(OFF_SUPPORT * E * u) / Z,
        "the change of the mean",
    )


def _check_mean() -> None:
    tau, drift = sp.symbols("tau drift", positive=True)
    gap, own, relative, shift, fall, inner, mean = sp.symbols(
        "gap own relative shift fall inner mean", nonnegative=True
    )
    y, width = sp.symbols("y width", nonnegative=True)
    names = ("support", "wide", "total", "mean", "lean", "drift", "curve", "inner", "reach")
    slack = {name: sp.Symbol(f"slack_{name}", nonnegative=True) for name in names}
    rate = (h + q * (sp.exp(sigma) - 1) / sigma) / symbol("Z_low")
    bound = value("tau_move").subs(OWN, width)
    # |gamma_a - gamma_b| = gap, |t_a| = own, |Z^o - Z|/Z = relative, |tbar^o| = mean,
    # |sum gamma_i s_i| = shift, 1 - sqrt(1 - y^2) = fall, |sum gamma_i t_i^o| = inner.
    require_at_least(
        bound,
        gap * own + relative * mean + y * shift + fall * inner,
        slack["support"] * width
        + gap * slack["wide"]
        + slack["total"] * tau
        + relative * slack["mean"]
        + slack["lean"] * drift
        + y * slack["drift"]
        + slack["lean"] * (y_high + y) * tau
        + slack["curve"] * tau
        + fall * slack["inner"],
        "tau' and the change of the mean",
        slacks={
            tau: _mean,
            drift: rate,
            slack["support"]: 2 * symbol("s_move") - gap,
            slack["wide"]: width - own,
            slack["total"]: _share - relative,
            slack["mean"]: _mean - mean,
            slack["lean"]: y_high - y,
            slack["drift"]: rate - shift,
            slack["curve"]: y**2 - fall,
            slack["inner"]: _mean - inner,
        },
    )
    _check_drift()
    # gamma_a - gamma_b = (gamma_a - gamma_a^o) - (gamma_b - gamma_b^o).
    first, second = sp.symbols("first second", nonnegative=True)
    move_a, move_b = sp.symbols("move_a move_b", real=True)
    s_move = symbol("s_move")
    for sign in (1, -1):
        require_at_least(
            2 * s_move,
            sign * (move_a - move_b),
            first + second,
            "2 s' and the difference of the two weights",
            slacks={first: s_move - sign * move_a, second: s_move + sign * move_b},
        )


def _check_drift() -> None:
    """Check the bound of sum_{i not in S} s_i e^(s_i) / Z."""
    rate, squares, room, terms, above = sp.symbols(
        "rate squares room terms above", nonnegative=True
    )
    growth = (sp.exp(sigma) - 1) / sigma
    total = PowerSum(OFF_SUPPORT * s * E)
    for sign in (1, -1):
        require_at_least(
            d * (h + q * growth),
            sign * total,
            room + rate * squares + terms,
            "the sum of s e^s",
            slacks={
                rate: growth,
                room: h * d - sign * PowerSum(OFF_SUPPORT * s),
                squares: q * d - PowerSum(OFF_SUPPORT * s**2),
                terms: PowerSum(OFF_SUPPORT * (growth * s**2 - sign * s * (E - 1))),
            },
        )
    mean, size, most = sp.symbols("mean size most", positive=True)  # Z/d, the sum by d, its bound
    low = symbol("Z_low")
    require_at_least(
        most / low,
        size / mean,
        (room * mean + size * above) / (mean * low),
        "the sum by Z",
        slacks={room: most - size, above: mean - low},
    )
    x, w = sp.symbols("x w", positive=True)
    found = sp.integrate(sp.exp(x * w), (w, 0, 1))
    require_equal(found, (sp.exp(x) - 1) / x, "(e^u - 1)/u as an integral")


def _check_spread_moves() -> None:
    weight, frozen, along, along_frozen = sp.symbols("weight frozen along along_frozen")
    mean, mean_frozen, ratio = sp.symbols("mean mean_frozen ratio")
    require_equal(
        weight * (along - mean) - frozen * (along_frozen - mean_frozen),
        (weight - frozen) * (along_frozen - mean_frozen)
        + weight * (along - along_frozen)
        - weight * (mean - mean_frozen),
        "the change of r",
    )
    # Off S the weight is frozen Z^o / Z.
    require_equal(
        (weight - frozen).subs(weight, frozen * (1 + ratio)), frozen * ratio, "the weight off S"
    )
    _check_norms()


def _check_norms() -> None:
    """Check R' against the norms of the parts: on S, three off it, and the mean's."""
    width, moved, own, tau = sp.symbols("width moved own tau", nonnegative=True)
    relative, lengths, scaled, y, fall = sp.symbols(
        "relative lengths scaled y fall", nonnegative=True
    )
    inner, drift, norm, shift = sp.symbols("inner drift norm shift", nonnegative=True)
    root, inside = sp.symbols("root inside", positive=True)  # sqrt(2), sqrt(q d)
    names = (
        *("support", "wide", "mean", "share", "spread", "both", "lean", "scores", "curve"),
        *("inner", "norm", "shift"),
    )
    slack = {name: sp.Symbol(f"slack_{name}", nonnegative=True) for name in names}
    bound = value("R_move").subs({OWN: width, sp.sqrt(2): root, sp.sqrt(q * d): inside})
    s_move, tau_move = symbol("s_move"), symbol("tau_move")
    require_at_least(
        bound,
        root * moved * (own + tau)  # on S, |gamma_a - gamma_a^o| = moved, twice
        + relative * (lengths + scaled)  # |gamma^o t^o| and |gamma^o| |tbar^o|
        + y * drift  # |gamma s| off S
        + fall * inner  # |gamma t^o| off S
        + norm * shift,  # |gamma| |tbar - tbar^o|
        root * slack["support"] * (width + _mean)
        + root * moved * (slack["wide"] + slack["mean"])
        + slack["share"] * (_spread + _N * _mean)
        + relative * (slack["spread"] + slack["both"])
        + slack["lean"] * _high * inside
        + y * slack["scores"]
        + (slack["lean"] * (y_high + y) + slack["curve"]) * _spread
        + fall * slack["inner"]
        + slack["norm"] * tau_move
        + norm * slack["shift"],
        "R' and the change of r",
        slacks={
            slack["support"]: s_move - moved,
            slack["wide"]: width - own,
            slack["mean"]: _mean - tau,
            slack["share"]: _share - relative,
            slack["spread"]: _spread - lengths,
            slack["both"]: _N * _mean - scaled,
            slack["lean"]: y_high - y,
            slack["scores"]: _high * inside - drift,
            slack["curve"]: y**2 - fall,
            slack["inner"]: _spread - inner,
            slack["norm"]: _N - norm,
            slack["shift"]: tau_move - shift,
        },
    )
