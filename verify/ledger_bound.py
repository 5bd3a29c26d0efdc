"""The explicit Theorem 2 once more, summed from the formulas of the ledger.

`numerics.balls.theorem2` has its own code for every constant, and this module has none: it takes
each formula from the derivation that proves it, and adds what no single formula says, which slice
and which cell it is read at, and the sums. So what is proved and what is computed cannot drift
apart without the two disagreeing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flint import arb

from numerics.balls.exact import from_float, from_fraction
from verify.symbolic_to_ball import real_in_balls

if TYPE_CHECKING:
    from numerics.balls.converse import ConverseBudget
    from numerics.balls.theorem2 import Budget

__all__ = ["EventKey", "LedgerBound", "ledger_lower", "ledger_upper"]

EventKey = tuple[str, str | None]
"""Name and head of an event; no head where it is one of both."""


@dataclass(frozen=True)
class LedgerBound:
    """The bound of every event of the ledger, and the one that the ledger makes of them."""

    events: Mapping[EventKey, arb]
    total: arb


def ledger_upper(
    d: int, m: int, budget: Budget, *, scale: Fraction | None, tolerance: Fraction
) -> LedgerBound:
    """Evaluate the ledger's upper bound of the probability of failure, at the working precision.

    The conditions of the theorem are not looked at: a budget that violates one gives numbers
    that mean nothing.

    Parameters
    ----------
    d, m, budget, scale, tolerance
        As for `numerics.balls.theorem2.failure_events`.
    """
    from derivations.theorem2 import EVENTS

    values = _values(
        d,
        m,
        sigma=budget.largest_score,
        l_h=budget.sum_level,
        l_q=budget.squares_level,
        rho_0=budget.overlap,
        l_a=budget.support_level,
        l_A=budget.ambient_level,
        share=budget.share,
    )
    values = values.given(T=from_fraction(tolerance)).then("r_loss", "x_loss")
    if scale is None:
        values = values.given(tau_0=arb(0), tau_a=arb(0))
    else:
        values = values.given(C=from_fraction(scale)).then("tau_0", "tau_a")
    slices = [_slice(values, low, high) for low, high in pairwise(map(from_float, budget.slices))]
    cells = [_cell(values, low, high) for low, high in pairwise(map(from_float, budget.cells))]
    near, *far = slices
    whole = near.given(
        far_margin=sum((each.value("far_margin") for each in far), arb(0)),
        ambient_alignment=sum((_alignment(each, cells) for each in slices), arb(0)),
    )
    names = [event.formula for event in EVENTS] + whole.symbols("failure_upper")
    whole = whole.then(*(name for name in dict.fromkeys(names) if name not in whole))
    return LedgerBound(
        {(event.name, head): whole[event.formula] for event in EVENTS for head in event.heads},
        whole.value("failure_upper"),
    )


def ledger_lower(d: int, m: int, budget: ConverseBudget) -> arb:
    """Return the ledger's lower bound of the probability of failure, at the working precision.

    Parameters
    ----------
    d, m, budget
        As for `numerics.balls.converse.failure_lower`.
    """
    reach = from_float(budget.reach)
    values = _values(
        d,
        m,
        sigma=budget.largest_score,
        l_h=budget.sum_level,
        l_q=budget.squares_level,
        rho_0=budget.overlap,
        l_f=budget.freezing_level,
    ).given(y_1=reach, D=2 * reach)
    values = values.given(T_y=values.tail(reach)).then(*_SLOPES, *_WEDGE)
    values = values.given(
        g_zero=values.given(rho=arb(0)).value("g_rho"),
        g_rho_0=values.given(rho=values["rho_0"]).value("g_rho"),
    )
    return values.then("p_scores", "t_prime", "t_second", "a_square", "E_W", "E_3").value(
        "failure_lower"
    )


_SCORES = (
    *("h", "q", "h_1", "q_1", "C_1", "C_2", "omega_low", "Z_low", "Z_high", "Z_2_low", "Z_2_high"),
    *("kappa_low", "M_low", "M_high", "largest_score", "sum_of_scores", "sum_of_squares"),
    *("overlap",),
)
_SLOPES = (
    *("kappa_high", "K_low", "K_high", "k_1", "k_2", "F", "R", "f_max", "c_max", "w"),
    *("beta_slope", "c_up", "c_down", "alpha_slope", "c_margin", "e_Z", "pi_1", "pi_2", "mu_M"),
    *("k_kappa", "kappa_abs", "K_shift", "lambda_c", "w_0"),
)
_WEDGE = ("excess", "r_lean", "I_1", "I_2")


class _Values:
    """Values of the ledger's symbols; those known so far, and how to get at the next ones."""

    def __init__(self, formulas: Mapping[str, Any], scalars: Mapping[str, arb]) -> None:
        self._formulas = formulas
        self._scalars = scalars

    def __getitem__(self, name: str) -> arb:
        return self._scalars[name]

    def __contains__(self, name: str) -> bool:
        return name in self._scalars

    def given(self, **scalars: arb) -> _Values:
        """Return these values and others."""
        return _Values(self._formulas, {**self._scalars, **scalars})

    def symbols(self, name: str) -> list[str]:
        """Return the names of the symbols in the formula of a constant."""
        return sorted(symbol.name for symbol in self._formulas[name].free_symbols)

    def value(self, name: str) -> arb:
        """Evaluate the formula of a constant."""
        return real_in_balls(self._formulas[name], self._scalars)

    def then(self, *names: str) -> _Values:
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


def _values(d: int, m: int, **thresholds: float) -> _Values:
    """Return what does not depend on a slice or a cell."""
    from derivations.catalogue import load

    formulas = {
        formula.name: formula.right
        for name in ("one_step", "score_bounds", "theorem2", "converse")
        for formula in load(name).constants
    }
    scalars = {name: from_float(value) for name, value in thresholds.items()}
    values = _Values(formulas, {"d": arb(d), "m": arb(m), "n": arb(m), **scalars}).then("phi_n")
    values = values.given(phi_m=values["phi_n"])
    tails = {"T_sigma": values.tail(values["sigma"]), "T_rho": values.tail(values["rho_0"])}
    return values.given(**tails).then(*_SCORES)


def _slice(values: _Values, low: arb, high: arb) -> _Values:
    """Return what holds for y between two ends."""
    values = values.given(y_low=low, y_high=high, T_low=values.tail(low))
    values = values.given(D=values.value("D_slice"))
    return values.then(*_SLOPES, *_WEDGE, "P_slice", "x_slice", "nu")


def _cell(values: _Values, low: arb, high: arb) -> _Values:
    """Return what holds for rho between two ends."""
    values = values.given(r_low=low, r_high=high).then("z_cell")
    z = values["z_cell"]
    # A cell on both sides of 0 lies in no tail.
    return values.given(T_z=values.tail(z) if z > 0 else arb(1)).then("P_cell")


def _alignment(part: _Values, cells: list[_Values]) -> arb:
    """Return the term of one slice in the bound of the ambient alignment."""

    def terms() -> Iterator[arb]:
        for cell in cells:
            at = part.given(r_low=cell["r_low"], r_high=cell["r_high"], P_cell=cell["P_cell"])
            at = at.given(Delta=at.value("Delta_cell")).then("rho_star")
            at = at.given(rho=at.value("rho_cell"))
            yield at.given(T_t=at.tail(at.value("t_cell"))).value("cells")

    return part.given(cells=sum(terms(), arb(0))).value("ambient_alignment")
