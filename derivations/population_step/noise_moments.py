"""Moments of the frozen noises, sums of independent directions. Steps of `derivations.converse`."""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import a, b, coefficient, d, rho
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import OFF_SUPPORT, D, m, n, q, rho_0, s, symbol
from derivations.population_step.score_events import even_moment
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import COORDINATE_LAW, HOELDER, INVARIANCE
from derivations.proof.refusal import require

__all__ = ["steps"]


def steps() -> tuple[Step, ...]:
    """Return the steps on the moments of the noises."""
    return (
        Step(
            label="direction",
            uses=("theorem2:density",),
            statement=r"\phi_{m} \mathbb{E} |n'_{1}| = \frac{1}{\pi}",
            reason=r"$n'$ is uniform on the sphere of $\mathbb{R}^{m - 1}$, so that $\mathbb{E}"
            r" |n'_{1}| = 2 \phi_{m - 1} / (m - 2)$.",
            check=_check_mean_size,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, INVARIANCE),
        ),
        Step(
            label="square",
            uses=("antisymmetric:sum-of-weights", "score_bounds:weights"),
            statement=rf"\mathbb{{E}} |\bar{{W}}|^{{2}} \ge {defined('a_square')} \text{{ given"
            r" the scores}",
            reason=r"The weights of $\bar{W}$ are $c' = (c^{\circ} + \tilde{c}^{\circ}) / 2$, and"
            r" $\mathbb{E} |\bar{W}|^{2} = \sum_{j \notin S} c_{j}'^{2} (1 - s_{j}^{2})$. They sum"
            r" to $2$ over all positions, to at least $2 - 2 \bar{c} \ge 0$ off $S$: Cauchy. What"
            r" is taken off is at most $\bar{c}^{2} q d$.",
            check=_check_square,
            method=Method.LEMMA,
            lemmas=(INVARIANCE,),
        ),
        Step(
            label="norm",
            uses=("square",),
            statement=rf"\mathbb{{E}} |\bar{{W}}| \ge {defined('E_W')}",
            reason=r"$\mathbb{E} |W|^{4} \le (1 + 2 / (m - 1)) (\mathbb{E} |W|^{2})^{2}$, as the"
            r" square of an inner product of independent directions in $\mathbb{R}^{m - 1}$ has"
            r" mean $1 / (m - 1)$; and $\mathbb{E} |W| \ge (\mathbb{E} |W|^{2})^{3 / 2} /"
            r" (\mathbb{E} |W|^{4})^{1 / 2}$.",
            check=_check_mean_norm,
            method=Method.LEMMA,
            lemmas=(HOELDER, INVARIANCE),
        ),
        Step(
            label="third",
            uses=("slope", "norm", "score_bounds:norm"),
            statement=r"\mathbb{E} (\max(H, \tilde{H})_{+})^{3} \le \mathbb{E} H_{+}^{3} +"
            rf" \mathbb{{E}} \tilde{{H}}_{{+}}^{{3}} \le {defined('E_3')}",
            reason=r"$\mathbb{E} H_{+}^{3} = \mathbb{E} |H|^{3} / 2$, as $-n'$ and $n'$ have the"
            r" same law; $\mathbb{E} |H|^{3} \le (\mathbb{E} H^{4})^{3 / 4}$, $\mathbb{E} H^{4} ="
            r" \mathbb{E} |W^{\circ}|^{4} \cdot 3 / ((m - 1) (m + 1))$, $\mathbb{E} |W^{\circ}|^{2}"
            r" \le w^{2}$. $g^{+}(\rho) \ge g^{+}(\rho_{0})$ for $\rho \le \rho_{0}$.",
            check=_check_third,
            method=Method.LEMMA,
            lemmas=(HOELDER, INVARIANCE, COORDINATE_LAW),
        ),
    )


def _check_mean_size() -> None:
    half = sp.Symbol("half", positive=True)  # (m - 2) / 2
    phi = value("phi_n")
    product = sp.expand_func(phi.subs(n, 2 * half + 2) * phi.subs(n, 2 * half + 1))
    require_equal(product * 2 / (2 * half), 1 / sp.pi, "phi_m and the mean size")
    y, size = sp.symbols("y size", positive=True)
    # d/dy of -(1 - y^2)^((k-1)/2)/(k-1), over (1 - y^2)^((k-3)/2), for k = m - 1 dimensions.
    primitive = -(sp.diff(1 - y**2, y) * (size - 1) / 2) / (size - 1)
    require_equal(primitive, y, "the integrand of the mean size")


