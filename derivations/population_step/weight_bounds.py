"""The weights c_j, bounded by the ends of K and M: steps of `derivations.score_bounds`."""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Delta, a, b, d, i
from derivations.population_step.constants import defined, growth_rate, value
from derivations.population_step.notation import OFF_SUPPORT, D, f, h, q, s, sigma, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Step
from derivations.proof.refusal import require

__all__ = ["steps"]

_K = sp.Symbol("K", real=True)
_M = sp.Symbol("M", positive=True)
_size, _low_K, _high_K, _low_M, _high_M = sp.symbols(
    "size low_K high_K low_M high_M", nonnegative=True
)
_ENDS = {
    _low_K: d * _K - symbol("K_low"),
    _high_K: symbol("K_high") - d * _K,
    _low_M: d * _M - symbol("M_low"),
    _high_M: symbol("M_high") - d * _M,
}
"""The slacks of the ends of K and M."""

_score, _mean = sp.symbols("score mean", real=True)


def steps() -> tuple[Step, ...]:
    """Return the steps from the ends of K and M to the weights."""
    return (
        Step(
            label="expanded",
            statement=r"f(s) = (K + 2 M) s + s^{2} (K g(s) + 4 M g(2 s))",
            reason=r"$e^{s} - 1 = s + s^{2} g(s)$ and $e^{2 s} - 1 = 2 s + 4 s^{2} g(2 s)$.",
            check=_check_expansion,
        ),
        Step(
            label="slope-at-zero",
            uses=("K", "M"),
            statement=rf"d |K + 2 M| \le k_{{1}}, \quad {defined('k_1')}",
            reason=r"$K_{-} + 2 M_{-} \le d (K + 2 M) \le K_{+} + 2 M_{+}$, and a number between"
            r" two others is at most the larger of their sizes.",
            check=_check_k_1,
        ),
        Step(
            label="curvature",
            uses=("chord", "K", "M"),
            statement=rf"d |K g(s) + 4 M g(2 s)| \le k_{{2}}, \quad {defined('k_2')}",
            reason=r"$g$ is positive and increases, so $g(-\sigma) \le g(s) \le g(\sigma)$ and"
            r" $g(-2 \sigma) \le g(2 s) \le g(2 \sigma)$. The upper end of $d K g(s)$ is $K_{+}"
            r" g(\sigma)$ if $K_{+} \ge 0$ and else $K_{+} g(-\sigma)$; the lower end likewise.",
            check=_check_k_2,
        ),
        Step(
            label="moved",
            uses=("expanded", "slope-at-zero", "curvature"),
            statement=rf"d |f(s)| \le F |s|, \quad {defined('F')}; \quad |f_{{j}}| \le \bar{{f}},"
            rf" \quad {defined('f_max')}",
            reason=r"The three steps before, and $|s| \le \sigma$.",
            check=_check_F,
        ),
        Step(
            label="moved-norm",
            uses=("sums", "moved"),
            statement=rf"\sum_{{j}} f_{{j}}^{{2}} \le R^{{2}}, \quad {defined('R')}",
            reason=r"$\sum_{j} f_{j}^{2} \le F^{2} \sum_{j} s_{j}^{2} / d^{2}$ and $\sum_{j}"
            r" s_{j}^{2} \le q_{1} d$.",
            check=_check_R,
        ),
        Step(
            label="weights",
            uses=("moved", "antisymmetric:sum-of-weights"),
            statement=r"c_{j} = 2 \cosh \Delta / d + f_{j} - \sum_{i} f_{i} / d, \quad |c_{j}| \le"
            rf" \bar{{c}}, \quad {defined('c_max')}",
            reason=r"$c_{j} - f_{j} = c(0)$ is the same for all $j$, and the weights sum to $2"
            r" \cosh \Delta$ (derivation antisymmetric). $|f_{j}|$ and the mean of $f$ are at most"
            r" $\bar{f}$.",
            check=_check_c_max,
        ),
        Step(
            label="norm",
            uses=("moved-norm", "weights"),
            statement=rf"\sum_{{j}} c_{{j}}^{{2}} \le w^{{2}}, \quad {defined('w')}",
            reason=r"$\sum_{j} c_{j}^{2} = 4 \cosh^{2} \Delta / d + \sum_{j} f_{j}^{2} - (\sum_{j}"
            r" f_{j})^{2} / d$: the mean and what is left are orthogonal.",
            check=_check_w,
        ),
        Step(
            label="structured",
            uses=("moved-norm", "weights"),
            statement=r"|\sum_{j \notin S} c_{j} s_{j}| \le 2 \beta, \quad"
            rf" {defined('beta_slope')}",
            reason=r"The mean of $c$ meets $\sum_{j \notin S} s_{j}$, at most $h d$ in size; for"
            r" the rest Cauchy, whose two norms are at most $R$ and $\sqrt{q d}$. Checked with"
            r" Cauchy's inequality written out as a sum of squares.",
            check=_check_beta,
        ),
        Step(
            label="own-weights",
            uses=("K", "M"),
            statement=rf"-c'' \Delta \le f_{{a}} - f_{{b}} \le c' \Delta, \quad"
            rf" {defined('c_up')}, \quad {defined('c_down')}",
            reason=r"$e^{-\sigma} \Delta \le e^{s_{a}} - e^{s_{b}} \le e^{\sigma} \Delta$ and $0"
            r" \le e^{2 s_{a}} - e^{2 s_{b}} \le 2 e^{2 \sigma} \Delta$, as $s_{a} = s_{b} +"
            r" \Delta$, $1 - e^{-\Delta} \le \Delta \le e^{\Delta} - 1$ and $|s| \le \sigma$. Then"
            r" by the sign of $K_{+}$; the maximum over both powers includes that choice.",
            check=_check_own_weights,
        ),
    )


