"""One sample's gradient in units of a slope, and the mean of n.

Steps of `derivations.corollary3`.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import PowerSum
from derivations.notation import d, gamma, omega, t
from derivations.population_step.constants import defined, value
from derivations.population_step.notation import sigma, symbol
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import HOEFFDING, HOELDER_PRODUCTS, MINKOWSKI, SUB_GAMMA
from derivations.proof.refusal import require
from derivations.sample_step.form_bounds import double_factorial
from derivations.sample_step.notation import c_tail, n_samples, t_tail, v_tail
from derivations.softmax import attention_velocity

__all__ = ["check_moments", "steps"]

_inverse = d**2 / symbol("omega_low")


def steps() -> tuple[Step, ...]:
    """Return the steps on one sample, along any direction."""
    return (
        Step(
            label="attention-norm",
            uses=("score_bounds:omega", "score_bounds:Z", "score_bounds:Z-2"),
            statement=r"|\gamma|, |\tilde{\gamma}| \le N, \quad \gamma_{i} \le \gamma_{+}, \quad"
            rf" \frac{{1}}{{\omega}} \le \frac{{d^{{2}}}}{{\omega_{{-}}}}, \quad"
            rf" {defined('N_norm')}, \quad {defined('gamma_high')}",
            reason=r"$|\gamma|^{2} = Z_{2} / Z^{2}$ and $\gamma_{i} = e^{s_{i}} / Z$, by the ends"
            r" of $Z_{2}$, $Z$ and $\omega$ (derivation score_bounds).",
            check=_check_norms,
        ),
        Step(
            label="centred",
            statement=r"|r|^{2} \le \gamma_{+} \sum_{i} \gamma_{i} (t_{i} - \bar{t})^{2} \le"
            r" \gamma_{+} \sum_{i} \gamma_{i} t_{i}^{2} \le \gamma_{+}^{2} \sum_{i} t_{i}^{2},"
            r" \quad \bar{t}^{2} \le \sum_{i} \gamma_{i} t_{i}^{2} \le \gamma_{+} \sum_{i}"
            r" t_{i}^{2}",
            reason=r"$r_{i} = \gamma_{i} (t_{i} - \bar{t})$, where $\bar{t}$ is the mean of $t$"
            r" with the weights $\gamma$: the square about the mean is the least.",
            check=_check_spread,
        ),
        Step(
            label="sample-moments",
            uses=("sample_noise:bounds",),
            statement=r"\mathbb{E} |G|^{k} \le \kappa_{k} (2 b)^{k}, \quad \mathbb{E} G^{2} \le"
            r" b^{2} (\sqrt{3} + \sqrt{105} N^{2})^{2} \text{ if } b \ge |\tilde{\gamma}| |r| /"
            r" \omega",
            reason=r"$G = (p q - x_{a} x_{b}) q \langle r, x \rangle / \omega$ is the gradient of"
            r" one sample's loss along $A$, by $2 \omega$. $|p q - x_{a} x_{b}| \le 2$ leaves a"
            r" product of two forms; and $\|G\|_{2} \le (\|q \langle r, x \rangle\|_{2} + \|p"
            r" q^{2} \langle r, x \rangle\|_{2}) / \omega$ with the bounds of derivation"
            r" sample_noise.",
            check=_check_one_sample,
            method=Method.LEMMA,
            lemmas=(MINKOWSKI, HOELDER_PRODUCTS),
        ),
        Step(
            label="growth",
            statement=r"\kappa_{k} (2 b)^{k} \le \frac{k!}{2} v \left(\frac{40 b}{3}\right)^{k -"
            r" 2} \text{ for } k \ge 3, v = b^{2} (\sqrt{3} + \sqrt{105} N^{2})^{2}",
            reason=r"$v \ge 3 b^{2}$. At $k = 3$ both sides are $120 b^{3}$ for $v = 3 b^{2}$;"
            r" from $k$ to $k + 1$ the left is multiplied by $(4 k + 2) b$ and the right by $(k +"
            r" 1) 40 b / 3$, which is more.",
            check=_check_moments_of_sample,
        ),
        Step(
            label="tail",
            uses=("sample-moments", "growth"),
            statement=r"P(X \ge t) \le \Psi(t; v, c) \text{ for } X \text{ sub-gamma of variance }"
            rf" v \text{{ and scale }} c, \quad {defined('sub_gamma_tail')}",
            reason=r"The mean of $n$ copies of $G$, less its expectation, is sub-gamma of variance"
            r" $v / n$ and scale $40 b / (3 n)$. $L = 2 t^{2} / (\sqrt{v} + \sqrt{v + 2 c"
            r" t})^{2}$ solves $t = \sqrt{2 v L} + c L$. At $c = 0$ the tail is $e^{-t^{2} / (2"
            r" v)}$.",
            check=_check_tail,
            method=Method.LEMMA,
            lemmas=(SUB_GAMMA,),
        ),
        Step(
            label="range",
            uses=("attention-norm", "centred"),
            statement=r"|G| \le H, \quad H^{2} = 4 \gamma_{+} \frac{d^{4}}{\omega_{-}^{2}}"
            r" \sum_{i} t_{i}^{2}",
            reason=r"$|p q - x_{a} x_{b}| \le 2$, $|q| \le 1$ and $|\langle r, x \rangle| \le"
            r" \sum_{i} \gamma_{i} |t_{i} - \bar{t}| \le (\sum_{i} \gamma_{i} t_{i}^{2})^{1 / 2}$."
            r" If of one sample nothing but its range is used, $H^{2}$ takes the place of $v$, and"
            r" the scale is $0$: the interval has length $2 H$.",
            check=_check_range,
            method=Method.LEMMA,
            lemmas=(HOEFFDING,),
        ),
    )


def _check_norms() -> None:
    low, high = symbol("Z_low"), symbol("Z_2_high")
    mean, mean_2 = sp.symbols("mean mean_2", positive=True)  # Z/d and Z_2/d
    room, above, below = sp.symbols("room above below", nonnegative=True)
    require_at_least(
        value("N_norm") ** 2,
        mean_2 / (d * mean**2),
        (room * mean**2 + mean_2 * above * (mean + low)) / (d * mean**2 * low**2),
        "N^2 and |gamma|^2",
        slacks={room: high - mean_2, above: mean - low},
    )
    require(value("N_norm") == sp.sqrt(high / d) / low, "N is not the positive root")
    growth, term = sp.symbols("growth term", positive=True)
    require_at_least(
        value("gamma_high"),
        term / (d * mean),
        (below * mean + term * above) / (d * mean * low),
        "the largest weight",
        slacks={growth: sp.exp(sigma), below: sp.exp(sigma) - term, above: mean - low},
    )
    require_at_least(
        _inverse,
        1 / omega,
        below * d**2 / (symbol("omega_low") * d**2 * omega),
        "1/omega",
        slacks={below: d**2 * omega - symbol("omega_low")},
    )


def _check_spread() -> None:
    largest = symbol("gamma_high")
    spread = attention_velocity(t)  # r, for weights that sum to one
    mean, about = PowerSum(gamma * t), PowerSum(gamma * (t - PowerSum(gamma * t)) ** 2)
    unit = {PowerSum(gamma): sp.S.One}
    terms, square = sp.symbols("terms square", nonnegative=True)
    require_equal(PowerSum(spread**2), PowerSum((gamma * (t - mean)) ** 2), "|r|^2")
    # gamma_i (gamma_+ - gamma_i) (t_i - tbar)^2, summed.
    require_at_least(
        largest * about,
        PowerSum(spread**2),
        terms,
        "the first bound of |r|^2",
        slacks={terms: PowerSum((largest - gamma) * gamma * (t - mean) ** 2)},
    )
    second = PowerSum(gamma * t**2)
    require_equal(sp.expand(about).xreplace(unit), second - mean**2, "the square about the mean")
    require_at_least(
        second,
        second - mean**2,
        square,
        "the square about 0 and about the mean",
        slacks={square: mean**2},
    )
    require_at_least(
        largest * PowerSum(t**2),
        second,
        terms,
        "the last bound",
        slacks={terms: PowerSum((largest - gamma) * t**2)},
    )
    require_at_least(
        second,
        mean**2,
        square,
        "the square of the mean",
        slacks={square: sp.expand(about).xreplace(unit)},
    )


def _check_one_sample() -> None:
    N = symbol("N_norm")
    p_q, label = sp.symbols("p_q label", real=True)
    inside, signed = sp.symbols("inside signed", nonnegative=True)
    for sign in (1, -1):
        require_at_least(
            sp.Integer(2),
            sign * (p_q - label),
            inside + signed,
            "2 and |p q - x_a x_b|",
            slacks={inside: 1 - sign * p_q, signed: 1 + sign * label},
        )
    # The lengths of gamma, gamma_tilde, r; 1/omega; the roots of 3 and of 105.
    own, other, spread, inverse = sp.symbols("own other spread inverse", nonnegative=True)
    b, root_3, root_105 = sp.symbols("b root_3 root_105", positive=True)
    room, left, right = sp.symbols("room left right", nonnegative=True)
    require_at_least(
        b * (root_3 + root_105 * N**2),
        (root_3 * other * spread + root_105 * own * other**2 * spread) * inverse,
        root_3 * room
        + root_105 * (N**2 * room + other * spread * inverse * (N * left + own * right)),
        "the root of v and the norm of G",
        slacks={room: b - other * spread * inverse, left: N - own, right: N - other},
    )
    for name, bound in (("v_support", "b_support"), ("v_ambient", "b_ambient")):
        expected = (symbol(bound) * (sp.sqrt(3) + sp.sqrt(105) * N**2)) ** 2
        require_equal(value(name), expected, name)
    # b_+ from |gamma_tilde| <= N, |r| <= gamma_+ sqrt(energy) and the end of omega.
    gamma_high, energy = symbol("gamma_high"), sp.Symbol("energy", positive=True)
    closer = sp.Symbol("closer", nonnegative=True)
    for name, total in (("b_support", "E_support"), ("b_ambient", "E_ambient")):
        require_at_least(
            value(name).subs(symbol(total), energy**2),
            other * spread * inverse,
            N * gamma_high * energy * room + N * closer * inverse + left * spread * inverse,
            name,
            slacks={
                room: _inverse - inverse,
                closer: gamma_high * energy - spread,
                left: N - other,
            },
        )
    require(double_factorial(2) == 3, "the fourth moment of a Gaussian variable")


def _check_moments_of_sample() -> None:
    scale = sp.Rational(40, 3)
    check_moments(base=2, variance=3, scale=scale)
    N, b, root_3, root_105 = sp.symbols("N b root_3 root_105", positive=True)
    require_at_least(
        b**2 * (root_3 + root_105 * N**2) ** 2,
        b**2 * root_3**2,
        b**2 * root_105 * N**2 * (2 * root_3 + root_105 * N**2),
        "v and 3 b^2",
    )
    for name, bound in (("far_scale", "b_support"), ("sampling_scale", "b_ambient")):
        require_equal(value(name), scale * symbol(bound) / n_samples, name)


def check_moments(*, base: int, variance: int, scale: sp.Rational) -> None:
    """Check that moments (2k-1)!! (base b)^k are those of Bernstein's inequality.

    Parameters
    ----------
    base : int
        The moments are bounded by those of `base` b times two forms.
    variance : int
        v in units of b^2, or less.
    scale : sympy.Rational
        c in units of b.
    """
    left = sp.Integer(double_factorial(3) * base**3)
    right = sp.factorial(3) / 2 * variance * scale
    require(bool(left <= right), f"the third moment: {left} and {right}")
    more = sp.Symbol("more", nonnegative=True)  # k = 3 + more
    k = 3 + more
    constant = (k + 1) * scale - (2 * k + 1) * base
    require_at_least(
        (k + 1) * scale,
        (2 * k + 1) * base,
        sp.Poly(constant, more).as_expr(),
        "the factors from one moment to the next",
    )
    for order in range(1, 8):
        step = double_factorial(order + 1)
        require(step == (2 * order + 1) * double_factorial(order), f"(2k+1)!! at {order}")


def _check_tail() -> None:
    root, wide = sp.symbols("root wide", positive=True)  # sqrt(v), sqrt(v + 2 c t)
    exponent = -value("sub_gamma_tail").args[0]
    in_roots = {
        sp.sqrt(v_tail + 2 * c_tail * t_tail): wide,
        sp.sqrt(v_tail): root,
    }
    level = exponent.xreplace(in_roots)
    require(level.free_symbols == {t_tail, root, wide}, f"the exponent is {level}")
    first = 2 * t_tail * root / (root + wide)  # sqrt(2 v L)
    require_equal(first**2, 2 * root**2 * level, "sqrt(2 v L)")
    scale = (wide**2 - root**2) / (2 * t_tail)  # c
    require_equal(first + scale * level, t_tail, "the threshold at the exponent")
    require_equal(exponent.subs(c_tail, 0), t_tail**2 / (2 * v_tail), "the exponent at scale 0")


def _check_range() -> None:
    for name, total in (("H_square", "E_support"), ("H_square_ambient", "E_ambient")):
        expected = (2 * _inverse) ** 2 * symbol("gamma_high") * symbol(total)
        require_equal(value(name), expected, name)
    # Cauchy: sum gamma_i x_i <= (sum gamma_i x_i^2)^(1/2), x_i = |t_i - tbar|.
    mean = PowerSum(gamma * t)
    terms = sp.Symbol("terms", nonnegative=True)
    require_at_least(
        PowerSum(gamma * t**2),
        mean**2,
        terms,
        "Cauchy's inequality",
        slacks={
            terms: sp.expand(PowerSum(gamma * (t - mean) ** 2)).xreplace(
                {PowerSum(gamma): sp.S.One}
            )
        },
    )
