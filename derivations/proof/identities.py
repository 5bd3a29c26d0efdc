"""Deciding identities: what a check calls to have a statement proved or refused.

Every formula here is a rational function of finitely many atoms: symbols, power sums, entries,
exponentials of scalars such as the gap Delta. Two of them are equal exactly if the numerator of
their difference expands to zero; no heuristic simplifier is involved, and a failure shows what is
left over.
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.power_sums import Entry, PowerSum, is_scalar
from derivations.proof.refusal import CheckError

__all__ = ["require_equal", "residue"]

_SHOWN = 200
"""Characters of a left-over that a message shows."""


def residue(left: sp.Expr, right: sp.Expr) -> sp.Expr:
    """Return the numerator of ``left - right``, expanded: zero exactly if both are equal.

    Parameters
    ----------
    left, right : sympy.Expr
        Rational functions of scalar symbols, power sums, entries, and of exp, cosh and sinh of
        integer multiples of scalar symbols.
    """
    growths: dict[sp.Symbol, sp.Dummy] = {}

    def power_of_growth(exponent: sp.Expr) -> sp.Expr:
        multiple, scalar = exponent.as_coeff_Mul()
        if not (multiple.is_Integer and isinstance(scalar, sp.Symbol) and is_scalar(scalar)):
            raise CheckError(f"exp({exponent}) is no integer power of the exponential of a scalar")
        return growths.setdefault(scalar, sp.Dummy(f"exp({scalar})")) ** multiple

    difference = sp.sympify(left) - sp.sympify(right)
    difference = difference.replace(sp.cosh, lambda x: (sp.exp(x) + sp.exp(-x)) / 2)
    difference = difference.replace(sp.sinh, lambda x: (sp.exp(x) - sp.exp(-x)) / 2)
    difference = difference.replace(sp.exp, power_of_growth)
    atoms = sorted(difference.atoms(PowerSum, Entry, sp.KroneckerDelta), key=str)
    difference = difference.xreplace({atom: sp.Dummy(str(atom)) for atom in atoms})
    numerator, _ = sp.fraction(sp.together(difference))
    return sp.expand(numerator)


def require_equal(left: sp.Expr, right: sp.Expr, what: str = "the two sides") -> None:
    """Return if `left` and `right` are equal.

    Raises
    ------
    CheckError
        If they are not, with what is left over.
    """
    rest = residue(left, right)
    if rest != 0:
        remainder = str(rest)
        shown = remainder if len(remainder) <= _SHOWN else remainder[:_SHOWN] + "..."
        raise CheckError(f"{what} differ by a multiple of {shown}")