def _check_expansion() -> None:
    exact = _K * (sp.exp(_score) - 1) + _M * (sp.exp(2 * _score) - 1)
    curved = _K * growth_rate(_score) + 4 * _M * growth_rate(2 * _score)
    require_equal(exact, (_K + 2 * _M) * _score + _score**2 * curved, "f and its expansion")


def _check_k_1() -> None:
    high = symbol("K_high") + 2 * symbol("M_high")
    low = symbol("K_low") + 2 * symbol("M_low")
    require(value("k_1") == sp.Max(sp.Abs(high), sp.Abs(low)), "k_1 is not over both ends")
    middle = d * (_K + 2 * _M)
    require_at_least(high, middle, _high_K + 2 * _high_M, "the upper end", slacks=_ENDS)
    require_at_least(middle, low, _low_K + 2 * _low_M, "the lower end", slacks=_ENDS)


def _check_k_2() -> None:
    # g at s, at -sigma and sigma, and the same at twice these.
    g, least, most, g_2, least_2, most_2 = sp.symbols(
        "g least most g_2 least_2 most_2", positive=True
    )
    values = {
        least: growth_rate(-sigma),
        most: growth_rate(sigma),
        least_2: growth_rate(-2 * sigma),
        most_2: growth_rate(2 * sigma),
    }
    K_low, K_high = symbol("K_low"), symbol("K_high")
    M_low, M_high = symbol("M_low"), symbol("M_high")
    high = sp.Max(*(K_high * values[at] for at in (most, least))) + 4 * M_high * values[most_2]
    low = sp.Min(*(K_low * values[at] for at in (most, least))) + 4 * M_low * values[least_2]
    require(value("k_2") == sp.Max(sp.Abs(high), sp.Abs(low)), "k_2 is not over both ends")
    above, below, above_2, below_2 = sp.symbols("above below above_2 below_2", nonnegative=True)
    slacks = {
        **_ENDS,
        above: most - g,
        below: g - least,
        above_2: most_2 - g_2,
        below_2: g_2 - least_2,
    }
    middle = d * (_K * g + 4 * _M * g_2)
    for case, at, gap in ((1, most, above), (-1, least, below)):
        require_at_least(
            K_high * at + 4 * M_high * most_2,
            middle,
            _high_K * g + _size * gap + 4 * (_high_M * most_2 + d * _M * above_2),
            "the upper end",
            slacks={**slacks, _size: case * K_high},
        )
    for case, at, gap in ((1, least, below), (-1, most, above)):
        require_at_least(
            middle,
            K_low * at + 4 * M_low * least_2,
            _low_K * g + _size * gap + 4 * (_low_M * g_2 + M_low * below_2),
            "the lower end",
            slacks={**slacks, _size: case * K_low},
        )


