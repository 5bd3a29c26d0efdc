"""Databases of sweeps that another program made, or a later version, or someone with an editor."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from campaigns.robustness.attack import Attack, Found
from campaigns.robustness.files.reader import Reader, attack, observe
from campaigns.robustness.files.trees import VALUES

__all__ = ["odd_databases"]

Change = Callable[[sqlite3.Connection], object]

_CELLS = {
    "nothing": None,
    "a word": "x",
    "bytes": b"\xff\x00",
    "2^63 - 1": 2**63 - 1,
    "-5": -5,
    "infinity": float("inf"),
    "1e308": 1e308,
    "a long text": "x" * 100_000,
    "a colour": "\x1b[31m\n",
}
_COLUMNS = ("cell", "trial", "d", "eta_scale", "success", "sup_loss_upper", "error")
_KEYS = ("name", "kind", "trials", "seed", "grid", "d")


def odd_databases(reader: Reader, *, full: bool) -> Iterator[Attack]:
    """Yield attacks on a reader of a sweep's database."""
    statements = {
        "of another program": ["PRAGMA application_id = 7"],
        "of no program": ["PRAGMA application_id = 0"],
        "of a later layout": ["UPDATE sweep SET value = '2' WHERE key = 'schema'"],
        "of a later version": ["UPDATE sweep SET value = '99.0' WHERE key = 'version'"],
        "without its facts": ["DELETE FROM sweep"],
        "without the table of facts": ["DROP TABLE sweep"],
        "without the table of trials": ["DROP TABLE trials"],
        "without any trial": ["DELETE FROM trials"],
        "with a column more": ["ALTER TABLE trials ADD COLUMN more"],
        "with a column less": ["ALTER TABLE trials DROP COLUMN success"],
        "with a column of another name": ["ALTER TABLE trials RENAME COLUMN success TO other"],
        "with a view for a table": [
            "ALTER TABLE trials RENAME TO old",
            "CREATE VIEW trials AS SELECT * FROM old",
        ],
        "with a view without end": [
            "DROP TABLE trials",
            "CREATE VIEW trials AS WITH RECURSIVE n(cell) AS (SELECT 1 UNION ALL SELECT cell + 1 "
            "FROM n) SELECT cell, 1 AS trial FROM n",
        ],
        "with a trigger": [
            "CREATE TRIGGER t BEFORE INSERT ON trials BEGIN DELETE FROM trials; END",
        ],
        "with facts that are bytes": ["UPDATE sweep SET value = x'00ff'"],
        "with another journal": ["PRAGMA journal_mode = DELETE"],
        "with cells that are not in the grid": ["UPDATE trials SET cell = 'other' || cell"],
    }
    for name, each in statements.items():
        yield _altered(reader, name, partial(_run, each))
    rows = [(column, kind) for column in _COLUMNS for kind in _CELLS]
    for column, kind in rows if full else rows[:: len(rows) // 6]:
        query = f"UPDATE OR IGNORE trials SET {column} = ?"  # noqa: S608 - a name of a column
        change = partial(_set, query, _CELLS[kind])
        yield _altered(reader, f"with {kind} for {column}", change)
    entries = [(key, kind) for key in _KEYS for kind in VALUES]
    for key, kind in entries if full else entries[:: len(entries) // 6]:
        yield _altered(reader, f"with {kind} as {key}", partial(_configure, key, VALUES[kind]))
    for kind, text in {"no JSON": "{", "deep": "[" * 100_000, "a list": "[]", "5": "5"}.items():
        query = "UPDATE sweep SET value = ? WHERE key = 'configuration'"
        yield _altered(reader, f"configured by {kind}", partial(_set, query, text))
    for suffix in ("-wal", "-shm", "-journal"):
        yield attack(reader, f"with random bytes in {suffix}", partial(_beside, suffix, reader))
    yield Attack(reader.name, "while it is locked", partial(_locked, reader))


def _altered(reader: Reader, name: str, change: Change) -> Attack:
    def place(path: Path, _: np.random.Generator) -> None:
        # SQLite leaves nothing but the file behind where it is made and closed.
        with TemporaryDirectory() as folder:
            file = Path(folder, "db")
            file.write_bytes(reader.original())
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                change(connection)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            path.write_bytes(file.read_bytes())

    return attack(reader, name, place)


def _run(statements: list[str], connection: sqlite3.Connection) -> None:
    for each in statements:
        connection.execute(each)


def _set(query: str, value: object, connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        connection.execute(query, (value,))
    except sqlite3.IntegrityError:
        # Nothing may not stand there: another value for all of them then.
        connection.execute(query, ("nothing",))


def _configure(key: str, value: Any, connection: sqlite3.Connection) -> None:
    (text,) = connection.execute("SELECT value FROM sweep WHERE key = 'configuration'").fetchone()
    document = json.loads(text)
    place = document["grid"] if key == "d" else document
    place[key] = value
    query = "UPDATE sweep SET value = ? WHERE key = 'configuration'"
    connection.execute(query, (json.dumps(document),))


def _beside(suffix: str, reader: Reader, path: Path, rng: np.random.Generator) -> None:
    path.write_bytes(reader.original())
    path.with_name(path.name + suffix).write_bytes(rng.bytes(5000))


def _locked(reader: Reader, folder: Path, _: int) -> Found:
    path = reader.lay_out(folder)
    path.write_bytes(reader.original())
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        return observe(reader, folder, reader.file, may_differ=True)
