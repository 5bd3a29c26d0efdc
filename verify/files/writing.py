"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from numerics.arguments import InvalidArgumentError

__all__ = ["check_writable", "prepare_folder", "write_atomically"]


def write_atomically(what: str, path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that an interruption leaves the old content or none, never half.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        Where the file goes.
    write : callable
        Receives the open binary stream.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be written.
    """
    _refuse_irregular(what, path)
    # A link stays a link: the file it leads to is the one that is replaced.
    target = path.resolve()
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as failure:
        raise InvalidArgumentError(what, path, _cannot(failure)) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
        # mkstemp makes the file private; a result is as readable as any other new file.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except OSError as failure:
        Path(temporary).unlink(missing_ok=True)
        raise InvalidArgumentError(what, path, _cannot(failure)) from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def check_writable(what: str, path: Path) -> None:
    """Make sure that a file can be created at `path`, before any work is done for it.

    Raises
    ------
    InvalidArgumentError
        If its folder does not exist or cannot be written to, or `path` is something other than
        a file.
    """
    _refuse_irregular(what, path)
    try:
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except OSError as failure:
        raise InvalidArgumentError(what, path, _cannot(failure)) from None


def prepare_folder(what: str, path: Path) -> None:
    """Make sure that files can be created in a folder, before any work is done for it.

    Raises
    ------
    InvalidArgumentError
        If the folder does not exist and cannot be made, or cannot be written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as failure:
        raise InvalidArgumentError(what, path, _cannot(failure)) from None


def _refuse_irregular(what: str, path: Path) -> None:
    """Refuse a folder, and a device or pipe, which a new file would take the place of."""
    if path.is_dir():
        raise InvalidArgumentError(what, path, "is a folder; name a file")
    if path.exists() and not path.is_file():
        raise InvalidArgumentError(what, path, "is no regular file; name another")


def _cannot(failure: OSError) -> str:
    return f"cannot be written: {failure.strerror or failure}; choose another place"


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
