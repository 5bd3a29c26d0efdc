"""The second moment of the frozen noise, and the chance of a miss on the near slices.

Steps of `derivations.corollary3`.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import LATEX, Sequence, a, b, d, declare, gamma, rho
from derivations.population_step.constants import defined, right_side, value
from derivations.population_step.notation import (
    OFF_SUPPORT,
    D,
    m,
    phi_m,
    rho_0,
    symbol,
    y_low,
)
from derivations.population_step.wedge import negative_moment
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import (
    COORDINATE_LAW,
    INDEPENDENT_LEAN,
    JENSEN,
    MINKOWSKI,
    NEGATIVE_MOMENTS,
    SUB_GAUSSIAN,
)
from derivations.proof.refusal import require
from derivations.sample_step.notation import Lambda, l_F, n_samples, theta_0, y_I

__all__ = ["steps"]

_SIGNS = 2
"""Signs of Delta: exchanging a and b maps one to the other."""

_variance = declare(Sequence, "t_variance", r"\mathbb{E} t^{\circ 2}", nonnegative=True)

_N, _I = symbol("N_norm"), symbol("I_near")


def steps() -> tuple[Step, ...]:
    """Return the steps on the frozen noise."""
    return (
        Step(
            label="cross",
            uses=("frozen", "sample_noise:cross-off-support"),
            statement=r"2 \mathbb{E} \langle \tilde{\gamma}^{\circ}, r^{\circ} \rangle^{2} \le"
            r" \frac{2 (d^{2} N^{2} - d)}{(m - 1) d^{4}}",
            reason=r"By derivation sample_noise, $\langle \tilde{\gamma}^{\circ}, r^{\circ}"
            r" \rangle = \omega^{\circ} \sum_{i \notin S} t_{i}^{\circ} (1 - d"
            r" \gamma_{i}^{\circ})$. Given the scores the $t_{i}^{\circ} = v_{i}^{\perp} \cdot n'$"
            r" are uncorrelated, of variance at most $1 / (m - 1)$; $\omega^{\circ} \le 1 /"
            r" d^{2}$; and $\sum_{i} (1 - d \gamma_{i})^{2} = d^{2} |\gamma|^{2} - d$.",
            check=_check_overlap,
        ),
        Step(
            label="centred-square",
            uses=("attention-norm", "frozen"),
            statement=rf"\mathbb{{E}} |r^{{\circ}}|^{{2}} \le \bar{{R}}^{{2}}, \quad"
            rf" {defined('R_square')}",
            reason=r"Given the scores, $\mathbb{E} |r^{\circ}|^{2} = (1 + |\gamma|^{2}) \sum_{i"
            r" \notin S} \gamma_{i}^{2} \mathbb{E} t_{i}^{\circ 2} - 2 \sum_{i \notin S}"
            r" \gamma_{i}^{3} \mathbb{E} t_{i}^{\circ 2} + \gamma_{a}^{2} (1 - \rho)$, all weights"
            r" frozen: $\bar{t}^{\circ}$ has no part on $S$. $\gamma_{a} \le e^{s^{\circ}} / (d"
            r" Z_{-})$; given $\rho$, $2 s^{\circ} = |B| \beta'$ has $\mathbb{E} e^{2 s^{\circ}}"
            r" \le e^{|B|^{2} / (2 (m - 1))} \le e^{2 / (m - 1)}$, and $\mathbb{E} [1 - \rho;"
            r" |\rho| \le \rho_{0}] \le 1$ by symmetry.",
            check=_check_spread,
            method=Method.LEMMA,
            lemmas=(SUB_GAUSSIAN, INDEPENDENT_LEAN),
        ),
        Step(
            label="sample-square",
            uses=("cross", "centred-square", "sample_noise:query-bound", "sample_noise:bounds"),
            statement=rf"n \mathbb{{E}} \Xi^{{\circ 2}} \le \mathbb{{E}} G^{{\circ 2}} \le V,"
            rf" \quad {defined('V_square')}",
            reason=r"$\|G^{\circ}\| \le (d^{2} / \omega_{-}) (\|q \langle r, x \rangle\| + \|p"
            r" q^{2} \langle r, x \rangle\|)$ over samples and start together, with $\mathbb{E}"
            r" [q^{2} \langle r, x \rangle^{2}] \le |\tilde{\gamma}|^{2} |r|^{2} + 2 \langle"
            r" \tilde{\gamma}, r \rangle^{2}$ and $\mathbb{E} [p^{2} q^{4} \langle r, x"
            r" \rangle^{2}] \le 105 |\gamma|^{2} |\tilde{\gamma}|^{4} |r|^{2}$ (derivation"
            r" sample_noise). If only the range is used, $H^{2}$ takes the place of $V$, and the"
            r" frozen energy, which is even in $n'$, joins the events.",
            check=_check_second_moment,
            method=Method.LEMMA,
            lemmas=(MINKOWSKI,),
        ),
        Step(
            label="frozen-noise",
            uses=("sample-square", "score_bounds:norm"),
            statement=rf"\mathbb{{E}} Y^{{\circ 2}} \le \frac{{w_{{1}}^{{2}}}}{{m - 1}}, \quad"
            rf" {defined('w_1')}, \quad \mathbb{{E}} F^{{\circ 2}} = \mathbb{{E}} Y^{{\circ 2}} +"
            r" \mathbb{E} \Xi^{\circ 2}, \quad \mathbb{E} F_{+}^{\circ} = \frac{1}{2}"
            r" \mathbb{E} |F^{\circ}|",
            reason=r"$Y^{\circ}$ has the frozen weights, of norm at most $w$ at $D = 0$. Given $V$"
            r" and $\theta$, $\Xi^{\circ}$ has mean $0$; $Y^{\circ}$ is odd in $n'$, while the"
            r" events on the frozen scores and on $\rho$ do not see $n'$: so $F^{\circ}$ has mean"
            r" $0$ given $\rho$, on these events.",
            check=_check_orthogonal,
            method=Method.LEMMA,
            lemmas=(INDEPENDENT_LEAN,),
        ),
        Step(
            label="miss",
            uses=("freezing-slice",),
            statement=r"(g(\rho) - \Lambda) y \le F^{\circ} + \theta(y_{0}) \text{ if a head"
            rf" misses, }} 0 < y \le y_{{I}}, \quad \Lambda = \max_{{i}} \Lambda_{{i}}, \quad"
            rf" {defined('Lambda_slice')}",
            reason=r"A miss is $g(\rho) y \le F < F^{\circ} + \theta(y_{i + 1})$. On a slice with"
            r" $y \ge y_{i} > 0$, $\theta(y_{i + 1}) = \Lambda_{i} y_{i} \le \Lambda y$; on the"
            r" innermost, which ends at $y_{0}$, it is $\theta(y_{0})$.",
            check=_check_slices,
        ),
        Step(
            label="inverse-square",
            uses=("score_bounds:slope", "theorem2:mean-inverse"),
            statement=r"\mathbb{E} [(g(\rho) - \Lambda)^{-2}; |\rho| \le \rho_{0}] \le I^{2},"
            rf" \quad {defined('I_near')}, \quad {defined('beta_near')}, \quad"
            rf" {defined('c_near')}, \quad {defined('excess_near')}, \quad {defined('r_near')}",
            reason=r"$g(\rho) - \Lambda = 2 \alpha (c_{I} - \rho)$, and $(1 - \rho) / (c_{I} -"
            r" \rho) \le r_{I}$ for $\rho \le \rho_{0} < c_{I}$; $\mathbb{E} (1 - \rho)^{-2} = (m"
            r" - 2) / (m - 5)$.",
            check=_check_reciprocal,
            method=Method.LEMMA,
            lemmas=(NEGATIVE_MOMENTS,),
        ),
        Step(
            label="near-margin",
            uses=("frozen-noise", "miss", "inverse-square", "theorem2:density"),
            statement=r"P(\text{near margin}) \le \phi_{m} \mathbb{E} \frac{|F^{\circ}|}{g -"
            rf" \Lambda}} \le {LATEX['near_sampled']}, \quad {defined('near_sampled')},"
            rf" \quad {defined('near_joint')}, \quad {defined('near_apart')}",
            reason=r"Each head. $y$ is independent of $F^{\circ}$ and $\rho$, of density at most"
            r" $\phi_{m}$: two signs of $\Delta$, each with $\phi_{m} \mathbb{E} [F_{+}^{\circ} /"
            r" (g - \Lambda)]$. Cauchy's inequality; or $|F^{\circ}| \le |Y^{\circ}| +"
            r" |\Xi^{\circ}|$ with $Y^{\circ} = |W^{\circ}| n'_{1}$, where $n'_{1}$ is independent"
            r" of $|W^{\circ}|$ and $\rho$ and $\phi_{m} \mathbb{E} |n'_{1}| = 1 / \pi$.",
            check=_check_near,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, INDEPENDENT_LEAN, JENSEN),
        ),
        Step(
            label="innermost",
            uses=("miss", "inverse-square"),
            statement=rf"P(\text{{innermost slice}}) \le {right_side('innermost')} \text{{ for"
            r" each head}",
            reason=r"What $\theta(y_{0})$ adds to $F_{+}^{\circ}$, for both signs of $\Delta$;"
            r" $\mathbb{E} (g - \Lambda)^{-1} \le I$.",
            check=lambda: require_equal(
                value("innermost"), _SIGNS * phi_m * theta_0 * _I, "two signs of the addition"
            ),
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW, JENSEN),
        ),
        Step(
            label="freezing",
            uses=("freezing-slice",),
            statement=rf"P(\text{{freezing}}) \le {right_side('freezing')} \text{{ for each"
            r" head}",
            reason=r"$P(|y| \le y_{I}) \le \min(1, 2 \phi_{m} y_{I})$, and on each slice, given"
            r" the scores, $v_{a}$ and $v_{b}$, $F \ge F^{\circ} + \theta(y_{i + 1})$ has"
            r" probability at most $e^{-l_{F}}$.",
            check=_check_freezing,
            method=Method.LEMMA,
            lemmas=(COORDINATE_LAW,),
        ),
    )


def _check_overlap() -> None:
    whole = {PowerSum(gamma): sp.S.One}
    square = sp.expand(PowerSum((1 - d * gamma) ** 2)).xreplace(whole)
    require_equal(square, d**2 * PowerSum(gamma**2) - d, "the sum of squares")
    on_support, room, below = sp.symbols("on_support room below", nonnegative=True)
    off = sp.expand(PowerSum(OFF_SUPPORT * (1 - d * gamma) ** 2)).xreplace(whole)
    rate, spread = sp.symbols("rate spread", nonnegative=True)  # rate is d^4 omega^2
    product = d**2 * _N**2 - d
    require_at_least(
        product,
        rate * off,
        d**2 * room + on_support + below * spread,
        "the square of <gamma~, r>, in units of 1/((m - 1) d^4)",
        slacks={
            room: _N**2 - PowerSum(gamma**2),
            on_support: (1 - d * Entry(gamma, a)) ** 2 + (1 - d * Entry(gamma, b)) ** 2,
            below: 1 - rate,
            spread: off,
        },
    )
    term = sp.sqrt(symbol("R_square") * _N**2 + 2 * product / ((m - 1) * d**4))
    require(value("V_square").has(term), "twice that bound is not in V")


def _check_spread() -> None:
    off, square = OFF_SUPPORT, PowerSum(gamma**2)
    at, own = sp.Symbol("at", positive=True), sp.Symbol("own", nonnegative=True)
    equal = {Entry(gamma, a): at, Entry(gamma, b): at}
    # E tbar^2; E r_i^2 off S; and on S, where t_a^2 = own^2 and E t_a tbar = 0.
    mean_square = PowerSum(off * gamma**2 * _variance)
    off_support = PowerSum(off * gamma**2 * (_variance - 2 * gamma * _variance + mean_square))
    on_support = 2 * at**2 * (own**2 + mean_square)
    cubes = PowerSum(off * gamma**3 * _variance)
    expected = (1 + square) * mean_square - 2 * cubes + 2 * at**2 * own**2
    require_equal(
        (off_support + on_support).xreplace(equal), expected.xreplace(equal), "the mean square"
    )
    require_equal(2 * ((1 - rho) / 2), 1 - rho, "2 own^2")
    size, norm, support = sp.symbols("size norm support", nonnegative=True)
    left, room, three, closer = sp.symbols("left room three closer", nonnegative=True)
    least = sp.exp(2 / (m - 1)) / (d * symbol("Z_low")) ** 2
    growth = sp.Symbol("growth", positive=True)
    require_at_least(
        value("R_square").subs(sp.exp(2 / (m - 1)), growth),
        (1 + norm) * size - 2 * three + support,
        left * (1 + _N**2) + size * room + 2 * three + closer,
        "R^2 and the mean of |r|^2",
        slacks={
            left: _N**2 / (m - 1) - size,
            room: _N**2 - norm,
            closer: least.subs(sp.exp(2 / (m - 1)), growth) - support,
        },
    )
    # 2 s^o = |B| beta', of variance proxy |B|^2/(m - 1), |B| <= 2; the mean of e^X is e^(proxy/2).
    length = sp.Symbol("length", nonnegative=True)
    require(sp.log(least * (d * symbol("Z_low")) ** 2).expand(force=True) == 2 / (m - 1), "e^2s")
    fall, dimension = sp.symbols("fall dimension", positive=True)
    require_at_least(
        2 / dimension,
        length**2 / (2 * dimension),
        fall * (2 + length) / (2 * dimension),
        "the exponent",
        slacks={fall: 2 - length},
    )


def _check_second_moment() -> None:
    R, N = sp.symbols("R N", positive=True)
    inverse, root_105 = sp.symbols("inverse root_105", positive=True)
    first, first_bound, rate = sp.symbols("first first_bound rate", nonnegative=True)
    spread, room, left, closer = sp.symbols("spread room left closer", nonnegative=True)
    # first and root_105 N^3 spread are the two norms, rate is 1/omega.
    require_at_least(
        inverse * (first_bound + root_105 * N**3 * R),
        rate * (first + root_105 * N**3 * spread),
        left * (first_bound + root_105 * N**3 * R) + rate * (room + root_105 * N**3 * closer),
        "the root of V and the norm of G",
        slacks={left: inverse - rate, room: first_bound - first, closer: R - spread},
    )
    overlap = 2 * (d**2 * _N**2 - d) / ((m - 1) * d**4)
    roots = sp.sqrt(_N**2 * symbol("R_square") + overlap)
    roots += sp.sqrt(105) * _N**3 * sp.sqrt(symbol("R_square"))
    expected = (d**2 / symbol("omega_low") * roots) ** 2
    require_equal(value("V_square"), expected, "V")
    norm, other = sp.symbols("norm other", nonnegative=True)
    require_at_least(
        N**3,
        norm * other**2,
        N**2 * left + norm * room * (N + other),
        "|gamma| |gamma~|^2",
        slacks={left: N - norm, room: N - other},
    )


def _check_orthogonal() -> None:
    require_equal(value("w_1"), value("w").subs(D, 0), "w_1 and w at D = 0")
    Y, noise = sp.symbols("Y noise", real=True)
    square = sp.expand((Y + noise) ** 2)
    require_equal(square.coeff(noise, 1), 2 * Y, "the mixed term, of mean 0 given V and theta")
    size, F = sp.symbols("size F", real=True)
    require_equal((size + F) / 2 - F / 2, size / 2, "F_+ = (|F| + F)/2")


def _check_slices() -> None:
    theta, slope = symbol("theta_lean"), symbol("Lambda_slice")
    y, most, above = sp.symbols("y most above", nonnegative=True)
    require_equal(value("Lambda_slice") * y_low, theta, "Lambda_i y_i")
    require_at_least(
        Lambda * y,
        slope * y_low,
        most * y + slope * above,
        "Lambda y and theta",
        slacks={most: Lambda - slope, above: y - y_low},
    )


def _check_reciprocal() -> None:
    alpha, beta, c, r = (symbol(n) for n in ("alpha_slope", "beta_slope", "c_near", "r_near"))
    g = 2 * (alpha * (1 - rho) - beta)
    c_value = value("c_near").subs(symbol("beta_near"), value("beta_near"))
    require_equal(g - Lambda, 2 * alpha * (c_value - rho), "g - Lambda")
    room, inside = sp.Symbol("room", positive=True), sp.Symbol("inside", nonnegative=True)
    excess, wide = sp.Symbol("excess", nonnegative=True), sp.Symbol("wide", positive=True)
    r_value = value("r_near").subs(symbol("excess_near"), value("excess_near"))
    require_at_least(
        r_value,
        (1 - rho) / (c - rho),
        excess * inside / (room * wide),
        "r_I and the quotient",
        slacks={excess: 1 - c, inside: rho_0 - rho, room: c - rho_0, wide: c - rho},
    )
    require_equal(value("excess_near"), 1 - c, "the excess")
    require_equal(
        value("I_near") ** 2, negative_moment(2) * (r / (2 * alpha)) ** 2, "I^2 and the moment"
    )
    require(value("I_near").coeff(r / alpha).could_extract_minus_sign() is False, "a negative root")


def _check_near() -> None:
    w, V = symbol("w_1"), symbol("V_square")
    noise, sampled = w**2 / (m - 1), V / n_samples
    joint, apart = value("near_joint"), value("near_apart")
    # Two signs, each with half of E |F^o|, then Cauchy's inequality.
    require(
        joint == _SIGNS * phi_m / 2 * _I * sp.sqrt(noise + sampled), "not the root for both noises"
    )
    mean = 1 / (sp.pi * phi_m)  # E |n'_1|
    expected = _SIGNS * phi_m / 2 * _I * (w * mean + sp.sqrt(sampled))
    require_equal(apart, expected, "each noise by itself")
    smaller = sp.Min(symbol("near_joint"), symbol("near_apart"))
    require(value("near_sampled") == smaller, "not the smaller of both")


def _check_freezing() -> None:
    bound, lean = value("freezing"), sp.Min(1, _SIGNS * phi_m * y_I)
    require(bound == lean * sp.exp(-l_F), "not the chance of the slices times that of one")
