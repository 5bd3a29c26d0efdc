"""The folder of a sweep: one run at a time works in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from numerics.arguments import InvalidArgumentError
from verify.files.writing import check_writable, prepare_folder
from verify.sweep.store import FILE

__all__ = ["LOCK", "held_folder"]

LOCK = "results.lock"
"""Name of the file that a running sweep holds locked."""


@contextmanager
def held_folder(out: Path) -> Iterator[None]:
    """Make the folder, if need be, and hold it; the system lets go of it when the process ends.

    Raises
    ------
    InvalidArgumentError
        If it cannot be written to, or another run holds it.
    """
    # A name that is too long is left to what makes the folder.
    new_folders = [each for each in (out, *out.parents) if not os.path.lexists(each)]
    prepare_folder("out", out)
    check_writable("out", out / FILE)
    new_lock = not (out / LOCK).exists()
    lock = FileLock(out / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InvalidArgumentError(
            "out", out, "another sweep is running in this folder; wait for it, or choose another"
        ) from None
    except (OSError, NotImplementedError) as failure:
        raise InvalidArgumentError(
            "out", out, f"its lock cannot be had ({failure}); choose another place"
        ) from None
    try:
        yield
    except InvalidArgumentError:
        # What is refused leaves nothing behind.
        if new_lock:
            (out / LOCK).unlink(missing_ok=True)
        with suppress(OSError):
            for folder in new_folders:
                folder.rmdir()
        raise
    finally:
        lock.release()
