"""The law of a coordinate of a point on a sphere, and the events on the scores.

Steps of `derivations.theorem2`.

What the lemmas say of every dimension is confronted here with exact calculus: the density and its
moments by integration by parts for symbolic n, the tails by their derivatives, and dimension 3,
where a coordinate is uniform on [-1, 1] (Archimedes), in full.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.notation import a, b, d
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.notation import T_rho, T_sigma, l_h, l_q, m, n, symbol, z
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import (
    COORDINATE_LAW,
    COORDINATE_TAIL,
    SQUARES,
    SUB_GAUSSIAN,
    UNION_BOUND,
)
from derivations.proof.refusal import require

__all__ = ["HEIGHT", "divided_derivative", "even_moment", "steps"]

HEIGHT = (n - 3) / 2
"""The exponent of the density phi_n (1 - y^2)^((n-3)/2)."""

_ORDERS = range(1, 9)
"""Moments and coefficients up to this order are compared exactly."""


def steps() -> tuple[Step, ...]:
    """Return the steps on the law of a coordinate, then one for each event on the scores."""
    return (
        Step(
            label="density",
            statement=rf"\int_{{-1}}^{{1}} \phi_{{n}} (1 - y^{{2}})^{{(n - 3) / 2}} \mathrm{{d}} y"
            rf" = 1, \quad {defined('phi_n')}",
            reason=r"The derivative of $y (1 - y^{2})^{(n - 1) / 2}$ is $(n (1 - y^{2}) - (n - 1))"
            r" (1 - y^{2})^{(n - 3) / 2}$ and integrates to $0$: the integral without $\phi_{n}$"
            r" goes down by $(n - 1) / n$ from $n$ to $n + 2$, as $1 / \phi_{n}$ does. Checked"
            r" with the values at $n = 3$ and $n = 4$.",
            check=_check_density,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW,),
        ),
        Step(
            label="tail",
            uses=("density",),
            statement=rf"P(y > t) \le \min(T_{{n}}', T_{{n}}''), \quad {defined('tail_power')},"
            rf" \quad {defined('tail_mills')}, \quad z = t",
            reason=r"$(1 - t^{2})^{(n - 1) / 2} - P(|y| > t)$ is $0$ at $t = 0$ and at $1$, and"
            r" its derivative is $(1 - t^{2})^{(n - 3) / 2} (2 \phi_{n} - (n - 1) t)$, first"
            r" positive and then negative. For the second, $1 \le y / t$ on $y > t$. Checked by"
            r" these derivatives, and against $P(y > t) = (1 - t) / 2$ for $n = 3$.",
            check=_check_tails,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, COORDINATE_TAIL),
        ),
        Step(
            label="largest-score",
            uses=("tail",),
            statement=rf"P(\max_{{j}} |s_{{j}}| > \sigma) \le {right_side('largest_score')}",
            reason=r"Given $\theta$ the $s_{j}$ are coordinates; $d$ positions and two signs.",
            check=lambda: require_equal(
                value("largest_score"), 2 * PowerSum(sp.S.One) * T_sigma, "the bound and the union"
            ),
            method=Method.LEMMA,
            lemmas=(COORDINATE_TAIL, UNION_BOUND),
        ),
        Step(
            label="sum-of-scores",
            statement=r"P(|\sum_{j \notin S} s_{j}| > h d) \le 2 e^{-m (h d)^{2} / (2 (d - 2))} ="
            rf" {right_side('sum_of_scores')}, \quad {defined('h')}",
            reason=r"$d - 2$ independent coordinates, and two signs. Checked: the exponent is"
            r" $l_{h}$; the moments of a coordinate by integration by parts, $M_{k} = (2 k - 1)"
            r" M_{k - 1} / (n + 2 k - 2) \le (2 k - 1) M_{k - 1} / n$, as for a Gaussian of"
            r" variance $1 / n$; and coefficient by coefficient for $n = 3$.",
            check=_check_sum_of_scores,
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, UNION_BOUND),
        ),
        Step(
            label="sum-of-squares",
            statement=r"P(\sum_{j \notin S} s_{j}^{2} > q d) \le"
            rf" {right_side('sum_of_squares')}, \quad {defined('q')}",
            reason=r"$d - 2$ independent coordinates. Checked: $q d m = N + 2 \sqrt{N l} + 2 l$"
            r" with $N = d - 2$, $l = l_{q}$; and for the lemma, $-\lambda - \frac{1}{2} \log(1 -"
            r" 2 \lambda) \le \lambda^{2} / (1 - 2 \lambda)$ coefficient by coefficient, which at"
            r" $\lambda = \sqrt{l} / (\sqrt{N} + 2 \sqrt{l})$ gives $e^{-l}$.",
            check=_check_sum_of_squares,
            method=Method.LEMMA,
            lemmas=(SQUARES,),
        ),
        Step(
            label="overlap",
            uses=("tail",),
            statement=rf"P(\rho > \rho_{{0}}) \le {right_side('overlap')}",
            reason=r"$\rho$ is the coordinate of $v_{a}$ along the independent $v_{b}$.",
            check=lambda: require_equal(value("overlap"), T_rho, "the bound and the tail"),
            method=Method.LEMMA,
            lemmas=(COORDINATE_TAIL,),
        ),
    )


def even_moment(k: int, dimension: sp.Expr) -> sp.Expr:
    """Return E y^(2k) for a coordinate in the given dimension."""
    return sp.Mul(*((2 * h - 1) / (dimension + 2 * h - 2) for h in range(1, k + 1)))


def divided_derivative(factor: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Return the derivative of factor (1 - y^2)^((n-1)/2), divided by (1 - y^2)^((n-3)/2)."""
    square = 1 - variable**2
    return sp.diff(factor, variable) * square + (HEIGHT + 1) * factor * sp.diff(square, variable)


