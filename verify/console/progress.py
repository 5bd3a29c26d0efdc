"""Progress on standard error: a bar on a terminal, a line for each tenth elsewhere.

How much time is left follows from how much has passed, by a clock that never jumps.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verify.console.terminal import can_move_cursor, console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["Progress"]


class Progress:
    """Tells the user on standard error how far the work has come.

    Parameters
    ----------
    quiet : bool
        Say nothing at all.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._done = 0
        self._total = 0
        self._start = 0.0

    @contextmanager
    def track(self, total: int) -> Iterator[None]:
        """Follow `total` pieces of work."""
        self._done, self._total, self._start = 0, total, time.monotonic()
        if self._quiet or not can_move_cursor(sys.stderr):
            yield
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            MofNCompleteColumn(),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        # The pieces may take longer than the half minute that Rich looks back to tell the speed.
        bar = Bar(
            *columns, console=console(sys.stderr), transient=True, speed_estimate_period=math.inf
        )
        with bar as self._bar:
            self._bar.add_task("", total=total)
            try:
                yield
            finally:
                self._bar = None

    @contextmanager
    def wait(self, what: str) -> Iterator[None]:
        """Show on a terminal that work goes on whose length is not known, named `what`."""
        if self._quiet or not can_move_cursor(sys.stderr):
            yield
            return
        # Of all spinners the one that every terminal has the letters for.
        with console(sys.stderr).status(what, spinner="line"):
            yield

    def advance(self, what: str, *, count: int = 1) -> None:
        """Record that `count` more pieces are done, the last of them named `what`."""
        before, self._done = self._done, self._done + count
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=count, description=what)
        elif not self._quiet and self._tenths(self._done) > self._tenths(before):
            left = "" if self._done == self._total else f", {self._time_left()} left"
            self._print(f"[{self._done}/{self._total}] {what}{left}")

    def say(self, message: str) -> None:
        """Tell the user something else, in a line."""
        if self._bar is not None:
            self._bar.console.print(message, markup=False, highlight=False)
        elif not self._quiet:
            self._print(message)

    def _tenths(self, done: int) -> int:
        return 10 * done // self._total

    def _time_left(self) -> str:
        passed = time.monotonic() - self._start
        return _in_words(passed * (self._total - self._done) / self._done)

    @staticmethod
    def _print(line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def _in_words(seconds: float) -> str:
    """Return a duration to two digits, in the unit that suits it."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"about {seconds / length:.2g} {unit}"
    return f"about {max(1, round(seconds))} s"
