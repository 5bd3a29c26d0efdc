"""The evidence of a simulation: how often an event happens, against a bound stated before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verify.claim import Assumption, Cell, Evidence, Grade
from verify.instance import Instance
from verify.sampling import Proportion, bonferroni_level, grade_at_most
from verify.seeds import Streams

__all__ = ["simulation_cell"]


def simulation_cell(
    *,
    name: str,
    draw: Callable[[np.random.Generator], Instance],
    event: Callable[[Instance], bool],
    described: str,
    bound: float,
    trials: int,
    cells: int,
    assumptions: tuple[Assumption, ...],
    cost: float,
) -> Cell:
    """Return the cell that tests "P(event) <= bound" on random instances.

    Parameters
    ----------
    name : str
        The cell's name.
    draw : callable
        Draws an instance.
    event : callable
        Says whether the event happened at an instance.
    described : str
        The event in words.
    bound : float
        The probability that the claim allows it.
    trials : int
        Number of draws; those that violate an assumption are not counted.
    cells : int
        Number of cells of the claim, whose intervals are to hold jointly.
    assumptions : tuple of Assumption
        The claim's assumptions.
    cost : float
        Rough seconds.
    """
    claimed = f"P({described}) <= {bound:.4g}"

    def check(streams: Streams) -> Evidence:
        met = happened = 0
        for i in range(trials):
            instance = draw(streams.trial(i))
            if all(assumption.holds(instance) for assumption in assumptions):
                met += 1
                happened += event(instance)
        if met == 0:
            grade, computed, margin = Grade.VACUOUS, "nothing", None
        else:
            found = Proportion(happened, met, bonferroni_level(cells))
            grade, computed = grade_at_most(found, bound), str(found)
            margin = 1 - found.interval[1] / bound
        return Evidence(
            cell=name,
            subject="statement",
            method="simulation, Clopper-Pearson interval",
            grade=grade,
            computed=computed,
            claimed=claimed,
            margin=margin,
            precision="binary64",
            seed=streams.seed,
            trials=trials,
            met=met,
            reason="no draw met the assumptions" if met == 0 else None,
        )

    return Cell(name=name, check=check, cost=cost)
