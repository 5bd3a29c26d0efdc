"""The slice of small leans: the probability of a wedge, and its mean.

Steps of `derivations.theorem2`.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import d, rho
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.notation import m, phi_m, rho_0, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import (
    ANDERSON,
    COORDINATE_LAW,
    HOELDER,
    INVARIANCE,
    JENSEN,
    NEGATIVE_MOMENTS,
    WEDGE,
)
from derivations.proof.refusal import require

__all__ = ["negative_moment", "steps"]

_SIGNS = 2
"""Signs of Delta: exchanging a and b maps one to the other."""


def negative_moment(k: int) -> sp.Expr:
    """Return E (1 - rho)^-k, as (1 - rho)/2 is Beta(x, x) with x = (m - 1)/2."""
    x = (m - 1) / 2
    return sp.Mul(*((2 * x - i) / (x - i) for i in range(1, k + 1))) / 2**k


def steps() -> tuple[Step, ...]:
    """Return the steps on the slice of small leans."""
    return (
        Step(
            label="enlarged",
            uses=("score_bounds:frozen-weights",),
            statement=r"P(Y > u) = P(|Y| > u) / 2 \le P(|Y^{+}| > u) / 2, \quad Y^{+} ="
            r" \sum_{j \notin S} c_{j}^{+} v_{j}^{\perp} \cdot n, \quad c_{j}^{+} ="
            r" |c_{j}^{\circ}| + \lambda / d, \quad n = A / |A|, \quad u \ge 0",
            reason=r"Given all scores, $v_{a}$ and $v_{b}$, $Y$ is a sum of independent symmetric"
            r" variables, unimodal as $m \ge 4$, with weights $c_{j}$, and $|c_{j}| \le c_{j}^{+}$"
            r" (derivation score_bounds). $c^{+}$ is a function of the scores off $S$. Checked:"
            r" the triangle inequality, and the lemma for two uniform variables, $n = 3$.",
            check=_check_enlarging,
            method=Method.LEMMA,
            lemmas=(ANDERSON, INVARIANCE),
        ),
        Step(
            label="wedge",
            uses=("density", "enlarged"),
            statement=r"\{g y \ge \tau', \; z |W^{+}| > g y - \tau'\} = (\text{wedge } y \ge 0, \;"
            r" z |W^{+}| > g y) + (\tau' / g) \theta, \quad \text{angle } \arctan(|W^{+}| / g)",
            reason=r"$y$ and $z$ are the coordinates of $n$ along $\theta$ and along $W^{+}$,"
            r" which is orthogonal to $\theta$; $\tau' = \tau_{0} / |A|$. Points of the wedge have"
            r" $y \ge 0$, so that the translation takes none closer to $0$, and the density of"
            r" $(y, z)$, proportional to $(1 - y^{2} - z^{2})^{(m - 4) / 2}$, does not increase"
            r" with the distance from $0$. So the set has at most the probability"
            r" $\arctan(|W^{+}| / g) / (2 \pi)$. What is left, $0 \le g y < \tau'$, has at most"
            r" $\phi_{m} \tau' / g$ and is the same for both heads.",
            check=_check_wedge,
            method=Method.LEMMA,
            lemmas=(WEDGE, INVARIANCE, COORDINATE_LAW),
        ),
        Step(
            label="inverse",
            statement=r"\frac{1}{c - \rho} \le \frac{1}{1 - \rho} + \frac{\epsilon r}{(1 -"
            r" \rho)^{2}}, \quad \frac{1}{c - \rho} \le \frac{r}{1 - \rho} \text{ for } \rho \le"
            rf" \rho_{{0}} < c, \quad {defined('excess')}, \quad {defined('r_lean')}",
            reason=r"$1 / (c - \rho) = 1 / (1 - \rho) + \epsilon / ((1 - \rho) (c - \rho))$, and"
            r" $r (c - \rho) - (1 - \rho) = \epsilon (\rho_{0} - \rho) / (c - \rho_{0}) \ge 0$.",
            check=_check_reciprocals,
        ),
        Step(
            label="mean-inverse",
            uses=("inverse",),
            statement=r"\mathbb{E} [(c - \rho)^{-1}; \rho \le \rho_{0}] \le I_{1}, \quad"
            rf" {defined('I_1')}",
            reason=r"The previous step, $\mathbb{E} (1 - \rho)^{-1} = (m - 2) / (m - 3)$ and"
            r" $\mathbb{E} (1 - \rho)^{-2} = (m - 2) / (m - 5)$, $m \ge 6$. Checked also by"
            r" integration for $m = 7$ and $m = 9$.",
            check=_check_mean_reciprocal,
            method=Method.LEMMA,
            lemmas=(NEGATIVE_MOMENTS, COORDINATE_LAW),
        ),
        Step(
            label="near-margin",
            uses=(
                "enlarged",
                "wedge",
                "mean-inverse",
                "score_bounds:slope",
                "score_bounds:frozen-norm",
            ),
            statement=r"P(\text{near margin}) \le \mathbb{E} \frac{1}{\pi} \arctan"
            rf" \frac{{|W^{{+}}|}}{{2 \alpha (c - \rho)}} \le {right_side('near_margin')}"
            r" \text{ for each head}",
            reason=r"Two signs of $\Delta$, each with $\arctan / (2 \pi)$. $\arctan$ is concave on"
            r" $[0, \infty)$ and $0$ at $0$; given the scores $\mathbb{E} |W^{+}| \le"
            r" (\mathbb{E} |W^{+}|^{2})^{1 / 2} \le w_{0}$, as the $v_{j}^{\perp}$ are independent"
            r" with mean $0$ and $|v_{j}^{\perp}| \le 1$; and $\rho$ is independent of $W^{+}$, so"
            r" that Jensen applies once more to $1 / (c - \rho)$, put to $0$ for $\rho >"
            r" \rho_{0}$.",
            check=_check_near_margin,
            method=Method.LEMMA,
            lemmas=(JENSEN, INVARIANCE),
        ),
        Step(
            label="small-lean",
            uses=("density", "wedge", "inverse"),
            statement=r"P(\text{small lean}) \le 2 \phi_{m} \tau_{0} \mathbb{E} \frac{1}{|A|"
            rf" g(\rho)}} \le {right_side('small_lean')}, \quad {defined('I_2')}",
            reason=r"$|A| = \sqrt{2 (1 - \rho)}$ and $g(\rho) = 2 \alpha (c - \rho) \ge 2 \alpha"
            r" (1 - \rho) / r$, so that $1 / (|A| g) \le r (1 - \rho)^{-3 / 2} / (2 \sqrt{2}"
            r" \alpha)$; $\mathbb{E} (1 - \rho)^{-3 / 2} \le (\mathbb{E} (1 - \rho)^{-2})^{3 / 4}$."
            r" Two signs, once for both heads.",
            check=_check_small_lean,
            method=Method.LEMMA,
            lemmas=(HOELDER, NEGATIVE_MOMENTS, COORDINATE_LAW),
        ),
    )


def _check_enlarging() -> None:
    weight, frozen = sp.symbols("weight frozen", real=True)
    size, room = sp.symbols("size room", nonnegative=True)
    lam = symbol("lambda_c")
    for sign in (1, -1):
        require_at_least(
            size + lam / d,
            sign * weight,
            room + sp.Symbol("inside", nonnegative=True),
            "the frozen weight, its room, and the weight",
            slacks={
                room: size - sign * frozen,
                sp.Symbol("inside", nonnegative=True): lam / d - sign * (weight - frozen),
            },
        )
    # c_1 U_1 + c_2 U_2 with U_i uniform on [-1, 1] and c_1 >= c_2: P(|.| > u) beyond c_1 - c_2.
    first, second, u = sp.symbols("first second u", positive=True)
    tail = (first + second - u) ** 2 / (4 * first * second)
    inside, overlap = sp.symbols("inside overlap", nonnegative=True)
    for weight, other in ((first, second), (second, first)):
        require_at_least(
            sp.diff(tail, weight),
            sp.S.Zero,
            inside * overlap / (4 * first * second * weight),
            "the tail and a larger weight",
            slacks={inside: first + second - u, overlap: u + weight - other},
        )
    below = 1 - u / first  # for u < c_1 - c_2
    require_at_least(sp.diff(below, first), sp.S.Zero, u / first**2, "the tail near 0")
    require_equal(tail.subs(u, first - second), below.subs(u, first - second), "where both meet")


def _check_wedge() -> None:
    g, length, shift = sp.symbols("g length shift", positive=True)
    y, z = sp.symbols("y z", real=True)
    tau = g * shift
    require_equal(
        z * length - (g * (y + shift) - tau), z * length - g * y, "the set and the shifted wedge"
    )
    height = sp.Symbol("height", nonnegative=True)
    require_at_least(
        (height + shift) ** 2 + z**2,
        height**2 + z**2,
        shift * (2 * height + shift),
        "the distances after and before the translation",
    )
    # The wedge lies between the directions (y, z) = (0, 1) and (length, g).
    edge = {y: length, z: g}
    require_equal((z * length - g * y).xreplace(edge), sp.S.Zero, "the edge")
    require_equal((y / z).xreplace(edge), length / g, "the tangent of the angle")
    r = sp.Symbol("r", nonnegative=True)
    square = 1 - r**2
    exponent = (m - 2) / 2
    mass = -exponent * sp.diff(square, r)  # of (1 - r^2)^((m-2)/2), over (1 - r^2)^((m-4)/2)
    require_equal(mass, (m - 2) * r, "the mass of a ring")


def _check_reciprocals() -> None:
    c, r, epsilon = symbol("c_margin"), value("r_lean"), symbol("excess")
    above, inside, left = sp.symbols("above inside left", positive=True)
    excess = value("excess")
    full = r.xreplace({epsilon: excess})
    small = sp.Symbol("small", nonnegative=True)
    slacks = {above: c - rho, inside: c - rho_0, left: 1 - rho, small: excess}
    room = sp.Symbol("room", nonnegative=True)
    require_at_least(
        full / (1 - rho),
        1 / (c - rho),
        small * room / (inside * above * left),
        "r/(1 - rho)",
        slacks={**slacks, room: rho_0 - rho},
    )
    require_at_least(
        1 / (1 - rho) + excess * full / (1 - rho) ** 2,
        1 / (c - rho),
        small**2 * room / (inside * above * left**2),
        "the two reciprocals",
        slacks={**slacks, room: rho_0 - rho},
    )


def _check_mean_reciprocal() -> None:
    expected = negative_moment(1) + symbol("excess") * symbol("r_lean") * negative_moment(2)
    require_equal(value("I_1"), expected, "I_1 and the moments")
    y = sp.Symbol("y", real=True)
    for size in (7, 9):
        density = sp.expand((1 - y**2) ** ((size - 3) // 2))
        total = sp.integrate(density, (y, -1, 1))
        for k in (1, 2):
            divided = sp.cancel(density / (1 - y) ** k)
            found = sp.integrate(divided, (y, -1, 1)) / total
            require_equal(found, negative_moment(k).subs(m, size), f"moment {k} for m = {size}")


def _check_near_margin() -> None:
    u = sp.Symbol("u", nonnegative=True)
    require_at_least(
        -sp.diff(sp.atan(u), u, 2), sp.S.Zero, 2 * u / (u**2 + 1) ** 2, "arctan is concave"
    )
    require(sp.atan(sp.S.Zero) == 0, "arctan does not vanish at 0")
    mean = symbol("w_0") * symbol("I_1") / (2 * symbol("alpha_slope"))
    expected = _SIGNS * sp.atan(mean) / (2 * sp.pi)
    require_equal(value("near_margin") / expected, sp.S.One, "the bound and two signs of it")
    ratio = value("near_margin") * sp.pi
    require_equal(sp.tan(ratio), mean, "the mean inside")


def _check_small_lean() -> None:
    alpha, r = symbol("alpha_slope"), symbol("r_lean")
    apart = sp.Symbol("apart", positive=True)  # 1 - rho
    bound = 1 / (sp.sqrt(2 * apart) * 2 * alpha * apart / r)
    constant = bound * apart ** sp.Rational(3, 2)
    require_equal(value("I_2") / r, negative_moment(2) ** sp.Rational(3, 4), "I_2 and the moment")
    expected = _SIGNS * phi_m * symbol("tau_0") * constant * symbol("I_2") / r
    require_equal(value("small_lean"), expected, "the bound and two signs of it")
    gap = sp.Symbol("gap", positive=True)
    room = sp.Symbol("room", nonnegative=True)
    require_at_least(
        2 * alpha * gap,
        2 * alpha * apart / r,
        2 * alpha * room / r,
        "g and its bound",
        slacks={room: r * gap - apart},
    )
