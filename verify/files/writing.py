"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from numerics.arguments import InvalidArgumentError

__all__ = ["check_writable", "prepare_folder", "write_atomically"]


def write_atomically(what: str, path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that an interruption leaves the old content or none, never half.

    What is being written is called ``.NAME.`` and eight hexadecimal digits until it is complete;
    only a process that is killed leaves that behind.

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
    try:
        target = _target(what, path)
        # Known before there is anything, so that whatever strikes from now on can remove it.
        temporary = _temporary(target)
        try:
            with temporary.open("xb") as stream:
                write(stream)
            with suppress(FileNotFoundError):
                # Who may read the old file may read the new one.
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as failure:
        raise InvalidArgumentError(what, path, _cannot(failure)) from None


def check_writable(what: str, path: Path) -> None:
    """Make sure that a file can be written at `path`, before any work is done for it.

    Raises
    ------
    InvalidArgumentError
        If its folder does not exist or cannot be written to, or `path` is something other than
        a file, or a file that is protected against writing.
    """
    try:
        target = _target(what, path)
        with tempfile.TemporaryFile(dir=target.parent):
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


def _target(what: str, path: Path) -> Path:
    """Return the file that is to be replaced, behind all links: a link stays a link.

    Refuses a folder, and a device or pipe, which a new file would take the place of.

    Raises
    ------
    InvalidArgumentError, OSError
        If it is no file, or is protected against writing.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path.resolve()
    if stat.S_ISDIR(mode):
        raise InvalidArgumentError(what, path, "is a folder; name a file")
    if not stat.S_ISREG(mode):
        raise InvalidArgumentError(what, path, "is no regular file; name another")
    # To replace a file it takes no right to write to it, but this is what was asked for.
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    return path.resolve()


def _temporary(target: Path) -> Path:
    """Return a new name beside a file, which shows whose half it is, and is not too long."""
    # Letters take up to four bytes, and a name may have 255.
    return target.with_name(f".{target.name[:60]}.{secrets.token_hex(4)}")


def _cannot(failure: OSError) -> str:
    return f"cannot be written: {failure.strerror or failure}; choose another place"
