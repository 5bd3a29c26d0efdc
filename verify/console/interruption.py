"""Ctrl-C and SIGTERM: raised while work runs that can be cut short, remembered at other times.

A command that keeps what is finished must not lose it to a signal that arrives a moment before the
work or a moment after it. So it calls `hold` first of all, and lets itself be interrupted only
where it waits: in `interruptible` blocks, and in loops over `awaited` results. What was remembered
before is raised there, and what arrives after the last result no longer matters, as nothing is
missing. A second signal while one is remembered is raised wherever it strikes: whoever asks twice
means it.

Without `handled`, as where the toolkit is used as a library, signals are Python's and nothing here
changes what they do.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import TypeVar

__all__ = ["awaited", "handled", "hold", "interruptible"]

Item = TypeVar("Item")


class _Interruptions:
    """Whether a signal is raised, and the one that was not."""

    def __init__(self) -> None:
        self._holding = False
        self._working = False
        self._remembered = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        """Raise or remember; this is the handler of both signals."""
        if self._holding and not self._working and not self._remembered:
            self._remembered = True
        else:
            self._interrupt()

    def hold(self) -> None:
        """Remember from now on what arrives."""
        self._holding = True

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise what was remembered, and what arrives while the block runs."""
        outer, self._working = self._working, True
        try:
            if self._remembered:
                self._interrupt()
            yield
        finally:
            self._working = self._working and outer

    def _interrupt(self) -> None:
        # Winding up begins at once, wherever this strikes, and is not to be cut short itself.
        self._working = self._remembered = False
        raise KeyboardInterrupt


_current = _Interruptions()


@contextmanager
def handled() -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM, alike, while the block runs; `hold` lasts no longer than that.

    A signal that this process was started to ignore stays ignored. In other threads than the main
    one, which gets the signals, nothing is changed.
    """
    global _current
    outer, _current = _current, _Interruptions()
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    before[number] = signal.signal(number, _current.handle)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _current = outer


def hold() -> None:
    """Remember interruptions from now on, outside of `interruptible` blocks."""
    _current.hold()


def interruptible() -> AbstractContextManager[None]:
    """Let the block be interrupted: now, if an interruption is remembered, and while it runs."""
    return _current.interruptible()


def awaited(results: Iterator[Item]) -> Iterator[Item]:
    """Yield results as they come, and be interruptible while the next one is awaited.

    What is done with a result, between two of them, is not interrupted halfway.
    """
    while True:
        with interruptible():
            try:
                result = next(results)
            except StopIteration:
                return
        yield result
