"""The loss of the worst input, without looking at 2^d inputs.

With tau = x_a x_b the error of one input is (1 - tau p q)^2, so everything is the least value mu of
tau p q. For each tau the pair (p, q) runs over the corners of a planar zonotope with generators in
the positive quadrant. On the branch tau = -1 the least value is at a vertex; on tau = +1 the
boundary gives a bound, with a gap that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from derivations.enumeration import dot, inputs
from derivations.evaluation import evaluate
from derivations.identities import require, require_equal
from derivations.instances import concentrated_attention, random_attention, seeded
from derivations.latex import equation, latex
from derivations.ledger import Derivation, Formula, Method, Step
from derivations.notation import (
    R_2,
    R_e,
    R_s,
    a,
    alpha,
    alpha_prime,
    b,
    beta,
    beta_prime,
    gamma,
    gamma_tilde,
    i,
    x,
)
from derivations.power_sums import Entry, PowerSum, Unit
from derivations.zonotope import branch_bracket, branch_minimum

__all__ = ["derive", "edge_peak", "edge_residual", "residual_in_masses", "success_value"]

_P, _Q, _r = sp.symbols("P Q r", real=True)
_gamma_i, _gamma_tilde_i = Entry(gamma, i), Entry(gamma_tilde, i)


def residual_in_masses(tau: int) -> sp.Expr:
    """Return 1 - tau p q in the masses of both heads on the two signs, without a difference.

    Each product of the masses adds 1 - tau (sign of p's part)(sign of q's part) = 0 or 2 to it.
    """
    masses = {-1: (alpha, beta), 1: (alpha_prime, beta_prime)}
    return sp.Add(
        *(
            (1 - tau * sign * sign_tilde) * masses[sign][0] * masses[sign_tilde][1]
            for sign in masses
            for sign_tilde in masses
        )
    )


def edge_residual() -> sp.Expr:
    """Return 1 - P Q along an edge of the branch +1, at the fraction r of its length."""
    return 1 - (_P + 2 * _gamma_i * _r) * (_Q + 2 * _gamma_tilde_i * _r)


def edge_peak() -> sp.Expr:
    """Return the greatest residual inside an edge, from its ends and R_2 = 4 gamma_i gamma_tilde_i.

    The residual is the quadratic with the values R_s at 0, R_e at 1 and leading coefficient -R_2.
    """
    residual = R_s + (R_e - R_s + R_2) * _r - R_2 * _r**2
    at = _stationary_point(residual)
    return R_s + sp.factor(sp.expand(residual.subs(_r, at) - R_s))


def success_value() -> sp.Expr:
    """Return p q at the input that is +1 on the support and -1 elsewhere."""
    worst = 2 * Unit(a) + 2 * Unit(b) - 1
    return sp.Mul(
        *(
            PowerSum(weights * worst).xreplace({PowerSum(weights): sp.S.One})
            for weights in (gamma, gamma_tilde)
        )
    )


def derive(title: str) -> Derivation:
    """Derive what is known of the worst input."""
    plus, minus = residual_in_masses(1), residual_in_masses(-1)
    curvature = -sp.diff(edge_residual(), _r, 2)
    peak, success = edge_peak(), success_value()
    g, h = sp.symbols("g h", positive=True)
    segment = _segment(g, h)
    turning_value = sp.factor(segment.subs(_r, _stationary_point(segment)))
    slope_at_start = sp.expand(sp.diff(segment, _r).subs(_r, 0))
    closing = sp.factor(turning_value - (1 - g - h))
    steps = (
        Step(
            statement=r"(f - y)^{2} = (1 - \tau p q)^{2}, \quad \tau = x_{a} x_{b}",
            reason=r"$f - y = x_{a} x_{b} - p q = \tau (1 - \tau p q)$. Checked for the four"
            r" values of $(x_{a}, x_{b})$.",
            check=_check_residual,
        ),
        Step(
            statement=rf"1 - p q = {latex(plus)} \text{{ for }} \tau = 1, \quad"
            rf" 1 + p q = {latex(minus)} \text{{ for }} \tau = -1",
            reason=r"$p = \alpha' - \alpha$ and $q = \beta' - \beta$, and the masses of each"
            r" head sum to $1$. No difference is left to cancel. Checked as identities, and at all"
            r" inputs for $d = 2, \ldots, 6$.",
            check=lambda: _check_masses(plus, minus),
        ),
        Step(
            statement=r"\sup_{x} (f - y)^{2} = (1 - \mu)^{2}, \quad \mu = \min_{x} x_{a} x_{b} p q",
            reason=r"By the previous step $1 - \tau p q \ge 0$, so the square is largest where"
            r" $\tau p q$ is least. Checked at all inputs for $d = 2, \ldots, 6$.",
            check=_check_supremum,
            method=Method.INSTANCES,
        ),
        Step(
            statement=r"p(-x) = -p(x), \quad q(-x) = -q(x), \quad (p q)(-x) = (p q)(x)",
            reason=r"$\tau$ does not change either: it is enough to look at inputs with $x_{a} ="
            r" 1$.",
            check=_check_flip,
        ),
        Step(
            statement=equation(
                r"\frac{\partial^{2}}{\partial r^{2}}"
                r" (P + 2 \gamma_{i} r)(Q + 2 \tilde{\gamma}_{i} r)",
                curvature,
            )
            + r" \ge 0",
            reason=r"Flipping $x_{i}$ from $-1$ to $1$ moves $(p, q)$ by $2 (\gamma_{i},"
            r" \tilde{\gamma}_{i})$, in the closed positive quadrant. So along every edge of the"
            r" zonotope $P Q$ is convex and $-P Q$ is concave.",
            check=lambda: require_equal(curvature, 8 * _gamma_i * _gamma_tilde_i, "the curvature"),
        ),
        Step(
            statement=r"\frac{\partial^{2}}{\partial r^{2}} (P + r)(Q - r) = -2, \quad"
            r" \frac{\partial^{2}}{\partial r^{2}} (-(P + r)(Q + r)) = -2",
            reason=r"Through every inner point there is a line on which $\tau p q$ is strictly"
            r" concave: on both branches the least value over the zonotope is on its boundary.",
            check=_check_no_inner_minimum,
        ),
        Step(
            statement=r"\min_{x : \tau = -1} (-p q) = \min_{\text{vertices}} (-P Q)",
            reason=r"Concave along the edges, the least value on the boundary is at a vertex, and"
            r" every vertex is the image of an input: the branch $\tau = -1$ is always exact."
            r" Checked against all inputs, $d = 2, \ldots, 8$.",
            check=_check_minus_branch,
            method=Method.INSTANCES,
        ),
        Step(
            statement=equation(r"\max_{0 \le r \le 1} R(r)", peak)
            + r" \text{ if } |R_{e} - R_{s}| < R_{2}, \text{ else } \max(R_{s}, R_{e});"
            r" \quad R_{2} = 4 \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"$R = 1 - P Q$ along an edge of the branch $\tau = 1$ is a quadratic with"
            r" leading coefficient $-R_{2}$ and the values $R_{s}$, $R_{e}$ at the ends. Its"
            r" stationary point is at $r = (R_{e} - R_{s} + R_{2}) / (2 R_{2})$, inside the edge"
            r" exactly under the stated condition.",
            check=lambda: _check_peak(peak),
        ),
        Step(
            statement=r"\max_{0 \le r \le 1} R(r) - \max(R_{s}, R_{e}) \le \frac{R_{2}}{4} ="
            r" \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"For $R_{e} \ge R_{s}$ and $D = R_{e} - R_{s}$, $R_{2} / 4$ exceeds the gap by"
            r" $D (2 R_{2} - D) / (4 R_{2}) \ge 0$; for $R_{e} \le R_{s}$ exchange the ends. So"
            r" the attained value on the branch $\tau = 1$ is at most $\max_{i \notin S}"
            r" \gamma_{i} \tilde{\gamma}_{i}$ above the bound.",
            check=lambda: _check_gap(peak),
        ),
        Step(
            statement=r"\min_{\text{edges}} P Q \le \min_{x : \tau = 1} p q \le"
            r" \min_{\text{vertices}} P Q \le \min_{\text{edges}} P Q"
            r" + \max_{i \notin S} \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"The zonotope contains the image of every input, and its vertices are such"
            r" images. Checked against all inputs, $d = 2, \ldots, 8$.",
            check=_check_plus_branch,
            method=Method.INSTANCES,
        ),
        Step(
            statement=equation(r"\min_{x : \tau = 1} p q", success)
            + r" \quad \text{if } \gamma_{a} + \gamma_{b} \ge \frac{1}{2},"
            r" \tilde{\gamma}_{a} + \tilde{\gamma}_{b} \ge \frac{1}{2}",
            reason=r"With $x_{a} = x_{b} = 1$ both $p$ and $q$ are least at $x_{i} = -1$ for all"
            r" $i \notin S$, and not negative there: so is their product. Checked by the value at"
            r" that input for symbolic $d$, and against all inputs, $d = 2, \ldots, 8$.",
            check=lambda: _check_success(success),
        ),
        Step(
            statement=rf"{latex(turning_value)} - (1 - g - h) = {latex(closing)}, \quad d = 3",
            reason=r"With one position outside $S$, of weights $g$ and $h$, the branch $\tau = 1$"
            r" is one segment. $P Q$ turns inside it only if its slope at the start, $2 (g + h - 4"
            r" g h)$, is negative; the value there is the first term. The branch $\tau = -1$"
            r" attains $1 - g - h$ or less, as the mean of its two values is $1 - g - h - 2"
            r" (\gamma_{a} \tilde{\gamma}_{a} + \gamma_{b} \tilde{\gamma}_{b})$; by the identity"
            r" that is below the turning value. So for $d \le 3$ the bracket of $\mu$ closes.",
            check=lambda: _check_three_positions(g, h, turning_value, slope_at_start, closing),
        ),
        Step(
            statement=r"-\frac{9}{25} = \min_{\text{edges}} P Q < \mu = -\frac{8}{25}",
            reason=r"For $d = 4$ the bracket need not close: $\gamma = (1, 1, 14, 4) / 20$,"
            r" $\tilde{\gamma} = (7, 7, 2, 4) / 20$, $S = (0, 1)$. The least value on the edges is"
            r" $-9/25$, at the vertices $-8/25$; all inputs are vertices.",
            check=_check_open_example,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="worst_case",
        title=title,
        source="ours",
        setting=r"$\tau = x_{a} x_{b}$. $\alpha$, $\alpha'$ are the weights of head 1 on the"
        r" positions with $x_{i} = -1$ and $x_{i} = +1$, and $\beta$, $\beta'$ those of head 2."
        r" For each $\tau$, with $x_{a} = 1$, $(p, q)$ is $(\gamma_{a} + \tau \gamma_{b},"
        r" \tilde{\gamma}_{a} + \tau \tilde{\gamma}_{b})$ plus a sum of the generators $\pm"
        r" (\gamma_{i}, \tilde{\gamma}_{i})$, $i \notin S$; the convex hull of these points is a"
        r" zonotope, $(P, Q)$ a point of it.",
        steps=steps,
        formulas=(
            Formula(name="residual_plus", left=r"1 - p q", right=plus),
            Formula(name="residual_minus", left=r"1 + p q", right=minus),
            Formula(name="edge_peak", left=r"\max_{0 \le r \le 1} R(r)", right=peak),
            Formula(name="success_value", left=r"\min_{x : \tau = 1} p q", right=success),
        ),
    )


def _stationary_point(quadratic: sp.Expr) -> sp.Expr:
    """Return the r at which a quadratic in r is stationary."""
    slope = sp.diff(quadratic, _r)
    return sp.together(-slope.subs(_r, 0) / sp.diff(slope, _r))


def _segment(g: sp.Expr, h: sp.Expr) -> sp.Expr:
    """Return P Q on the branch +1 for d = 3: the third position has the weights g and h."""
    return (1 - 2 * g + 2 * g * _r) * (1 - 2 * h + 2 * h * _r)


def _instances(largest: int = 8) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Yield attentions of both heads, spread out and concentrated, for d = 2..largest."""
    rng = seeded(23)
    for d in range(2, largest + 1):
        for _ in range(3):
            yield random_attention(rng, d), random_attention(rng, d)
        for _ in range(3):
            yield concentrated_attention(rng, d), concentrated_attention(rng, d)


