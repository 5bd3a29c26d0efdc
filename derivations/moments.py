"""Moments of products of linear forms in independent signs, by cumulants.

For x uniform on {-1, +1}^d and coefficient sequences c_1, ..., c_2r,

    E prod_h <c_h, x> = sum over partitions of {1..2r} into blocks of even size
                        of the product over the blocks B of kappa_|B| sum_i prod_{h in B} c_{h,i}

with kappa_2, kappa_4, kappa_6, kappa_8 = 1, -2, 16, -272 the cumulants of one sign. Source: the
moment-cumulant formula of independent variables; used in arXiv:2502.07553v2 for the population
loss.
"""

from __future__ import annotations

if __name__ == "__main__":
    # Before SymPy is loaded, so that an interruption meanwhile ends quietly.
    from derivations.command import run

    run("moments")

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import sympy as sp

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.notation import a, b, coefficient
from derivations.printing.latex import equation
from derivations.proof.enumeration import dot, expectation
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import require_equal
from derivations.proof.instances import random_integers, seeded
from derivations.proof.ledger import Derivation, Formula, Method, Step
from derivations.proof.refusal import require

__all__ = [
    "derive",
    "even_partitions",
    "moment",
    "moment_by_coincidences",
    "rademacher_cumulant",
    "set_partitions",
]

_ORDERS = (1, 2, 3, 4)
"""The values of r: products of 2, 4, 6 and 8 forms."""

Blocks = tuple[tuple[int, ...], ...]


@cache
def rademacher_cumulant(n: int) -> sp.Integer:
    """Return the n-th cumulant of a uniform sign, n >= 1.

    The cumulant generating function is log cosh. Its derivative is T = tanh, and T' = 1 - T^2
    keeps every further derivative a polynomial in T, to be read at T = 0.
    """
    T = sp.Dummy("T")
    derivative = T
    for _ in range(n - 1):
        derivative = sp.expand(sp.diff(derivative, T) * (1 - T**2))
    return derivative.subs(T, 0)


@cache
def set_partitions(n: int) -> tuple[Blocks, ...]:
    """Return the partitions of {0..n-1} into blocks, each block sorted."""
    if n == 0:
        return ((),)
    partitions = []
    for smaller in set_partitions(n - 1):
        partitions.append((*smaller, (n - 1,)))
        partitions.extend(
            (*smaller[:h], (*block, n - 1), *smaller[h + 1 :]) for h, block in enumerate(smaller)
        )
    return tuple(partitions)


def even_partitions(n: int) -> tuple[Blocks, ...]:
    """Return the partitions of {0..n-1} into blocks of even size."""
    return tuple(
        blocks for blocks in set_partitions(n) if all(len(block) % 2 == 0 for block in blocks)
    )


def moment(forms: Sequence[sp.Expr]) -> sp.Expr:
    """Return E prod_h <c_h, x> for x uniform on {-1, +1}^d, d symbolic.

    Parameters
    ----------
    forms : sequence of sympy.Expr
        The coefficient sequences c_h; `Unit(a)` stands for the form x_a. Any number of them.

    Returns
    -------
    sympy.Expr
        A polynomial in power sums and entries.
    """

    @cache
    def block_value(block: tuple[int, ...]) -> sp.Expr:
        return rademacher_cumulant(len(block)) * PowerSum(sp.Mul(*(forms[h] for h in block)))

    return sp.Add(
        *(
            sp.Mul(*(block_value(block) for block in blocks))
            for blocks in even_partitions(len(forms))
        )
    )


def moment_by_coincidences(forms: Sequence[sp.Expr]) -> sp.Expr:
    """Return the same expectation without cumulants, from which indices coincide.

    Expanding the product gives sum over i_1..i_n of prod c_{h,i_h} times E prod x_{i_h}, and the
    last factor is 1 if every value occurs an even number of times, else 0. So the indices that
    coincide form an even partition, and the sum runs over distinct indices, one for each block;
    Moebius inversion on the lattice of partitions turns it into sums over all indices.
    """

    @cache
    def power_sum(block: tuple[int, ...]) -> sp.Expr:
        return PowerSum(sp.Mul(*(forms[h] for h in block)))

    total = []
    for blocks in even_partitions(len(forms)):
        for groups in set_partitions(len(blocks)):
            sign_and_count = sp.Integer(1)
            sums = []
            for group in groups:
                sign_and_count *= (-1) ** (len(group) - 1) * math.factorial(len(group) - 1)
                sums.append(power_sum(tuple(sorted(h for g in group for h in blocks[g]))))
            total.append(sign_and_count * sp.Mul(*sums))
    return sp.Add(*total)


