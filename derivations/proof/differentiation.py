"""The other independent witness: explicit models, differentiated without any of our rules.

At small (d, m) SymPy differentiates the loss, written out over all inputs with explicit
exponentials, by each coordinate of a query. At random points mpmath differentiates the same
function numerically with 50 digits. Both know the model from its definition only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import mpmath
import sympy as sp

from derivations.proof.enumeration import dot, enumerated_loss
from derivations.proof.refusal import CheckError

__all__ = ["NumericModel", "SymbolicModel"]

_DIGITS = 50

# A finite difference with 50 working digits, for which mpmath raises the precision by itself,
# loses only a few of them; a wrong sign or factor already changes the first.
_AGREEING_DIGITS = 40


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
        self._scores = [dot(row, self.theta) for row in self.V]
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


class NumericModel:
    """A model at a random point, in numbers of 50 digits.

    The precision belongs to the model: it has an mpmath context of its own, and the global one
    is never touched.

    Parameters
    ----------
    rng : random.Random
        Source of the entries, which have three decimals.
    d, m : int
        Numbers of positions and of dimensions; the support is (0, 1).
    antisymmetric : bool, optional
        Whether theta_tilde is -theta.

    Attributes
    ----------
    V : list of list of mpf
        The embeddings, shape (d, m).
    theta, theta_tilde : list of mpf
        The queries, shape (m,).
    A : list of mpf
        A direction, shape (m,).
    t : list of mpf
        The contracted embeddings t_i = v_i.A, shape (d,).
    """

    def __init__(self, rng: random.Random, *, d: int, m: int, antisymmetric: bool = False) -> None:
        self._context = mpmath.MPContext()
        self._context.dps = _DIGITS

        def vector() -> list[mpmath.mpf]:
            return [self.rational(rng.randint(-1000, 1000), 1000) for _ in range(m)]

        self.V = [vector() for _ in range(d)]
        self.theta, self.theta_tilde, self.A = vector(), vector(), vector()
        if antisymmetric:
            self.theta_tilde = [-coordinate for coordinate in self.theta]
        self.t = [dot(row, self.A) for row in self.V]

    def rational(self, numerator: int, denominator: int) -> mpmath.mpf:
        """Return a rational number."""
        return self._context.mpf(numerator) / denominator

    def exponentials(self, query: Sequence[mpmath.mpf]) -> list[mpmath.mpf]:
        """Return exp(V query), shape (d,)."""
        return [self._context.exp(dot(row, query)) for row in self.V]

    def attention(self, query: Sequence[mpmath.mpf]) -> list[mpmath.mpf]:
        """Return softmax(V query), shape (d,)."""
        exponentials = self.exponentials(query)
        normalisation = self._context.fsum(exponentials)
        return [exponential / normalisation for exponential in exponentials]

    def slope(
        self, value: Callable[[list[mpmath.mpf]], mpmath.mpf], point: Sequence[mpmath.mpf]
    ) -> mpmath.mpf:
        """Return the derivative of `value` at `point` along A, by finite differences."""

        def on_the_line(h: mpmath.mpf) -> mpmath.mpf:
            return value([x + h * y for x, y in zip(point, self.A, strict=True)])

        return self._context.diff(on_the_line, self.rational(0, 1))

    def slope_of_loss(self) -> mpmath.mpf:
        """Return A.grad_theta L, from the enumerated loss."""
        fixed = self.attention(self.theta_tilde)
        return self.slope(lambda query: enumerated_loss(self.attention(query), fixed), self.theta)

    def slope_of_loss_tilde(self) -> mpmath.mpf:
        """Return A.grad_theta_tilde L, from the enumerated loss."""
        fixed = self.attention(self.theta)
        return self.slope(
            lambda query: enumerated_loss(fixed, self.attention(query)), self.theta_tilde
        )

    def require_close(self, found: mpmath.mpf, expected: mpmath.mpf, what: str) -> None:
        """Return if both agree to 40 significant digits.

        Raises
        ------
        CheckError
            If they do not (NaN never does).
        """
        scale = abs(expected) + abs(found)
        if not abs(found - expected) <= scale * self.rational(1, 10**_AGREEING_DIGITS):
            shown = (self._context.nstr(value, 20) for value in (found, expected))
            raise CheckError(f"{what}: {' and '.join(shown)} at d = {len(self.V)}")