def _check_residual() -> None:
    p, q = sp.symbols("p q", real=True)
    for x_a in (-1, 1):
        for x_b in (-1, 1):
            prediction, label = -p * q, -x_a * x_b
            tau = x_a * x_b
            require_equal((prediction - label) ** 2, (1 - tau * p * q) ** 2, "the squares")


def _check_masses(plus: sp.Expr, minus: sp.Expr) -> None:
    whole = {alpha_prime: 1 - alpha, beta_prime: 1 - beta}
    p, q = alpha_prime - alpha, beta_prime - beta
    require_equal((1 - p * q).xreplace(whole), plus.xreplace(whole), "1 - p q and its masses")
    require_equal((1 + p * q).xreplace(whole), minus.xreplace(whole), "1 + p q and its masses")
    for attention, attention_tilde in _instances(largest=6):
        for signs in inputs(len(attention)):
            tau = signs[0] * signs[1]
            scalars = {}
            for name, weights in (("alpha", attention), ("beta", attention_tilde)):
                pairs = list(zip(weights, signs, strict=True))
                scalars[name] = sum((w for w, sign in pairs if sign < 0), Fraction(0))
                scalars[f"{name}_prime"] = sum((w for w, sign in pairs if sign > 0), Fraction(0))
            found = evaluate(plus if tau == 1 else minus, sequences={}, scalars=scalars)
            expected = 1 - tau * _product(attention, attention_tilde, signs)
            require(found == expected, f"x = {signs}: {found} and {expected}")


