"""Rows on their way into the database, kept in memory while another program has it locked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from verify.console.interruption import interruptible
from verify.sweep.chunk import Row
from verify.sweep.store import Store, StoreLockedError

__all__ = ["PATIENCE_SECONDS", "Writer"]

PATIENCE_SECONDS = 60.0
"""How long a lock is waited for when nothing else can be done."""

_MOST_ROWS = 100_000  # kept in memory: some tens of MiB
_PAUSE_SECONDS = 0.2


class Writer:
    """Writes rows as they come; while the database is locked, it keeps them and tries again.

    Parameters
    ----------
    store : Store
        Where they go.
    say : callable
        Tells the user, in a line, that rows have to wait, and that they are written.
    patience : float
        Seconds to wait for a lock when too many rows have gathered, and at the end.
    """

    def __init__(
        self,
        store: Store,
        *,
        say: Callable[[str], None],
        patience: float = PATIENCE_SECONDS,
        most_rows: int = _MOST_ROWS,
    ) -> None:
        self._store = store
        self._say = say
        self._patience = patience
        self._most_rows = most_rows
        self._waiting: list[tuple[str, Sequence[Row]]] = []
        self._locked = False

    def add(self, cell: str, rows: Sequence[Row]) -> None:
        """Write rows of a cell, now or when the database can be had.

        Raises
        ------
        StoreLockedError
            If too many rows wait, and the lock did not clear in time.
        StoreFailedError
            If they cannot be written.
        """
        if rows:
            self._waiting.append((cell, rows))
        if not self._written() and self._count() >= self._most_rows:
            self.finish()

    def finish(self) -> None:
        """Write what waits, which may take a while; the errors are those of `add`."""
        start = time.monotonic()
        while not self._written():
            if time.monotonic() - start > self._patience:
                rows = self._count()
                raise StoreLockedError(
                    f"the database stayed locked by another program; {rows} rows are not written"
                )
            with interruptible():
                time.sleep(_PAUSE_SECONDS)

    def _written(self) -> bool:
        """Try to write what waits, and say whether nothing does any more."""
        if not self._waiting:
            return True
        try:
            self._store.write(self._waiting)
        except StoreLockedError as lock:
            if not self._locked:
                self._say(f"{lock}: rows wait in memory until it is free")
            self._locked = True
            return False
        # Only now: an interruption before this line writes the same rows twice, to the same effect.
        self._waiting.clear()
        if self._locked:
            self._say("the database is free again: all rows are written")
        self._locked = False
        return True

    def _count(self) -> int:
        return sum(len(rows) for _, rows in self._waiting)