def _check_density() -> None:
    y = sp.Symbol("y", real=True)
    require_equal(divided_derivative(y, y), n * (1 - y**2) - (n - 1), "the derivative")
    phi, half = value("phi_n"), sp.Symbol("half", positive=True)  # half = (n - 1) / 2
    ratio = sp.expand_func(phi.subs(n, 2 * half + 3)) / phi.subs(n, 2 * half + 1)
    require_equal(ratio, (2 * half + 1) / (2 * half), "the ratio of two densities")
    for size in (3, 4):
        total = sp.integrate((1 - y**2) ** HEIGHT.subs(n, size), (y, -1, 1))
        require_equal(phi.subs(n, size) * total, sp.S.One, f"the total for n = {size}")


def _check_tails() -> None:
    power, mills = value("tail_power"), value("tail_mills")
    phi, at = symbol("phi_n"), (1 - z**2) ** (HEIGHT + 1)
    require_equal(sp.powsimp(2 * power / at), sp.S.One, "twice the first tail")
    first = divided_derivative(sp.S.One, z) + 2 * phi  # P(|y| > t) has the derivative -2 phi (...)
    require_equal(first, 2 * phi - (n - 1) * z, "the derivative of the difference")
    second = divided_derivative(sp.powsimp(z * mills / at), z)
    require_equal(second, -phi * z, "the derivative of t times the second tail")
    inside, above = sp.symbols("inside above", positive=True)
    exact = (1 - z) / 2
    for tail, margin in ((power, above * inside / 2), (mills, inside**2 / (4 * above))):
        require_at_least(
            tail.subs(phi, sp.Rational(1, 2)).subs(n, 3),
            exact,
            margin,
            "the tail for n = 3",
            slacks={inside: 1 - z, above: z},
        )


def _check_sum_of_scores() -> None:
    positions = PowerSum(1 - Unit(a) - Unit(b))
    require(value("h") == sp.sqrt(2 * (d - 2) * l_h / m) / d, "h is not the positive root")
    exponent = (value("h") * d) ** 2 * m / (2 * positions)
    require_equal(exponent, l_h, "the exponent and its level")
    require(value("sum_of_scores") == 2 * sp.exp(-l_h), "not two signs of one tail")
    _check_moments()
    for k in _ORDERS:
        # sinh(l)/l and e^(l^2/6), as series in l^2.
        uniform, gaussian = 1 / sp.factorial(2 * k + 1), 1 / (6**k * sp.factorial(k))
        require(bool(uniform <= gaussian), f"coefficient {k}: {uniform} and {gaussian}")


def _check_moments() -> None:
    """Check M_k (n + 2k - 2) = (2k - 1) M_{k-1}, the even moments of a coordinate."""
    y, before, moment = sp.symbols("y before moment", real=True)
    for k in _ORDERS:
        found = divided_derivative(y ** (2 * k - 1), y)
        parts = (2 * k - 1) * y ** (2 * k - 2) * (1 - y**2) - (n - 1) * y ** (2 * k)
        require_equal(found, parts, f"the derivative for moment {k}")
        balance = sp.expand(parts).coeff(y, 2 * k) * moment
        balance += sp.expand(parts).coeff(y, 2 * k - 2) * before
        least = sp.solve(balance, moment)[0]
        step = even_moment(k, n) / even_moment(k - 1, n)
        require_equal(least, step * before, f"moment {k}")
        last = sp.Symbol("last", nonnegative=True)
        require_at_least(
            (2 * k - 1) * last / n,
            step * last,
            sp.Integer((2 * k - 1) * (2 * k - 2)) * last / (n * (n + 2 * k - 2)),
            f"the Gaussian moment {k}",
        )


def _check_sum_of_squares() -> None:
    root, root_l = sp.symbols("root root_l", positive=True)
    positions = PowerSum(1 - Unit(a) - Unit(b))
    threshold = value("q") * d * m
    require_equal(
        threshold, positions + 2 * sp.sqrt((d - 2) * l_q) + 2 * l_q, "q d m and the threshold"
    )
    require(value("sum_of_squares") == sp.exp(-l_q), "not the tail at the level")
    at = root_l / (root + 2 * root_l)
    exponent = -at * (2 * root * root_l + 2 * root_l**2) + root**2 * at**2 / (1 - 2 * at)
    require_equal(exponent, -(root_l**2), "the exponent at its rate")
    for k in range(2, 2 + len(_ORDERS)):
        logarithm = sp.Rational(2**k, 2 * k)
        geometric = sp.Integer(2 ** (k - 2))
        require(bool(logarithm <= geometric), f"coefficient {k}: {logarithm} and {geometric}")
    _check_moments()