def _product(
    attention: list[Fraction], attention_tilde: list[Fraction], signs: tuple[int, ...]
) -> Fraction:
    return Fraction(dot(attention, signs) * dot(attention_tilde, signs))


def _check_supremum() -> None:
    for attention, attention_tilde in _instances(largest=6):
        losses = [
            (-_product(attention, attention_tilde, signs) + signs[0] * signs[1]) ** 2
            for signs in inputs(len(attention))
        ]
        mu = min(branch_minimum(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1))
        require(max(losses) == (1 - mu) ** 2, f"{max(losses)} and {(1 - mu) ** 2}")


def _check_flip() -> None:
    p, q = PowerSum(gamma * x), PowerSum(gamma_tilde * x)
    flip = {x: -x}
    require_equal(p.xreplace(flip), -p, "p(-x) and -p(x)")
    require_equal(q.xreplace(flip), -q, "q(-x) and -q(x)")
    require_equal((p * q).xreplace(flip), p * q, "p q at -x and at x")


def _check_no_inner_minimum() -> None:
    plus, minus = (_P + _r) * (_Q - _r), -(_P + _r) * (_Q + _r)
    for product in (plus, minus):
        require_equal(sp.diff(product, _r, 2), sp.Integer(-2), "the second derivative and -2")


def _check_minus_branch() -> None:
    for attention, attention_tilde in _instances():
        bound, attained = branch_bracket(attention, attention_tilde, (0, 1), -1)
        expected = branch_minimum(attention, attention_tilde, (0, 1), -1)
        require(bound == attained == expected, f"{attention}: {attained}, not {expected}")


