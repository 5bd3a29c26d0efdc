"""Files that read well, and whose reading would be wrong: they must be refused.

Nothing else tells that something is amiss with them: what stands there twice, or is lost, leaves a
document of the right form.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from campaigns.robustness.attack import Attack
from campaigns.robustness.files.reader import Reader, refusal

__all__ = ["doubled_claims", "doubled_entries", "doubled_values", "lost_rows"]

# In a page of SQLite's, for a table without row ids: its kind, how many entries it has, where they
# begin. Pages that lead to others have four bytes more before the places of the entries.
_COUNT, _HEADER, _MORE = 3, 8, 4
_LEADS_ON = 2
_PLACE = 2  # bytes


def doubled_entries(reader: Reader) -> Iterator[Attack]:
    """Yield attacks with a JSON document in which an object has an entry twice."""
    yield refusal(reader, "an entry twice", partial(_first_twice, other=False))
    yield refusal(reader, "an entry twice, first another", partial(_first_twice, other=True))


def doubled_claims(reader: Reader) -> Iterator[Attack]:
    """Yield attacks with a results.json in which a claim is there twice, or a cell of one."""
    yield refusal(reader, "a claim twice", partial(_listed_twice, path=("claims",)))
    yield refusal(reader, "a cell twice", partial(_listed_twice, path=("claims", 0, "evidence")))


def doubled_values(reader: Reader) -> Iterator[Attack]:
    """Yield an attack with a configuration in which a value stands in its list twice."""
    yield refusal(reader, "a value twice", lambda content: content.replace(b"[8, 16]", b"[8, 8.0]"))


def lost_rows(reader: Reader) -> Iterator[Attack]:
    """Yield attacks with a database that SQLite reads without a word, and a row is not in it."""
    yield refusal(reader, "a row that its page does not count", partial(_on_trials, _uncount))
    yield refusal(reader, "a row in the place of another", partial(_on_trials, _replace))


def _first_twice(content: bytes, *, other: bool) -> bytes:
    """Return a document whose first entry stands before it once more."""
    name, value = next(iter(json.loads(content).items()))
    entry = json.dumps({name: None if other else value}).encode()
    return entry[:-1] + b", " + content.lstrip()[1:]


def _listed_twice(content: bytes, *, path: tuple[str | int, ...]) -> bytes:
    """Return a document in which the last element of a list stands there once more."""
    document = json.loads(content)
    place: Any = document
    for step in path:
        place = place[step]
    place.append(place[-1])
    return json.dumps(document).encode()


def _on_trials(change: Callable[[memoryview], None], content: bytes) -> bytes:
    """Return a database in which something is done to the first page of the table of trials."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "db")
        file.write_bytes(content)
        with closing(sqlite3.connect(file)) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            query = "SELECT rootpage FROM sqlite_schema WHERE name = 'trials'"
            (number,) = connection.execute(query).fetchone()
    changed = bytearray(content)
    change(memoryview(changed)[(number - 1) * size : number * size])
    return bytes(changed)


def _uncount(page: memoryview) -> None:
    count = int.from_bytes(page[_COUNT : _COUNT + 2])
    page[_COUNT : _COUNT + 2] = (count - 1).to_bytes(2)


def _replace(page: memoryview) -> None:
    first = _HEADER + (_MORE if page[0] == _LEADS_ON else 0)
    page[first + _PLACE : first + 2 * _PLACE] = page[first : first + _PLACE]
