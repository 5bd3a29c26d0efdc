"""Products of linear forms in signs, bounded by their lengths. Steps of `derivations.sample_noise`.

Signs have smaller moments than Gaussian variables of the same variance; products of several forms
are taken apart by Hoelder's inequality.
"""

from __future__ import annotations

import math

import sympy as sp

from derivations.calculus.power_sums import PowerSum
from derivations.moments import moment
from derivations.notation import Sequence, coefficient, declare, gamma_tilde
from derivations.proof.identities import require_equal
from derivations.proof.inequalities import require_at_least
from derivations.proof.ledger import Method, Step
from derivations.proof.lemmas import HOELDER_PRODUCTS
from derivations.proof.refusal import require

__all__ = ["double_factorial", "r", "steps"]

r = declare(Sequence, "r", "r", real=True)
"""r_i = gamma_i (t_i - tbar), by which the attention of head 1 moves along A."""

_LARGEST = 10
"""Moments up to twice this order are compared monomial by monomial."""


def double_factorial(k: int) -> int:
    """Return (2k - 1)!!, the moment of order 2k of a standard Gaussian variable."""
    return math.prod(range(1, 2 * k, 2))


def steps() -> tuple[Step, ...]:
    """Return the bounds of moments by lengths."""
    return (
        Step(
            label="query-bound",
            uses=("query-square",),
            statement=r"\mathbb{E} [q^{2} \langle r, x \rangle^{2}] = |\tilde{\gamma}|^{2} |r|^{2}"
            r" + 2 \langle \tilde{\gamma}, r \rangle^{2} - 2 \sum_{i} \tilde{\gamma}_{i}^{2}"
            r" r_{i}^{2} \le |\tilde{\gamma}|^{2} |r|^{2} + 2 \langle \tilde{\gamma}, r"
            r" \rangle^{2} \le 3 |\tilde{\gamma}|^{2} |r|^{2}",
            reason=r"The moment of four forms, and Cauchy's inequality: $\sum_{i}"
            r" (\tilde{\gamma}_{i} - \lambda r_{i})^{2} \ge 0$ at $\lambda = \langle"
            r" \tilde{\gamma}, r \rangle / |r|^{2}$ (if $r = 0$, all is $0$).",
            check=_check_four_forms,
        ),
        Step(
            label="power-bound",
            statement=r"\mathbb{E} \langle c, x \rangle^{2 k} \le \kappa_{k} |c|^{2 k}, \quad"
            r" \kappa_{k} = (2 k - 1)!!",
            reason=r"Both sides are sums over the even monomials $\prod_{i} c_{i}^{2 j_{i}}$,"
            r" $\sum_{i} j_{i} = k$, with the factors $(2 k)! / \prod_{i} (2 j_{i})!$ and $(2 k"
            r" - 1)!! \, k! / \prod_{i} j_{i}!$. Their quotient is $\prod_{i} (2 j_{i} - 1)!! \ge"
            r" 1$, as $(2 j)! = 2^{j} j! (2 j - 1)!!$, which goes up from $j$ to $j + 1$ by $(2 j"
            r" + 1) (2 j + 2)$ on both sides. Checked too against the moment rule for $k \le 4$,"
            r" and monomial by monomial for $k \le 10$.",
            check=_check_gaussian,
        ),
        Step(
            label="bounds",
            uses=("power-bound",),
            statement=r"\mathbb{E} |\langle c, x \rangle \langle c', x \rangle|^{k} \le \kappa_{k}"
            r" (|c| |c'|)^{k}, \quad \mathbb{E} [p^{2} q^{4} \langle r, x \rangle^{2}] \le 105"
            r" |\gamma|^{2} |\tilde{\gamma}|^{4} |r|^{2}",
            reason=r"Hoelder with two factors of the $2 k$-th moment, and with $2 + 4 + 2 = 8$"
            r" factors of the eighth; $\kappa_{4} = 105$.",
            check=_check_products,
            method=Method.LEMMA,
            lemmas=(HOELDER_PRODUCTS,),
        ),
    )


def _check_four_forms() -> None:
    square, square_r = PowerSum(gamma_tilde**2), PowerSum(r**2)
    inner, both = PowerSum(gamma_tilde * r), PowerSum(gamma_tilde**2 * r**2)
    found = moment((gamma_tilde, gamma_tilde, r, r))
    terms = sp.Symbol("terms", nonnegative=True)
    first = square * square_r + 2 * inner**2
    require_at_least(first, found, 2 * terms, "the block of four", slacks={terms: both})
    length = sp.Symbol("length", positive=True)
    at = inner / square_r
    require_at_least(
        3 * square * square_r,
        first,
        2 * length * terms,
        "Cauchy's inequality",
        slacks={length: square_r, terms: PowerSum((gamma_tilde - at * r) ** 2)},
    )


def _check_gaussian() -> None:
    order = sp.Symbol("j", integer=True, positive=True)
    # (2j)!/(2^j j!) goes up by (2j + 1)(2j + 2)/(2(j + 1)), which is the next odd number.
    require_equal((2 * order + 1) * (2 * order + 2) / (2 * (order + 1)), 2 * order + 1, "the step")
    require(double_factorial(0) == double_factorial(1) == 1, "(-1)!! = 1!! = 1")
    c = coefficient(1)
    for k in range(1, 5):
        # The coefficient of |c|^2k, and a single nonzero entry, where the moment is 1.
        found = sp.expand(moment((c,) * (2 * k)))
        require_equal(found.coeff(PowerSum(c**2), k), sp.Integer(double_factorial(k)), f"k = {k}")
    for k in range(1, _LARGEST + 1):
        for parts in _partitions(k, k):
            signs = math.factorial(2 * k) // math.prod(math.factorial(2 * j) for j in parts)
            orders = math.factorial(k) // math.prod(math.factorial(j) for j in parts)
            quotient = math.prod(double_factorial(j) for j in parts)
            gaussian = double_factorial(k) * orders
            require(gaussian == quotient * signs, f"{parts}: {gaussian} and {signs}")
            require(quotient >= 1, f"{parts}: a quotient of {quotient}")


def _partitions(k: int, largest: int) -> list[tuple[int, ...]]:
    """Return the ways to write k as a sum of positive numbers, none above `largest`."""
    if k == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(min(k, largest), 0, -1)
        for rest in _partitions(k - first, first)
    ]


def _check_products() -> None:
    # Each factor to the power 1/8 of its eighth moment, 105 |c|^8, as often as it occurs.
    lengths = sp.symbols("length_p length_q length_r", positive=True)
    bound = sp.Mul(
        *(
            (sp.Integer(double_factorial(4)) * length**8) ** sp.Rational(power, 8)
            for length, power in zip(lengths, (2, 4, 2), strict=True)
        )
    )
    expected = 105 * lengths[0] ** 2 * lengths[1] ** 4 * lengths[2] ** 2
    require_equal(sp.powsimp(sp.powdenest(bound, force=True)), expected, "eight factors")
    k = sp.Symbol("k", positive=True)
    kappa, length, other = sp.symbols("kappa length other", positive=True)
    halves = sp.sqrt(kappa * length ** (2 * k)) * sp.sqrt(kappa * other ** (2 * k))
    quotient = sp.powsimp(sp.powdenest(halves, force=True) / (kappa * length**k * other**k))
    require_equal(quotient, sp.S.One, "two factors")