def _check_peak(peak: sp.Expr) -> None:
    residual = edge_residual()
    ends = {
        R_s: residual.subs(_r, 0),
        R_e: residual.subs(_r, 1),
        R_2: 4 * _gamma_i * _gamma_tilde_i,
    }
    require_equal(-sp.expand(residual).coeff(_r, 2), ends[R_2], "the leading coefficient and -R_2")
    at = _stationary_point(residual)
    stated = (R_e - R_s + R_2) / (2 * R_2)
    require_equal(at, stated.xreplace(ends), "the stationary point and its closed form")
    require_equal(1 - stated, (R_2 - (R_e - R_s)) / (2 * R_2), "its distance from the end")
    require_equal(residual.subs(_r, at), peak.xreplace(ends), "the residual there and the peak")


def _check_gap(peak: sp.Expr) -> None:
    D = R_e - R_s
    require_equal(R_2 / 4 - (peak - R_e), D * (2 * R_2 - D) / (4 * R_2), "the margin at the end")
    require_equal(R_2 / 4 - (peak - R_s), -D * (2 * R_2 + D) / (4 * R_2), "the margin at the start")


def _check_plus_branch() -> None:
    for attention, attention_tilde in _instances():
        bound, attained = branch_bracket(attention, attention_tilde, (0, 1), 1)
        least = branch_minimum(attention, attention_tilde, (0, 1), 1)
        gap = max(
            (x * y for x, y in zip(attention[2:], attention_tilde[2:], strict=True)), default=0
        )
        require(
            bound <= least <= attained <= bound + gap,
            f"{attention}: {bound} <= {least} <= {attained} <= {bound + gap}",
        )


