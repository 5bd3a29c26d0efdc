"""The evidence of a search for faults: a kernel held against something else at random draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from verify.claim import Cell, Evidence, Grade
from verify.seeds import Streams

__all__ = ["Faults", "fault_cell"]

Faults: TypeAlias = Iterator[str]
"""What is wrong at a draw, in words; nothing where all is right."""


def fault_cell(
    name: str,
    look: Callable[[np.random.Generator], Faults],
    *,
    method: str,
    claimed: str,
    grade: Grade,
    precision: str,
    trials: int,
    cost: float,
) -> Cell:
    """Return the cell that looks for faults at a number of draws; one of them refutes.

    Parameters
    ----------
    name : str
        The cell's name.
    look : callable
        Draws, and yields the faults it finds.
    method : str
        What the kernel is held against.
    claimed : str
        What a kernel without a fault does.
    grade : Grade
        What a search without a fault amounts to.
    precision : str
        The arithmetic of what it is held against.
    trials : int
        Number of draws.
    cost : float
        Rough seconds.
    """

    def check(streams: Streams) -> Evidence:
        faults = [fault for i in range(trials) for fault in look(streams.trial(i))]
        return Evidence(
            cell=name,
            subject="cross-check",
            method=method,
            grade=Grade.REFUTED if faults else grade,
            computed=faults[0] if faults else f"agreement at {trials} draws",
            claimed=claimed,
            precision=precision,
            seed=streams.seed,
            trials=trials,
        )

    return Cell(name=name, check=check, cost=cost)
