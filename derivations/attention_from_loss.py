"""What a small loss of every input says of the attention: each head has a position of its own.

The converse, that such attention brings the loss of every input down, is the mechanism of Theorem
2. Together they make the attention a faithful picture of what has been learned.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("attention_from_loss")

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum
from derivations.moments import moment
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.population import cross_moment
from derivations.proof.enumeration import dot, inputs
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.instances import concentrated_attention, random_attention, seeded
from derivations.proof.ledger import Derivation, Method, Step
from derivations.proof.refusal import require

__all__ = ["derive"]


def derive(title: str) -> Derivation:
    """Derive the attention that a loss of at most T on every input forces."""
    return Derivation(
        name="attention_from_loss",
        title=title,
        source="ours",
        setting=r"$\gamma, \tilde{\gamma}$ are any two probability vectors, from softmax or not,"
        r" and $(f(x) - y)^{2} \le T < 1$ for every input $x$.",
        steps=(
            Step(
                label="mean",
                uses=("moments:rule", "population:cross"),
                statement=r"\mathbb{E} [f | x_{a} = 1, x_{b} = -1] = \gamma_{a} \tilde{\gamma}_{b}"
                r" + \gamma_{b} \tilde{\gamma}_{a} - \langle \gamma, \tilde{\gamma} \rangle",
                reason=r"$\mathbb{E} [f | x_{a} = 1, x_{b} = -1] = -\mathbb{E} [p q (1 + x_{a}) (1"
                r" - x_{b})]$; multiplied out, the odd moments vanish.",
                check=_check_mean,
            ),
            Step(
                label="bound",
                uses=("mean",),
                statement=r"\gamma_{a} \tilde{\gamma}_{b} + \gamma_{b} \tilde{\gamma}_{a} - \langle"
                r" \gamma, \tilde{\gamma} \rangle \ge 1 - \sqrt{T}",
                reason=r"$y = -x_{a} x_{b} = 1$ on these inputs, so that $f \ge 1 - \sqrt{T}$ on"
                r" each of them, and in the mean: $f - (1 - \sqrt{T}) = \sqrt{T} - (y - f)$.",
                check=_check_bound,
            ),
            Step(
                label="product",
                uses=("bound",),
                statement=r"(\gamma_{a} - \gamma_{b}) (\tilde{\gamma}_{b} - \tilde{\gamma}_{a}) \ge"
                r" 1 - \sqrt{T}",
                reason=r"It exceeds the left-hand side of the step before by $\sum_{k \notin S}"
                r" \gamma_{k} \tilde{\gamma}_{k} \ge 0$.",
                check=_check_product,
            ),
            Step(
                label="differences",
                uses=("product",),
                statement=r"|\gamma_{a} - \gamma_{b}| \ge 1 - \sqrt{T}, \quad |\tilde{\gamma}_{a} -"
                r" \tilde{\gamma}_{b}| \ge 1 - \sqrt{T}",
                reason=r"Neither difference is larger than $1$ in absolute value, so neither is"
                r" smaller than their product.",
                check=_check_factors,
            ),
            Step(
                label="weights",
                uses=("product", "differences"),
                statement=r"\gamma_{a}, \tilde{\gamma}_{b} \ge 1 - \sqrt{T} \text{ or } \gamma_{b},"
                r" \tilde{\gamma}_{a} \ge 1 - \sqrt{T}",
                reason=r"The product is positive, so that the two differences have one sign; the"
                r" larger weight of a head is at least the difference.",
                check=_check_weights,
            ),
            Step(
                uses=("weights",),
                statement=r"\max(\min(\gamma_{a}, \tilde{\gamma}_{b}), \min(\gamma_{b},"
                r" \tilde{\gamma}_{a})) \ge 1 - \sup_{x} |f(x) - y| \text{ at instances}",
                reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, $d ="
                r" 2, \ldots, 7$; heads on the support at shares from $1/2$ to $1$, and others.",
                check=_check_instances,
                method=Method.INSTANCES,
            ),
        ),
        formulas=(),
    )


def _check_mean() -> None:
    # E[p q], and the product of p q with x_a x_b; p q x_a and p q x_b have three linear forms.
    given = moment((gamma, gamma_tilde)) - cross_moment()
    mean = Entry(gamma, a) * Entry(gamma_tilde, b) + Entry(gamma, b) * Entry(gamma_tilde, a)
    require_equal(-given, mean - PowerSum(gamma * gamma_tilde), "the mean of f")
    for size in range(2, 6):
        _check_mean_at(size)


def _check_mean_at(size: int) -> None:
    rng = seeded(size)
    heads = random_attention(rng, size), concentrated_attention(rng, size)
    chosen = [x for x in inputs(size) if (x[0], x[1]) == (1, -1)]
    found = Fraction(sum(-dot(heads[0], x) * dot(heads[1], x) for x in chosen)) / len(chosen)
    expected = heads[0][0] * heads[1][1] + heads[0][1] * heads[1][0] - dot(*heads)
    require(found == expected, f"d = {size}: {found}, not {expected}")


def _check_bound() -> None:
    f, root = sp.symbols("f root", real=True)
    within = sp.Symbol("within", nonnegative=True)
    require_at_least(f, 1 - root, within, "f where y = 1", slacks={within: root - (1 - f)})


def _check_product() -> None:
    g_a, g_b = Entry(gamma, a), Entry(gamma, b)
    t_a, t_b = Entry(gamma_tilde, a), Entry(gamma_tilde, b)
    rest = sp.Symbol("rest", nonnegative=True)
    require_at_least(
        (g_a - g_b) * (t_b - t_a),
        g_a * t_b + g_b * t_a - PowerSum(gamma * gamma_tilde),
        rest,
        "the product of the differences",
        slacks={rest: PowerSum(gamma * gamma_tilde) - g_a * t_a - g_b * t_b},
    )


def _check_factors() -> None:
    size, other = sp.symbols("size other", nonnegative=True)  # of the two differences
    short = sp.Symbol("short", nonnegative=True)
    require_at_least(
        size, size * other, size * short, "a factor and the product", slacks={short: 1 - other}
    )


def _check_weights() -> None:
    g_a, g_b = Entry(gamma, a), Entry(gamma, b)
    require_at_least(g_a, g_a - g_b, g_b, "a weight and a difference")


def _check_instances() -> None:
    rng = seeded(99)
    for size in range(2, 8):
        for share in (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100), Fraction(1)):
            first, second = (
                _towards(position, share, random_attention(rng, size)) for position in (0, 1)
            )
            for heads in ((first, second), (second, first), (first, first)):
                _check_instance(*heads)
        _check_instance(random_attention(rng, size), concentrated_attention(rng, size))


def _towards(position: int, share: Fraction, head: Sequence[Fraction]) -> list[Fraction]:
    """Return an attention with the share on one position and the rest as it was."""
    return [(1 - share) * weight + share * (i == position) for i, weight in enumerate(head)]


def _check_instance(first: Sequence[Fraction], second: Sequence[Fraction]) -> None:
    largest = max(abs(x[0] * x[1] - dot(first, x) * dot(second, x)) for x in inputs(len(first)))
    found = max(min(first[0], second[1]), min(first[1], second[0]))
    require(found >= 1 - largest, f"attention {found} at a largest error of {largest}")
