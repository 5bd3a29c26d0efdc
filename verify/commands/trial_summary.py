"""What the trials of a Monte Carlo have in common: counts with intervals, and the largest loss."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from verify.sampling import Proportion

if TYPE_CHECKING:
    from verify.trials.one_step import OneStepTrial

__all__ = ["share", "show_losses", "show_row", "show_shares", "sup_loss"]


def share(
    trials: Sequence[OneStepTrial], holds: Callable[[OneStepTrial], bool]
) -> dict[str, float | int] | None:
    """Return in how many trials something holds, with an interval; None without any trial."""
    count = sum(holds(trial) for trial in trials)
    return Proportion(count, len(trials)).as_json() if trials else None


def sup_loss(trials: Sequence[OneStepTrial]) -> dict[str, float | None]:
    """Return median and maximum of the largest loss; None without any trial."""
    losses = [trial.upper for trial in trials]
    return {
        "median": statistics.median(losses) if losses else None,
        "max": max(losses, default=None),
    }


def show_row(name: str, text: object) -> None:
    """Print a row of a table of two columns."""
    print(f"  {name:<18} {text}")


def show_shares(document: dict[str, Any], names: Sequence[str]) -> None:
    """Print the named shares of a document."""
    for name in names:
        found = document[name]
        if found is not None:
            interval = f"[{found['lower']:.4g}, {found['upper']:.4g}]"
            show_row(name, f"{found['point']:.4g}, 95% interval {interval}")


def show_losses(document: dict[str, Any]) -> None:
    """Print median and maximum of the largest loss, and why trials are missing, if any are."""
    if document["trials"]:
        losses = document["sup_loss"]
        show_row("sup loss", f"median {losses['median']:.3g}, max {losses['max']:.3g}")
    if "reason" in document:
        print(f"  incomplete: {document['reason']}")
