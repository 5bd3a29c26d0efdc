"""One run of the command line in this process, watched: what it printed, wrote, took and let slip.

Thousands of runs in a minute need a process that has loaded everything already. Worker processes
are replaced by this one, and whatever a run changes is put back.
"""

from __future__ import annotations

import hashlib
import io
import os
import resource
import signal
import stat
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeVar
from unittest import mock

__all__ = ["MOST_BYTES", "MOST_SECONDS", "Ran", "contents", "run_here"]

Call = TypeVar("Call")
Result = TypeVar("Result")

MOST_SECONDS = 20.0
"""Seconds of processor time that a run may take."""

_WAITING = 6  # times as long it may last by the clock, on a busy machine

MOST_BYTES = 2 << 30
"""How much address space a run may take beyond what the process has."""

# What Python's own filters do not show.
_QUIET = (DeprecationWarning, ImportWarning, PendingDeprecationWarning, ResourceWarning)


@dataclass(frozen=True)
class Ran:
    """What a run did.

    Parameters
    ----------
    argv : sequence of str
        Its arguments.
    code : int or None
        Its exit code; None if an exception got out, or it did not end in time.
    out, err : str
        What it printed.
    slipped : str
        The exception that got out or a warning, in a line; empty if there was none.
    before, after : mapping of str to str
        What `contents` says of the working folder.
    """

    argv: Sequence[str]
    code: int | None
    out: str
    err: str
    slipped: str
    before: Mapping[str, str]
    after: Mapping[str, str]


class _OutOfTimeError(BaseException):
    """Nothing that handles an `Exception` may stop this one."""


def run_here(argv: Sequence[str], folder: Path, *, seconds: float = MOST_SECONDS) -> Ran:
    """Run the command line with a working folder, and watch it."""
    from verify.cli import main

    before = contents(folder)
    out, err = (_stream(errors) for errors in ("strict", "backslashreplace"))
    slipped = ""
    code: int | None = None
    with (
        warnings.catch_warnings(record=True) as caught,
        _in_folder(folder),
        _limited(seconds),
        _without_workers(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.resetwarnings()
        for category in _QUIET:
            warnings.simplefilter("ignore", category)
        try:
            code = main(argv)
        except SystemExit as end:
            # As after --help; 1 is what Python makes of a message.
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except _OutOfTimeError:
            slipped = f"it did not end within {seconds:g} s"
        except BaseException as failure:
            slipped = f"{type(failure).__name__}: {failure}"
    if caught and not slipped:
        slipped = f"a warning: {caught[0].category.__name__}: {caught[0].message}"
    return Ran(argv, code, _printed(out), _printed(err), slipped, before, contents(folder))


def contents(folder: Path) -> dict[str, str]:
    """Return what every name in a folder stands for: a hash, a target, or what else it is."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            what = f"a link to {path.readlink()}"
        elif stat.S_ISREG(mode):
            with path.open("rb") as stream:
                what = hashlib.file_digest(stream, "sha256").hexdigest()
        else:
            what = str(stat.S_IFMT(mode))
        found[str(path.relative_to(folder))] = what
    return found


def _stream(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, write_through=True)


def _printed(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    return buffer.getvalue().decode("utf-8", "replace") if isinstance(buffer, io.BytesIO) else ""


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    """Work in a folder; modules that were imported from there are forgotten."""
    here, path, modules = Path.cwd(), [*sys.path], {*sys.modules}
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        sys.path[:] = path
        for name in {*sys.modules} - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Limit time and address space."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _OutOfTimeError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    timers = {
        signal.SIGALRM: (signal.ITIMER_REAL, _WAITING * seconds),
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
    }
    before = {number: signal.signal(number, stop) for number in timers}
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    for timer, limit in timers.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _without_workers() -> Iterator[None]:
    """Let calls for worker processes run here, one after the other."""
    import verify.running.pool
    import verify.sweep.local

    del verify

    def stream_here(
        function: Callable[[Call], Result], take: Callable[[], Call | None], **_: int
    ) -> Generator[tuple[Call, Result], None, None]:
        while (call := take()) is not None:
            yield call, function(call)

    with (
        mock.patch("verify.running.pool.stream_calls", stream_here),
        mock.patch("verify.sweep.local.stream_calls", stream_here),
    ):
        yield
