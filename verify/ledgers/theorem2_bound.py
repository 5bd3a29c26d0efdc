"""The explicit Theorem 2 once more, summed from the formulas of the ledger.

`numerics.balls.bounds.theorem2` has its own code for every constant, and this module has none: it
takes each formula from the derivation that proves it, and adds what no single formula says, which
slice and which cell it is read at, and the sums. So what is proved and what is computed cannot
drift apart without the two disagreeing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from numerics.balls.arithmetic.exact import from_float, from_fraction
from verify.ledgers.values import (
    SLOPES,
    WEDGE,
    LedgerBound,
    alignment,
    bound_of,
    cells_between,
    slices_between,
    thresholds,
    with_scores,
)

if TYPE_CHECKING:
    from numerics.balls.bounds.converse import ConverseBudget
    from numerics.balls.bounds.theorem2 import Budget

__all__ = ["ledger_lower", "ledger_upper"]


def ledger_upper(
    d: int, m: int, budget: Budget, *, scale: Fraction | None, tolerance: Fraction
) -> LedgerBound:
    """Evaluate the ledger's upper bound of the probability of failure, at the working precision.

    The conditions of the theorem are not looked at: a budget that violates one gives numbers
    that mean nothing.

    Parameters
    ----------
    d, m, budget, scale, tolerance
        As for `numerics.balls.bounds.theorem2.failure_events`.
    """
    from derivations.theorem2 import EVENTS

    values = with_scores(
        thresholds(
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
    )
    values = values.given(T=from_fraction(tolerance)).then("r_loss", "x_loss")
    if scale is None:
        values = values.given(tau_0=arb(0), tau_a=arb(0))
    else:
        values = values.given(C=from_fraction(scale)).then("tau_0", "tau_a")
    slices = slices_between(values, budget.slices)
    cells = cells_between(values, budget.cells)
    near, *far = slices
    whole = near.given(
        far_margin=sum((each.value("far_margin") for each in far), arb(0)),
        ambient_alignment=sum((alignment(each, cells) for each in slices), arb(0)),
    )
    return bound_of(whole, EVENTS, "failure_upper")


def ledger_lower(d: int, m: int, budget: ConverseBudget) -> arb:
    """Return the ledger's lower bound of the probability of failure, at the working precision.

    Parameters
    ----------
    d, m, budget
        As for `numerics.balls.bounds.converse.failure_lower`.
    """
    reach = from_float(budget.reach)
    values = with_scores(
        thresholds(
            d,
            m,
            sigma=budget.largest_score,
            l_h=budget.sum_level,
            l_q=budget.squares_level,
            rho_0=budget.overlap,
            l_f=budget.freezing_level,
        )
    ).given(y_1=reach, D=2 * reach)
    values = values.given(T_y=values.tail(reach)).then(*SLOPES, *WEDGE)
    values = values.given(
        g_zero=values.given(rho=arb(0)).value("g_rho"),
        g_rho_0=values.given(rho=values["rho_0"]).value("g_rho"),
    )
    return values.then("p_scores", "t_prime", "t_second", "a_square", "E_W", "E_3").value(
        "failure_lower"
    )
