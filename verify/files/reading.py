"""Files that others wrote, opened with care: no devices, and not more than is wanted.

A pipe may never have a writer, a device never an end. What a path leads to is asked of the file
that is open, not of the path, which may lead elsewhere a moment later.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from verify.console.interruption import interruptible

__all__ = ["read_bytes", "regular_file"]


_PIECE = 1 << 16  # bytes; a pipe holds as many
_COMING = 500  # milliseconds in which a writer who waits for its reader goes on


@contextmanager
def regular_file(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read it, in any order.

    Raises
    ------
    OSError
        If it cannot be opened, or is a folder, a pipe or a device. The ``strerror`` says so.
    """
    with _opened(path) as handle:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream


def read_bytes(path: Path, *, most: int) -> bytes:
    """Return the content of a file, or of a pipe up to its end.

    Who has a pipe open for writing is waited for; where nobody comes at once, it has no content.

    Parameters
    ----------
    path : Path
        Where it is.
    most : int
        How many bytes it may have, a multiple of a MiB.

    Raises
    ------
    OSError
        If it cannot be opened, is a folder or a device, or is longer.
    """
    with _opened(path) as handle:
        mode = os.fstat(handle).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)):
            raise OSError(errno.EINVAL, "it is neither a regular file nor a pipe")
        content = _drained(handle, most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is longer than {most >> 20} MiB")
    return content


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    # Without O_NONBLOCK, opening a pipe would wait for its writer. On files it changes nothing.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _drained(handle: int, most: int) -> bytes:
    """Return what a file or a pipe has until its end, or until it is as much as `most`."""
    writer = select.poll()
    writer.register(handle, select.POLLIN)
    content = io.BytesIO()  # gives what it holds without a copy
    waited = False
    while content.tell() < most:
        # In pieces, as a file may be much shorter than what is allowed.
        try:
            piece = os.read(handle, min(_PIECE, most - content.tell()))
        except BlockingIOError:
            # Somebody has it open, and may take as long as it takes.
            with interruptible():
                writer.poll()
            continue
        content.write(piece)
        if not piece:
            # An empty file has no writer to wait for: to poll, it is ready at once.
            if content.tell() or waited:
                break
            writer.poll(_COMING)
            waited = True
    return content.getvalue()
