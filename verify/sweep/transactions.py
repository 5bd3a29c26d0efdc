"""SQLite's transactions and failures, in the terms of a sweep."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numerics.arguments import InvalidArgumentError

__all__ = [
    "FILE",
    "StoreFailedError",
    "StoreLockedError",
    "closed_on_failure",
    "damaged",
    "explained",
    "opening",
    "transaction",
]

FILE = "results.sqlite"
"""Name of the database in the folder of a sweep."""

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Without room for the memory that it shares with other processes, SQLite reports a failed disk.
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
# SQLite names a damaged table in its message; Python cannot say what it reports if that is no text.
_NO_TEXT = "a name in it is no text"


class StoreLockedError(Exception):
    """Another program holds the database locked."""


class StoreFailedError(Exception):
    """The database cannot be written or read; the message says why, in a line."""


@contextmanager
def closed_on_failure(connection: sqlite3.Connection) -> Iterator[None]:
    """Close a connection that turns out to be of no use."""
    try:
        yield
    except BaseException:
        connection.close()
        raise


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write all that is written within, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself after some failures.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(out: Path) -> Iterator[None]:
    """Say in words what SQLite reports of the database in a folder.

    Raises
    ------
    StoreLockedError, StoreFailedError
        In place of SQLite's own errors.
    """
    try:
        yield
    except sqlite3.DatabaseError as failure:
        path, code = out / FILE, _code(failure)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreLockedError(f"{path} is locked by another program") from None
        if code in _FULL or _extended_code(failure) in _FULL:
            raise StoreFailedError(
                f"the disk is full: {path} cannot grow; free some space"
            ) from None
        if code in _DAMAGED:
            raise StoreFailedError(f"{path} is damaged: {failure}") from None
        raise StoreFailedError(f"{path} cannot be read or written: {failure}") from None
    except UnicodeDecodeError:
        raise StoreFailedError(f"{out / FILE} is damaged: {_NO_TEXT}") from None


@contextmanager
def opening(what: str, out: Path) -> Iterator[None]:
    """As `explained`, but a damaged file is a bad request.

    Raises
    ------
    InvalidArgumentError
        If SQLite finds no database, or a damaged one.
    """
    with explained(out):
        try:
            yield
        except sqlite3.DatabaseError as failure:
            if _code(failure) not in _DAMAGED:
                raise
            raise damaged(what, out, str(failure)) from None
        except UnicodeDecodeError:
            raise damaged(what, out, _NO_TEXT) from None


def damaged(what: str, out: Path, reason: str) -> InvalidArgumentError:
    """Return the refusal of a database that is not as it was written."""
    return InvalidArgumentError(
        what, out, f"{FILE} is damaged ({reason}); restore it, or delete the folder"
    )


def _code(failure: sqlite3.DatabaseError) -> int:
    """Return SQLite's primary code; the extended ones tell more than is needed here."""
    return _extended_code(failure) & 0xFF


def _extended_code(failure: sqlite3.DatabaseError) -> int:
    return int(getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_ERROR))
