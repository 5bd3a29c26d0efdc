"""When exactly one of the two slopes is negative, by frozen noises.

Steps of `derivations.converse`.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry
from derivations.notation import a, b, d, rho, x
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import D, l_f, m, symbol, y_1
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import COORDINATE_LAW, INVARIANCE, SUB_GAUSSIAN

__all__ = ["steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps from the two slopes to an interval of the lean."""
    return (
        Step(
            label="limit",
            uses=("antisymmetric:gain", "antisymmetric:push-tilde"),
            statement=r"\max(f - y)^{2} \to \text{at least } 1 \text{ as } \eta \to \infty"
            r" \text{ if one of } \text{slope}_{a}, \text{slope}_{b} \text{ is negative and one"
            r" positive}",
            reason=r"Both heads then prefer the same position of the support to the other, say $a$"
            r" to $b$, and $\gamma_{b}, \tilde{\gamma}_{b} \to 0$. In the limit $f$ does not"
            r" depend on $x_{b}$, while $y = -x_{a} x_{b}$ changes sign with it, and $(f - 1)^{2}"
            r" + (f + 1)^{2} = 2 + 2 f^{2}$. (Whether a position off the support wins does not"
            r" matter.)",
            check=_check_failure,
        ),
        Step(
            label="slope",
            uses=(
                "score_bounds:slope",
                "score_bounds:sinh-rate",
                "score_bounds:own-weights",
                "score_bounds:structured",
                "one_step:slope-pair",
                "one_step:slope-pair-tilde",
            ),
            statement=r"|A| (g(\rho) y - Y) \le \text{slope} \le |A| (g^{+}(\rho) y - Y), \quad"
            rf" {defined('g_rho')}",
            reason=r"Below: derivation score_bounds. Above: $\sinh \Delta \le \Delta \sinh D / D$"
            r" as $(\sinh u) / u$ increases, $f_{a} - f_{b} \ge -c'' \Delta$, and the structured"
            r" part is at most $2 \beta \Delta$; $\Delta = |A| y$.",
            check=_check_upper_slope,
        ),
        Step(
            label="frozen",
            uses=("score_bounds:frozen-weights",),
            statement=rf"P(|Y - Y^{{\circ}}| > t') \le 2 e^{{-l_{{f}}}}, \quad"
            rf" {defined('t_prime')}, \quad {defined('t_second')}",
            reason=r"Given all scores, $v_{a}$ and $v_{b}$, $Y - Y^{\circ}$ is a sum with weights"
            r" of norm at most $\lambda / \sqrt{d}$ (derivation score_bounds). In units of"
            r" $\sqrt{1 - y^{2}} \ge \sqrt{1 - y_{1}^{2}}$, $t'$ becomes at most $t''$.",
            check=_check_freezing,
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, INVARIANCE),
        ),
        Step(
            label="signs",
            uses=("slope", "frozen"),
            statement=r"\max(H, \tilde{H}) > g^{+} \zeta + t'', \quad \min(H, \tilde{H}) < g \zeta"
            r" - t'' \Rightarrow \text{one slope is negative and one positive}",
            reason=r"$Y / \sqrt{1 - y^{2}}$ is $H$, or $\tilde{H}$, up to $t''$. The slope of the"
            r" head with the larger of both is at most $|A| \sqrt{1 - y^{2}} (g^{+} \zeta - \max +"
            r" t'') < 0$, that of the other at least $|A| \sqrt{1 - y^{2}} (g \zeta - \min - t'')"
            r" > 0$.",
            check=_check_one_of_two,
        ),
        Step(
            label="density",
            uses=("theorem2:density",),
            statement=r"\text{density of } \zeta = \phi_{m} (1 + \zeta^{2})^{-m / 2}, \quad"
            r" \phi_{m} (1 - m \zeta^{2} / 2) \le \phi_{m} (1 + \zeta^{2})^{-m / 2} \le \phi_{m}",
            reason=r"$1 - y^{2} = 1 / (1 + \zeta^{2})$ and $dy = (1 + \zeta^{2})^{-3 / 2} d"
            r" \zeta$. $(1 + u)^{-m / 2}$ is convex and above its tangent at $0$.",
            check=_check_zeta,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW,),
        ),
        Step(
            label="interval",
            uses=("density",),
            statement=r"\int_{u}^{v} \phi_{m} (1 + \zeta^{2})^{-m / 2} d \zeta \ge \phi_{m} (v - u"
            r" - \frac{m}{6} v^{3}), \quad v = (\max(H, \tilde{H}) - t'')_{+} / g^{+}, \quad u ="
            r" (\min(H, \tilde{H}) + t'')_{+} / g",
            reason=r"For $0 \le u \le v$ by the previous step; for $u > v$ the right side is"
            r" negative. $\zeta$ is independent of $n'$ and of the weights.",
            check=_check_interval,
        ),
        Step(
            label="average",
            statement=r"\max(H, \tilde{H})_{+} - \min(H, \tilde{H})_{+} \text{ averaged over } n'"
            r" \text{ and } -n' = |H - \tilde{H}| / 2 = |\bar{W} \cdot n'|, \quad \bar{W} ="
            r" (W^{\circ} + \tilde{W}^{\circ}) / 2",
            reason=r"$-n'$ changes both signs. $x_{+} - (-x)_{+} = x$. Checked for all signs of $H"
            r" \pm \tilde{H}$.",
            check=_check_average,
        ),
    )


