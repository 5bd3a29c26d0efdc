"""Derived formulas evaluated in balls: the symbolic side made numeric, with a proof of its error.

SymPy has no evaluation in Arb. A derived formula over the positions is a polynomial in power sums,
entries and a few exponentials, so reading it as sums, products and powers of balls is all there is
to it. The constants of a bound, in scalar symbols only, need a handful of real functions more. A
function of a ball that reaches beyond its domain is not finite, and neither is what is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

if TYPE_CHECKING:
    from derivations.proof.ledger import Derivation

__all__ = ["evaluate_in_balls", "evaluate_real_in_balls", "real_in_balls"]


# Deriving takes a hundred times longer than evaluating, and loads SymPy.
@cache
def _derivation(name: str) -> Derivation:
    from derivations.catalogue import load

    return load(name)


def _expression(derivation: str, formula: str) -> Any:
    return _derivation(derivation).formula(formula).right


def evaluate_in_balls(
    derivation: str,
    formula: str,
    *,
    sequences: Mapping[str, Sequence[arb]],
    positions: Mapping[str, int] | None = None,
    scalars: Mapping[str, arb] | None = None,
    exponentials: Mapping[str, arb] | None = None,
) -> arb:
    """Enclose the value of a derived formula at an instance, at the working precision.

    Parameters
    ----------
    derivation, formula : str
        Names in `derivations.catalogue` and within the derivation.
    sequences, positions, scalars, exponentials
        The instance, as for `derivations.proof.evaluation.evaluate_over`, in balls.

    Returns
    -------
    arb
        A ball that holds the formula's value for all members of the given balls.
    """
    from derivations.proof.evaluation import evaluate_over

    return evaluate_over(
        _expression(derivation, formula),
        rational=_rational,
        sequences=sequences,
        positions=positions,
        scalars=scalars,
        exponentials=exponentials,
    )


def evaluate_real_in_balls(derivation: str, formula: str, scalars: Mapping[str, arb]) -> arb:
    """Enclose a derived formula or constant in scalar symbols, at the working precision.

    Parameters
    ----------
    derivation, formula : str
        Names in `derivations.catalogue` and within the derivation.
    scalars : mapping of name to arb
        The values of its symbols.

    Returns
    -------
    arb
        As from `real_in_balls`.

    Raises
    ------
    ValueError
        As from `real_in_balls`.
    """
    return real_in_balls(_expression(derivation, formula), scalars)


def real_in_balls(expression: Any, scalars: Mapping[str, arb]) -> arb:
    """Enclose a real function of scalar symbols, at the working precision.

    Parameters
    ----------
    expression : sympy.Expr
        What `derivations.proof.evaluation.evaluate_real` can read.
    scalars : mapping of name to arb
        The values of its symbols.

    Returns
    -------
    arb
        A ball that holds the value for all members of the given balls; not finite if it may be
        undefined for one of them.

    Raises
    ------
    ValueError
        If a symbol has no value or something cannot be read.
    """
    from derivations.proof.evaluation import evaluate_real

    return evaluate_real(expression, rational=_rational, scalars=scalars, functions=_FUNCTIONS)


def _rational(p: int, q: int) -> arb:
    return arb(fmpq(p, q))


def _size(x: arb) -> arb:
    """Enclose |x|, from 0 if x may be 0; Arb's own reaches below."""
    return x.max(-x).max(arb(0))


_FUNCTIONS: dict[str, Callable[..., arb]] = {
    "abs": _size,
    "atan": arb.atan,
    "exp": arb.exp,
    "gamma": arb.gamma,
    "log": arb.log,
    "max": arb.max,
    "pi": arb.pi,
    "sqrt": arb.sqrt,
}
