"""Files of long trials in the folder of a sweep: how far they are, and what they went through.

``checkpoints/`` holds the state of trials that run for long, so that one that is killed goes on
where it was. A checkpoint stays until its trial has a row: then it is discarded. ``trajectories/``
holds the finished descents that a configuration asks for. Both are named by a hash of the cell's
id and the number of the trial. Workers write them, so on a cluster all of them must see the folder
under its path; where they do not, a trial that is killed starts again, and comes to the same row.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["checkpoint_path", "discard_checkpoints", "trajectory_path"]

_CHECKPOINTS, _TRAJECTORIES = "checkpoints", "trajectories"


def checkpoint_path(folder: Path, cell: str, trial: int) -> Path:
    """Return where a trial keeps its state."""
    return folder / _CHECKPOINTS / _name(cell, trial)


def trajectory_path(folder: Path, cell: str, trial: int) -> Path:
    """Return where a finished trial leaves its trajectory."""
    return folder / _TRAJECTORIES / _name(cell, trial)


def discard_checkpoints(folder: Path, finished: Iterable[tuple[str, int]], *, all_: bool) -> None:
    """Remove the checkpoints of trials that have a row, or all there are.

    Parameters
    ----------
    folder : Path
        The folder of the sweep.
    finished : iterable of (str, int)
        Cell and number of the trials that have a row.
    all_ : bool
        Whether no trial is left: then what killed workers left half written goes too.
    """
    # What cannot be removed is in nobody's way.
    if all_:
        shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
    elif (folder / _CHECKPOINTS).is_dir():
        for cell, trial in finished:
            with suppress(OSError):
                checkpoint_path(folder, cell, trial).unlink(missing_ok=True)


def _name(cell: str, trial: int) -> str:
    return f"{hashlib.sha256(cell.encode()).hexdigest()[:16]}-{trial}.npz"
