"""The weights of the first step, bounded for all scores that avoid three rare events.

Off the events on the scores there are three numbers: the largest score is at most sigma, the sum
over the positions off the support at most h d, the sum of squares q d. From these follow, one
after the other, the ends of Z, Z_2, omega, kappa, K, M, of the weights c_j and of the slopes.
In `derivations.population_step`, `weight_bounds` and `slope_bound` have the second half of the way,
`frozen_sums` and `freezing` what changes when the two scores of the support are put to 0.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("score_bounds")

import sympy as sp

from derivations.antisymmetric import kappa_value
from derivations.calculus.power_sums import Entry, PowerSum
from derivations.notation import Z_2, Delta, E, Z, Z_tilde, Z_tilde_2, a, b, d, kappa, omega
from derivations.population_step import (
    freezing,
    frozen_sums,
    growth_signs,
    slope_bound,
    weight_bounds,
)
from derivations.population_step.constants import defined, formulas, growth_rate, value
from derivations.population_step.notation import G_2, OFF_SUPPORT, D, G, h, q, s, sigma, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Derivation, Step
from derivations.proof.refusal import require

__all__ = ["derive"]

_SUMS = {
    PowerSum(E): Z,
    PowerSum(E**-1): Z_tilde,
    PowerSum(E**2): Z_2,
    PowerSum(E**-2): Z_tilde_2,
}

_NAMES = (
    *("h", "q", "h_1", "q_1", "C_1", "C_2", "omega_low", "Z_low", "Z_high", "Z_2_low", "Z_2_high"),
    *("kappa_low", "kappa_high", "K_low", "K_high", "M_low", "M_high", "k_1", "k_2", "F", "R"),
    *("f_max", "c_max", "w", "beta_slope", "c_up", "c_down", "alpha_slope", "c_margin", "e_Z"),
    *("pi_1", "pi_2", "mu_M", "k_kappa", "kappa_abs", "K_shift", "lambda_c", "w_0"),
)


def derive(title: str) -> Derivation:
    """Derive the bounds of weights and slopes off the events on the scores."""
    return Derivation(
        name="score_bounds",
        title=title,
        source="ours",
        setting=r"The antisymmetric start, with $|s_{j}| \le \sigma \le 1$ for all $j$,"
        r" $|\sum_{j \notin S} s_{j}| \le h d$, $\sum_{j \notin S} s_{j}^{2} \le q d$, and $0 \le"
        r" \Delta \le D \le 2$. Conditions: $1 - 2 h_{1} > 0$, and $\alpha > 0$ where it divides."
        r" All three bounds are the same for $-s$, so whatever is shown for head 1 holds for head"
        r" 2, with $\tilde{Z}$ for $Z$. $g(u) = (e^{u} - 1 - u) / u^{2}$, $K = \kappa / Z$, $M ="
        r" \omega \tilde{Z}_{2}$, $f(s) = K (e^{s} - 1) + M (e^{2 s} - 1)$, $f_{j} = f(s_{j})$. A"
        r" check writes the difference of the two sides as a sum of products of slacks, each of"
        r" which is an assumption or an earlier step.",
        steps=(
            *growth_signs.steps(),
            *_steps(),
            *weight_bounds.steps(),
            *slope_bound.steps(),
            *frozen_sums.steps(),
            *freezing.steps(),
        ),
        formulas=(),
        constants=formulas(*_NAMES),
    )


def _steps() -> tuple[Step, ...]:
    return (
        Step(
            label="sums",
            statement=rf"\sum_{{j}} s_{{j}}^{{2}} \le q_{{1}} d, \quad {defined('q_1')}; \quad"
            rf" |\sum_{{j}} s_{{j}}| \le h_{{1}} d, \quad {defined('h_1')}",
            reason=r"The two positions of $S$ add at most $\sigma^{2}$, or $\sigma$, each.",
            check=_check_all_positions,
        ),
        Step(
            label="cosh-sums",
            uses=("cosh-rate", "sums"),
            statement=rf"\sum_{{j}} \cosh k s_{{j}} \le C_{{k}} d, \quad {defined('C_1')}, \quad"
            rf" {defined('C_2')}",
            reason=r"$\cosh k s - 1 \le s^{2} (\cosh k \sigma - 1) / \sigma^{2}$ for $|s| \le"
            r" \sigma$, as $(\cosh u - 1) / u^{2}$ increases; the sum of squares is at most $q_{1}"
            r" d$.",
            check=_check_cosh_sums,
        ),
        Step(
            label="products",
            uses=("cosh-sums",),
            statement=r"d^{2} \le Z \tilde{Z} \le C_{1}^{2} d^{2}, \quad d^{2} \le Z_{2}"
            r" \tilde{Z}_{2} \le C_{2}^{2} d^{2}",
            reason=r"Below, Cauchy: $\sum_{j} E_{j} (d / Z - 1 / E_{j})^{2} = \tilde{Z} - d^{2} /"
            r" Z \ge 0$. Above, $Z \tilde{Z} = ((Z + \tilde{Z}) / 2)^{2} - ((Z - \tilde{Z}) /"
            r" 2)^{2}$ and $(Z + \tilde{Z}) / 2 = \sum_{j} \cosh s_{j}$. The same with $E^{2}$.",
            check=_check_products,
        ),
        Step(
            label="omega",
            uses=("products",),
            statement=rf"\omega_{{-}} \le d^{{2}} \omega \le 1, \quad {defined('omega_low')}",
            reason=r"$\omega = 1 / (Z \tilde{Z})$ and the previous step.",
            check=_check_omega,
        ),
        Step(
            label="Z",
            uses=("chord", "sums"),
            statement=rf"Z_{{-}} d \le Z \le Z_{{+}} d, \quad {defined('Z_low')}, \quad"
            rf" {defined('Z_high')}",
            reason=r"$1 + s \le e^{s} = 1 + s + s^{2} g(s) \le 1 + s + s^{2} g(\sigma)$, as $g$"
            r" increases; summed over all positions.",
            check=lambda: _check_Z(1, G, "Z_low", "Z_high"),
        ),
        Step(
            label="Z-2",
            uses=("chord", "sums"),
            statement=rf"Z_{{2,-}} d \le Z_{{2}} \le Z_{{2,+}} d, \quad {defined('Z_2_low')},"
            rf" \quad {defined('Z_2_high')}",
            reason=r"The same at $2 s$: $1 + 2 s \le e^{2 s} \le 1 + 2 s + 4 s^{2} g(2 \sigma)$.",
            check=lambda: _check_Z(2, G_2, "Z_2_low", "Z_2_high"),
        ),
        Step(
            label="kappa",
            uses=("products", "omega"),
            statement=rf"\kappa_{{-}} \le \kappa \le \kappa_{{+}}, \quad {defined('kappa_low')},"
            rf" \quad {defined('kappa_high')}",
            reason=r"$\kappa = 2 \cosh \Delta - \omega Z_{2} \tilde{Z}_{2} - 2 d (d - 1) \omega$"
            r" from derivation antisymmetric; $1 \le \cosh \Delta \le \cosh D$, and the ends of"
            r" $\omega$ and $Z_{2} \tilde{Z}_{2}$.",
            check=_check_kappa,
        ),
        Step(
            label="K",
            uses=("Z", "kappa"),
            statement=rf"K_{{-}} \le d K \le K_{{+}}, \quad {defined('K_low')}, \quad"
            rf" {defined('K_high')}",
            reason=r"$d K = \kappa / (Z / d)$. An upper bound of $\kappa$ that is not negative is"
            r" divided by the lower end of $Z / d$, a negative one by the upper end; and the other"
            r" way round below. The maximum and minimum over both ends include that choice.",
            check=_check_K,
        ),
        Step(
            label="M",
            uses=("Z-2", "omega"),
            statement=rf"M_{{-}} \le d M \le M_{{+}}, \quad {defined('M_low')}, \quad"
            rf" {defined('M_high')}",
            reason=r"$d M = d^{2} \omega \cdot \tilde{Z}_{2} / d$, a product of two positive"
            r" factors; the ends of $\tilde{Z}_{2}$ are those of $Z_{2}$, as the bounds on the"
            r" scores do not see the sign of $s$.",
            check=_check_M,
        ),
    )


def _check_all_positions() -> None:
    off, at_a, at_b = sp.symbols("off at_a at_b", nonnegative=True)
    require_at_least(
        d * value("q_1"),
        PowerSum(s**2),
        off + at_a + at_b,
        "q_1 d and the sum of squares",
        slacks={
            off: q * d - PowerSum(OFF_SUPPORT * s**2),
            at_a: sigma**2 - Entry(s, a) ** 2,
            at_b: sigma**2 - Entry(s, b) ** 2,
        },
    )
    for sign in (-1, 1):
        require_at_least(
            d * value("h_1"),
            sign * PowerSum(s),
            off + at_a + at_b,
            "h_1 d and the sum",
            slacks={
                off: h * d - sign * PowerSum(OFF_SUPPORT * s),
                at_a: sigma - sign * Entry(s, a),
                at_b: sigma - sign * Entry(s, b),
            },
        )


def _check_cosh_sums() -> None:
    squares, terms = sp.symbols("squares terms", nonnegative=True)
    rate = sp.Symbol("rate", positive=True)
    for k in (1, 2):
        rate_value = (sp.cosh(k * sigma) - 1) / sigma**2
        total = PowerSum((E**k + E**-k) / 2)
        require_at_least(
            d * value(f"C_{k}"),
            total,
            rate * squares + terms,
            f"C_{k} d and the sum of cosh",
            slacks={
                rate: rate_value,
                squares: symbol("q_1") * d - PowerSum(s**2),
                terms: rate_value * PowerSum(s**2) - (total - d),
            },
        )


def _check_products() -> None:
    room, terms = sp.symbols("room terms", nonnegative=True)
    for k, total, total_tilde in ((1, Z, Z_tilde), (2, Z_2, Z_tilde_2)):
        top, product = symbol(f"C_{k}") * d, total * total_tilde
        require_at_least(
            product,
            d**2,
            total * terms,
            "the product of the sums and d^2",
            slacks={terms: PowerSum(E**k * (d / total - E**-k) ** 2).xreplace(_SUMS)},
        )
        mean = (total + total_tilde) / 2
        require_at_least(
            top**2,
            product,
            room * (top + mean) + (total - total_tilde) ** 2 / 4,
            "C^2 d^2 and the product of the sums",
            slacks={room: top - PowerSum((E**k + E**-k) / 2).xreplace(_SUMS)},
        )


def _check_omega() -> None:
    product = Z * Z_tilde
    above, below = sp.symbols("above below", nonnegative=True)
    require_at_least(
        sp.S.One, d**2 / product, above / product, "1 and omega", slacks={above: product - d**2}
    )
    require_at_least(
        d**2 / product,
        value("omega_low"),
        below / (product * symbol("C_1") ** 2),
        "omega and its lower end",
        slacks={below: (symbol("C_1") * d) ** 2 - product},
    )


def _check_Z(k: int, curvature: sp.Expr, low: str, high: str) -> None:
    exponential = 1 + k * s + k**2 * s**2 * curvature
    total = PowerSum(exponential)
    terms, low_sum, high_sum, squares = sp.symbols(
        "terms low_sum high_sum squares", nonnegative=True
    )
    most = sp.Symbol("most", positive=True)
    sums = {
        low_sum: symbol("h_1") * d + PowerSum(s),
        high_sum: symbol("h_1") * d - PowerSum(s),
        squares: symbol("q_1") * d - PowerSum(s**2),
        most: growth_rate(k * sigma),
    }
    require_at_least(
        total,
        d * value(low),
        terms + k * low_sum,
        "the sum of exponentials and its lower end",
        slacks={**sums, terms: PowerSum(exponential - 1 - k * s)},
    )
    require_at_least(
        d * value(high),
        total,
        k * high_sum + k**2 * (most * squares + terms),
        "the upper end and the sum of exponentials",
        slacks={
            **sums,
            terms: growth_rate(k * sigma) * PowerSum(s**2) - PowerSum(s**2 * curvature),
        },
    )


def _check_kappa() -> None:
    grown, lean, others, low, high, least, most = sp.symbols(
        "grown lean others low high least most", nonnegative=True
    )
    product, top = Z_2 * Z_tilde_2, symbol("C_2") ** 2
    slacks = {
        grown: sp.cosh(D) - sp.cosh(Delta),
        lean: sp.cosh(Delta) - 1,
        others: d - 1,
        low: d**2 * omega - symbol("omega_low"),
        high: 1 - d**2 * omega,
        least: product - d**2,
        most: top * d**2 - product,
    }
    require_at_least(
        value("kappa_high"),
        kappa_value(),
        2 * grown + omega * least + low + 2 * others * low / d,
        "the upper end and kappa",
        slacks=slacks,
    )
    require_at_least(
        kappa_value(),
        value("kappa_low"),
        2 * lean + most / d**2 + product * high / d**2 + 2 * others * high / d,
        "kappa and the lower end",
        slacks=slacks,
    )


def _check_K() -> None:
    mean = sp.Symbol("mean", positive=True)  # of e^s: Z/d
    Z_low, Z_high = symbol("Z_low"), symbol("Z_high")
    size, beyond, above, below = sp.symbols("size beyond above below", nonnegative=True)
    ends = {above: mean - Z_low, below: Z_high - mean}
    for name, kappa_end, choice in (
        ("K_high", symbol("kappa_high"), sp.Max),
        ("K_low", symbol("kappa_low"), sp.Min),
    ):
        sign = 1 if choice is sp.Max else -1
        quotients = {1: kappa_end / Z_low, -1: kappa_end / Z_high}
        require(value(name) == choice(*quotients.values()), f"{name} is not over both ends")
        for case in (1, -1):
            # The end is not negative (case 1) or not positive (case -1).
            chosen = quotients[sign * case]
            gap, at = (above, Z_low) if sign * case == 1 else (below, Z_high)
            require_at_least(
                sign * chosen,
                sign * kappa / mean,
                beyond / mean + size * gap / (mean * at),
                f"{name} and kappa over the mean",
                slacks={**ends, beyond: sign * (kappa_end - kappa), size: case * kappa_end},
            )
    require_equal(d * (kappa / (d * mean)), kappa / mean, "d K and kappa over the mean")


def _check_M() -> None:
    rate, mean = sp.symbols("rate mean", positive=True)  # d^2 omega and Z~_2/d
    low, high, mean_low, mean_high = sp.symbols("low high mean_low mean_high", nonnegative=True)
    require_equal(
        d * omega * Z_tilde_2,
        (rate * mean).xreplace({rate: d**2 * omega, mean: Z_tilde_2 / d}),
        "d M and the product",
    )
    slacks = {
        low: rate - symbol("omega_low"),
        high: 1 - rate,
        mean_low: mean - symbol("Z_2_low"),
        mean_high: symbol("Z_2_high") - mean,
    }
    require_at_least(
        value("M_high"), rate * mean, mean_high + mean * high, "the upper end", slacks=slacks
    )
    require_at_least(
        rate * mean,
        value("M_low"),
        low * mean + symbol("omega_low") * mean_low,
        "the lower end",
        slacks=slacks,
    )
