"""What a database is: ours or another program's, whole or damaged, and of which sweep.

Its header has the id of this program, its table ``sweep`` the layout, the version that made it and
the configuration. All of that may have been changed since, or never have been there.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

from numerics.arguments import InvalidArgumentError
from verify.environment import version
from verify.sweep.config import Sweep
from verify.sweep.transactions import FILE, damaged

__all__ = ["read_facts", "refuse_damaged", "refuse_foreign", "refuse_other", "write_facts"]

_APPLICATION = int.from_bytes(b"xorv")  # how SQLite files say whose they are
_SCHEMA = 1
_MAGIC = b"SQLite format 3\0"
_HEADER = 100  # bytes; the application's id is at 68

_Facts = dict[str, str]
"""What the table ``sweep`` says."""


def write_facts(connection: sqlite3.Connection, sweep: Sweep) -> None:
    """Write into an empty database what it is, within a transaction of the caller's."""
    facts = {
        "schema": str(_SCHEMA),
        "version": version(),
        "configuration": json.dumps(sweep.canonical(), ensure_ascii=False),
    }
    connection.execute("CREATE TABLE sweep (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    connection.executemany("INSERT INTO sweep VALUES (?, ?)", facts.items())
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")


def read_facts(what: str, out: Path, connection: sqlite3.Connection) -> Sweep:
    """Return the sweep whose rows a database has.

    Raises
    ------
    InvalidArgumentError
        If it has another layout, or someone has been at what it says.
    """
    stored = _facts(what, out, connection)
    if stored["schema"] != str(_SCHEMA):
        raise InvalidArgumentError(
            what, out, f"was laid out by version {stored['version']}, and this is {version()}"
        )
    configuration = _configuration(what, out, stored)
    try:
        return Sweep.from_canonical(configuration)
    except InvalidArgumentError as refusal:
        raise damaged(what, out, f"its configuration is none: {refusal}") from None


def refuse_foreign(what: str, out: Path) -> None:
    """Refuse a file that is no database of ours, before SQLite touches it."""
    path = out / FILE
    try:
        with path.open("rb") as stream:
            header = stream.read(_HEADER)
    except FileNotFoundError:
        return
    except OSError as failure:
        reason = f"{FILE} cannot be read: {failure.strerror or failure}"
        raise InvalidArgumentError(what, out, f"{reason}; choose another folder") from None
    # While it is created, the journal beside the file says what holds.
    if not header or path.with_name(f"{FILE}-journal").exists():
        return
    if not header.startswith(_MAGIC):
        raise InvalidArgumentError(
            what, out, f"{FILE} is no SQLite database; choose another folder"
        )
    if header[68:72] != _APPLICATION.to_bytes(4):
        raise InvalidArgumentError(
            what, out, f"{FILE} belongs to another program; choose another folder"
        )


def refuse_damaged(what: str, out: Path, connection: sqlite3.Connection) -> None:
    """Refuse a database with a page that is lost or not what it should be."""
    # Whatever is in the schema may call the functions that are without effects, and no others.
    connection.execute("PRAGMA trusted_schema = OFF")
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(what, out, " ".join(str(found).split()))


def refuse_other(what: str, out: Path, connection: sqlite3.Connection, sweep: Sweep) -> None:
    """Refuse a database of another sweep, or of another version of this program."""
    difference = _difference(what, out, _facts(what, out, connection), sweep)
    if difference is not None:
        raise InvalidArgumentError(
            what,
            out,
            f"holds another sweep: {difference}; choose another --out, or delete the folder to "
            "start anew",
        )


def _facts(what: str, out: Path, connection: sqlite3.Connection) -> _Facts:
    """Return what the table `sweep` says, unless someone has been at the tables."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    if not {"sweep", "trials"} <= {name for (name,) in tables}:
        raise damaged(what, out, "a table is missing")
    facts = dict(connection.execute("SELECT key, value FROM sweep"))
    known = {"schema", "version", "configuration"}
    if not known <= facts.keys() or not all(isinstance(facts[name], str) for name in known):
        raise damaged(what, out, "what it is of is missing")
    return facts


def _configuration(what: str, out: Path, stored: _Facts) -> dict[str, Any]:
    """Return the canonical configuration that is stored, unless someone has been at it."""
    try:
        document = json.loads(stored["configuration"])
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not _is_configuration(document):
        raise damaged(what, out, "its configuration is none")
    return document


def _is_configuration(document: dict[str, Any]) -> bool:
    """Whether a document has the form of a canonical configuration: texts, and lists of them."""
    if not {"name", "kind", "grid"} <= document.keys():
        return False
    texts = [value for key, value in document.items() if key != "grid"]
    grid = document["grid"]
    if not isinstance(grid, dict) or not all(isinstance(axis, list) for axis in grid.values()):
        return False
    return all(isinstance(text, str) for text in itertools.chain(texts, *grid.values()))


def _difference(what: str, out: Path, stored: _Facts, sweep: Sweep) -> str | None:
    """Return in what the sweep of a database differs from another one, if it does."""
    if stored["schema"] != str(_SCHEMA) or stored["version"] != version():
        return f"it was made by version {stored['version']}, and this is {version()}"
    there, here = _flat(_configuration(what, out, stored)), _flat(sweep.canonical())
    for key in {**here, **there}:
        if there.get(key) != here.get(key):
            return f"{key} is {there.get(key, 'absent')} there, and {here.get(key, 'absent')} here"
    return None


def _flat(configuration: dict[str, Any]) -> dict[str, str]:
    """Return a canonical configuration by the names that the user gave to its parts."""
    flat = {f"sweep.{key}": value for key, value in configuration.items() if key != "grid"}
    return flat | {
        f"grid.{axis}": ", ".join(texts) for axis, texts in configuration["grid"].items()
    }
