"""The database of a sweep: one row per trial, written by one process, readable by any.

SQLite in WAL mode: a transaction that a crash cuts short leaves no trace, and readers are never
in the way. ``synchronous`` is NORMAL, so a commit does not wait for the disk. What a killed process
has committed is there; a power failure can take back the last commits, never the file's integrity,
and a rerun computes the same rows again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from numerics.arguments import InvalidArgumentError
from verify.sweep.chunk import Row
from verify.sweep.config import Sweep
from verify.sweep.identity import (
    read_facts,
    refuse_damaged,
    refuse_foreign,
    refuse_other,
    write_facts,
)
from verify.sweep.kinds import Kind, find_kind
from verify.sweep.parameters import Field, plain
from verify.sweep.transactions import (
    FILE,
    StoreFailedError,
    StoreLockedError,
    closed_on_failure,
    damaged,
    explained,
    opening,
    transaction,
)

__all__ = ["FILE", "CellCounts", "Store", "StoreFailedError", "StoreLockedError", "read_sweep"]

# Others hold the lock for moments, as a backup does; who holds it longer is waited for elsewhere.
_BUSY_SECONDS = 0.1

_NO_ROW = "SELECT * FROM trials LIMIT 0"


@dataclass(frozen=True)
class CellCounts:
    """What a cell has so far.

    Parameters
    ----------
    rows, errors : int
        Trials with a row; those among them with an error.
    shares : mapping of str to int
        For each of the kind's shares, in how many trials it holds.
    error : str, optional
        One of the errors.
    """

    rows: int
    errors: int
    shares: dict[str, int]
    error: str | None


class Store:
    """An open database of a sweep.

    Parameters
    ----------
    out : Path
        Its folder.
    connection : sqlite3.Connection
        In autocommit mode.
    sweep : Sweep
        What its rows are the trials of.
    """

    def __init__(self, out: Path, connection: sqlite3.Connection, sweep: Sweep) -> None:
        self._out = out
        self._connection = connection
        self._file = _identity(out / FILE)
        self.sweep = sweep
        self.kind: Kind = find_kind("kind", sweep.kind)
        self._parameters = {
            cell.id: tuple(plain(value) for value in cell.parameters.values())
            for cell in sweep.cells
        }

    @classmethod
    def open(cls, out: Path, sweep: Sweep) -> Store:
        """Open the database in a folder for writing, or create it.

        Raises
        ------
        InvalidArgumentError
            If the folder holds something else, or another sweep.
        StoreLockedError, StoreFailedError
            If it cannot be had now, or the disk is full.
        """
        path = out / FILE
        refuse_foreign("out", out)
        with explained(out):
            connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        with closed_on_failure(connection), opening("out", out):
            if _scalar(connection, "PRAGMA page_count") == 0:
                _create(connection, sweep)
            refuse_damaged("out", out, connection)
            refuse_other("out", out, connection, sweep)
            _refuse_other_columns("out", out, connection, sweep)
            if _scalar(connection, "PRAGMA journal_mode = WAL") != "wal":
                raise InvalidArgumentError(
                    "out", out, "this file system cannot hold a database in WAL mode; use another"
                )
            connection.execute("PRAGMA synchronous = NORMAL")
            return cls(out, connection, sweep)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    @property
    def folder(self) -> Path:
        """The folder of the sweep."""
        return self._out

    @property
    def columns(self) -> list[str]:
        """Names of the columns of a row, in order."""
        with explained(self._out):
            return [name for name, *_ in self._connection.execute(_NO_ROW).description]

    def write(self, batches: Iterable[tuple[str, Sequence[Row]]]) -> None:
        """Write rows, each batch with the id of its cell, in one transaction.

        A row takes the place of the one that its trial has, if any.

        Raises
        ------
        StoreLockedError
            If another program has the database locked; nothing is written.
        StoreFailedError
            If the disk is full or fails, or the file is no longer there; nothing is written.
        """
        # SQLite goes on in a file that has no name any more, and nobody would find the rows.
        if _identity(self._out / FILE) != self._file:
            raise StoreFailedError(f"{self._out / FILE} was moved or deleted during the run")
        marks = ", ".join("?" for _ in _columns(self.kind))
        rows = (
            (cell, trial, *self._parameters[cell], *found, error)
            for cell, batch in batches
            for trial, error, *found in batch
        )
        with explained(self._out), transaction(self._connection):
            query = f"INSERT OR REPLACE INTO trials VALUES ({marks})"  # noqa: S608 - marks are "?"
            self._connection.executemany(query, rows)

    def finished(self) -> Iterator[tuple[str, int]]:
        """Yield cell and number of every trial that has a result, in order.

        Raises
        ------
        InvalidArgumentError
            If the database is damaged.
        """
        with opening("out", self._out):
            for cell, trial in self._connection.execute(
                "SELECT cell, trial FROM trials WHERE error IS NULL ORDER BY cell, trial"
            ):
                known = isinstance(cell, str) and isinstance(trial, int)
                if not known or not 0 <= trial < self.sweep.trials:
                    raise damaged("out", self._out, "a row is of no trial")
                yield cell, trial

    def rows(self) -> Iterator[tuple[Field, ...]]:
        """Yield every row, by cell and trial; `columns` names its entries."""
        with explained(self._out):
            yield from self._connection.execute("SELECT * FROM trials ORDER BY cell, trial")

    def counts(self) -> dict[str, CellCounts]:
        """Return how far each cell is that has any row, by its id.

        Raises
        ------
        StoreFailedError
            If it cannot be read, or holds what no trial can have.
        """
        shares = "".join(f", total({name})" for name in self.kind.SHARES)
        query = (
            # The kind's own names, no values.
            f"SELECT cell, count(*), count(error), min(error){shares} FROM trials "  # noqa: S608
            "GROUP BY cell ORDER BY cell"
        )
        with explained(self._out):
            counted: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        counts: dict[str, CellCounts] = {}
        for cell, rows, errors, error, *held in counted:
            # Someone may have been at the rows: a type is no more than advice to SQLite.
            possible = all(0 <= number <= rows - errors for number in held)
            if not possible or not (error is None or isinstance(error, str)):
                raise StoreFailedError(f"{self._out / FILE} is damaged: {cell} has no such trials")
            held_by = dict(zip(self.kind.SHARES, map(int, held), strict=True))
            counts[cell] = CellCounts(rows, errors, held_by, error)
        return counts


def read_sweep(out: Path, *, what: str = "sweep") -> Store:
    """Open the database of a sweep to read it, even while the sweep runs.

    Use it as a context manager: ``with read_sweep(out) as store: ... store.rows() ...``.

    Parameters
    ----------
    out : Path
        Folder of the sweep.
    what : str
        The argument that named it, for the refusal.

    Raises
    ------
    InvalidArgumentError
        If there is no database, or it is damaged, or another version made it.
    StoreLockedError, StoreFailedError
        If it cannot be read now.
    """
    if not os.path.isfile(out / FILE):  # Path.is_file fails where a name is too long
        raise InvalidArgumentError(what, out, f"holds no {FILE}; name the folder of a sweep")
    refuse_foreign(what, out)
    connection = _connect_to_read(out)
    with closed_on_failure(connection), opening(what, out):
        connection.execute("PRAGMA query_only = ON")
        if _scalar(connection, "PRAGMA page_count") == 0:
            raise InvalidArgumentError(what, out, f"{FILE} is still empty; run the sweep")
        refuse_damaged(what, out, connection)
        sweep = read_facts(what, out, connection)
        _refuse_other_columns(what, out, connection, sweep)
        return Store(out, connection, sweep)


def _columns(kind: Kind) -> list[tuple[str, str]]:
    """Return name and SQLite type of every column of a row."""
    return [
        ("cell", "TEXT NOT NULL"),
        ("trial", "INTEGER NOT NULL"),
        *((axis, f"{parameter.sql} NOT NULL") for axis, parameter in kind.AXES.items()),
        *kind.COLUMNS.items(),
        ("error", "TEXT"),
    ]


def _create(connection: sqlite3.Connection, sweep: Sweep) -> None:
    """Lay out an empty database, all or nothing."""
    columns = ", ".join(
        f"{name} {type_}" for name, type_ in _columns(find_kind("kind", sweep.kind))
    )
    with transaction(connection):
        write_facts(connection, sweep)
        connection.execute(
            f"CREATE TABLE trials ({columns}, PRIMARY KEY (cell, trial)) WITHOUT ROWID"
        )


def _refuse_other_columns(
    what: str, out: Path, connection: sqlite3.Connection, sweep: Sweep
) -> None:
    """Refuse rows that are not laid out as those of the sweep."""
    found = [name for name, *_ in connection.execute(_NO_ROW).description]
    if found != [name for name, _ in _columns(find_kind("kind", sweep.kind))]:
        raise damaged(what, out, "its columns are others")


def _connect_to_read(out: Path) -> sqlite3.Connection:
    unfinished = any(_size(out / f"{FILE}{suffix}") for suffix in ("-wal", "-journal"))
    if unfinished:
        # What is in them belongs to the database; only a writer puts it there.
        mode = "ro"
    elif os.access(out, os.W_OK):
        # SQLite makes the files that it shares with writers. One that may write removes them.
        mode = "rw"
    else:
        # There is no writer, and no place for the files.
        mode = "ro&immutable=1"
    address = f"file:{quote(str((out / FILE).resolve()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others of its name, or None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _scalar(connection: sqlite3.Connection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]
