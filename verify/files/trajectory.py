"""A trajectory of gradient descent in a file, to be resumed or looked at later."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, finite_array, vector_of_length
from numerics.training import Trajectory
from verify.files.archives import add_arrays, open_archive
from verify.files.array_files import ArrayFile
from verify.files.writing import write_atomically

__all__ = ["load_trajectory", "save_trajectory"]

_ARRAYS = ("eta", "start", "start_tilde", "losses", "theta", "theta_tilde", "diverged")


def load_trajectory(what: str, path: Path) -> Trajectory:
    """Read a trajectory file, with pickles disabled.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        An ``.npz`` archive with the attributes of a `Trajectory` as arrays: ``losses``, shape
        (steps + 1,), four queries of one length, and ``eta`` and ``diverged`` without axes.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, an array is missing, unknown or of the wrong kind or shape, or
        a number is not finite.
    """
    file = ArrayFile(path, what, str(path), "trajectory file")
    with file.opened() as stream, open_archive(file, stream) as archive:
        arrays = archive.arrays(required=_ARRAYS)
    start = finite_array("start", arrays["start"], 1)
    queries = {
        name: vector_of_length(name, arrays[name], start.shape[0])
        for name in ("start_tilde", "theta", "theta_tilde")
    }
    losses = finite_array("losses", arrays["losses"], 1)
    if losses.shape[0] == 0:
        raise InvalidArgumentError("losses", "array of shape (0,)", "needs the loss at the start")
    diverged = arrays["diverged"]
    if diverged.dtype != np.bool_ or diverged.ndim != 0:
        raise InvalidArgumentError(
            "diverged", f"{diverged.dtype} array of shape {diverged.shape}", "must be one bool"
        )
    eta = float(finite_array("eta", arrays["eta"], 0))
    return Trajectory(eta, start, losses=losses, diverged=bool(diverged), **queries)


def save_trajectory(what: str, path: Path, trajectory: Trajectory) -> None:
    """Write a trajectory file; an interrupted write leaves the old file or none.

    The same trajectory is always the same file.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        Where the file goes, whatever its suffix.
    trajectory : Trajectory
        What to write.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written.
    """
    arrays: dict[str, NDArray[np.generic]] = {
        name: np.asarray(getattr(trajectory, name)) for name in _ARRAYS
    }

    def write(stream: IO[bytes]) -> None:
        with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
            add_arrays(archive, arrays)

    write_atomically(what, path, write)
