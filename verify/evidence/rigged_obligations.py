"""Signs of functions whose sign is known, put to the procedure that proves signs in balls.

The obligations of the derivations are true, and most of their zeros are at the left end: a rule
that is wrong on the other side, or that proves too much, would not be noticed there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

if TYPE_CHECKING:
    from derivations.proof.obligations import Obligation

__all__ = ["obligations_cell"]

_MOST_CELLS = 256


def obligations_cell() -> Cell:
    """Return the cell on obligations that are true, or false, by construction."""
    return fault_cell(
        "signs of rigged functions",
        _sign_faults,
        method="polynomials that are products of factors of known sign",
        claimed="proved where no factor is negative, refuted where one is, with a true witness",
        grade=Grade.EXACT,
        precision="exact",
        trials=1,
        cost=0.2,
    )


def _sign_faults(rng: np.random.Generator) -> Faults:
    from verify.ledgers.obligations import Verdict, discharge

    for obligation, true in _rigged(rng):
        found = discharge(obligation, most_cells=_MOST_CELLS)
        if found.verdict is not (Verdict.PROVED if true else Verdict.REFUTED):
            yield f"{obligation.name}: {obligation.expression} is {found.verdict.value}"
        elif found.witness is not None and not (
            obligation.lower <= found.witness <= obligation.upper
            and obligation.expression.subs(obligation.variable, found.witness) < 0
        ):
            yield f"{obligation.name}: {obligation.expression} at {found.witness}"


def _rigged(rng: np.random.Generator) -> Iterator[tuple[Obligation, bool]]:
    """Yield obligations with zeros of every kind, and whether they are true."""
    import sympy as sp

    from derivations.proof.obligations import Obligation

    x = sp.Symbol("x", real=True)
    for where, order in (
        ("nowhere", 0),
        *(("at the left end", n) for n in (1, 2, 3)),
        *(("inside", n) for n in (2, 4)),
        *(("at the right end", n) for n in (1, 2, 3)),
    ):
        lower = Fraction(int(rng.integers(-6, 6)), int(rng.integers(1, 4)))
        width = int(rng.integers(1, 4))
        part = {"at the left end": 0, "at the right end": 1}.get(where, Fraction(1, 3))
        zero = lower + part * width
        # It is negative, if at all, in an eighth around here, far from the zero and the middle.
        dip = lower + Fraction(3 if part == 1 else 7, 10) * width
        distance = zero - x if part == 1 else x - zero
        for true in (True, False):
            depth = Fraction(width, 16) ** 2 * (1 if true else -1)
            expression = distance**order * ((x - dip) ** 2 + depth)
            stated = Obligation(
                name=f"a zero {where}, order {order}",
                expression=expression,
                variable=x,
                lower=sp.Rational(lower),
                upper=sp.Rational(lower + width),
                zero=sp.Rational(zero) if order else None,
                order=order,
            )
            yield stated, true