def _check_F() -> None:
    # The sizes of s, of K + 2M and of the curved part, and of f.
    at, linear, curved, bound, room, size = sp.symbols(
        "at linear curved bound room size", nonnegative=True
    )
    first, second = sp.symbols("first second", nonnegative=True)
    require_at_least(
        value("F") * at,
        d * (at * linear + at**2 * curved),
        at * (first + at * second + symbol("k_2") * room),
        "F |s| and d |f|",
        slacks={
            first: symbol("k_1") - d * linear,
            second: symbol("k_2") - d * curved,
            room: sigma - at,
        },
    )
    require_at_least(
        value("f_max"),
        size,
        symbol("F") * room / d + bound / d,
        "the largest |f_j|",
        slacks={room: sigma - at, bound: symbol("F") * at - d * size},
    )


def _check_R() -> None:
    terms, squares = sp.symbols("terms squares", nonnegative=True)
    rate = symbol("F") ** 2 / d**2
    require(value("R").is_nonnegative is True, "R is not a positive root")
    require_at_least(
        value("R") ** 2,
        PowerSum(f**2),
        terms + rate * squares,
        "R^2 and the sum of squares",
        slacks={
            terms: PowerSum(rate * s**2 - f**2),
            squares: symbol("q_1") * d - PowerSum(s**2),
        },
    )


def _weights() -> sp.Expr:
    """Return c as its mean and the deviation of f from its own."""
    return 2 * sp.cosh(Delta) / d + f - PowerSum(f) / d


def _check_c_max() -> None:
    require_equal(PowerSum(_weights()), 2 * sp.cosh(Delta), "the sum of the weights")
    require_equal(
        Entry(_weights(), a) - Entry(_weights(), b),
        Entry(f, a) - Entry(f, b),
        "differences of c and of f",
    )
    grown, term, terms, cosh = sp.symbols("grown term terms cosh", nonnegative=True)
    for sign in (1, -1):
        # c_j from above, and -c_j, to which the mean adds another 2 cosh(Delta)/d.
        require_at_least(
            value("c_max"),
            sign * Entry(_weights(), i),
            2 * grown / d + (1 - sign) * 2 * cosh / d + term + terms / d,
            "the largest |c_j|",
            slacks={
                grown: sp.cosh(D) - sp.cosh(Delta),
                cosh: sp.cosh(Delta),
                term: symbol("f_max") - sign * Entry(f, i),
                terms: PowerSum(symbol("f_max") + sign * f),
            },
        )


def _check_w() -> None:
    grown, left, cosh = sp.symbols("grown left cosh", nonnegative=True)
    require_at_least(
        value("w") ** 2,
        PowerSum(_weights() ** 2),
        4 * grown * (2 * cosh + grown) / d + left + PowerSum(f) ** 2 / d,
        "w^2 and the sum of squares",
        slacks={
            grown: sp.cosh(D) - sp.cosh(Delta),
            cosh: sp.cosh(Delta),
            left: symbol("R") ** 2 - PowerSum(f**2),
        },
    )


def _check_beta() -> None:
    R, root = symbol("R"), sp.Symbol("root", positive=True)
    others = f - _mean
    grown, room, noise, squares, terms, cosh = sp.symbols(
        "grown room noise squares terms cosh", nonnegative=True
    )
    # Leaving out a and b, and taking the mean of f away, only makes the sum of squares smaller.
    left, centred = sp.symbols("left centred", nonnegative=True)
    require_at_least(
        R**2,
        PowerSum(OFF_SUPPORT * others**2).xreplace({_mean: PowerSum(f) / d}),
        left + PowerSum(f) ** 2 / d + centred,
        "R^2 and the sum of squares off the support",
        slacks={
            left: R**2 - PowerSum(f**2),
            centred: sum(Entry(others, at) ** 2 for at in (a, b)).xreplace(
                {_mean: PowerSum(f) / d}
            ),
        },
    )
    for sign in (1, -1):
        weighted = PowerSum(OFF_SUPPORT * (2 * sp.cosh(Delta) / d + others) * s)
        require_at_least(
            2 * value("beta_slope"),
            sign * weighted,
            2 * grown * h
            + 2 * cosh * room / d
            + root * noise / (2 * R)
            + R * squares / (2 * root)
            + R * root * terms / 2,
            "2 beta and the structured part",
            slacks={
                grown: sp.cosh(D) - sp.cosh(Delta),
                cosh: sp.cosh(Delta),
                room: h * d - sign * PowerSum(OFF_SUPPORT * s),
                root: sp.sqrt(q * d),
                noise: R**2 - PowerSum(OFF_SUPPORT * others**2),
                squares: q * d - PowerSum(OFF_SUPPORT * s**2),
                terms: PowerSum(OFF_SUPPORT * (others / R - sign * s / sp.sqrt(q * d)) ** 2),
            },
        )


