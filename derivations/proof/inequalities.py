"""Deciding inequalities: the difference of the two sides, written so that its sign can be read off.

A proof of ``left >= right`` is a margin: an expression that equals ``left - right`` identically and
is a sum of products of even powers and of quantities known not to be negative. What an inequality
assumes enters as slacks, nonnegative symbols with the difference that each of them names: from
``u <= v`` comes the slack ``v - u``. The identity is decided as all identities are, the sign by
the form of the margin alone; no numbers are put in.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from derivations.calculus.power_sums import Entry
from derivations.notation import Position, Sequence
from derivations.proof.identities import require_equal
from derivations.proof.refusal import require

__all__ = ["is_nonnegative", "is_positive", "require_above", "require_at_least"]


def require_at_least(
    left: sp.Expr,
    right: sp.Expr,
    margin: sp.Expr,
    what: str,
    *,
    slacks: Mapping[sp.Symbol, sp.Expr] | None = None,
) -> None:
    """Return if `margin` proves ``left >= right``.

    Parameters
    ----------
    left, right : sympy.Expr
        The two sides; rational functions, as for `derivations.proof.identities.residue`.
    margin : sympy.Expr
        What proves it.
    what : str
        The inequality in words, for the message.
    slacks : mapping of Symbol to sympy.Expr, optional
        What the symbols of the margin stand for; that a symbol is not negative (or positive) is
        the assumption under which the inequality is proved.

    Raises
    ------
    CheckError
        If the margin is not the difference, or its sign cannot be read off.
    """
    require_equal(left - right, margin.xreplace(dict(slacks or {})), f"{what}: difference, margin")
    require(is_nonnegative(margin), f"{what}: {margin} is not seen to be nonnegative")


def require_above(
    left: sp.Expr,
    right: sp.Expr,
    margin: sp.Expr,
    what: str,
    *,
    slacks: Mapping[sp.Symbol, sp.Expr] | None = None,
) -> None:
    """Return if `margin` proves ``left > right``.

    Parameters
    ----------
    left, right, margin, what, slacks
        As for `require_at_least`.

    Raises
    ------
    CheckError
        If the margin is not the difference, or is not seen to be positive.
    """
    require_at_least(left, right, margin, what, slacks=slacks)
    require(is_positive(margin), f"{what}: {margin} is not seen to be positive")


def is_nonnegative(expr: sp.Expr) -> bool:
    """Tell whether the form of `expr` shows that it is not negative."""
    if isinstance(expr, sp.Add | sp.Mul):
        return all(is_nonnegative(part) for part in expr.args)
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0:
        is_square = expr.exp % 2 == 0 and expr.base.is_real is True
        return is_square or is_nonnegative(expr.base)
    return _atom(expr).is_nonnegative is True or is_positive(expr)


def is_positive(expr: sp.Expr) -> bool:
    """Tell whether the form of `expr` shows that it is positive."""
    if isinstance(expr, sp.Add):
        return is_nonnegative(expr) if any(map(is_positive, expr.args)) else False
    if isinstance(expr, sp.Mul):
        return all(is_positive(part) for part in expr.args)
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        return is_positive(expr.base)
    return _atom(expr).is_positive is True


def _atom(expr: sp.Expr) -> sp.Expr:
    """Return what knows the sign of an atom; the entries of a sequence have the sign it declares.

    Of everything that is no number, scalar or entry, nothing is known.
    """
    if isinstance(expr, Entry):
        return expr.sequence
    is_scalar = isinstance(expr, sp.Symbol) and not isinstance(expr, Sequence | Position)
    return expr if is_scalar or isinstance(expr, sp.Rational) else sp.nan
