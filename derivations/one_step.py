"""What one step does to the differences of scores: signal, own weights, structure and noise.

The slope of a difference is its gain by 2 eta omega; here it is split exactly, for symbolic d, and
followed from the slopes through attention to the loss of every input. Embeddings enter through the
sequences t_j = v_j.A alone: off the positions that A is made of, v_j = s_j theta + v_j^perp gives
t_j = s_j theta.A + p_j with p_j = v_j^perp.A; on them t_j is known from rho.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("one_step")

import sympy as sp

from derivations.antisymmetric import MIRROR, kappa_value, push, push_tilde, rest_weights
from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import (
    Delta,
    E,
    Position,
    Sequence,
    Z,
    Z_tilde,
    Z_tilde_2,
    a,
    b,
    d,
    declare,
    eta,
    gamma,
    i,
    omega,
    rho,
    t,
    x,
)
from derivations.population_step.constants import defined, formulas, value
from derivations.population_step.notation import OFF_SUPPORT, C, T, p, s, share, sigma, symbol
from derivations.printing.latex import latex
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Derivation, Step
from derivations.proof.refusal import require

__all__ = [
    "along_support",
    "along_third",
    "derive",
    "k_out",
    "own_part",
    "slope_a",
    "slope_b",
    "slope_k",
]

k_out = declare(Position, "k_out", "k", integer=True, nonnegative=True)
"""A position off the support."""

p_third = declare(Sequence, "p_third", "p'", real=True)
"""v_j^perp.v_k."""

rho_ak = declare(sp.Symbol, "rho_ak", r"\rho_{ak}", real=True)
rho_bk = declare(sp.Symbol, "rho_bk", r"\rho_{bk}", real=True)

_OFF_ALL = OFF_SUPPORT - Unit(k_out)


def along_support() -> sp.Expr:
    """Return t_j = v_j.(v_a - v_b), for unit vectors."""
    return (1 - rho) * (Unit(a) - Unit(b)) + OFF_SUPPORT * (Delta * s + p)


def along_third() -> sp.Expr:
    """Return t_j = v_j.(v_a - v_k), for unit vectors; p_j is here v_j^perp.v_a."""
    known = (1 - rho_ak) * (Unit(a) - Unit(k_out)) + (rho - rho_bk) * Unit(b)
    return known + _OFF_ALL * ((Entry(s, a) - Entry(s, k_out)) * s + p - p_third)


def own_part(weights: sp.Expr) -> sp.Expr:
    """Return f_j = c_j - c(0), c(0) being the weight of a score of 0."""
    return sp.expand(weights - weights.xreplace({E: sp.S.One}))


def slope_b() -> sp.Expr:
    """Return the slope of S_a - S_b for head 1."""
    own = own_part(rest_weights())
    return (
        2 * sp.sinh(Delta) * (1 - rho)
        - (Entry(own, a) - Entry(own, b)) * (1 - rho)
        - Delta * PowerSum(OFF_SUPPORT * rest_weights() * s)
        - PowerSum(OFF_SUPPORT * rest_weights() * p)
    )


def slope_a() -> sp.Expr:
    """Return the slope of S~_b - S~_a for head 2, in the scores of head 1."""
    weights = _reflected(rest_weights())
    own = own_part(weights)
    return (
        2 * sp.sinh(Delta) * (1 - rho)
        + (Entry(own, a) - Entry(own, b)) * (1 - rho)
        + Delta * PowerSum(OFF_SUPPORT * weights * s)
        + PowerSum(OFF_SUPPORT * weights * p)
    )


def slope_k() -> sp.Expr:
    """Return the slope of S_a - S_k for head 1, k off the support."""
    weights = rest_weights()
    at = {position: Entry(weights, position) for position in (a, b, k_out)}
    score_gap = Entry(s, a) - Entry(s, k_out)
    return (
        sp.exp(Delta)
        + rho * sp.exp(-Delta)
        - (sp.exp(Delta) * rho_ak + sp.exp(-Delta) * rho_bk)
        - (at[a] - at[k_out]) * (1 - rho_ak)
        - at[b] * (rho - rho_bk)
        - score_gap * PowerSum(_OFF_ALL * weights * s)
        - PowerSum(OFF_SUPPORT * weights * p)
        + at[k_out] * Entry(p, k_out)
        + PowerSum(_OFF_ALL * weights * p_third)
    )


def derive(title: str) -> Derivation:
    """Derive the slopes, and what slopes above two thresholds do to the loss."""
    return Derivation(
        name="one_step",
        title=title,
        source="ours",
        setting=r"The antisymmetric start; $S_{j}$ are the scores after one step of size $\eta$,"
        r" and by derivation antisymmetric $S_{a} - S_{k} = s_{a} - s_{k} + 2 \eta \omega \cdot"
        r" \text{slope}_{k}$ for head 1, where $\text{slope}_{k} = e^{\Delta} v_{a} \cdot A +"
        r" e^{-\Delta} v_{b} \cdot A - \sum_{j} c_{j} v_{j} \cdot A$, $A = v_{a} - v_{k}$. Assume"
        r" $\Delta \ge 0$: head 1 must take $a$ and head 2 take $b$. $\tilde{c}$ is $c$ at $-s$."
        r" $v_{j} = s_{j} \theta + v_{j}^{\perp}$, $\rho_{ak} = v_{a} \cdot v_{k}$, $\rho_{bk} ="
        r" v_{b} \cdot v_{k}$.",
        steps=(*_slope_steps(), *_loss_steps()),
        formulas=(),
        constants=formulas("r_loss", "x_loss", "tau_0", "tau_a"),
    )


def _slope_steps() -> tuple[Step, ...]:
    return (
        Step(
            uses=("antisymmetric:weights",),
            statement=r"f_{j} = c_{j} - c(0) = K (e^{s_{j}} - 1) + M (e^{2 s_{j}} - 1), \quad K ="
            r" \kappa / Z, \quad M = \omega \tilde{Z}_{2}",
            reason=r"$c_{j} = K e^{s_{j}} + M e^{2 s_{j}} + 2 (d - 1) \omega$ is a function of"
            r" $s_{j}$; its value at $0$ is taken off.",
            check=_check_own_part,
        ),
        Step(
            label="slope-pair",
            uses=("antisymmetric:gain", "antisymmetric:signal"),
            statement=r"\text{slope}_{b} = 2 \sinh \Delta (1 - \rho) - (f_{a} - f_{b}) (1 - \rho)"
            r" - \Delta \sum_{j \notin S} c_{j} s_{j} - \sum_{j \notin S} c_{j} v_{j}^{\perp}"
            r" \cdot A, \quad A = v_{a} - v_{b}",
            reason=r"$v_{a} \cdot A = 1 - \rho = -v_{b} \cdot A$, and $v_{j} \cdot A = s_{j}"
            r" \Delta + v_{j}^{\perp} \cdot A$ as $\theta \cdot A = \Delta$. Signal, own weights,"
            r" structured part and orthogonal noise; no approximation.",
            check=lambda: _require_same(push(), along_support(), slope_b(), "the slope of b"),
        ),
        Step(
            label="slope-pair-tilde",
            uses=("slope-pair", "antisymmetric:push-tilde"),
            statement=r"\text{slope}_{a} = 2 \sinh \Delta (1 - \rho) + (\tilde{f}_{a} -"
            r" \tilde{f}_{b}) (1 - \rho) + \Delta \sum_{j \notin S} \tilde{c}_{j} s_{j} + \sum_{j"
            r" \notin S} \tilde{c}_{j} v_{j}^{\perp} \cdot A",
            reason=r"Head 2 gains along $v_{b} - v_{a} = -A$; $s \mapsto -s$ turns $c$ into"
            r" $\tilde{c}$. Checked against its own gradient.",
            check=lambda: _require_same(push_tilde(), -along_support(), slope_a(), "that of a"),
        ),
        Step(
            label="slope-ambient",
            uses=("antisymmetric:gain",),
            statement=r"\begin{aligned} \text{slope}_{k} & = e^{\Delta} + \rho e^{-\Delta} - w_{1}"
            r" \cdot v_{k} - (c_{a} - c_{k}) (1 - \rho_{ak}) - c_{b} (\rho - \rho_{bk}) \\ & -"
            r" (s_{a} - s_{k}) \sum_{j \notin S \cup k} c_{j} s_{j} - \sum_{j \notin S} c_{j}"
            r" v_{j}^{\perp} \cdot v_{a} + c_{k} v_{k}^{\perp} \cdot v_{a} + \sum_{j \notin S \cup"
            r" k} c_{j} v_{j}^{\perp} \cdot v_{k}, \quad w_{1} = e^{\Delta} v_{a} + e^{-\Delta}"
            r" v_{b} \end{aligned}",
            reason=r"For $k \notin S$: $v_{j} \cdot A$ is known for $j = a, b, k$, and for the"
            r" others $v_{j} \cdot A = s_{j} (s_{a} - s_{k}) + v_{j}^{\perp} \cdot (v_{a} -"
            r" v_{k})$. Head 2 has the same formula with $v_{b}$ for $v_{a}$, $-s$ for $s$ and"
            r" $\tilde{c}$ for $c$; the vectors $v_{j}^{\perp}$ are the same.",
            check=lambda: _require_same(push(), along_third(), slope_k(), "the slope of k"),
        ),
        Step(
            uses=("slope-ambient",),
            statement=r"|w_{1}|^{2} = 2 \cosh 2 \Delta + 2 \rho",
            reason=r"$v_{a}$ and $v_{b}$ are unit vectors with $v_{a} \cdot v_{b} = \rho$.",
            check=lambda: require_equal(
                sp.exp(Delta) ** 2 + sp.exp(-Delta) ** 2 + 2 * rho,
                2 * sp.cosh(2 * Delta) + 2 * rho,
                "the square of w_1",
            ),
        ),
    )


def _loss_steps() -> tuple[Step, ...]:
    return (
        Step(
            label="pair",
            uses=("antisymmetric:gain",),
            statement=rf"2 \eta \omega \cdot \text{{slope}}_{{b}} \ge \log \frac{{1}}{{\varsigma"
            rf" x_{{T}}}} \text{{ if }} \eta \ge C d^{{2}}, \text{{slope}}_{{b}} \ge \tau_{{0}},"
            rf" \quad {defined('tau_0')}; \quad \gamma_{{b}} \le \varsigma x_{{T}} \gamma_{{a}}",
            reason=r"$\omega \ge \omega_{-} / d^{2}$ and $\gamma_{b} / \gamma_{a} = e^{-(S_{a} -"
            r" S_{b})}$, where the scores before the step differ by $\Delta \ge 0$. The same for"
            r" all such $\eta$ at once.",
            check=_check_step_size_for_b,
        ),
        Step(
            label="ambient",
            uses=("antisymmetric:gain",),
            statement=rf"\sum_{{k \notin S}} \gamma_{{k}} \le (1 - \varsigma) x_{{T}} \gamma_{{a}}"
            rf" \text{{ if all }} \text{{slope}}_{{k}} \ge \tau_{{a}}, \quad {defined('tau_a')}",
            reason=r"The scores before the step differ by at least $-2 \sigma$, so each"
            r" $\gamma_{k} / \gamma_{a}$ is at most $(1 - \varsigma) x_{T} / d$, and there are $d"
            r" - 2$ of them.",
            check=_check_step_size_for_k,
        ),
        Step(
            label="share",
            uses=("pair", "ambient"),
            statement=r"\gamma_{a} \ge \frac{1}{1 + x_{T}} = \frac{1 + \sqrt{r_{T}}}{2}, \quad"
            rf" {defined('x_loss')}",
            reason=r"$1 = \gamma_{a} + \gamma_{b} + \sum_{k} \gamma_{k} \le (1 + x_{T})"
            r" \gamma_{a}$. Head 2 in the same way with $b$.",
            check=_check_attention,
        ),
        Step(
            label="heads",
            uses=("share",),
            statement=r"x_{a} p \ge 2 \gamma_{a} - 1 \ge \sqrt{r_{T}}, \quad x_{b} q \ge 2"
            r" \tilde{\gamma}_{b} - 1 \ge \sqrt{r_{T}} \text{ for every input}",
            reason=r"$x_{a} p + 1 - 2 \gamma_{a} = \sum_{j \ne a} \gamma_{j} (1 + x_{a} x_{j}) \ge"
            r" 0$.",
            check=_check_heads,
        ),
        Step(
            label="loss",
            uses=("heads", "worst_case:square", "worst_case:masses"),
            statement=rf"(f - y)^{{2}} \le (1 - r_{{T}})^{{2}} \le T, \quad {defined('r_loss')}",
            reason=r"$(f - y)^{2} = (1 - v)^{2}$ with $r_{T} \le v = x_{a} x_{b} p q \le 1$"
            r" (derivation worst_case). $1 - r_{T}$ is the smaller of $1$ and $\sqrt{T}$.",
            check=_check_loss,
        ),
    )


def _reflected(expr: sp.Expr) -> sp.Expr:
    return expr.xreplace(MIRROR).xreplace({Z_tilde: 1 / (omega * Z)})


def _require_same(pushed: sp.Expr, direction: sp.Expr, slope: sp.Expr, what: str) -> None:
    """Return if a push along a direction is the slope; E_a = e^Delta E_b on both sides."""
    growth = {Entry(E, a): sp.exp(Delta) * Entry(E, b)}
    along = sp.expand(pushed).xreplace({t: direction})
    require_equal(along.xreplace(growth), slope.xreplace(growth), what)


def _check_own_part() -> None:
    K, M = kappa_value() / Z, omega * Z_tilde_2
    found = Entry(own_part(rest_weights()), i)
    require_equal(found, Entry(K * (E - 1) + M * (E**2 - 1), i), f"f_i and {latex(found)}")


def _check_step_size_for_b() -> None:
    slope, more, above, beyond = sp.symbols("slope more above beyond", nonnegative=True)
    threshold = 2 * C * symbol("omega_low") * value("tau_0")
    log = sp.log(1 / (share * symbol("x_loss")))
    require(threshold == sp.Max(0, log), f"the gain at the threshold is {threshold}")
    require_equal(sp.exp(-log), share * symbol("x_loss"), "the ratio at the threshold")
    tau = symbol("tau_0")
    require_at_least(
        2 * eta * omega * slope,
        2 * C * symbol("omega_low") * tau,
        2 * omega * more * slope + 2 * C * above * slope + 2 * C * symbol("omega_low") * beyond,
        "the gain and its bound",
        slacks={
            more: eta - C * d**2,
            above: d**2 * omega - symbol("omega_low"),
            beyond: slope - tau,
        },
    )


def _check_step_size_for_k() -> None:
    threshold = 2 * C * symbol("omega_low") * value("tau_a")
    gain = sp.log(d / ((1 - share) * symbol("x_loss"))) + 2 * sigma
    require(threshold == sp.Max(0, gain), f"the gain at the threshold is {threshold}")
    ratio = sp.expand(sp.exp(2 * sigma - gain), power_exp=False)
    require_equal(ratio, (1 - share) * symbol("x_loss") / d, "the ratio at the threshold")
    others, each, left, two = sp.symbols("others each left two", nonnegative=True)
    weight = sp.Symbol("weight", positive=True)
    require_at_least(
        (1 - share) * symbol("x_loss") * weight,
        (d - 2) * each,
        others * left + 2 * two * weight * symbol("x_loss") / d,
        "the weights of the others",
        slacks={
            others: d - 2,
            left: (1 - share) * symbol("x_loss") * weight / d - each,
            two: 1 - share,
        },
    )


def _check_attention() -> None:
    own, other, rest = sp.symbols("own other rest", positive=True)
    room, room_rest = sp.symbols("room room_rest", nonnegative=True)
    at, root = symbol("x_loss"), sp.Symbol("root", nonnegative=True)
    require_at_least(
        own / (own + other + rest),
        1 / (1 + at),
        (room + room_rest) / ((1 + at) * (own + other + rest)),
        "gamma_a and 1/(1+x)",
        slacks={room: share * at * own - other, room_rest: (1 - share) * at * own - rest},
    )
    x_value = value("x_loss").xreplace({sp.sqrt(symbol("r_loss")): root})
    require_equal(1 / (1 + x_value), (1 + root) / 2, "1/(1+x) and (1 + sqrt r)/2")


def _check_heads() -> None:
    x_a = Entry(x, a)
    left = sp.expand(x_a * PowerSum(gamma * x) + PowerSum(gamma) - 2 * Entry(gamma, a))
    others = sp.expand(PowerSum((1 - Unit(a)) * gamma * (1 + x_a * x)))
    signs = {x_a**2: sp.S.One}
    require_equal(left.xreplace(signs), others.xreplace(signs), "x_a p + 1 - 2 gamma_a")
    for sign in (-1, 1):
        for other in (-1, 1):
            term = Entry(gamma, i) * (1 + sign * other)
            require_at_least(term, sp.S.Zero, term, "one of the terms")
    root, room = sp.symbols("root room", nonnegative=True)
    weight = sp.Symbol("weight", positive=True)
    require_at_least(
        2 * weight - 1, root, 2 * room, "2 gamma - 1", slacks={room: weight - (1 + root) / 2}
    )


def _check_loss() -> None:
    r = sp.Symbol("r", real=True)
    product, root = sp.symbols("product root", real=True)
    above, below, left, right = sp.symbols("above below left right", nonnegative=True)
    require_at_least(
        (1 - r) ** 2,
        (1 - product) ** 2,
        above * (above + 2 * below),
        "the squares",
        slacks={above: product - r, below: 1 - product},
    )
    # v is at least r = sqrt(r) sqrt(r): both factors are at least sqrt(r) >= 0.
    size, size_tilde = sp.symbols("size size_tilde", nonnegative=True)
    least = sp.Symbol("least", nonnegative=True)
    require_at_least(
        size * size_tilde,
        least**2,
        left * size_tilde + least * right,
        "the product of the heads",
        slacks={left: size - least, right: size_tilde - least},
    )
    require(value("r_loss") == sp.Max(0, 1 - sp.sqrt(T)), "r is not the larger of 0 and 1 - sqrt T")
    require_equal((1 - (1 - sp.sqrt(T))) ** 2, T, "the square at r = 1 - sqrt T")
    over = sp.Symbol("over", nonnegative=True)
    require_at_least(root**2, sp.S.One, over * (over + 2), "T where r = 0", slacks={over: root - 1})
