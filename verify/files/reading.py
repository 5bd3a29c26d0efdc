"""Files that others wrote, opened with care: regular ones alone, and not more than is wanted.

A pipe may never have a writer, a device never an end. What a path leads to is asked of the file
that is open, not of the path, which may lead elsewhere a moment later.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

__all__ = ["read_bytes", "regular_file"]


@contextmanager
def regular_file(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read it.

    Raises
    ------
    OSError
        If it cannot be opened, or is a folder, a pipe or a device. The ``strerror`` says so.
    """
    # Without O_NONBLOCK, opening a pipe would wait for its writer. On files it changes nothing.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(handle)


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path : Path
        Where it is.
    most : int
        How many bytes it may have, a multiple of a MiB.

    Raises
    ------
    OSError
        As `regular_file`; or if the file is longer.
    """
    with regular_file(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is longer than {most >> 20} MiB")
    return content
