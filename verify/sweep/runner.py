"""Running a sweep: chunks out, rows in, until nothing is missing or something is in the way."""

from __future__ import annotations

from contextlib import closing

from verify.console.interruption import awaited
from verify.console.progress import Progress
from verify.sweep.checkpoints import discard_checkpoints
from verify.sweep.chunk import ExecutorLostError, Place
from verify.sweep.plan import Plan
from verify.sweep.store import Store, StoreFailedError, StoreLockedError
from verify.sweep.writer import PATIENCE_SECONDS, Writer

__all__ = ["INTERRUPTED", "run_sweep"]

INTERRUPTED = "interrupted"
"""The reason for missing trials after Ctrl-C or SIGTERM."""


def run_sweep(
    store: Store,
    *,
    place: Place,
    progress: Progress,
    patience: float = PATIENCE_SECONDS,
) -> str | None:
    """Run the trials that have no result yet, and write their rows as they come.

    Parameters
    ----------
    store : Store
        Its database, open for writing. This process alone writes to it.
    place : Place
        Where the chunks are run; the rows are the same anywhere.
    progress : Progress
        Told of every finished trial.
    patience : float
        Seconds to wait for a locked database when nothing else can be done.

    Returns
    -------
    str or None
        Why trials are missing, if any are. Every row that came before is written.
    """
    plan = Plan(store.sweep, store.finished(), place=place, folder=store.folder)
    writer = Writer(store, say=progress.say, patience=patience)
    reason = None
    unsettled = plan.unassigned
    try:
        try:
            with progress.track(unsettled), closing(place.execute(plan.take)) as outcomes:
                for chunk, outcome in awaited(outcomes):
                    rows = plan.settle(chunk, outcome)
                    unsettled -= len(rows)
                    writer.add(chunk.cell, rows)
                    progress.advance(chunk.cell, count=len(rows))
        except KeyboardInterrupt:
            # One that strikes after the last row leaves nothing missing.
            reason = INTERRUPTED if unsettled else None
        except ExecutorLostError as lost:
            reason = str(lost)
        writer.finish()
        discard_checkpoints(store.folder, store.finished(), all_=reason is None)
    except KeyboardInterrupt:
        reason = INTERRUPTED
    except (StoreFailedError, StoreLockedError) as failure:
        reason = str(failure)
    return reason
