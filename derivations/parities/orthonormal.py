r"""Parities: the products chi_S of the signs at the positions of S.

Their means need nothing but the multiplicities with which signs occur, so that d and the sizes of
all sets stay symbolic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import sympy as sp

from derivations.proof.identities import require_equal
from derivations.proof.ledger import Step
from derivations.proof.refusal import require

__all__ = [
    "mean_of_product",
    "mean_outside",
    "orthonormality",
    "parity",
    "share_of_supports",
    "sign_moment",
]


def sign_moment(n: int) -> sp.Rational:
    """Return E x^n for a uniform sign x."""
    return sp.Rational(1 + (-1) ** n, 2)


def mean_of_product(shared: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """Return E chi_S chi_U.

    Parameters
    ----------
    shared, first, second : sympy.Expr
        How many positions are in both sets, in S alone, and in U alone; all others occur in
        neither and contribute the mean of 1.
    """
    return sign_moment(2) ** shared * sign_moment(1) ** first * sign_moment(1) ** second


def mean_outside(number: sp.Expr) -> sp.Expr:
    """Return the mean of a product of `number` different signs, given any others."""
    return sign_moment(1) ** number


def parity(x: Sequence[int], support: Sequence[int]) -> int:
    """Return chi_S at one input."""
    return math.prod(x[position] for position in support)


def share_of_supports(r: sp.Expr, d: sp.Expr, k: sp.Expr) -> sp.Expr:
    """Return the share of the k-sets of d positions that lie within r given ones."""
    return sp.binomial(r, k) / sp.binomial(d, k)


def orthonormality() -> Step:
    """Return the step that parities are orthonormal."""
    return Step(
        label="orthonormal",
        statement=r"\mathbb{E} \chi_{S}^{2} = 1, \quad \mathbb{E} \chi_{S} \chi_{U} = 0 \text{ for"
        r" } S \ne U, \quad \mathbb{E} \chi_{S} = 0 \text{ for } |S| \ge 1",
        reason=r"The signs are independent: a sign that occurs twice contributes $\mathbb{E}"
        r" x_{i}^{2} = 1$, one that occurs once $\mathbb{E} x_{i} = 0$. If $S \ne U$, some"
        r" position is in one of them alone.",
        check=_check_orthonormality,
    )


def _check_orthonormality() -> None:
    some, more = sp.symbols("some more", integer=True, nonnegative=True)
    one = sp.Symbol("one", integer=True, positive=True)
    require_equal(mean_of_product(some, sp.S.Zero, sp.S.Zero), sp.S.One, "E chi_S^2")
    for first, second in ((one, more), (more, one)):
        require(mean_of_product(some, first, second) == 0, "E chi_S chi_U for different sets")
    require(mean_of_product(sp.S.Zero, one, sp.S.Zero) == 0, "E chi_S")