def _check_failure() -> None:
    f = sp.Symbol("f", real=True)
    label = -Entry(x, a) * Entry(x, b)
    flipped = label.xreplace({Entry(x, b): -Entry(x, b)})
    require_equal(flipped, -label, "the label after x_b has changed its sign")
    largest = sp.Symbol("largest", real=True)
    first, second = sp.symbols("first second", nonnegative=True)
    require_at_least(
        2 * largest,
        sp.Integer(2),
        first + second + 2 * f**2,
        "twice the larger of both losses",
        slacks={first: largest - (f - 1) ** 2, second: largest - (f + 1) ** 2},
    )


def _check_upper_slope() -> None:
    own, structured, noise, sinh = sp.symbols("own structured noise sinh", real=True)
    lean, apart = sp.symbols("lean apart", nonnegative=True)
    chord, own_room, structured_room = sp.symbols(
        "chord own_room structured_room", nonnegative=True
    )
    slope = 2 * sinh * (1 - rho) - own * (1 - rho) - lean * structured - noise
    require_at_least(
        lean * value("g_rho") - noise,
        slope,
        (2 * chord + own_room) * apart + lean * structured_room,
        "the upper bound and the slope",
        slacks={
            chord: lean * sp.sinh(D) / D - sinh,
            own_room: own + symbol("c_down") * lean,
            structured_room: 2 * symbol("beta_slope") + structured,
            apart: 1 - rho,
        },
    )


def _check_freezing() -> None:
    lam = symbol("lambda_c")
    proxy = (lam / sp.sqrt(d)) ** 2 / (m - 1)
    require_equal(value("t_prime") ** 2 / (2 * proxy), l_f, "the exponent and its level")
    require_equal(value("t_prime") / sp.sqrt(proxy), sp.sqrt(2 * l_f), "the positive root")
    require_equal(
        value("t_second") * sp.sqrt(1 - y_1**2), symbol("t_prime"), "t'' and t' at the end"
    )
    shorter = sp.Symbol("shorter", nonnegative=True)
    y = sp.Symbol("y", nonnegative=True)
    inside, inside_1 = sp.symbols("inside inside_1", positive=True)
    require_at_least(
        value("t_second") ** 2,
        symbol("t_prime") ** 2 / (1 - y**2),
        symbol("t_prime") ** 2 * shorter * (y + y_1) / (inside * inside_1),
        "t'' and t'",
        slacks={shorter: y_1 - y, inside: 1 - y**2, inside_1: 1 - y_1**2},
    )


