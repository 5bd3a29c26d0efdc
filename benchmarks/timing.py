"""Timing that can be trusted: contenders take turns, and every figure says how often."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Figure", "Ratio", "Row", "in_words", "interleaved"]

# Threads of a linear algebra library wait for more by spinning, 30 ms and less, before they sleep.
_SPINNING = 0.05


@dataclass(frozen=True)
class Figure:
    """Wall seconds of one contender over several rounds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.seconds)

    def ratio(self, other: Figure) -> Ratio:
        """How many times longer this one took, round by round."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return Ratio(tuple(mine / theirs for mine, theirs in pairs))

    def __str__(self) -> str:
        return (
            f"{in_words(self.median)} ({in_words(min(self.seconds))} to "
            f"{in_words(max(self.seconds))}, n = {len(self.seconds)})"
        )


@dataclass(frozen=True)
class Ratio:
    """How many times longer one contender took than another, in each round."""

    factors: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.factors)

    def __str__(self) -> str:
        return f"{self.median:.3g} ({min(self.factors):.3g} to {max(self.factors):.3g})"


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured beside its goal.

    Parameters
    ----------
    what, measured : str
        In words, with units.
    goal : str
        The goal in words; empty for a figure that has none.
    met : bool, optional
        Whether it was met.
    """

    what: str
    measured: str
    goal: str = ""
    met: bool | None = None


def interleaved(
    contenders: Mapping[str, Callable[[], object]], *, rounds: int, warm: bool = True
) -> dict[str, Figure]:
    """Time the contenders in turn, A B C A B C ..., after a warm-up of each if `warm`.

    Taking turns lets a drift of the machine's speed fall on all of them alike. With more than one
    core, each starts when the threads of the one before have gone to sleep.
    """
    pause = _SPINNING if int(os.environ.get("OMP_NUM_THREADS", "1")) > 1 else 0.0
    if warm:
        for run in contenders.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            time.sleep(pause)
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: Figure(tuple(found)) for name, found in seconds.items()}


def in_words(seconds: float) -> str:
    """Return a time with its unit, to three digits."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
