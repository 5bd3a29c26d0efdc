"""What may come of an attack on a process: how it ends, what it prints, what it leaves in a folder.

Everywhere the same is asked: an exit code that is allowed there; strict JSON or nothing on standard
output; no traceback; no process left; every file as it was before, or complete and new.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path

from campaigns.robustness.commands import Command, findings, undisturbed
from campaigns.robustness.programs import Ending

__all__ = ["difference", "half_written", "misbehaviour", "strays"]

# What Python prints when an exception was not foreseen, and what we print in its place.
_UNFORESEEN = re.compile(
    r"Traceback|Exception ignored|unexpected failure|Fatal Python error|resource_tracker|Warning:"
)
# A function of ours in a traceback: before the first one runs, a traceback is Python's own.
_OURS = re.compile(r'File ".*/(?:verify|numerics|derivations)/.*", line \d+, in (?!<module>)')

# How `verify.files.writing` names what is not complete yet.
_STRAY = re.compile(r"\..+\.[0-9a-f]{8}")


def misbehaviour(command: Command, ending: Ending, *, codes: Collection[int]) -> str:
    """Return what is wrong with how a command ended, in words; nothing if nothing is."""
    if ending.code is None:
        return "it did not end"
    if ending.orphans:
        return f"it left processes behind: {'; '.join(ending.orphans)}"
    if _UNFORESEEN.search(ending.err):
        return f"it did not foresee what happened: {_last_line(ending.err)}"
    if ending.code not in codes:
        return f"exit code {ending.code}, not one of {sorted(codes)}: {_last_line(ending.err)}"
    if ending.code == 2 and ending.out:
        return f"a refusal that prints {ending.out[:80]!r} on standard output"
    if ending.code == 2 and not ending.err.startswith("error: "):
        return f"a refusal that says {ending.err[:80]!r}"
    if command.prints_json and ending.out:
        try:
            findings(ending.out)
        except ValueError as failure:
            return f"standard output is no JSON: {failure}"
    return ""


def difference(command: Command, ending: Ending) -> str:
    """Return in what a command found something else than where nothing disturbs it."""
    expected = undisturbed(command)
    wrong = misbehaviour(command, ending, codes={command.code})
    if wrong:
        return wrong
    if command.prints_json and expected.out:
        same = findings(ending.out) == findings(expected.out)
    else:
        same = bool(ending.out) == bool(expected.out)
    return "" if same else "it found something else than where nothing disturbs it"


def is_pythons_own(ending: Ending) -> bool:
    """Whether an interruption ended the interpreter before a function of ours was called."""
    return not ending.out and not _OURS.search(ending.err)


def half_written(folder: Path, allowed: Mapping[str, Collection[bytes]]) -> str:
    """Return which file in a folder is neither as before nor complete; nothing if none is.

    Parameters
    ----------
    folder : Path
        A folder, searched with all below it.
    allowed : mapping of str to collection of bytes
        For some names of files, all that they may hold; others must be complete in their format.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or _STRAY.fullmatch(path.name):
            continue
        if path.name in allowed:
            if path.read_bytes() not in allowed[path.name]:
                return f"{path} is neither the old file nor the new one"
        elif not _complete(path):
            return f"{path} is not complete"
    return ""


def strays(folder: Path) -> list[Path]:
    """Return what is left of files that were being written."""
    return sorted(path for path in folder.rglob(".*") if _STRAY.fullmatch(path.name))


def _complete(path: Path) -> bool:
    if not path.suffix or not path.exists():  # not ours; a log, which goes with its database
        return True
    check = _CHECKS.get(path.suffix)
    if check is None:
        return path.suffix in _ALWAYS_COMPLETE
    try:
        return check(path)
    except (ValueError, sqlite3.Error, zipfile.BadZipFile):
        return False


def _ends_with(*endings: str) -> Callable[[Path], bool]:
    return lambda path: path.read_text(encoding="utf-8").endswith(endings)


def _is_json(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    json.loads(text)
    return text.endswith("}\n")


def _is_table(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.endswith("\n") and len({len(row) for row in csv.reader(text.splitlines())}) == 1


def _is_archive(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return archive.testzip() is None


def _is_database(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


_CHECKS: dict[str, Callable[[Path], bool]] = {
    ".json": _is_json,
    ".html": _ends_with("</html>\n"),
    ".svg": _ends_with("</svg>\n"),
    ".md": _ends_with("\n"),
    ".tex": _ends_with("\n"),
    ".csv": _is_table,
    ".npz": _is_archive,
    ".sqlite": _is_database,
}

# Of the database, which mends itself from them; and the lock, which is empty.
_ALWAYS_COMPLETE = (".sqlite-shm", ".sqlite-wal", ".sqlite-journal", ".lock")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "without a word"
