"""The evidence of a simulation: how often an event happens, against a bound stated before.

Binary64 decides most draws. One whose verdict lies within its rounding error is decided again in
ball arithmetic, and so is a fixed twentieth of all draws, to hold the kernels to account: if the
two ever disagree, the cell is in error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verify.claim import Assumption, Cell, Evidence, Grade
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most
from verify.instances.instance import Instance
from verify.seeds import Streams

__all__ = ["Event", "simulation_cell"]

# Every how many draws the balls decide as well.
_AUDIT = 20


@dataclass(frozen=True)
class Event:
    """Something that a drawn instance does or does not show.

    Parameters
    ----------
    described : str
        The event in words.
    happens : callable
        Decides in binary64; None within the rounding error of the threshold.
    proof : callable, optional
        Decides by proof; None if it cannot. Absent where `happens` is a proof by itself.
    """

    described: str
    happens: Callable[[Instance], bool | None]
    proof: Callable[[Instance], bool | None] | None = None


@dataclass
class _Tally:
    met: int = 0
    happened: int = 0
    proved: int = 0
    undecided: int = 0

    def add(self, event: Event, instance: Instance, *, audit: bool) -> None:
        self.met += 1
        verdict = event.happens(instance)
        if event.proof is not None and (audit or verdict is None):
            proved = event.proof(instance)
            self.proved += proved is not None
            if None not in {verdict, proved} and verdict is not proved:
                raise ArithmeticError(
                    f"binary64 says {verdict} and ball arithmetic {proved} of: {event.described}"
                )
            verdict = proved if verdict is None else verdict
        self.undecided += verdict is None
        self.happened += verdict is True

    def grade(self, bound: float, level: float) -> tuple[Grade, Proportion]:
        """Grade "P(event) <= bound"; what nobody could decide counts against either answer."""
        most = Proportion(self.happened + self.undecided, self.met, level)
        if grade_at_most(most, bound) is Grade.SAMPLED:
            return Grade.SAMPLED, most
        least = Proportion(self.happened, self.met, level)
        refuted = grade_at_most(least, bound) is Grade.REFUTED
        return Grade.REFUTED if refuted else Grade.UNDECIDED, most


def simulation_cell(
    *,
    name: str,
    draw: Callable[[np.random.Generator], Instance],
    event: Event,
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
    event : Event
        The event, and how it is decided.
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
    claimed = f"P({event.described}) <= {bound:.4g}"

    def check(streams: Streams) -> Evidence:
        tally = _Tally()
        for i in range(trials):
            instance = draw(streams.trial(i))
            if all(assumption.holds(instance) for assumption in assumptions):
                tally.add(event, instance, audit=i % _AUDIT == 0)
        if tally.met == 0:
            grade, computed, margin = Grade.VACUOUS, "nothing", None
        else:
            grade, found = tally.grade(bound, bonferroni_level(cells))
            computed, margin = str(found), 1 - found.interval[1] / bound
        if tally.undecided:
            computed += f", {tally.undecided} of them undecided"
        return Evidence(
            cell=name,
            subject="statement",
            method="simulation, Clopper-Pearson interval",
            grade=grade,
            computed=computed,
            claimed=claimed,
            margin=margin,
            precision=f"binary64; {tally.proved} draws also in balls",
            seed=streams.seed,
            trials=trials,
            met=tally.met,
            reason="no draw met the assumptions" if tally.met == 0 else None,
        )

    return Cell(name=name, check=check, cost=cost)
