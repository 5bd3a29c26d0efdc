"""The other independent witness: explicit models, differentiated without any of our rules.

At small (d, m) the loss is written out with explicit exponentials, as a sum over all inputs, and
SymPy differentiates it by each coordinate of theta. At random points mpmath differentiates the
same function numerically with 50 digits. Both know the model only from its definition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import sympy as sp

from derivations.enumeration import inputs
from derivations.ledger import CheckError

__all__ = [
    "DIGITS",
    "SymbolicModel",
    "enumerated_loss",
    "numeric_attention",
    "random_real_vector",
    "real",
    "require_close",
    "slope",
]

DIGITS = 50
"""Decimal digits of the numeric derivatives."""

_TOLERANCE_DIGITS = 40
# mpmath's finite difference is correct to all but a few of the working digits (it raises the
# precision itself); a wrong sign or factor changes the first digit.


def enumerated_loss(gamma: Sequence[Any], gamma_tilde: Sequence[Any]) -> Any:
    """Return the mean over all inputs of (f - y)^2, for the support (0, 1), in any ring."""
    d = len(gamma)
    total = 0
    for x in inputs(d):
        p = sum(weight * sign for weight, sign in zip(gamma, x, strict=True))
        q = sum(weight * sign for weight, sign in zip(gamma_tilde, x, strict=True))
        prediction, label = -p * q, -x[0] * x[1]
        total = total + (prediction - label) ** 2
    return total / 2**d


class SymbolicModel:
    """Attention at one small (d, m), every entry of V and theta a symbol.

    Parameters
    ----------
    d, m : int
        Numbers of positions and of dimensions.
    name : str
        Distinguishes the symbols of the query.

    Attributes
    ----------
    V : list of list of Symbol
        The embeddings, shape (d, m). Two models share their V.
    theta : list of Symbol
        The query, shape (m,).
    exponentials : list of Symbol
        The names that `algebraic` gives to exp(v_i.theta), shape (d,).
    attention : list of sympy.Expr
        The weights exp(v_i.theta) / sum_j exp(v_j.theta), shape (d,).
    """

    def __init__(self, d: int, m: int, name: str) -> None:
        self.V = [[sp.Symbol(f"V_{j}_{r}", real=True) for r in range(m)] for j in range(d)]
        self.theta = [sp.Symbol(f"{name}_{r}", real=True) for r in range(m)]
        self.exponentials = [sp.Symbol(f"{name}_exp_{j}", positive=True) for j in range(d)]
        self._scores = [sum(x * y for x, y in zip(row, self.theta, strict=True)) for row in self.V]
        normalisation = sum(sp.exp(score) for score in self._scores)
        self.attention = [sp.exp(score) / normalisation for score in self._scores]

    def algebraic(self, expr: sp.Expr) -> sp.Expr:
        """Replace the exponentials of the scores by symbols: a rational function results.

        SymPy merges products of exponentials, so an argument is an integer combination of scores,
        each recognised by its first product V_j0 theta_0; the queries of other models are left.
        """

        def product_of_symbols(argument: sp.Expr) -> sp.Expr:
            product, rest = sp.S.One, sp.expand(argument)
            for score, row, symbol in zip(self._scores, self.V, self.exponentials, strict=True):
                multiple = rest.coeff(row[0] * self.theta[0])
                product *= symbol**multiple
                rest = sp.expand(rest - multiple * score)
            return product * sp.exp(rest)

        return expr.replace(sp.exp, product_of_symbols)


def real(numerator: int, denominator: int) -> mpmath.mpf:
    """Return a rational number at the current precision."""
    return mpmath.mpf(numerator) / denominator


def random_real_vector(rng: random.Random, n: int) -> list[mpmath.mpf]:
    """Return n numbers in [-1, 1] with three decimals."""
    return [real(rng.randint(-1000, 1000), 1000) for _ in range(n)]


def numeric_attention(
    V: Sequence[Sequence[mpmath.mpf]], theta: Sequence[mpmath.mpf]
) -> list[mpmath.mpf]:
    """Return softmax(V theta) at the current precision."""
    exponentials = [mpmath.exp(mpmath.fdot(zip(row, theta, strict=True))) for row in V]
    normalisation = mpmath.fsum(exponentials)
    return [exponential / normalisation for exponential in exponentials]


def slope(
    value: Callable[[list[mpmath.mpf]], mpmath.mpf],
    point: Sequence[mpmath.mpf],
    direction: Sequence[mpmath.mpf],
) -> mpmath.mpf:
    """Return the derivative of `value` at `point` along `direction`, by finite differences."""

    def on_the_line(h: mpmath.mpf) -> mpmath.mpf:
        return value([x + h * y for x, y in zip(point, direction, strict=True)])

    return mpmath.diff(on_the_line, mpmath.mpf(0))


def require_close(found: mpmath.mpf, expected: mpmath.mpf, what: str) -> None:
    """Return if both agree to 40 significant digits.

    Raises
    ------
    CheckError
        If they do not (NaN never does).
    """
    scale = abs(expected) + abs(found)
    if not abs(found - expected) <= scale * real(1, 10**_TOLERANCE_DIGITS):
        raise CheckError(f"{what}: {mpmath.nstr(found, 20)} and {mpmath.nstr(expected, 20)}")
