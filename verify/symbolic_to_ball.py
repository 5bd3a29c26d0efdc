"""Derived formulas evaluated in balls: the symbolic side made numeric, with a proof of its error.

SymPy has no evaluation in Arb. A derived formula is a polynomial in power sums, entries and a few
exponentials, so reading it as sums, products and powers of balls is all there is to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from flint import arb, fmpq

__all__ = ["evaluate_in_balls"]


@cache
def _expression(derivation: str, formula: str) -> Any:
    # Deriving takes a hundred times longer than evaluating, and loads SymPy.
    from derivations.catalogue import load

    return load(derivation).formula(formula).right


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
        The instance, as for `derivations.evaluation.evaluate_over`, in balls.

    Returns
    -------
    arb
        A ball that holds the formula's value for all members of the given balls.
    """
    from derivations.evaluation import evaluate_over

    return evaluate_over(
        _expression(derivation, formula),
        rational=lambda p, q: arb(fmpq(p, q)),
        sequences=sequences,
        positions=positions,
        scalars=scalars,
        exponentials=exponentials,
    )