def _check_own_weights() -> None:
    lean = sp.Symbol("lean", nonnegative=True)  # Delta
    _check_gains()
    gain, gain_2 = sp.symbols("gain gain_2", nonnegative=True)
    top, bottom, top_2 = sp.symbols("top bottom top_2", nonnegative=True)
    growth, decay = sp.symbols("growth decay", positive=True)
    K_low, K_high, M_high = symbol("K_low"), symbol("K_high"), symbol("M_high")
    factors = {growth: sp.exp(sigma), decay: sp.exp(-sigma)}
    gains = {
        top: growth * lean - gain,
        bottom: gain - decay * lean,
        top_2: 2 * growth**2 * lean - gain_2,
    }
    difference = d * (_K * gain + _M * gain_2)
    either = sp.Max(*(K_high * factor for factor in factors.values()))
    up = sp.Max(0, either + 2 * M_high * factors[growth] ** 2) / d
    require(value("c_up") == up, "c' is not the largest of the three")
    for case, at, gap in ((1, growth, top), (-1, decay, bottom)):
        require_at_least(
            lean * (K_high * at + 2 * M_high * growth**2),
            difference,
            _high_K * gain + _size * gap + M_high * top_2 + gain_2 * _high_M,
            "c' and the difference of the weights",
            slacks={**_ENDS, **gains, _size: case * K_high},
        )
    down = sp.Max(sp.Abs(K_low), sp.Abs(K_high)) * factors[growth] + 2 * M_high * sp.exp(2 * sigma)
    _require_equal_around_maxima(d * value("c_down"), down)
    largest, below = sp.symbols("largest below", nonnegative=True)
    require_at_least(
        difference,
        -lean * (largest * growth + 2 * M_high * growth**2),
        below * gain + largest * top + d * _M * gain_2 + 2 * M_high * growth**2 * lean,
        "the difference of the weights and c''",
        slacks={**gains, below: d * _K + largest},
    )


def _require_equal_around_maxima(left: sp.Expr, right: sp.Expr) -> None:
    """Return if two formulas are equal, the maxima in them taken as atoms."""
    maxima = sorted((left - right).atoms(sp.Max), key=str)
    names = {maximum: sp.Dummy(f"maximum_{h}") for h, maximum in enumerate(maxima)}
    require_equal(left.xreplace(names), right.xreplace(names))


def _check_gains() -> None:
    """Check e^-sigma Delta <= E_a - E_b <= e^sigma Delta, and that of the squares."""
    small, large, growth, decay = sp.symbols("small large growth decay", positive=True)
    lean = sp.Symbol("lean", nonnegative=True)
    # small = E_b, large = E_a = E_b e^lean: the tangents of the exponential at lean and -lean.
    chord_up, chord_down, at_top, at_bottom = sp.symbols(
        "chord_up chord_down at_top at_bottom", nonnegative=True
    )
    slacks = {
        chord_up: large / small - 1 - lean,
        chord_down: small / large - 1 + lean,
        at_top: growth - large,
        at_bottom: small - decay,
    }
    require_at_least(
        growth * lean, large - small, large * chord_down + at_top * lean, "above", slacks=slacks
    )
    require_at_least(
        large - small, decay * lean, small * chord_up + at_bottom * lean, "below", slacks=slacks
    )
    square_down, more = sp.symbols("square_down more", nonnegative=True)
    require_at_least(
        2 * growth**2 * lean,
        large**2 - small**2,
        large**2 * square_down + 2 * at_top * (growth + large) * lean,
        "squares above",
        slacks={at_top: growth - large, square_down: (small / large) ** 2 - 1 + 2 * lean},
    )
    require_at_least(
        large**2 - small**2,
        sp.S.Zero,
        more * (large + small),
        "squares below",
        slacks={more: large - small},
    )
