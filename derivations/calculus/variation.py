"""Exact directional derivatives: the chain, product and quotient rules on power sums.

A direction is given by what it does to the basic sequences (``{E: E * t}``: the scores move with
speed t). Everything else follows from the rules of differentiation, term by term; since power sums
have no bound index, the derivative of a sum is the sum of the derivative, always.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum

__all__ = ["Variation"]


class Variation:
    """The derivative at time 0 along a curve on which the given sequences move.

    Parameters
    ----------
    velocities : mapping of Symbol to sympy.Expr
        Velocity of each sequence or scalar that moves; all others stand still.
    """

    def __init__(self, velocities: Mapping[sp.Symbol, sp.Expr]) -> None:
        self._velocities = dict(velocities)

    def __call__(self, expr: sp.Expr) -> sp.Expr:
        """Return the derivative of `expr`, a scalar or a sequence.

        Raises
        ------
        TypeError
            If `expr` contains a function for which no rule is stated here.
        """
        if isinstance(expr, sp.Symbol):
            return self._velocities.get(expr, sp.S.Zero)
        if isinstance(expr, PowerSum):
            return PowerSum(self(expr.args[0]))
        if isinstance(expr, Entry):
            return Entry(self(expr.sequence), expr.position)
        if isinstance(expr, sp.Add):
            return sp.Add(*(self(term) for term in expr.args))
        if isinstance(expr, sp.Mul):
            return sp.Add(
                *(
                    sp.Mul(*expr.args[:h], self(factor), *expr.args[h + 1 :])
                    for h, factor in enumerate(expr.args)
                )
            )
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
            return expr.exp * expr.base ** (expr.exp - 1) * self(expr.base)
        if not expr.free_symbols & self._velocities.keys():
            return sp.S.Zero
        raise TypeError(f"expr={expr}: no rule for the derivative of {type(expr).__name__}")
