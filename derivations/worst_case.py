"""The loss of the worst input, without looking at 2^d inputs.

With tau = x_a x_b the error of one input is (1 - tau p q)^2, so everything is the least value mu of
tau p q. For each tau the pair (p, q) runs over the corners of a planar zonotope with generators in
the positive quadrant. On the branch tau = -1 the least value is at a vertex; on tau = +1 the
boundary gives a bound, with a gap that is known.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("worst_case")

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.notation import (
    a,
    alpha,
    alpha_prime,
    b,
    beta,
    beta_prime,
    gamma,
    gamma_tilde,
    x,
)
from derivations.printing.latex import equation, latex
from derivations.proof.enumeration import dot, inputs
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.instances import concentrated_attention, random_attention, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require
from derivations.zonotopes import edge as zonotope_edge
from derivations.zonotopes import walk as zonotope_walk
from derivations.zonotopes.edge import edge_product, r, stationary_point
from derivations.zonotopes.zonotope import branch_bracket, branch_minimum

__all__ = ["derive", "residual_in_masses", "success_value", "worst_signs"]


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


def worst_signs() -> sp.Expr:
    """Return the input that is +1 on the support and -1 elsewhere, as a sequence."""
    return 2 * Unit(a) + 2 * Unit(b) - 1


def success_value() -> sp.Expr:
    """Return p q at the input that is +1 on the support and -1 elsewhere."""
    return sp.Mul(*(_at_worst_signs(weights) for weights in (gamma, gamma_tilde)))


def derive(title: str) -> Derivation:
    """Derive what is known of the worst input."""
    plus, minus = residual_in_masses(1), residual_in_masses(-1)
    success = success_value()
    g, h = sp.symbols("g h", positive=True)
    segment = edge_product((1 - 2 * g, 1 - 2 * h), (g, h))
    turning_value = sp.factor(segment.subs(r, stationary_point(segment)))
    closing = sp.factor(turning_value - (1 - g - h))
    steps = (
        Step(
            label="square",
            statement=r"(f - y)^{2} = (1 - \tau p q)^{2}, \quad \tau = x_{a} x_{b}",
            reason=r"$f - y = x_{a} x_{b} - p q = \tau (1 - \tau p q)$. Checked for the four"
            r" values of $(x_{a}, x_{b})$.",
            check=_check_residual,
        ),
        Step(
            label="masses",
            statement=rf"1 - p q = {latex(plus)} \text{{ for }} \tau = 1, \quad"
            rf" 1 + p q = {latex(minus)} \text{{ for }} \tau = -1",
            reason=r"$p = \alpha' - \alpha$ and $q = \beta' - \beta$, and the masses of each"
            r" head sum to $1$. No difference is left to cancel, and $1 - \tau p q \ge 0$. Checked"
            r" as identities, and at all inputs for $d = 2, \ldots, 6$.",
            check=lambda: _check_masses(plus, minus),
        ),
        Step(
            label="worst",
            uses=("square", "masses"),
            statement=r"\max_{x} (f - y)^{2} = (1 - \mu)^{2}, \quad \mu = \min_{x} \tau p q",
            reason=r"For $\mu \le v \le 1$, $(1 - \mu)^{2} - (1 - v)^{2} = (v - \mu) ((v - \mu) +"
            r" 2 (1 - v)) \ge 0$. By the previous step that is so for every value $v$ of $\tau p"
            r" q$, and $\mu$ is one of them.",
            check=_check_maximum,
        ),
        Step(
            label="reflection",
            statement=r"p(-x) = -p(x), \quad q(-x) = -q(x), \quad \tau(-x) = \tau(x)",
            reason=r"So $\tau p q$ is the same at $x$ and at $-x$: it is enough to look at inputs"
            r" with $x_{a} = 1$.",
            check=_check_flip,
        ),
        *zonotope_walk.steps(),
        *zonotope_edge.steps(),
        Step(
            label="bracket",
            uses=("chains", "product", "edge"),
            statement=r"\min_{\text{edges}} P Q \le \min_{x : \tau = 1} p q \le"
            r" \min_{\text{vertices}} P Q \le \min_{\text{edges}} P Q"
            r" + \max_{i \notin S} \gamma_{i} \tilde{\gamma}_{i}",
            reason=r"The previous steps put together, in words: $P + Q$ grows along a chain and"
            r" reaches $p + q$, so an edge has a point with $P + Q = p + q$, and on one of the"
            r" chains $P Q \le p q$ there; vertices are inputs; and the edge with the least $P Q$"
            r" has an end at most $\gamma_{i} \tilde{\gamma}_{i}$ above it. Checked against all"
            r" inputs, $d = 2, \ldots, 8$.",
            check=_check_sandwich,
            method=Method.INSTANCES,
        ),
        Step(
            label="success",
            uses=("reflection",),
            statement=equation(r"\min_{x : \tau = 1} p q", success)
            + r" \quad \text{if } \gamma_{a} + \gamma_{b} \ge \frac{1}{2},"
            r" \tilde{\gamma}_{a} + \tilde{\gamma}_{b} \ge \frac{1}{2}",
            reason=r"Let $P$, $Q$ belong to the input with $x_{a} = x_{b} = 1$ and $x_{i} = -1$ for"
            r" $i \notin S$; they are not negative. For any other with $x_{a} = x_{b} = 1$, $p - P"
            r" = \sum_{i \notin S} (1 + x_{i}) \gamma_{i} \ge 0$, likewise $q \ge Q$, and $p q - P"
            r" Q = (p - P) q + P (q - Q) \ge 0$. Checked for symbolic $d$.",
            check=lambda: _check_success(success),
        ),
        Step(
            label="three",
            uses=("minus-branch", "edge", "bracket"),
            statement=rf"{latex(turning_value)} - (1 - g - h) = {latex(closing)} \Rightarrow"
            r" \min_{\text{edges}} P Q \ge \min (\min_{\text{vertices}} P Q,"
            r" \min_{x : \tau = -1} (-p q)), \quad d = 3",
            reason=r"With one position outside $S$, of weights $g$ and $h$, the branch $\tau = 1$"
            r" is one edge. If the slope of $P Q$ at its start, $2 (g + h - 4 g h)$, is not"
            r" negative, $P Q$ is least at the start. If it is, $P Q$ is nowhere below the first"
            r" term, which by the identity is above $1 - g - h$; and that is above the least value"
            r" of the branch $\tau = -1$, as the mean of its two values is $1 - g - h - 2"
            r" (\gamma_{a} \tilde{\gamma}_{a} + \gamma_{b} \tilde{\gamma}_{b})$. So the bracket of"
            r" $\mu$ closes. For $d = 2$ there is one input with $x_{a} = 1$ on each branch.",
            check=lambda: _check_three_positions(segment, turning_value, g=g, h=h),
        ),
        Step(
            uses=("worst", "minus-branch", "bracket", "success", "three"),
            statement=r"\max_{x} (f - y)^{2}, \min_{x : \tau = -1} (-p q), \min_{x : \tau = 1} p q"
            r" \text{ for } d = 2, \ldots, 8",
            reason=r"Independent check: the chains as they are walked in rational arithmetic,"
            r" against all $2^{d}$ inputs. The values of the previous steps are met, and for $d \le"
            r" 3$ the bracket of $\mu$ closes.",
            check=lambda: _check_all_inputs(success),
            method=Method.INSTANCES,
        ),
        Step(
            uses=("bracket",),
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
        r" (\gamma_{i}, \tilde{\gamma}_{i})$, $i \notin S$. From the input with all these signs"
        r" $-1$ two chains lead to that with all $+1$, flipping them one after the other: the"
        r" lower one from flat to steep, in the order of the slopes $\tilde{\gamma}_{i} /"
        r" \gamma_{i}$, the upper one from steep to flat. The inputs that they pass are called"
        r" vertices: those whose signs never grow, or never fall, from flat to steep. The segments"
        r" between them are the edges; together they are the boundary of a zonotope. $(P, Q)$ is a"
        r" point of an edge, or a vertex.",
        steps=steps,
        formulas=(
            Formula(name="residual_plus", left=r"1 - p q", right=plus),
            Formula(name="residual_minus", left=r"1 + p q", right=minus),
            Formula(
                name="edge_peak",
                left=r"\max_{0 \le r \le 1} R(r)",
                right=zonotope_edge.edge_peak(),
            ),
            Formula(name="success_value", left=r"\min_{x : \tau = 1} p q", right=success),
        ),
    )


def _at_worst_signs(weights: sp.Expr) -> sp.Expr:
    return PowerSum(weights * worst_signs()).xreplace({PowerSum(weights): sp.S.One})


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
    product = ((alpha_prime - alpha) * (beta_prime - beta)).xreplace(whole)
    require_at_least(sp.S.One, product, plus, "1 and p q", slacks=whole)
    require_at_least(sp.S.One, -product, minus, "1 and -p q", slacks=whole)
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


def _check_maximum() -> None:
    mu, value = sp.symbols("mu value", real=True)
    above, below = sp.symbols("above below", nonnegative=True)
    require_at_least(
        (1 - mu) ** 2,
        (1 - value) ** 2,
        above * (above + 2 * below),
        "the square at the least value and at another",
        slacks={above: value - mu, below: 1 - value},
    )


def _check_flip() -> None:
    flip = {x: -x}
    for weights in (gamma, gamma_tilde):
        require_equal(PowerSum(weights * x).xreplace(flip), -PowerSum(weights * x), "at -x and -x")
    tau = Entry(x, a) * Entry(x, b)
    require_equal(tau.xreplace(flip), tau, "tau at -x and at x")


def _check_success(expr: sp.Expr) -> None:
    least = [_at_worst_signs(weights) for weights in (gamma, gamma_tilde)]
    require_equal(expr, least[0] * least[1], "the value and that of the input")
    half = sp.Symbol("half", nonnegative=True)
    for weights, value in zip((gamma, gamma_tilde), least, strict=True):
        on_support = Entry(weights, a) + Entry(weights, b)
        require_at_least(
            value,
            sp.S.Zero,
            2 * half,
            "p at the worst signs",
            slacks={half: on_support - sp.Rational(1, 2)},
        )
        signs = x - (Entry(x, a) - 1) * Unit(a) - (Entry(x, b) - 1) * Unit(b)
        zonotope_walk.require_terms_nonnegative(weights * (signs - worst_signs()), "p - P")
    p, q = sp.symbols("p q", real=True)
    P, Q, ahead, ahead_tilde = sp.symbols("P Q ahead ahead_tilde", nonnegative=True)
    require_at_least(
        p * q,
        P * Q,
        ahead * (Q + ahead_tilde) + P * ahead_tilde,
        "p q and its value at the worst signs",
        slacks={ahead: p - P, ahead_tilde: q - Q},
    )


def _check_three_positions(
    segment: sp.Expr, turning_value: sp.Expr, *, g: sp.Symbol, h: sp.Symbol
) -> None:
    slope = sp.expand(sp.diff(segment, r).subs(r, 0))
    require_equal(slope, 2 * (g + h - 4 * g * h), "the slope at the start")
    size, low, high = sp.symbols("size low high", nonnegative=True)
    require_at_least(
        segment,
        segment.subs(r, 0),
        r * size + 4 * g * h * r**2,
        "P Q and its value at the start",
        slacks={size: slope},
    )
    require_at_least(
        segment,
        turning_value,
        4 * g * h * (r - stationary_point(segment)) ** 2,
        "P Q and its turning value",
    )
    require_at_least(
        turning_value,
        1 - g - h,
        size * (g + h) / (8 * g * h),
        "the turning value and 1 - g - h",
        slacks={size: -slope},
    )
    w_a, w_b, y_a, y_b = sp.symbols("w_a w_b y_a y_b", positive=True)
    third, third_tilde = 1 - w_a - w_b, 1 - y_a - y_b
    first, second = (
        -(w_a - w_b + sign * third) * (y_a - y_b + sign * third_tilde) for sign in (-1, 1)
    )
    least = sp.Symbol("least", real=True)
    require_at_least(
        1 - third - third_tilde,
        least,
        (low + high) / 2 + 2 * (w_a * y_a + w_b * y_b),
        "1 - g - h and the least value of the branch -1",
        slacks={low: first - least, high: second - least},
    )


def _check_sandwich() -> None:
    for attention, attention_tilde in _instances():
        bound, attained = branch_bracket(attention, attention_tilde, (0, 1), 1)
        least = branch_minimum(attention, attention_tilde, (0, 1), 1)
        products = (c * C for c, C in zip(attention[2:], attention_tilde[2:], strict=True))
        above = bound + max(products, default=0)
        require(
            bound <= least <= attained <= above,
            f"{attention}: {bound} <= {least} <= {attained} <= {above}",
        )


def _check_all_inputs(success: sp.Expr) -> None:
    met = 0
    for attention, attention_tilde in _instances():
        heads = attention, attention_tilde, (0, 1)
        bound, attained = branch_bracket(*heads, -1)
        exact, least = (branch_minimum(*heads, tau) for tau in (-1, 1))
        require(bound == attained == exact, f"{heads}: {attained}, not {exact} on the branch -1")
        mu = min(exact, least)
        if len(attention) <= 3:
            bound, _ = branch_bracket(*heads, 1)
            require(min(exact, bound) == mu, f"{heads}: {bound} is below {mu}")
        worst = max(
            (-_product(attention, attention_tilde, signs) + signs[0] * signs[1]) ** 2
            for signs in inputs(len(attention))
        )
        require(worst == (1 - mu) ** 2, f"{heads}: {worst} and {(1 - mu) ** 2}")
        if min(sum(attention[:2]), sum(attention_tilde[:2])) >= Fraction(1, 2):
            met += 1
            sequences = {"gamma": attention, "gamma_tilde": attention_tilde}
            found = evaluate(success, sequences=sequences, positions={"a": 0, "b": 1})
            require(found == least, f"{heads}: {found}, by enumeration {least}")
    require(met >= 6, f"only {met} instances had half the weight on S")


def _check_open_example() -> None:
    attention = [Fraction(n, 20) for n in (1, 1, 14, 4)]
    attention_tilde = [Fraction(n, 20) for n in (7, 7, 2, 4)]
    brackets = [branch_bracket(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1)]
    bound, attained = (min(ends) for ends in zip(*brackets, strict=True))
    mu = min(branch_minimum(attention, attention_tilde, (0, 1), tau) for tau in (-1, 1))
    require(bound == Fraction(-9, 25), f"the bound is {bound}")
    require(attained == mu == Fraction(-8, 25), f"the best vertex is {attained}, mu is {mu}")
