"""The formulas of the ledgers evaluated in balls, one constant after the other.

Every formula comes from the derivation that proves it; what is added here is what no single formula
says, at which slice and at which cell it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flint import arb

from numerics.balls.arithmetic.exact import from_float
from verify.ledgers.symbolic_to_ball import real_in_balls

if TYPE_CHECKING:
    from derivations.population_step.union import Event

__all__ = [
    "SCORES",
    "SLOPES",
    "WEDGE",
    "EventKey",
    "LedgerBound",
    "LedgerValues",
    "alignment",
    "bound_of",
    "cells_between",
    "slices_between",
    "thresholds",
    "with_scores",
]

EventKey = tuple[str, str | None]
"""Name and head of an event; no head where it is one of both."""


@dataclass(frozen=True)
class LedgerBound:
    """The bound of every event of the ledger, and the one that the ledger makes of them."""

    events: Mapping[EventKey, arb]
    total: arb


_LEDGERS = ("one_step", "score_bounds", "theorem2", "converse", "corollary3")

SCORES = (
    *("h", "q", "h_1", "q_1", "C_1", "C_2", "omega_low", "Z_low", "Z_high", "Z_2_low", "Z_2_high"),
    *("kappa_low", "M_low", "M_high", "largest_score", "sum_of_scores", "sum_of_squares"),
    *("overlap",),
)
SLOPES = (
    *("kappa_high", "K_low", "K_high", "k_1", "k_2", "F", "R", "f_max", "c_max", "w"),
    *("beta_slope", "c_up", "c_down", "alpha_slope", "c_margin", "e_Z", "pi_1", "pi_2", "mu_M"),
    *("k_kappa", "kappa_abs", "K_shift", "lambda_c", "w_0"),
)
WEDGE = ("excess", "r_lean", "I_1", "I_2")


class LedgerValues:
    """Values of the ledger's symbols; those known so far, and how to get at the next ones."""

    def __init__(self, formulas: Mapping[str, Any], scalars: Mapping[str, arb]) -> None:
        self._formulas = formulas
        self._scalars = scalars

    def __getitem__(self, name: str) -> arb:
        return self._scalars[name]

    def __contains__(self, name: str) -> bool:
        return name in self._scalars

    def given(self, **scalars: arb) -> LedgerValues:
        """Return these values and others."""
        return LedgerValues(self._formulas, {**self._scalars, **scalars})

    def symbols(self, name: str) -> list[str]:
        """Return the names of the symbols in the formula of a constant."""
        return sorted(symbol.name for symbol in self._formulas[name].free_symbols)

    def value(self, name: str) -> arb:
        """Evaluate the formula of a constant."""
        return real_in_balls(self._formulas[name], self._scalars)

    def then(self, *names: str) -> LedgerValues:
        """Return these values and those of constants, each of which may use the ones before."""
        values = self
        for name in names:
            values = values.given(**{name: values.value(name)})
        return values

    def tail(self, z: arb) -> arb:
        """Return T_m(z): 1 below 0, 0 from 1 on, the smaller of two bounds between."""
        if z >= 1:
            return arb(0)
        if not z >= 0:
            return arb(1)
        at = self.given(n=self["m"], z=z)
        power = at.value("tail_power")
        if not z > 0:
            return power
        mills = at.value("tail_mills")
        return -(-power).max(-mills)


def bound_of(whole: LedgerValues, events: Sequence[Event], total: str) -> LedgerBound:
    """Return the bound of every event, and the constant that adds them up.

    Parameters
    ----------
    whole : LedgerValues
        Values from which the formulas of the events can be evaluated.
    events : sequence of Event
        The events of a derivation.
    total : str
        The constant that is their sum.
    """
    names = [event.formula for event in events] + whole.symbols(total)
    whole = whole.then(*(name for name in dict.fromkeys(names) if name not in whole))
    return LedgerBound(
        {(event.name, head): whole[event.formula] for event in events for head in event.heads},
        whole.value(total),
    )


def thresholds(d: int, m: int, **given: float) -> LedgerValues:
    """Return the values that a budget fixes, and what depends on the sizes alone."""
    from derivations.catalogue import load

    formulas = {
        formula.name: formula.right for name in _LEDGERS for formula in load(name).constants
    }
    scalars = {name: from_float(value) for name, value in given.items()}
    values = LedgerValues(formulas, {"d": arb(d), "m": arb(m), "n": arb(m), **scalars})
    values = values.then("phi_n")
    return values.given(phi_m=values["phi_n"])


def with_scores(values: LedgerValues) -> LedgerValues:
    """Return these values and what holds for the scores, before any slice or cell."""
    tails = {"T_sigma": values.tail(values["sigma"]), "T_rho": values.tail(values["rho_0"])}
    return values.given(**tails).then(*SCORES)


def slices_between(values: LedgerValues, ends: Sequence[float]) -> list[LedgerValues]:
    """Return what holds for y on each of the slices that some ends bound."""
    return [_slice(values, low, high) for low, high in pairwise(map(from_float, ends))]


def _slice(values: LedgerValues, low: arb, high: arb) -> LedgerValues:
    values = values.given(y_low=low, y_high=high, T_low=values.tail(low))
    values = values.given(D=values.value("D_slice"))
    return values.then(*SLOPES, *WEDGE, "P_slice", "x_slice", "nu")


def cells_between(values: LedgerValues, ends: Sequence[float]) -> list[LedgerValues]:
    """Return what holds for rho on each of the cells that some ends bound."""
    return [_cell(values, low, high) for low, high in pairwise(map(from_float, ends))]


def _cell(values: LedgerValues, low: arb, high: arb) -> LedgerValues:
    values = values.given(r_low=low, r_high=high).then("z_cell")
    z = values["z_cell"]
    # A cell on both sides of 0 lies in no tail.
    return values.given(T_z=values.tail(z) if z > 0 else arb(1)).then("P_cell")


def alignment(part: LedgerValues, cells: list[LedgerValues]) -> arb:
    """Return the term of one slice in the bound of the ambient alignment."""

    def terms() -> Iterator[arb]:
        for cell in cells:
            at = part.given(r_low=cell["r_low"], r_high=cell["r_high"], P_cell=cell["P_cell"])
            at = at.given(Delta=at.value("Delta_cell")).then("rho_star")
            at = at.given(rho=at.value("rho_cell"))
            yield at.given(T_t=at.tail(at.value("t_cell"))).value("cells")

    return part.given(cells=sum(terms(), arb(0))).value("ambient_alignment")