def derive(title: str) -> Derivation:
    """Derive the moment rule up to eight forms."""
    rule = {r: moment(_distinct_forms(r)) for r in _ORDERS}
    powers = {r: moment((coefficient(1),) * (2 * r)) for r in _ORDERS}
    cumulants = ", ".join(str(rademacher_cumulant(2 * r)) for r in _ORDERS)
    formulas = (
        Formula(
            name="two_forms",
            left=r"\mathbb{E} \langle c_{1}, x \rangle \langle c_{2}, x \rangle",
            right=rule[1],
        ),
        Formula(
            name="four_forms",
            left=r"\mathbb{E} \prod_{h=1}^{4} \langle c_{h}, x \rangle",
            right=rule[2],
        ),
        Formula(
            name="six_forms",
            left=r"\mathbb{E} \prod_{h=1}^{6} \langle c_{h}, x \rangle",
            right=rule[3],
        ),
        Formula(
            name="eight_forms",
            left=r"\mathbb{E} \prod_{h=1}^{8} \langle c_{h}, x \rangle",
            right=rule[4],
        ),
        Formula(
            name="fourth_power", left=r"\mathbb{E} \langle c_{1}, x \rangle^{4}", right=powers[2]
        ),
        Formula(
            name="sixth_power", left=r"\mathbb{E} \langle c_{1}, x \rangle^{6}", right=powers[3]
        ),
        Formula(
            name="eighth_power", left=r"\mathbb{E} \langle c_{1}, x \rangle^{8}", right=powers[4]
        ),
    )
    steps = (
        Step(
            label="cumulants",
            statement=rf"\kappa_{{2}}, \kappa_{{4}}, \kappa_{{6}}, \kappa_{{8}} = {cumulants},"
            r" \quad \kappa_{1} = \kappa_{3} = \kappa_{5} = \kappa_{7} = 0",
            reason=r"The cumulants of one sign are the derivatives of $\log \cosh$ at $0$. The"
            r" first derivative is $T = \tanh$, and $T' = 1 - T^{2}$ makes the others"
            r" polynomials in $T$. Checked against the direct derivatives of $\log \cosh$.",
            check=_check_cumulants,
        ),
        Step(
            label="partitions",
            statement=r"|\mathcal{P}_{2}|, |\mathcal{P}_{4}|, |\mathcal{P}_{6}|, |\mathcal{P}_{8}|"
            " = " + ", ".join(str(len(even_partitions(2 * r))) for r in _ORDERS),
            reason=r"$\mathcal{P}_{n}$ is the set of partitions of $\{1, \ldots, n\}$ into blocks"
            r" of even size. Removing the block of the last element counts them by recursion.",
            check=_check_partitions,
        ),
        Step(
            label="rule",
            uses=("cumulants", "partitions"),
            statement=r"\mathbb{E} \prod_{h=1}^{2r} \langle c_{h}, x \rangle"
            r" = \sum_{\pi \in \mathcal{P}_{2r}} \prod_{B \in \pi}"
            r" \kappa_{|B|} \sum_{i} \prod_{h \in B} c_{h,i}, \quad r = 1, 2, 3, 4",
            reason=r"The signs are independent, so the joint cumulant of the forms in $B$ is"
            r" $\kappa_{|B|} \sum_{i} \prod_{h \in B} c_{h,i}$, and moments are sums over"
            r" partitions. Checked for symbolic $d$ and $c_{1}, \ldots, c_{8}$ against another way"
            r" to the same expectation, without cumulants: expand the product, keep the terms in"
            r" which every index occurs an even number of times, and turn sums over distinct"
            r" indices into power sums by Moebius inversion.",
            check=_check_rule,
        ),
        Step(
            uses=("rule",),
            statement=equation(formulas[0].left, rule[1]),
            reason=r"The rule for $r = 1$: one block.",
            check=lambda: require_equal(rule[1], PowerSum(coefficient(1) * coefficient(2))),
        ),
        Step(
            label="four-forms",
            uses=("cumulants", "rule"),
            statement=equation(formulas[1].left, rule[2]),
            reason=r"The rule for $r = 2$: three pairings, and one block of four with $\kappa_{4}"
            r" = -2$, which Gaussian moments would miss. With all four forms equal to $x_{a}$ it"
            r" gives $3 - 2 = 1$.",
            check=_check_four_forms,
        ),
        Step(
            uses=("partitions", "rule"),
            statement=equation(formulas[6].left, powers[4]),
            reason=r"The rule for $r = 4$ with all forms equal: the 379 partitions fall into 5"
            r" types.",
            check=lambda: require_equal(
                powers[4], rule[4].xreplace(_all_equal(_distinct_forms(4)))
            ),
        ),
        Step(
            label="signs",
            uses=("rule",),
            statement=r"\mathbb{E} x_{a}^{2r} = 1, \quad \mathbb{E} x_{a}^{2} x_{b}^{2} = 1, \quad"
            r" \mathbb{E} x_{a} x_{b} = \mathbb{E} x_{a}^{3} x_{b} = 0",
            reason=r"The form $x_{a}$ has the indicator of $a$ as its coefficients. The rule must"
            r" return what $x_{a}^{2} = 1$ says at once.",
            check=_check_signs,
        ),
        Step(
            uses=("rule",),
            statement=r"\mathbb{E} \prod_{h=1}^{2r} \langle c_{h}, x \rangle = 2^{-d}"
            r" \sum_{x} \prod_{h=1}^{2r} \langle c_{h}, x \rangle, \quad d = 2, \ldots, 8",
            reason=r"Independent check: all $2^{d}$ inputs in exact rational arithmetic, with"
            r" distinct, repeated and indicator forms, $r \le 4$.",
            check=_check_enumeration,
            method=Method.INSTANCES,
        ),
    )
    return Derivation(
        name="moments",
        title=title,
        source="ours; the moment-cumulant formula for independent variables",
        setting=r"$x$ is uniform on $\{-1, +1\}^{d}$, and $\langle c, x \rangle = \sum_{i} c_{i}"
        r" x_{i}$ is a linear form; $d$ is any number of positions.",
        steps=steps,
        formulas=formulas,
    )


