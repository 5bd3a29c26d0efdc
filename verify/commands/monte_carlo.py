"""The Monte Carlo of a command: run its trials, count what they show, bound the largest loss."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.console.outcome import Outcome
from verify.evidence.sampling import Proportion

if TYPE_CHECKING:
    from verify.trials.one_step import OneStepTrial

__all__ = ["fill_in", "refuse_beside_bound", "run_and_summarise", "show_row", "show_summary"]

Event = Callable[["OneStepTrial"], bool]


def refuse_beside_bound(options: argparse.Namespace, simulation: Mapping[str, object]) -> None:
    """Refuse what only a simulation reads, where a bound is asked for: it would be ignored.

    Parameters
    ----------
    options : Namespace
        The options; None stands for one that was not given.
    simulation : mapping
        Those that only a simulation reads.

    Raises
    ------
    InvalidArgumentError
        If one of them was given.
    """
    for what in simulation:
        value = getattr(options, what)
        if value is not None:
            raise InvalidArgumentError(what, value, "only without --bound, which draws nothing")


def fill_in(options: argparse.Namespace, defaults: Mapping[str, object]) -> None:
    """Give the options that were not given, and are None, their defaults."""
    for what, default in defaults.items():
        if getattr(options, what) is None:
            setattr(options, what, default)


def run_and_summarise(
    run_trials: Callable[[range], list[OneStepTrial]],
    trials: int,
    *,
    jobs: int,
    quiet: bool,
    request: Mapping[str, object],
    counts: Mapping[str, Event],
    shares: Mapping[str, Event],
    show: Callable[[dict[str, Any]], None],
) -> Outcome:
    """Run the trials, and summarise those that finished.

    What no trial could tell is null, with the reason.

    Parameters
    ----------
    run_trials : callable
        Runs the trials of a range; it travels to another process.
    trials : int
        How many.
    jobs : int
        Number of worker processes.
    quiet : bool
        Whether to report no progress.
    request : mapping
        What the document repeats of the request.
    counts : mapping of str to callable
        What is counted among the trials, by its name in the document.
    shares : mapping of str to callable
        What is counted, and has an interval.
    show : callable
        Prints the document for a human reader.
    """
    from verify.console.progress import Progress
    from verify.running.monte_carlo import simulate

    simulation = simulate(run_trials, trials, jobs=jobs, progress=Progress(quiet=quiet))
    found = simulation.trials
    document: dict[str, Any] = {
        **request,
        "trials": len(found),
        **{name: sum(map(holds, found)) for name, holds in counts.items()},
        **{name: _share(found, holds) for name, holds in shares.items()},
        "sup_loss": _sup_loss(found),
    }
    if simulation.reason is not None:
        document["reason"] = simulation.reason
    return Outcome(
        document, lambda: show(document), exit_code=0 if simulation.reason is None else 3
    )


def _share(trials: Sequence[OneStepTrial], holds: Event) -> dict[str, float | int] | None:
    """Return in how many trials something holds, with an interval; None without any trial."""
    return Proportion(sum(map(holds, trials)), len(trials)).as_json() if trials else None


def _sup_loss(trials: Sequence[OneStepTrial]) -> dict[str, float | None]:
    """Return median and maximum of the largest loss; None without any trial."""
    losses = [trial.upper for trial in trials]
    return {
        "median": statistics.median(losses) if losses else None,
        "max": max(losses, default=None),
    }


def show_row(name: str, text: object) -> None:
    """Print a row of a table of two columns."""
    print(f"  {name:<18} {text}")


def show_summary(document: dict[str, Any], shares: Sequence[str]) -> None:
    """Print the named shares, the largest loss, and why trials are missing, if any are."""
    for name in shares:
        found = document[name]
        if found is not None:
            interval = f"[{found['lower']:.4g}, {found['upper']:.4g}]"
            show_row(name, f"{found['point']:.4g}, 95% interval {interval}")
    if document["trials"]:
        losses = document["sup_loss"]
        show_row("sup loss", f"median {losses['median']:.3g}, max {losses['max']:.3g}")
    if "reason" in document:
        print(f"  incomplete: {document['reason']}")