def _check_success(expr: sp.Expr) -> None:
    on_support = [Entry(c, a) + Entry(c, b) for c in (gamma, gamma_tilde)]
    require_equal(expr, (2 * on_support[0] - 1) * (2 * on_support[1] - 1), "the value")
    met = 0
    for attention, attention_tilde in _instances():
        if min(sum(attention[:2]), sum(attention_tilde[:2])) < Fraction(1, 2):
            continue
        met += 1
        found = evaluate(
            expr,
            sequences={"gamma": attention, "gamma_tilde": attention_tilde},
            positions={"a": 0, "b": 1},
        )
        expected = branch_minimum(attention, attention_tilde, (0, 1), 1)
        require(found == expected, f"{attention}: {found}, by enumeration {expected}")
    require(met >= 6, f"only {met} instances met the assumption")


def _check_three_positions(
    g: sp.Symbol, h: sp.Symbol, turning_value: sp.Expr, slope_at_start: sp.Expr, closing: sp.Expr
) -> None:
    require_equal(turning_value, -((g - h) ** 2) / (4 * g * h), "the turning value")
    require_equal(slope_at_start, 2 * (g + h - 4 * g * h), "the slope at the start")
    require_equal(closing, -slope_at_start * (g + h) / (8 * g * h), "the difference and the slope")
    w_a, w_b, y_a, y_b = sp.symbols("w_a w_b y_a y_b", positive=True)
    third, third_tilde = 1 - w_a - w_b, 1 - y_a - y_b
    values = [-(w_a - w_b + sign * third) * (y_a - y_b + sign * third_tilde) for sign in (-1, 1)]
    require_equal(
        sum(values) / 2,
        1 - third - third_tilde - 2 * (w_a * y_a + w_b * y_b),
        "the mean of the branch -1",
    )
    rng = seeded(29)
    for _ in range(40):
        attention, attention_tilde = concentrated_attention(rng, 3), concentrated_attention(rng, 3)
        brackets = [branch_bracket(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1)]
        bound, attained = (min(ends) for ends in zip(*brackets, strict=True))
        require(bound == attained, f"{attention}, {attention_tilde}: {bound} < {attained}")


def _check_open_example() -> None:
    attention = [Fraction(n, 20) for n in (1, 1, 14, 4)]
    attention_tilde = [Fraction(n, 20) for n in (7, 7, 2, 4)]
    brackets = [branch_bracket(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1)]
    bound, attained = (min(ends) for ends in zip(*brackets, strict=True))
    mu = min(branch_minimum(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1))
    require(bound == Fraction(-9, 25), f"the bound is {bound}")
    require(attained == mu == Fraction(-8, 25), f"the best vertex is {attained}, mu is {mu}")


if __name__ == "__main__":
    from derivations.command import run

    run("worst_case")
