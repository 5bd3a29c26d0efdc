"""Monte Carlo on worker processes: the same trials, whoever runs them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from verify.console.interruption import awaited
from verify.console.progress import Progress
from verify.running.pool import Failure, WorkersLostError, run_calls

__all__ = ["Simulation", "simulate"]

Trial = TypeVar("Trial")


@dataclass(frozen=True)
class Simulation(Generic[Trial]):
    """The finished trials of a Monte Carlo, in order, and why others are missing, if any are."""

    trials: list[Trial]
    reason: str | None = None


def simulate(
    run_trials: Callable[[range], list[Trial]], count: int, *, jobs: int, progress: Progress
) -> Simulation[Trial]:
    """Run trials ``0..count-1`` in chunks on worker processes.

    Parameters
    ----------
    run_trials : callable
        Runs the trials of a range; it travels to another process.
    count : int
        Number of trials.
    jobs : int
        Number of worker processes.
    progress : Progress
        Told of each finished chunk.
    """
    # Enough chunks that no worker waits long for the last one, and that little is lost to Ctrl-C.
    size = max(1, min(100, count // (8 * jobs)))
    chunks = [range(start, min(start + size, count)) for start in range(0, count, size)]
    finished: dict[int, list[Trial]] = {}
    reasons = []
    calls = [(chunk,) for chunk in chunks]
    ending = "interrupted"
    try:
        with suppress(KeyboardInterrupt), progress.track(len(chunks)):
            for i, outcome in awaited(run_calls(run_trials, calls, jobs=jobs)):
                if isinstance(outcome, Failure):
                    trials = f"{chunks[i].start}..{chunks[i].stop - 1}"
                    reasons.append(f"trials {trials}: {outcome.reason}")
                else:
                    finished[i] = outcome
                progress.advance("parts of the trials")
    except WorkersLostError as lost:
        ending = str(lost)
    if len(finished) + len(reasons) < len(chunks):
        reasons.append(ending)
    in_order = [trial for i in sorted(finished) for trial in finished[i]]
    return Simulation(in_order, "; ".join(reasons) or None)