def _check_one_of_two() -> None:
    zeta, larger, smaller, g, g_plus, shift = sp.symbols(
        "zeta larger smaller g g_plus shift", real=True
    )
    scale = sp.Symbol("scale", positive=True)  # |A| sqrt(1 - y^2)
    first, second, moved, moved_2 = sp.symbols("first second moved moved_2", nonnegative=True)
    noise, noise_2 = sp.symbols("noise noise_2", real=True)
    positive, positive_2 = sp.symbols("positive positive_2", positive=True)
    slope, slope_2 = sp.symbols("slope slope_2", real=True)
    require_at_least(
        sp.S.Zero,
        slope,
        scale * (positive + moved) + first,
        "0 and the slope of the head with the larger noise",
        slacks={
            positive: larger - g_plus * zeta - shift,
            moved: noise - larger + shift,
            first: scale * (g_plus * zeta - noise) - slope,
        },
    )
    require_at_least(
        slope_2,
        sp.S.Zero,
        scale * (positive_2 + moved_2) + second,
        "the slope of the other head and 0",
        slacks={
            positive_2: g * zeta - shift - smaller,
            moved_2: smaller + shift - noise_2,
            second: slope_2 - scale * (g * zeta - noise_2),
        },
    )


def _check_zeta() -> None:
    zeta = sp.Symbol("zeta", positive=True)
    y = zeta / sp.sqrt(1 + zeta**2)
    require_equal(1 - y**2, 1 / (1 + zeta**2), "1 - y^2")
    require_equal(
        sp.diff(y, zeta) ** 2, (1 + zeta**2) ** -3, "the square of the derivative of y by zeta"
    )
    require_equal((m - 3) / 2 + sp.Rational(3, 2), m / 2, "the exponents together")
    u = sp.Symbol("u", nonnegative=True)
    power = (1 + u) ** (-m / 2)
    require_equal(sp.diff(power, u).subs(u, 0), -m / 2, "the tangent")
    second = sp.powsimp(sp.diff(power, u, 2) / power)
    margin = m * (m + 2) / (4 * (1 + u) ** 2)
    require_at_least(second, sp.S.Zero, margin, "the second derivative")


def _check_interval() -> None:
    zeta, low, high = sp.symbols("zeta low high", nonnegative=True)
    least = sp.integrate(1 - m * zeta**2 / 2, (zeta, low, high))
    require_at_least(
        least,
        high - low - m * high**3 / 6,
        m * low**3 / 6,
        "the integral and its bound",
    )
    over = sp.Symbol("over", nonnegative=True)
    require_at_least(
        sp.S.Zero,
        high - low - m * high**3 / 6,
        over + m * high**3 / 6,
        "an empty interval",
        slacks={over: low - high},
    )
    _check_positive_parts()


def _check_positive_parts() -> None:
    """Check (x - t)_+ >= x_+ - t and (x + t)_+ <= x_+ + t for t >= 0, by the sign of x, x -+ t."""
    size, shift, gap = sp.symbols("size shift gap", nonnegative=True)
    require_at_least(shift, size, gap, "t and x below it", slacks={gap: shift - size})
    require_at_least(sp.S.Zero, -shift, shift, "0 and -t")
    require_at_least(shift, -size + shift, size, "t and x + t for negative x")
    require_at_least(size, size - shift, shift, "x_+ and x - t")


def _check_average() -> None:
    small, large = sp.symbols("small large", nonnegative=True)

    def part(expr: sp.Expr) -> sp.Expr:
        """Return x_+ for a number that is known to be of one sign."""
        return expr if expr.is_nonnegative else sp.S.Zero

    # H and H~ up to order and a common sign: the same sign, or different ones.
    for larger, smaller in ((small + large, small), (large, -small), (-small, -small - large)):
        once = part(larger) - part(smaller)
        turned = part(-smaller) - part(-larger)
        require_equal((once + turned) / 2, (larger - smaller) / 2, "the average over both signs")
    W, W_tilde, direction = sp.symbols("W W_tilde direction", real=True)
    H, H_tilde = W * direction, -W_tilde * direction
    require_equal((H - H_tilde) / 2, (W + W_tilde) / 2 * direction, "the mean of both noises")
    require_equal((H + H_tilde) / 2, (W - W_tilde) / 2 * direction, "half the difference")
