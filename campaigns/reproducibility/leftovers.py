"""What commands leave behind, in the form in which it must be the same, and where it is not."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from campaigns.reproducibility.subjects import JOBS, Subject
from campaigns.reproducibility.surroundings import Surroundings
from verify.console.terminal import printable
from verify.report import FILES
from verify.report.difference import Change, Difference, compare_results
from verify.report.recorded import RecordedRun, canonical, load_results

__all__ = ["Leftovers", "differences", "leave"]

_SECONDS = 3600  # that a command may take
_LONGEST = 100  # characters of a line that is shown
# Where a report says how long a claim took: the last cell of its row, a note on its card.
_TIMES = {
    ".md": re.compile(rb"(?m)\| \d+\.\d \|$"),
    ".html": re.compile(rb"<small>\d+\.\d s</small>"),
}


@dataclass(frozen=True)
class Leftovers:
    """What a subject left in some surroundings.

    Parameters
    ----------
    documents : mapping
        Every output and every file, without what may vary, by its name.
    results : mapping
        What the results.json among them recorded, by its name.
    failures : sequence of str
        Commands that printed nothing, and what they said instead.
    """

    documents: Mapping[str, bytes]
    results: Mapping[str, RecordedRun]
    failures: Sequence[str]


def leave(subject: Subject, place: Surroundings, root: Path) -> Leftovers:
    """Run a subject in some surroundings, below `root`, and gather what it leaves."""
    root = Path(tempfile.mkdtemp(dir=root))
    folder, environment = place.prepare(root)
    for name, text in subject.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    documents: dict[str, bytes] = {}
    failures = []
    for number, command in enumerate(subject.commands, start=1):
        ended = subprocess.run(  # noqa: S603 - the commands of the campaign
            place.command([str(place.jobs) if each == JOBS else each for each in command]),
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        shown = _short(" ".join(command))
        ending = f"exit code {ended.returncode}\n".encode()
        documents[f"output of command {number}, {shown}"] = _constant(ended.stdout) + ending
        if not ended.stdout:
            last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
            failures.append(f"{shown} ended with {ended.returncode}: {''.join(last)}")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {path: path.relative_to(folder).as_posix() for path in files}
    documents |= {names[path]: _contents(path) for path in files}
    results = {
        names[path]: load_results("results", path) for path in files if path.name == FILES[0]
    }
    return Leftovers(documents, results, failures)


def differences(here: Leftovers, there: Leftovers) -> list[str]:
    """Return where two leftovers differ, in lines: by claim and cell, or the first line of a file.

    Parameters
    ----------
    here, there : Leftovers
        What the same subject left in two surroundings.
    """
    found = list(there.failures)
    for name in dict.fromkeys((*here.documents, *there.documents)):
        first, second = here.documents.get(name), there.documents.get(name)
        if first == second:
            continue
        if first is None or second is None:
            found.append(f"{name}: only {'there' if first is None else 'as it is'}")
        elif name in here.results and name in there.results:
            compared = compare_results(here.results[name], there.results[name])
            found += [f"{name}: {line}" for line in _by_claim(compared)]
        else:
            found.append(f"{name}: {_first_difference(first, second)}")
    return found


def _contents(path: Path) -> bytes:
    """Return what a file holds, without what may vary."""
    if path.suffix == ".sqlite":
        return _rows(path)
    contents = path.read_bytes()
    if path.suffix in _TIMES:
        return _TIMES[path.suffix].sub(b"", contents)
    return _constant(contents)


def _constant(contents: bytes) -> bytes:
    """Return a JSON document in its canonical form, and anything else as it is."""
    try:
        return canonical(json.loads(contents))
    except ValueError:
        return contents


def _rows(path: Path) -> bytes:
    """Return the rows of a sweep in their order: how SQLite lays them out depends on its past."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT * FROM trials ORDER BY cell, trial").fetchall()
    return "\n".join(map(repr, rows)).encode()


def _by_claim(compared: Difference) -> Iterator[str]:
    for name, change in compared.run.items():
        yield f"{name}: {_sides(change)}"
    for claim in compared.claims:
        for name, change in claim.changes.items():
            yield f"{claim.id}: {name}: {_sides(change)}"
        for cell in (*claim.only_in_a, *claim.only_in_b):
            yield f"{claim.id}/{cell}: only once"
        for cell, changes in claim.cells.items():
            for name, change in changes.items():
                yield f"{claim.id}/{cell}: {name}: {_sides(change)}"
    if compared.only_in_a or compared.only_in_b or compared.only_order:
        yield "other claims, or another order"


def _sides(change: Change) -> str:
    return " | ".join(_short(str(change.sides.get(side, "none"))) for side in "ab")


def _first_difference(first: bytes, second: bytes) -> str:
    lines = zip_longest(first.splitlines(), second.splitlines(), fillvalue=b"")
    for number, (a, b) in enumerate(lines, start=1):
        if a != b:
            start = next(i for i, (x, y) in enumerate(zip_longest(a, b)) if x != y)
            shown = (_short(side[max(0, start - 20) :].decode(errors="replace")) for side in (a, b))
            return f"line {number}, byte {start + 1}: {' | '.join(shown)}"
    return "other ends of lines"


def _short(text: str) -> str:
    return printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")
