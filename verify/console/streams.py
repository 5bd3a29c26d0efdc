"""The standard streams of this process, whoever is or is not at their other end.

A stream that was closed before the program began gets a file behind its number: the next file that
is opened would get that number otherwise, and messages would be written into it. What standard
error does not take is lost, as there is nobody to tell. What standard output does not take is an
`OSError` once, and lost from then on, so that the end of the process does not try again. A reader
who does not read is waited for, until an interruption comes.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
import time
from typing import TYPE_CHECKING, TextIO

from verify.console.interruption import is_remembered, remember

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["take_over"]

_GLANCE_SECONDS = 0.2
_PATIENCE_SECONDS = 1.0  # for a reader, once an interruption has come


def take_over() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr``; a closed standard output stays None."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    if sys.stdout is not None:
        sys.stdout = _stream(sys.stdout, is_forgiving=False)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    else:
        sys.stderr = _stream(sys.stderr, is_forgiving=True)


class _Descriptor(io.FileIO):
    """An open descriptor, written to piece by piece as its reader reads."""

    def __init__(self, number: int, *, is_forgiving: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._is_forgiving = is_forgiving
        self._is_lost = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write the beginning of `data`, and return how much was written or is given up."""
        whole = memoryview(data)
        if self._is_lost:
            return whole.nbytes
        # What is written is counted before an interruption can be raised, as it can between two
        # calls from here: who thinks that it was not written would write it once more.
        written: list[int] = []
        try:
            self._wait()
            # So much is taken at once by what is ready.
            written.extend(map(super().write, (whole[: select.PIPE_BUF],)))
        except OSError:
            self._is_lost = True
            if self._is_forgiving:
                return whole.nbytes
            raise
        except KeyboardInterrupt:
            # A message may come twice, but what interrupts the work it is about is raised.
            if not written or self._is_forgiving:
                self._is_lost = not self._is_ready(0)
                raise
            remember()
        return written[0]

    def _wait(self) -> None:
        """Wait for the reader, but not for ever once an interruption is remembered.

        Raises
        ------
        TimeoutError
            If the reader does not read.
        """
        since = time.monotonic()
        while not self._is_ready(_GLANCE_SECONDS):
            if not is_remembered():
                since = time.monotonic()
            elif time.monotonic() > since + _PATIENCE_SECONDS:
                raise TimeoutError(errno.ETIMEDOUT, "its reader does not read")

    def _is_ready(self, seconds: float) -> bool:
        return bool(select.select((), (self,), (), seconds)[1])


def _stream(before: TextIO, *, is_forgiving: bool) -> TextIO:
    """Return a stream in the place of another; it escapes what its encoding does not have."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(before.fileno(), is_forgiving=is_forgiving)),
        encoding=before.encoding,
        errors="backslashreplace",
        line_buffering=is_forgiving or before.isatty(),
    )