def _distinct_forms(r: int) -> tuple[sp.Expr, ...]:
    return tuple(coefficient(h) for h in range(1, 2 * r + 1))


def _check_cumulants() -> None:
    x = sp.Symbol("x", real=True)
    derivative = sp.log(sp.cosh(x))
    for n in range(1, 9):
        derivative = sp.diff(derivative, x)
        require_equal(
            rademacher_cumulant(n), derivative.subs(x, 0), f"kappa_{n} and its definition"
        )


def _check_partitions() -> None:
    counts = {0: 1}
    for n in (2, 4, 6, 8):
        counts[n] = sum(
            math.comb(n - 1, size - 1) * counts[n - size] for size in range(2, n + 1, 2)
        )
        found = even_partitions(n)
        require(len(set(found)) == len(found) == counts[n], f"{len(found)}, not {counts[n]}")
        for blocks in found:
            members = sorted(h for block in blocks for h in block)
            require(members == list(range(n)), f"{blocks} is no partition of 0..{n - 1}")


def _check_rule() -> None:
    for r in _ORDERS:
        forms = _distinct_forms(r)
        require_equal(moment(forms), moment_by_coincidences(forms), f"the rules for r = {r}")


def _check_four_forms() -> None:
    c, C = coefficient(1), coefficient(2)
    gaussian = PowerSum(c**2) * PowerSum(C**2) + 2 * PowerSum(c * C) ** 2
    require_equal(moment((c, c, C, C)), gaussian - 2 * PowerSum(c**2 * C**2))


def _all_equal(forms: Sequence[sp.Expr]) -> dict[sp.Expr, sp.Expr]:
    return dict.fromkeys(forms, coefficient(1))


def _check_signs() -> None:
    x_a, x_b = Unit(a), Unit(b)
    for r in _ORDERS:
        require_equal(moment((x_a,) * (2 * r)), sp.S.One, f"E x_a^{2 * r} and 1")
    require_equal(moment((x_a, x_a, x_b, x_b)), sp.S.One, "E x_a^2 x_b^2 and 1")
    require_equal(moment((x_a, x_b)), sp.S.Zero, "E x_a x_b and 0")
    require_equal(moment((x_a, x_a, x_a, x_b)), sp.S.Zero, "E x_a^3 x_b and 0")


def _form_patterns(r: int) -> Iterator[tuple[sp.Expr, ...]]:
    """Yield 2r forms: all distinct, in equal pairs, and with x_a and x_b among them."""
    distinct = _distinct_forms(r)
    yield distinct
    yield tuple(distinct[h // 2] for h in range(2 * r))
    yield (Unit(a), Unit(b), *(distinct[h // 3] for h in range(2 * r - 2)))


def _product_of(forms: Sequence[Sequence[int]]) -> Callable[[tuple[int, ...]], int]:
    return lambda x: math.prod(dot(form, x) for form in forms)


def _check_enumeration() -> None:
    rng = seeded(2502)
    moments = {r: [(forms, moment(forms)) for forms in _form_patterns(r)] for r in _ORDERS}
    for d in range(2, 9):
        positions = {"a": 0, "b": d - 1}
        sequences = {f"c_{h}": random_integers(rng, d) for h in range(1, 9)}
        for forms, expr in itertools.chain(*moments.values()):
            values = [
                [int(j == positions[form.position.name]) for j in range(d)]
                if isinstance(form, Unit)
                else sequences[form.name]
                for form in forms
            ]
            found = evaluate(expr, sequences=sequences, positions=positions)
            expected = expectation(_product_of(values), d)
            require(
                found == expected, f"d = {d}, forms {forms}: {found}, by enumeration {expected}"
            )
