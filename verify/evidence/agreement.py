"""How a kernel is held against an exact or a 50-digit value, at random instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from verify.claim import Cell, Evidence
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most
from verify.seeds import Streams

__all__ = ["SHARE", "agreement_cell"]

SHARE = 0.01
"""A kernel agrees if the share of instances on which it errs too much is at most this."""


def agreement_cell(
    name: str,
    *,
    method: str,
    subject: Literal["statement", "cross-check"] = "cross-check",
    error: Callable[[np.random.Generator], float],
    bound: float,
    trials: int,
    cells: int = 1,
    cost: float,
) -> Cell:
    """Return the cell that measures a kernel's error at random instances.

    Parameters
    ----------
    name : str
        The cell's name.
    method : str
        What the kernel is held against.
    subject : {"statement", "cross-check"}
        Whether the agreement is what the claim states.
    error : callable
        Draws an instance and returns the kernel's error there, in units of its accuracy bound's
        scale; nan if it returned nothing usable, which counts as an error beyond the bound.
    bound : float
        The accuracy the kernel's documentation states, in the same units.
    trials : int
        Number of instances; at least 368 for one cell and 437 for two, so that no failure at
        all is inside the inequality.
    cells : int
        Number of such cells of the claim, whose intervals are to hold jointly.
    cost : float
        Rough seconds.
    """

    def check(streams: Streams) -> Evidence:
        errors = [error(streams.trial(i)) for i in range(trials)]
        # "not <=" rather than ">": an error that is not a number is beyond the bound.
        count = sum(not each <= bound for each in errors)
        beyond = Proportion(count, trials, bonferroni_level(cells))
        largest = max((each for each in errors if not np.isnan(each)), default=np.nan)
        return Evidence(
            cell=name,
            subject=subject,
            method=method,
            grade=grade_at_most(beyond, SHARE),
            computed=f"largest error {largest:.2g}; beyond the bound in {beyond}",
            claimed=f"P(error > {bound:.2g}) <= {SHARE}",
            margin=1 - largest / bound if bound > 0 and np.isfinite(largest) else None,
            precision="binary64",
            seed=streams.seed,
            trials=trials,
        )

    return Cell(name=name, check=check, cost=cost)
