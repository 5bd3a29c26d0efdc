"""A command that reads a file, and an attack on what it reads."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found
from campaigns.robustness.rule import broken, document_of
from campaigns.robustness.watched import Ran, run_here

__all__ = ["MARKER", "Reader", "attack", "content", "judged", "observe", "refusal"]

MARKER = "executed"
"""The file that hostile data would make, in the working folder, if anything of it were executed."""


@dataclass(frozen=True)
class Reader:
    """A command that reads a file.

    Parameters
    ----------
    name : str
        What is read, and by which command.
    argv : sequence of str
        The arguments of the command, with ``{}`` for the file.
    file : str
        Where the file is, seen from the working folder.
    original : callable
        Returns its content as it should be.
    around : callable
        Returns other files that the command needs, by name.
    has_checksums : bool
        Whether a damaged file that still reads must lead to the same document as the original.
    """

    name: str
    argv: Sequence[str]
    file: str
    original: Callable[[], bytes]
    around: Callable[[], Mapping[str, bytes]] = dict
    has_checksums: bool = False

    def given(self, file: str) -> list[str]:
        """Return the arguments with a file."""
        return [file if word == "{}" else word.replace("{}", file) for word in self.argv]

    def lay_out(self, folder: Path) -> Path:
        """Write what the command needs beside the file, and return where the file goes."""
        for name, content in self.around().items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


@cache
def _undamaged(reader: Reader) -> object:
    """Return the document to which the original leads."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        reader.lay_out(folder).write_bytes(reader.original())
        ran = run_here(reader.given(reader.file), folder)
    problem = broken(ran) or ("" if ran.code in (0, 1) else ran.err)
    if problem:
        raise RuntimeError(f"original={reader.name}: {problem}")
    return _findings(ran, reader.file)


def _findings(ran: Ran, file: str) -> object:
    """Return the document, if there is one, without the entries that name the file."""
    document = document_of(ran) if "--json" in ran.argv else None
    if not isinstance(document, dict):
        return document
    return {name: value for name, value in document.items() if value != file}


def observe(reader: Reader, folder: Path, file: str, *, may_differ: bool) -> Found:
    """Run the command on a file that is there, and return what was found.

    Parameters
    ----------
    reader : Reader
        The command.
    folder : Path
        Its working folder.
    file : str
        The file, as the command line names it.
    may_differ : bool
        Whether what is found in the file may be something else than in the original.
    """
    ran = run_here(reader.given(file), folder)
    problem = judged(ran, folder)
    if not problem and ran.code != 2 and not may_differ:
        same = _findings(ran, file) == _undamaged(reader)
        problem = "" if same else "it was read, and says something else than the original"
    return _found(problem, ran, folder)


def judged(ran: Ran, folder: Path) -> str:
    """Return how a run broke the rule; data that were executed break it first of all."""
    return "data were executed" if (folder / MARKER).exists() else broken(ran)


def attack(
    reader: Reader,
    name: str,
    place: Callable[[Path, np.random.Generator], str | None],
    *,
    may_differ: bool = True,
) -> Attack:
    """Return an attack.

    Parameters
    ----------
    reader : Reader
        What is attacked.
    name : str
        The attack.
    place : callable
        Puts something where the file belongs, which it is given, and returns another name under
        which the command is to read it, if it should.
    may_differ : bool
        As in `observe`.
    """

    def run(folder: Path, seed: int) -> Found:
        path = reader.lay_out(folder)
        other = place(path, np.random.default_rng(seed))
        file = reader.file if other is None else other
        return observe(reader, folder, file, may_differ=may_differ)

    return Attack(reader.name, name, run)


def content(reader: Reader, name: str, content: bytes) -> Attack:
    """Return an attack in which the file has another content."""

    def place(path: Path, _: np.random.Generator) -> None:
        path.write_bytes(content)

    return attack(reader, name, place)


def refusal(reader: Reader, name: str, change: Callable[[bytes], bytes]) -> Attack:
    """Return an attack in which what is made of the original must be refused, and not be read."""

    def run(folder: Path, _: int) -> Found:
        reader.lay_out(folder).write_bytes(change(reader.original()))
        ran = run_here(reader.given(reader.file), folder)
        problem = judged(ran, folder)
        return _found(problem or ("" if ran.code == 2 else "it was read"), ran, folder)

    return Attack("what must be refused", f"{reader.name}: {name}", run)


def _found(problem: str, ran: Ran, folder: Path) -> Found:
    argv = shlex.join(os.fsencode(word).decode("utf-8", "replace") for word in ran.argv)
    return Found(problem, f"cd {folder} && xorverify {argv}") if problem else OK
