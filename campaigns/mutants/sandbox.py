"""Private copies of the wings, in which one file at a time is wrong."""

from __future__ import annotations

import compileall
import hashlib
import importlib.metadata
import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.mutants.formula_files import WINGS, sources_of
from campaigns.mutants.mutant import Mutant

__all__ = [
    "ROOT",
    "CellTask",
    "GradedCell",
    "ListedCell",
    "Sandbox",
    "Session",
    "tree_hash",
]

ROOT = Path(__file__).parents[2]
"""The root of the repository that is attacked."""

_COPIED = ("tests", "docs", "examples", "README.md", "pyproject.toml")
_IGNORED = shutil.ignore_patterns("__pycache__", "_build")
_SERVER = Path(__file__).with_name("server.py")
_TEST_SECONDS = 300
_PASSED = (0, 5)  # pytest's exit codes for success, and for no test at all
# Importing the claims; with the compilation of a file, and under a trace.
_START_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class CellTask:
    """A cell to be checked.

    Attributes
    ----------
    claim, cell : str
        Its claim and its name.
    seconds : float
        Processor time it may take.
    expected : str or None
        The grade after which the next cell comes; None for any.
    """

    claim: str
    cell: str
    seconds: float
    expected: str | None = None


@dataclass(frozen=True, kw_only=True)
class ListedCell:
    """A cell that there is: its claim, its name, its rough seconds, the derivation it checks.

    The stance is that of the claim.
    """

    claim: str
    name: str
    cost: float
    derivation: str | None
    stance: str


@dataclass(frozen=True, kw_only=True)
class GradedCell:
    """What a cell found, and the processor time it took; an exception has the grade of an error.

    An exception is `of_machine` if it is one that memory or files can be to blame for.
    """

    claim: str
    cell: str
    subject: str
    grade: str
    computed: str
    claimed: str
    reason: str | None
    seconds: float
    of_machine: bool = False


@dataclass(frozen=True, kw_only=True)
class Session:
    """What one process answered.

    Attributes
    ----------
    graded : sequence of GradedCell
        The cells that it came to the end of.
    lines : mapping of str to sequence of int
        The lines that were executed, by file, if they were asked for.
    broken : str or None
        Why the claims could not be imported.
    died : int
        The signal that killed it, or 0.
    """

    graded: Sequence[GradedCell]
    lines: Mapping[str, Sequence[int]]
    broken: str | None
    died: int


