"""What is proved at the sizes of a sweep, for its figures: everything here is in ball arithmetic.

The functions are called on worker processes, a size each, and import what they need themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from verify.console.progress import Progress
from verify.running.pool import Failure, WorkersLostError, run_calls

__all__ = [
    "LEVELS",
    "SAMPLE_FAILURE",
    "CertifiedColumn",
    "Computation",
    "Edge",
    "certified_column",
    "least_step",
    "sufficient_samples",
]

LEVELS = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2))
"""Probabilities of failure whose certified regions are drawn."""

SAMPLE_FAILURE = Fraction(1, 4)
"""Probability of failure at which a number of samples is certified."""

# Neighbouring m are told apart down to this ratio: less than the width of a line.
_RATIO = 1.06

Result = TypeVar("Result")


@dataclass(frozen=True)
class Edge:
    """Where a certified region begins or ends, on the line of one d.

    Parameters
    ----------
    d, m : int
        A point of the region: at it, failure is certified to have at most the probability `level`.
    level : Fraction
        A member of `LEVELS`.
    failure_upper : Fraction
        The bound at the point.
    side : {"lower", "upper"}
        Whether the region lies above or below.
    """

    d: int
    m: int
    level: Fraction
    failure_upper: Fraction
    side: str


@dataclass(frozen=True)
class CertifiedColumn:
    """What is proved at one d.

    Parameters
    ----------
    d : int
        Number of positions.
    nodes : dict of int to Fraction
        For each m of the sweep, the certified bound of the probability of failure; 1 says nothing.
    edges : list of Edge
        Where the bound passes a level between two of them.
    """

    d: int
    nodes: dict[int, Fraction]
    edges: list[Edge]


def certified_column(
    d: int, sizes: Sequence[int], scale: Fraction, tolerance: Fraction
) -> CertifiedColumn:
    """Bound the probability that a step fails at one d, for eta >= C d^2.

    Parameters
    ----------
    d : int
        Number of positions.
    sizes : sequence of int
        Values of m, ascending.
    scale, tolerance : Fraction
        C and T.
    """
    from numerics.balls.bounds.explicit_theorem2 import explicit_theorem2

    known: dict[int, Fraction] = {}

    def bound(m: int) -> Fraction:
        if m not in known:
            found = explicit_theorem2(d, m, scale=scale, tolerance=tolerance)
            known[m] = found.failure_upper
        return known[m]

    nodes = {m: bound(m) for m in sizes}
    edges = []
    for level in LEVELS:

        def good(m: int, level: Fraction = level) -> bool:
            return bound(m) <= level

        for below, above in pairwise(sizes):
            sides = (good(below), good(above))
            if sides == (False, True):
                m = _last(good, above, below)
                edges.append(Edge(d, m, level, known[m], "lower"))
            elif sides == (True, False):
                m = _last(good, below, above)
                edges.append(Edge(d, m, level, known[m], "upper"))
    return CertifiedColumn(d, nodes, edges)


def _last(good: Callable[[int], bool], inside: int, outside: int) -> int:
    """Return a size at which `good` holds, next to one at which it does not."""
    while abs(inside - outside) > 1 and not 1 / _RATIO < inside / outside < _RATIO:
        middle = round(math.sqrt(inside * outside))
        # Sizes that are close can have the root of their product round to one of them.
        if middle in (inside, outside):
            return inside
        inside, outside = (middle, outside) if good(middle) else (inside, middle)
    return inside


def least_step(d: int, m: int, tolerance: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return C and the certified probability of failure for eta >= C d^2; None if it is vacuous.

    C is the least that is found with at most 1.5 times the failure of large steps.
    """
    from numerics.balls.bounds.explicit_theorem2 import explicit_theorem2

    found = explicit_theorem2(d, m, tolerance=tolerance)
    return None if found.scale is None else (found.scale, found.failure_upper)


def sufficient_samples(d: int, m: int) -> int | None:
    """Return how many samples are certified to suffice for `SAMPLE_FAILURE`; None if none are."""
    from numerics.balls.bounds.explicit_corollary3 import explicit_corollary3

    return explicit_corollary3(d, m, failure=SAMPLE_FAILURE).n_sufficient


class Computation:
    """Calls functions of this module on worker processes, and keeps why any failed.

    Parameters
    ----------
    jobs : int
        Worker processes.
    progress : Progress
        Told of each call that is done.
    """

    def __init__(self, *, jobs: int, progress: Progress) -> None:
        self._jobs = jobs
        self._progress = progress
        self.reasons: list[str] = []

    def run(
        self, function: Callable[..., Result], calls: Sequence[tuple[object, ...]]
    ) -> list[Result | None]:
        """Return what the function returned at each call, None where it failed."""
        results: list[Result | None] = [None] * len(calls)
        try:
            with self._progress.track(len(calls)):
                for i, outcome in run_calls(function, calls, jobs=self._jobs):
                    if isinstance(outcome, Failure):
                        at = ", ".join(map(str, calls[i]))
                        self.reasons.append(f"{function.__name__}({at}): {outcome.reason}")
                    else:
                        results[i] = outcome
                    self._progress.advance("certified values")
        except WorkersLostError as lost:
            self.reasons.append(f"{function.__name__}: {lost}")
        return results
