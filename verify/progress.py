"""Progress on standard error: a bar on a terminal, a line for each tenth elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

    @contextmanager
    def track(self, total: int) -> Iterator[None]:
        """Follow `total` pieces of work."""
        self._done, self._total = 0, total
        if self._quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            MofNCompleteColumn(),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
        )
        with Bar(*columns, console=Console(stderr=True), transient=True) as self._bar:
            self._bar.add_task("", total=total)
            yield
        self._bar = None

    def advance(self, what: str) -> None:
        """Record that one more piece, named `what`, is done."""
        tenths = 10 * self._done // self._total
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1, description=what)
        elif not self._quiet and 10 * self._done // self._total > tenths:
            print(f"[{self._done}/{self._total}] {what}", file=sys.stderr, flush=True)