def tree_hash(root: Path) -> str:
    """Return a hash of all that a verdict depends on.

    That is the three wings, their tests, the programs of this campaign, Python and the installed
    packages; not the explanations, which are read when the verdicts are there.
    """
    digest = hashlib.sha256(sys.version.encode())
    packages = {(each.name, each.version) for each in importlib.metadata.distributions()}
    for name, version in sorted(packages):
        digest.update(f"{name} {version}\0".encode())
    sources = sources_of(root)
    files = {
        path.relative_to(base).as_posix(): path
        for base, folder, pattern in (
            *((sources, name, "**/*") for name in WINGS),
            (root, "tests", "**/*"),
            (root, "campaigns/mutants", "*.py"),
        )
        for path in (base / folder).glob(pattern)
    }
    for name, path in sorted(files.items()):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(name.encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


class Sandbox:
    """A copy of the repository with a server of its own, that checks cells on it.

    Parameters
    ----------
    source : Path
        The root of what is copied.
    folder : Path
        Where the copy is put; it must not exist.
    """

    def __init__(self, source: Path, folder: Path) -> None:
        self._root = folder
        folder.mkdir(parents=True)
        sources = sources_of(source)
        for path in (*(sources / name for name in WINGS), *(source / name for name in _COPIED)):
            name = path.name
            if path.is_dir():
                shutil.copytree(path, folder / name, ignore=_IGNORED)
            else:
                shutil.copy2(path, folder / name)
        # Found by the hash of the source: times are too coarse to notice that a file was changed.
        for name in WINGS:
            compileall.compile_dir(
                folder / name,
                quiet=2,
                invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
            )
        # A session of its own: Ctrl-C in the terminal is not for the server.
        self._server = subprocess.Popen(  # noqa: S603  (a script of ours)
            [sys.executable, "-P", "-B", str(_SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(folder),
            cwd=folder,
            text=True,
            start_new_session=True,
        )
        self._pytest: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End what runs and remove the copy."""
        if self._pytest is not None:
            _end_group(self._pytest)
        self._server.kill()
        with self._server:  # waits for its end, and closes the pipes
            pass
        shutil.rmtree(self._root, ignore_errors=True)

    @contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Have the mutant in its file while the block runs."""
        path = self._root / mutant.file
        original = path.read_bytes()
        path.write_bytes(mutant.applied(original))
        try:
            yield
        finally:
            path.write_bytes(original)

    def cells(self, profile: str) -> list[ListedCell]:
        """Return the cells of all claims at a profile.

        Raises
        ------
        RuntimeError
            If the claims cannot be imported.
        """
        answers = self._request(profile=profile, seed=0, cells=None, trace=False)
        for answer in answers:
            if "broken" in answer:
                raise RuntimeError(f"the claims cannot be imported: {answer['broken']}")
        return [ListedCell(**answer["listed"]) for answer in answers if "listed" in answer]

    def check(
        self, tasks: Sequence[CellTask], *, profile: str, seed: int, trace: bool = False
    ) -> Session:
        """Check cells in one process, up to the first whose grade is not the expected one.

        Parameters
        ----------
        tasks : sequence of CellTask
            In their order.
        profile : {"quick", "standard", "full"}
            Whose cells they are.
        seed : int
            Root seed.
        trace : bool
            Whether the lines that were executed are answered last, by file.
        """
        cells = [(task.claim, task.cell, task.seconds, task.expected) for task in tasks]
        answers = self._request(profile=profile, seed=seed, cells=cells, trace=trace)
        (last,) = (answer["end"] for answer in answers if "end" in answer)
        return Session(
            graded=[GradedCell(**each["graded"]) for each in answers if "graded" in each],
            lines=next((each["lines"] for each in answers if "lines" in each), {}),
            broken=next((each["broken"] for each in answers if "broken" in each), None),
            died=last,
        )

    def failing_test(self, tests: Sequence[str], *, deselected: Sequence[str] = ()) -> str | None:
        """Return the id of the first test that fails, or None if all pass.

        Parameters
        ----------
        tests : sequence of str
            Test files or ids of tests.
        deselected : sequence of str
            Ids of tests that are left out.
        """
        if not tests:
            return None
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--tb=no", "-rfE", *(f"--deselect={each}" for each in deselected), *tests]
        self._pytest = subprocess.Popen(  # noqa: S603  (our tests)
            command,
            cwd=self._root,
            env=_environment(self._root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        with self._pytest as process:
            try:
                printed, _ = process.communicate(timeout=_TEST_SECONDS)
            except subprocess.TimeoutExpired:
                return tests[0]
            finally:
                _end_group(process)
        if process.returncode in _PASSED:
            return None
        told = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", printed, re.MULTILINE)
        return told[1] if told else tests[0]

    def test_files(self) -> list[Path]:
        """Return the test files of the copy, from its root."""
        return [path.relative_to(self._root) for path in (self._root / "tests").rglob("test_*.py")]

    def read(self, path: Path) -> str:
        """Return the text of a file of the copy."""
        return (self._root / path).read_text(encoding="utf-8")

    def _request(self, **request: object) -> list[dict[str, Any]]:
        requests, replies = self._server.stdin, self._server.stdout
        if requests is None or replies is None:
            raise RuntimeError("the server of a sandbox has no pipes")
        whole = {"root": str(self._root), "start_seconds": _START_SECONDS, **request}
        requests.write(json.dumps(whole) + "\n")
        requests.flush()
        answers: list[dict[str, Any]] = []
        for line in replies:
            answers.append(json.loads(line))
            if "end" in answers[-1]:
                return answers
        raise RuntimeError("the server of a sandbox has ended")


def _end_group(leader: subprocess.Popen[str]) -> None:
    """End a process that leads a session of its own, with all that it started there."""
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)


def _environment(folder: Path) -> Mapping[str, str]:
    """Return the environment: one thread, the same order of sets in every run, no other cache."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {
        **os.environ,
        **dict.fromkeys(threads, "1"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(folder),
    }
