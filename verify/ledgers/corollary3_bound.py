"""The explicit Corollary 3 once more, summed from the formulas of the ledger.

What `verify.ledgers.theorem2_bound` is to Theorem 2: no constant of
`numerics.balls.bounds.corollary3` is computed here but by the formula that the derivation proves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from flint import arb

from numerics.balls.arithmetic.exact import from_float
from verify.ledgers.values import (
    SLOPES,
    LedgerBound,
    LedgerValues,
    alignment,
    bound_of,
    cells_between,
    slices_between,
    thresholds,
    with_scores,
)

if TYPE_CHECKING:
    from numerics.balls.bounds.corollary3 import SampleBudget

__all__ = ["sample_ledger_upper"]

_ONE_SAMPLE = (
    *("N_norm", "gamma_high", "q_E", "E_support", "b_support", "v_support", "H_square", "q_k"),
    *("E_ambient", "b_ambient", "v_ambient", "H_square_ambient"),
    *("sampling_variance", "sampling_scale"),
)
_FREEZING = (
    *("delta_s", "zeta", "zeta_2", "pi_lean", "k_lean", "K_lean", "M_lean", "lambda_lean"),
    *("N_move", "s_move", "R_high", "tau_mean", "tau_move", "R_move", "b_move", "v_move"),
    "theta_lean",
)
_NEAR = ("beta_near", "c_near", "excess_near", "r_near", "I_near")


def sample_ledger_upper(d: int, m: int, n: int, budget: SampleBudget) -> LedgerBound:
    """Evaluate the ledger's bound of the probability that a step on n samples fails.

    At the working precision. The conditions of the corollary are not looked at: a budget that
    violates one gives numbers that mean nothing.

    Parameters
    ----------
    d, m, n, budget
        As for `numerics.balls.bounds.corollary3.sample_failure_events`.
    """
    from derivations.corollary3 import EVENTS

    values = _one_sample(d, m, n, budget)
    ends = tuple(map(from_float, budget.near))
    lost = arb(0)
    for low, high in pairwise(ends):
        lost = lost.max(_frozen(values, high).given(y_low=low).value("Lambda_slice"))
    near = values.given(D=2 * ends[-1], Lambda=lost, theta_0=_frozen(values, ends[0])["theta_lean"])
    near = near.then(*SLOPES, *_NEAR).given(w_1=values["w_1"])
    slices = slices_between(values, budget.slices)
    cells = cells_between(values, budget.cells)
    far = (each.then("far_variance", "far_scale").value("far_sampled") for each in slices[1:])
    whole = near.then("near_joint", "near_apart").given(
        far_sampled=sum(far, arb(0)),
        ambient_alignment=sum((alignment(each, cells) for each in slices), arb(0)),
    )
    return bound_of(whole, EVENTS, "failure_sampled")


def _one_sample(d: int, m: int, n: int, budget: SampleBudget) -> LedgerValues:
    """Return what holds for the scores and for the gradient of one sample."""
    values = thresholds(
        d,
        m,
        sigma_0=budget.largest_score,
        l_h=budget.sum_level,
        l_q=budget.squares_level,
        rho_0=budget.overlap,
        l_a=budget.support_level,
        l_A=budget.ambient_level,
        l_F=budget.freezing_level,
        l_E=budget.energy_level,
        l_k=budget.ambient_energy_level,
        t_a=budget.sampling,
        y_I=budget.near[-1],
    )
    values = values.given(n_samples=arb(n), tau_0=arb(0), tau_a=values["t_a"]).then("sigma")
    values = with_scores(values.given(T_sigma_0=values.tail(values["sigma_0"])))
    values = values.then(*_ONE_SAMPLE)
    still = values.given(D=arb(0)).then(*SLOPES)
    values = values.given(kappa_abs=still["kappa_abs"], R=still["R"])
    return values.then("R_square", "V_square", "w_1")


def _frozen(values: LedgerValues, lean: arb) -> LedgerValues:
    """Return what freezing changes while y is at most `lean`."""
    return values.given(D=2 * lean, y_high=lean).then(*SLOPES, *_FREEZING)