def _check_square() -> None:
    c_max = symbol("c_max")
    weights, mean = coefficient(1), sp.Symbol("mean", real=True)
    off = PowerSum(OFF_SUPPORT * weights)
    at_a, at_b, terms, squares, spread = sp.symbols(
        "at_a at_b terms squares spread", nonnegative=True
    )
    # Both slacks are c_max less a weight, written with the sum of all weights less 2, which is 0.
    require_at_least(
        off,
        2 - 2 * c_max,
        at_a + at_b,
        "the sum of the weights off S",
        slacks={
            at_a: c_max - Entry(weights, a) + (PowerSum(weights) - 2) / 2,
            at_b: c_max - Entry(weights, b) + (PowerSum(weights) - 2) / 2,
        },
    )
    few, least = sp.symbols("few least", positive=True)
    centred = PowerSum(OFF_SUPPORT * (weights - mean) ** 2).xreplace({mean: off / (d - 2)})
    more = sp.Symbol("more", nonnegative=True)
    require_at_least(
        PowerSum(OFF_SUPPORT * weights**2 * (1 - s**2)),
        value("a_square"),
        spread + more * (more + 2 * least) / few + terms + c_max**2 * squares,
        "the mean square of the noise",
        slacks={
            spread: centred,
            more: off - (2 - 2 * c_max),
            least: 2 - 2 * c_max,
            few: d - 2,
            terms: PowerSum(OFF_SUPPORT * (c_max**2 - weights**2) * s**2),
            squares: q * d - PowerSum(OFF_SUPPORT * s**2),
        },
    )


def _fourth_moment_factor() -> sp.Expr:
    """Return the factor of (E |W|^2)^2 that bounds E |W|^4, W in m - 1 dimensions."""
    return 1 + 2 / (m - 1)


def _check_mean_norm() -> None:
    # |W|^2 = sum a_j^2 + sum_{i != j} a_i a_j u_i.u_j, the second with mean 0 and this variance:
    weights = coefficient(1) ** 2
    variance = 2 * (PowerSum(weights) ** 2 - PowerSum(weights**2)) * even_moment(1, m - 1)
    terms, positive = sp.Symbol("terms", nonnegative=True), sp.Symbol("positive", positive=True)
    require_at_least(
        _fourth_moment_factor() * PowerSum(weights) ** 2,
        PowerSum(weights) ** 2 + variance,
        2 * terms / positive,
        "the bound of the fourth moment",
        slacks={terms: PowerSum(weights**2), positive: m - 1},
    )
    square, fourth = sp.symbols("square fourth", positive=True)
    lower = sp.sqrt(square**3 / fourth).subs(fourth, _fourth_moment_factor() * square**2)
    require_equal(
        value("E_W") ** 2,
        (lower**2).subs(square, symbol("a_square")),
        "the square of E_W and that from the moments",
    )
    _require_positive_root("E_W")


def _require_positive_root(name: str) -> None:
    """Return if a root whose power is known is the positive one: it does not change sign."""
    at = {m: sp.Integer(7), symbol("a_square"): sp.S.One, symbol("w"): sp.S.One}
    require(value(name).subs(at).is_positive is True, f"{name} is not the positive root")


def _check_third() -> None:
    w = symbol("w")
    fourth = _fourth_moment_factor() * w**4 * even_moment(2, m - 1)
    single = fourth ** sp.Rational(3, 4)
    ratio = sp.powsimp(sp.expand_power_base(value("E_3") ** 4, force=True))
    both = 2 * (single / 2)  # half of E |H|^3 for each of the two
    expected = sp.expand_power_base(both**4, force=True)
    require_equal(sp.expand(ratio), sp.expand(expected), "the fourth power of E_3")
    _require_positive_root("E_3")
    one, other = sp.symbols("one other", nonnegative=True)
    require_at_least(one**3 + other**3, one**3, other**3, "the larger of both")
    g = value("g_rho")
    room = sp.Symbol("room", nonnegative=True)
    rate = sp.Symbol("rate", positive=True)
    require_at_least(
        g,
        g.subs(rho, rho_0),
        2 * rate * room,
        "g+ up to rho_0",
        slacks={room: rho_0 - rho, rate: sp.sinh(D) / D + symbol("c_down") / 2},
    )
