"""Ctrl-C and its like: raised while work runs that can be cut short, remembered at other times.

A command that keeps what is finished must not lose it to a signal that arrives a moment before the
work or a moment after it. So it calls `hold` first of all, and lets itself be interrupted only
where it waits: in `interruptible` blocks, and in loops over `awaited` results. What was remembered
before is raised there, and what arrives after the last result no longer matters, as nothing is
missing. A second signal while one is remembered is raised wherever it strikes: whoever asks twice
means it. What is raised begins the winding up, in which the next one is remembered again.

Without `handled`, as where the toolkit is used as a library, signals are Python's and nothing here
changes what they do.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import Any, TypeVar

__all__ = [
    "SIGNALS",
    "awaited",
    "handled",
    "has_struck",
    "hold",
    "ignore",
    "interruptible",
    "is_remembered",
    "remember",
    "take_over",
]

Item = TypeVar("Item")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What interrupts: Ctrl-C, a request to end, a terminal that goes away, and Ctrl-\\."""


class _Interruptions:
    """Whether a signal is raised, and the one that was not."""

    def __init__(self) -> None:
        self._holding = False
        self._working = False
        self._remembered = False
        self._patient = False
        self.has_struck = False
        """Whether an interruption was raised."""

    def handle(self) -> None:
        """Raise what has arrived, or remember it."""
        if self._patient or (self._holding and not self._working and not self._remembered):
            self._remembered = True
        else:
            self._interrupt()

    @property
    def is_remembered(self) -> bool:
        """Whether an interruption is remembered that is not raised yet."""
        return self._remembered

    def remember(self) -> None:
        """Take back what was raised, and remember it."""
        self._remembered = True

    def hold(self) -> None:
        """Remember from now on what arrives."""
        self._holding = True

    def wait(self) -> None:
        """Remember from now on whatever arrives, however often."""
        self._patient = True

    def inherit(self, outer: _Interruptions) -> None:
        """Take over what `outer` remembers."""
        self._remembered, outer._remembered = outer._remembered, False

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
        self._holding = self.has_struck = True
        raise KeyboardInterrupt


_current = _Interruptions()


def _handle(_number: int, _frame: FrameType | None) -> None:
    _current.handle()


@contextmanager
def handled() -> Iterator[None]:
    """Handle all `SIGNALS` alike while the block runs; `hold` lasts no longer than that.

    A signal that this process was started to ignore stays ignored. In other threads than the main
    one, which gets the signals, nothing is changed. What is remembered when the block begins is
    remembered in it.
    """
    global _current
    outer, _current = _current, _Interruptions()
    before = {}
    try:
        if threading.current_thread() is threading.main_thread():
            before = _install()
            _current.inherit(outer)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _current = outer


def take_over() -> None:
    """Remember all `SIGNALS` outside of `handled` blocks, to the end of this process.

    They are raised in such blocks only: a library that is interrupted while it is loaded fails
    with errors of its own, or is broken when it is used later.
    """
    _current.wait()
    _install()


def ignore() -> None:
    """Ignore all `SIGNALS`, to the end of this process: what there was to do is done."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _install() -> dict[signal.Signals, Callable[[int, FrameType | None], Any] | int]:
    """Handle the signals that are not ignored, and return how they were handled before."""
    before = {}
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if handler not in (signal.SIG_IGN, None):
            before[number] = handler
            signal.signal(number, _handle)
    return before


def is_remembered() -> bool:
    """Whether an interruption is remembered that is not raised yet."""
    return _current.is_remembered


def remember() -> None:
    """Take back an interruption that was raised, as what it struck was over, and remember it."""
    _current.remember()


def has_struck() -> bool:
    """Whether an interruption was raised, which may have come out as some other error."""
    return _current.has_struck


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
