"""How likely one step is to fail at least: both heads are pushed to the same position of S.

`population_step.two_heads` reduces that to an interval of the lean between two frozen noises; here
its mean length is bounded from below.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("converse")

import sympy as sp

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.notation import a, b, rho
from derivations.population_step import noise_moments, two_heads
from derivations.population_step.constants import defined, formulas, value
from derivations.population_step.notation import (
    T_rho,
    T_sigma,
    T_y,
    l_f,
    m,
    phi_m,
    symbol,
    y_1,
)
from derivations.printing.latex import latex
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.lemmas import (
    COORDINATE_LAW,
    COORDINATE_TAIL,
    INVARIANCE,
    JENSEN,
    NEGATIVE_MOMENTS,
    SUB_GAUSSIAN,
    UNION_BOUND,
)
from derivations.proof.refusal import require

__all__ = ["derive"]

_HEADS, _SIGNS = 2, 2
_fast, _slow = 1 / symbol("g_zero"), symbol("I_1") / (2 * symbol("alpha_slope"))


def derive(title: str) -> Derivation:
    """Derive a lower bound of the probability that one step fails for all large enough steps."""
    return Derivation(
        name="converse",
        title=title,
        source="ours",
        setting=r"As in derivations theorem2, score_bounds and one_step, all constants at $D = 2"
        r" y_{1}$; $|\rho| \le \rho_{0} < c$, $0 < y_{1} < 1$, $\bar{c} \le 1$, $a^{2} > 0$. $Y$"
        r" is the orthogonal noise of a head in units of $|A|$; $W^{\circ} = \sum_{j \notin S}"
        r" c_{j}^{\circ} v_{j}^{\perp}$, and $\tilde{W}^{\circ}$ with $\tilde{c}^{\circ}$. $n = A"
        r" / |A| = y \theta + \sqrt{1 - y^{2}} n'$, $\zeta = y / \sqrt{1 - y^{2}}$, $H ="
        r" W^{\circ} \cdot n'$, $\tilde{H} = -\tilde{W}^{\circ} \cdot n'$. $x_{+}$ is the larger of"
        r" $x$ and $0$.",
        steps=(
            *two_heads.steps(),
            *noise_moments.steps(),
            *_gain_steps(),
            *_loss_steps(),
            _total(),
        ),
        formulas=(),
        constants=formulas(
            *("p_scores", "g_rho", "t_prime", "t_second", "a_square", "E_W", "E_3"),
            "failure_lower",
        ),
    )


def _gain_steps() -> tuple[Step, ...]:
    return (
        Step(
            label="inverse",
            uses=(
                "slope",
                "theorem2:largest-score",
                "theorem2:sum-of-scores",
                "theorem2:sum-of-squares",
                "theorem2:overlap",
            ),
            statement=r"\mathbb{E} [1 / g^{+}(\rho); |\rho| \le \rho_{0}] \ge \frac{1 - 2"
            r" T_{m}(\rho_{0})}{g^{+}(0)}, \quad (1 - p) (1 - 2 T_{m}(\rho_{0})) \ge 1 - p - 2"
            rf" T_{{m}}(\rho_{{0}}), \quad {defined('p_scores')}",
            reason=r"$g^{+}$ is affine in $\rho$, whose law given $|\rho| \le \rho_{0}$ is"
            r" symmetric: its mean is $g^{+}(0)$. $p$ bounds the probability of the events on the"
            r" scores.",
            check=_check_jensen,
            method=Method.LEMMA,
            lemmas=(JENSEN, COORDINATE_TAIL, UNION_BOUND),
        ),
        Step(
            label="gain",
            uses=("direction", "norm", "inverse"),
            statement=r"\phi_{m} \mathbb{E} \left[\frac{|\bar{W} \cdot n'| - t''}{g^{+}}\right]"
            rf" \ge {latex(_gain())} - {latex(phi_m * symbol('t_second') * _fast)}"
            r" \text{ if not negative}",
            reason=r"$\rho$ is independent of $\bar{W} \cdot n'$, so the expectation is a product."
            r" If its first factor is negative, the right side is too, and so is the whole bound,"
            r" as everything else in it is taken off: then there is nothing to show.",
            check=_check_gain,
            method=Method.LEMMA,
            lemmas=(INVARIANCE, JENSEN),
        ),
    )


def _loss_steps() -> tuple[Step, ...]:
    return (
        Step(
            label="both",
            uses=(
                "slope",
                "average",
                "direction",
                "inverse",
                "score_bounds:moved-norm",
                "score_bounds:weights",
                "theorem2:mean-inverse",
            ),
            statement=r"\phi_{m} \mathbb{E} \left[\min(H, \tilde{H})_{+} (1 / g - 1 / g^{+})"
            r"\right] \le \frac{R}{2 \pi} \left(\frac{I_{1}}{2 \alpha} - \frac{1 - 2"
            r" T_{m}(\rho_{0})}{g^{+}(0)}\right), \quad \phi_{m} \mathbb{E} \frac{t''}{g} \le"
            r" \phi_{m} t'' \frac{I_{1}}{2 \alpha}",
            reason=r"$\min(H, \tilde{H})_{+} \le ((H + \tilde{H}) / 2)_{+}$, with mean half that"
            r" of its size; $(H + \tilde{H}) / 2$ has the weights $(c^{\circ} - \tilde{c}^{\circ})"
            r" / 2$, of norm at most $R$, as both have the same mean. $\mathbb{E} [1 / g; \rho \le"
            r" \rho_{0}] \le I_{1} / (2 \alpha)$ by derivation theorem2, and Jensen for $1 /"
            r" g^{+}$.",
            check=_check_both,
            method=Method.LEMMA,
            lemmas=(JENSEN, INVARIANCE, NEGATIVE_MOMENTS),
        ),
        Step(
            label="rest",
            uses=("slope", "frozen", "score_bounds:norm", "theorem2:density", "theorem2:tail"),
            statement=rf"P(\text{{what is left out}}) \le {latex(_left_out())}",
            reason=r"For both signs of $\Delta$: a score of the support above $\sigma$, two"
            r" positions; $y > y_{1}$ although one of $H$, $\tilde{H}$ exceeds $g^{+} \zeta \ge"
            r" g^{+}(\rho_{0}) y_{1}$, which is independent of $y$; and $y \le y_{1}$ although"
            r" freezing moves one of both $Y$ by more than $t'$.",
            check=_check_left_out,
            method=Method.LEMMA,
            lemmas=(COORDINATE_TAIL, COORDINATE_LAW, SUB_GAUSSIAN, UNION_BOUND),
        ),
    )


def _gain() -> sp.Expr:
    kept = 1 - symbol("p_scores") - 2 * T_rho
    return kept * symbol("E_W") * _fast / sp.pi


def _left_out() -> sp.Expr:
    g = symbol("g_rho_0")
    miss = sp.exp(-(m - 1) * (g * y_1) ** 2 / (2 * symbol("w") ** 2))
    return 4 * T_sigma + 4 * T_y * miss + 8 * phi_m * y_1 * sp.exp(-l_f)


def _total() -> Step:
    return Step(
        uses=("limit", "signs", "interval", "average", "third", "gain", "both", "rest"),
        statement=rf"P(\text{{one step fails for all large }} \eta) \ge"
        rf" {defined('failure_lower')}",
        reason=r"The steps before, put together: both signs of $\Delta$ of the gain less the three"
        r" losses, and less what is left out.",
        check=_check_total,
    )


def _check_jensen() -> None:
    g = value("g_rho")
    require_equal(sp.diff(g, rho, 2), sp.S.Zero, "g+ is affine in rho")
    require_equal((g + g.subs(rho, -rho)) / 2, g.subs(rho, 0), "its mean")
    p, t = sp.symbols("p t", nonnegative=True)
    require_at_least((1 - p) * (1 - 2 * t), 1 - p - 2 * t, 2 * p * t, "the product")
    total = symbol("largest_score") + symbol("sum_of_scores") + symbol("sum_of_squares")
    require_equal(value("p_scores"), total, "p and the three events")


def _check_gain() -> None:
    # mean = phi E|W.n'| over the good scores, loss = phi t'', chance = P(|rho| <= rho_0).
    mean, loss, inverse, chance, bound = sp.symbols(
        "mean loss inverse chance bound", nonnegative=True
    )
    first, more, kept, outside = sp.symbols("first more kept outside", nonnegative=True)
    g_zero = symbol("g_zero")
    require_at_least(
        (mean - loss) * inverse,
        (bound - loss) / g_zero,
        first * more + (kept + loss * outside) / g_zero,
        "the product and its bound",
        slacks={
            first: mean - loss,
            more: inverse - chance / g_zero,
            kept: mean * chance - bound,
            outside: 1 - chance,
        },
    )
    require_at_least(
        sp.S.Zero,
        (bound - loss) / g_zero,
        (first + kept + mean * outside) / g_zero,
        "a negative first factor",
        slacks={first: loss - mean, kept: mean * chance - bound, outside: 1 - chance},
    )


def _check_both() -> None:
    R = symbol("R")
    first, second, half = sp.symbols("first second half", nonnegative=True)
    H, H_tilde = sp.symbols("H H_tilde", real=True)
    require_at_least(
        (H + H_tilde) / 2, H, half, "the mean and the smaller", slacks={half: (H_tilde - H) / 2}
    )
    size, size_tilde = sp.symbols("size size_tilde", nonnegative=True)
    require_at_least(
        R,
        (size + size_tilde) / 2,
        (first + second) / 2,
        "R and half the norm of the difference",
        slacks={first: R - size, second: R - size_tilde},
    )
    # Half of phi_m E |n'_1| = 1/pi, times the mean norm, times the mean of 1/g - 1/g+.
    expected = sp.Rational(1, 2) / sp.pi * (_slow - (1 - 2 * T_rho) * _fast)
    found = -sp.expand(value("failure_lower")).coeff(R) / _SIGNS
    require_equal(found, expected, "the loss in units of R")


def _check_left_out() -> None:
    g, w = symbol("g_rho_0"), symbol("w")
    scores = _SIGNS * PowerSum(Unit(a) + Unit(b)) * T_sigma
    exponent = (g * y_1) ** 2 * (m - 1) / (2 * w**2)
    far = _SIGNS * _HEADS * T_y * sp.exp(-exponent)
    thawed = _SIGNS * _HEADS * 2 * phi_m * y_1 * sp.exp(-l_f)
    _require_equal_terms(_left_out(), scores + far + thawed)
    zeta_over_y = sp.Symbol("zeta_over_y", positive=True)
    above, longer = sp.symbols("above longer", nonnegative=True)
    y = sp.Symbol("y", nonnegative=True)
    require_at_least(
        y * zeta_over_y,
        y_1,
        above * zeta_over_y + y_1 * longer,
        "zeta and y_1",
        slacks={above: y - y_1, longer: zeta_over_y - 1},
    )


def _require_equal_terms(left: sp.Expr, right: sp.Expr) -> None:
    """Return if two expressions with exponentials of whole formulas are equal, term by term."""
    rest = sp.expand(left) - sp.expand(right)
    require(sp.expand(rest) == 0, f"left over: {rest}")


def _check_total() -> None:
    w_cube = symbol("E_3") / symbol("g_rho_0") ** 3
    gain = _gain() - phi_m * symbol("t_second") * (_fast + _slow)
    both = symbol("R") / (2 * sp.pi) * (_slow - (1 - 2 * T_rho) * _fast)
    cubic = m / 6 * phi_m * w_cube
    _require_equal_terms(value("failure_lower"), _SIGNS * (gain - both - cubic) - _left_out())
