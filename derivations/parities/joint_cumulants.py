"""Joint cumulants of the forms p_h in independent signs, and moments as polynomials in them.

A symbol for every cumulant keeps apart what their values may make equal. Moments come from a
recursion over the block of one form: a second way beside the sum over all partitions.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import sympy as sp

from derivations.calculus.power_sums import PowerSum
from derivations.moments import rademacher_cumulant
from derivations.parities.notation import attention

__all__ = [
    "cumulant",
    "even_exponents",
    "in_power_sums",
    "moment_in_cumulants",
    "monomial",
    "multiplicity",
]

Exponents = tuple[int, ...]


def even_exponents(k: int) -> tuple[Exponents, ...]:
    """Return the exponents f in {0, 1, 2}^k whose sum is even and positive."""
    return tuple(f for f in itertools.product(range(3), repeat=k) if sum(f) > 0 and sum(f) % 2 == 0)


@cache
def moment_in_cumulants(exponents: Exponents) -> sp.Expr:
    """Return E prod_h p_h^e_h in the cumulants: one given form is in a block with some others."""
    if sum(exponents) == 0:
        return sp.S.One
    first = next(h for h, exponent in enumerate(exponents) if exponent > 0)
    rest = tuple(e - int(h == first) for h, e in enumerate(exponents))
    total = sp.S.Zero
    for others in itertools.product(*(range(e + 1) for e in rest)):
        if sum(others) % 2 == 1:
            ways = math.prod(math.comb(n, r) for n, r in zip(rest, others, strict=True))
            block = tuple(e + int(h == first) for h, e in enumerate(others))
            remaining = tuple(n - r for n, r in zip(rest, others, strict=True))
            total += ways * cumulant(block) * moment_in_cumulants(remaining)
    return sp.expand(total)


def cumulant(f: Exponents) -> sp.Symbol:
    """Return the symbol kappa_f of the joint cumulant of f_h copies of each form p_h."""
    return sp.Symbol("kappa_" + "_".join(map(str, f)))


def _cumulant_value(f: Exponents) -> sp.Expr:
    return rademacher_cumulant(sum(f)) * PowerSum(monomial(f))


def monomial(f: Exponents) -> sp.Expr:
    """Return the sequence prod_h (gamma^h)^f_h."""
    return sp.Mul(*(attention(h) ** exponent for h, exponent in enumerate(f, start=1)))


def multiplicity(f: Exponents) -> int:
    """Return in how many ways a block of type f is taken from two copies of each form."""
    return math.prod(math.comb(2, exponent) for exponent in f)


def in_power_sums(expr: sp.Expr, k: int) -> sp.Expr:
    """Return a polynomial in the cumulants of k forms in terms of power sums."""
    return sp.expand(expr.xreplace({cumulant(f): _cumulant_value(f) for f in even_exponents(k)}))
