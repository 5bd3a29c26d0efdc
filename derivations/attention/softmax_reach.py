"""What softmax attention reaches where odd concave attention cannot.

Steps of `derivations.concave_attention`.

If every embedding is its own nearest in direction, a long query along v_a puts nearly all weight on
a: softmax has no need of many dimensions to single out one position.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import d, declare
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Formula, Step
from derivations.proof.refusal import require

__all__ = ["CONSTANTS", "steps", "sup_bound"]

gap = declare(sp.Symbol, "gap", r"\delta", positive=True)
length = declare(sp.Symbol, "length", r"\tau", positive=True)


def sup_bound() -> sp.Expr:
    """Return the bound of the loss of every input at theta = tau v_a, theta_tilde = tau v_b."""
    return 16 * (d - 1) ** 2 * sp.exp(-2 * length * gap)


CONSTANTS = (Formula(name="softmax_sup", left=r"\sup_{x} (f - y)^{2}", right=sup_bound()),)


def steps() -> tuple[Step, ...]:
    """Return the bound of every input's loss for softmax attention at well chosen queries."""
    return (
        Step(
            label="weight",
            statement=r"\text{softmax: } 1 - \gamma_{a} \le \sum_{i \ne a} e^{s_{i} - s_{a}} \le"
            r" (d - 1) e^{-\tau \delta} \text{ at } \theta = \tau v_{a}, \quad \delta = \min_{i \ne"
            r" j} (|v_{i}|^{2} - v_{i} \cdot v_{j})",
            reason=r"$(1 - \gamma_{a}) / \gamma_{a}$ is the sum, and $\gamma_{a} \le 1$; $s_{a} -"
            r" s_{i} = \tau (|v_{a}|^{2} - v_{a} \cdot v_{i}) \ge \tau \delta$ for each of the $d -"
            r" 1$ terms. For different unit rows $\delta > 0$.",
            check=_check_weight,
        ),
        Step(
            uses=("weight",),
            statement=r"|p q - x_{a} x_{b}| \le 2 (1 - \gamma_{a}) + 2 (1 - \tilde{\gamma}_{b}),"
            r" \quad \sup_{x} (f - y)^{2} \le 16 (d - 1)^{2} e^{-2 \tau \delta} \text{ for every"
            r" support}",
            reason=r"$|p - x_{a}| \le (1 - \gamma_{a}) + \sum_{i \ne a} \gamma_{i} = 2 (1 -"
            r" \gamma_{a})$, the same for $q$ and $b$, and $p q - x_{a} x_{b} = (p - x_{a}) q +"
            r" x_{a} (q - x_{b})$ with $|q| \le 1$; here $\tilde{\theta} = \tau v_{b}$.",
            check=_check_inputs,
        ),
    )


def _check_weight() -> None:
    others = sp.Symbol("others", nonnegative=True)  # the sum of e^{s_i - s_a}
    require_at_least(
        others, 1 - 1 / (1 + others), others**2 / (1 + others), "the sum and 1 - gamma_a"
    )
    excess = sp.Symbol("excess", nonnegative=True)  # of |v_a|^2 - v_a.v_i over delta
    require_at_least(
        length * (gap + excess), length * gap, length * excess, "s_a - s_i and tau delta"
    )


def _check_inputs() -> None:
    for x_a in (-1, 1):
        missing, inside = sp.symbols("missing inside", nonnegative=True)
        rest = sp.Symbol("rest", real=True)  # sum over i != a of gamma_i x_i, at most 1 - gamma_a
        for sign in (-1, 1):
            require_at_least(
                2 * missing,
                sign * ((1 - missing) * x_a + rest - x_a),
                inside + missing * (1 + sign * x_a),
                "p - x_a",
                slacks={inside: missing - sign * rest},
            )
    p, q, x_a, x_b = sp.symbols("p q x_a x_b", real=True)
    split = (p - x_a) * q + x_a * (q - x_b)
    require(sp.expand(split - p * q + x_a * x_b) == 0, "p q - x_a x_b is not its two parts")
    weight = (d - 1) * sp.exp(-length * gap)
    quotient = sp.powsimp(sup_bound() / (2 * weight + 2 * weight) ** 2)
    require(quotient == 1, f"the bound is {quotient} times the square of the sum")
