"""Environments: variables, working folders, options of the interpreter, and limits."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found, failed
from campaigns.robustness.commands import CHEAP, COMMANDS, Command, surroundings
from campaigns.robustness.endings import difference, half_written, misbehaviour, strays
from campaigns.robustness.programs import STRANGER, Surroundings, run

__all__ = ["attacks"]

_VARIABLES, _FOLDERS, _INTERPRETER, _LIMITS = (
    "environment variables",
    "working folders",
    "options of the interpreter",
    "limits",
)

_NOWHERE = "/proc/none"

# Without these two, Python takes UTF-8 whatever the locale says.
_NO_UTF8 = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

# What is set on top of the environment of this process; None takes a variable away.
_SETTINGS: Mapping[str, Mapping[str, str | None]] = {
    "no HOME": {"HOME": None},
    "a HOME that is not there": {"HOME": _NOWHERE, "XDG_CACHE_HOME": None},
    "no TMPDIR": {"TMPDIR": None},
    "a TMPDIR that is not there": {"TMPDIR": _NOWHERE},
    "LC_ALL=C, and ASCII": {"LC_ALL": "C", **_NO_UTF8},
    "LC_ALL=POSIX": {"LC_ALL": "POSIX"},
    "an unknown locale": {"LC_ALL": "xx_XX.ISO-8859-1", **_NO_UTF8},
    "output in ASCII": {"PYTHONIOENCODING": "ascii"},
    "output in Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "COLUMNS=1": {"COLUMNS": "1"},
    "COLUMNS=0": {"COLUMNS": "0"},
    "COLUMNS=1000000": {"COLUMNS": "1000000"},
    "COLUMNS=wide": {"COLUMNS": "wide"},
    "TERM=dumb": {"TERM": "dumb"},
    "no TERM": {"TERM": None},
    "NO_COLOR": {"NO_COLOR": "1"},
    "FORCE_COLOR": {"FORCE_COLOR": "1"},
    "output without buffer": {"PYTHONUNBUFFERED": "1"},
    "another hash seed": {"PYTHONHASHSEED": "4242"},
}

_OPTIONS: Mapping[str, Sequence[str]] = {
    "-OO: without assertions and docstrings": ("-OO",),
    "-W error: warnings are errors": ("-W", "error"),
    "-X dev": ("-X", "dev"),
    "-B: without bytecode": ("-B",),
    "-P: without the folder of the script": ("-P",),
    "-X utf8=0": ("-X", "utf8=0"),
}

# Modules of the standard library and of others, and of our own, that a working folder may hold too.
_SHADOWS = (
    "random", "pickle", "socket", "signal", "tempfile", "struct", "selectors", "runpy", "json",
    "logging", "numpy", "scipy", "sympy", "mpmath", "flint", "rich", "jinja2", "numba", "filelock",
    "matplotlib", "threadpoolctl", "verify", "numerics", "derivations",
)  # fmt: skip


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks by environments."""
    made: list[Attack] = []
    for command in COMMANDS if full else CHEAP:
        for (group, name), attack in _all().items():
            if full or command.name in _SMALL.get((group, name), ()):
                made.append(Attack(group, f"{command.name}: {name}", partial(attack, command)))
    return made


_SMALL = {
    (_VARIABLES, "an empty environment"): ("theorem2",),
    (_VARIABLES, "output in ASCII"): ("list",),
    (_VARIABLES, "COLUMNS=1"): ("a refusal",),
    (_VARIABLES, "a HOME that is not there"): ("instance",),
    (_FOLDERS, "deleted"): ("list", "instance", "theorem2"),
    (_FOLDERS, "with names of modules"): ("theorem2",),
    (_FOLDERS, "of a stranger, as the installation"): ("latex",),
    (_INTERPRETER, "-OO: without assertions and docstrings"): ("certify", "derivations"),
    (_INTERPRETER, "-W error: warnings are errors"): ("theorem2",),
    (_LIMITS, "few open files"): ("theorem2",),
    (_LIMITS, "few processes"): ("theorem2",),
    (_LIMITS, "little memory"): ("certify",),
}


def _all() -> dict[tuple[str, str], Callable[[Command, Path, int], Found]]:
    made: dict[tuple[str, str], Callable[[Command, Path, int], Found]] = {
        (_VARIABLES, name): partial(_with_variables, changes=changes)
        for name, changes in _SETTINGS.items()
    }
    made[_VARIABLES, "an empty environment"] = _without_variables
    made[_FOLDERS, "deleted"] = _in_a_deleted_folder
    made[_FOLDERS, "with names of modules"] = _among_shadows
    made[_FOLDERS, "of a stranger, as the installation"] = _as_a_stranger
    made |= {
        (_INTERPRETER, name): partial(_with_options, options=options)
        for name, options in _OPTIONS.items()
    }
    made[_LIMITS, "one processor"] = _on_one_processor
    made[_LIMITS, "many jobs"] = _with_many_jobs
    made[_LIMITS, "few open files"] = _with_few_files
    made[_LIMITS, "few processes"] = _with_few_processes
    made[_LIMITS, "little memory"] = _with_little_memory
    return made


def _with_variables(
    command: Command, folder: Path, _: int, *, changes: Mapping[str, str | None]
) -> Found:
    environment = {name: value for name, value in os.environ.items() if name not in changes}
    environment |= {name: value for name, value in changes.items() if value is not None}
    return _same(command, replace(surroundings(command, folder), environment=environment))


def _without_variables(command: Command, folder: Path, _: int) -> Found:
    return _same(command, replace(surroundings(command, folder), environment={}))


def _with_options(command: Command, folder: Path, _: int, *, options: Sequence[str]) -> Found:
    return _same(command, replace(surroundings(command, folder), python=options))


def _in_a_deleted_folder(command: Command, folder: Path, _: int) -> Found:
    """Run where the working folder is no longer there: what is written to by a whole path works."""
    work = folder / "work"
    work.mkdir()
    around = replace(surroundings(command, work), before=partial(os.rmdir, work))
    argv = command.argv(folder / command.writes if command.writes else None)
    problem = difference(command, run(argv, around))
    if not problem and command.writes:
        work.mkdir()
        problem = misbehaviour(command, run(command.argv(), around), codes={2})
    return failed(f"in a folder that is deleted: {problem}", argv) if problem else OK


def _among_shadows(command: Command, folder: Path, _: int) -> Found:
    """Run where the working folder has modules of the names that we import."""
    told = folder / "imported"
    for name in _SHADOWS:
        (folder / f"{name}.py").write_text(f"open({str(told)!r}, 'a').write('{name} ')\n")
    around = surroundings(command, folder)
    if command.module:
        # For a module that is named by -m Python looks there first, unless it is told not to.
        around = replace(around, python=("-P",))
    problem = difference(command, run(command.argv(), around))
    if told.exists():
        problem = f"it ran {told.read_text()}of the working folder"
    return failed(problem, command.argv()) if problem else OK


def _as_a_stranger(command: Command, folder: Path, _: int) -> Found:
    """Run as a user who owns nothing but the working folder, and has no HOME."""
    if os.geteuid() == 0:
        os.chown(folder, STRANGER, STRANGER)
    environment = {**os.environ, "HOME": "/nonexistent"}
    around = replace(surroundings(command, folder), is_stranger=True, environment=environment)
    return _same(command, around)


def _on_one_processor(command: Command, folder: Path, _: int) -> Found:
    one = {min(os.sched_getaffinity(0))}
    before = partial(os.sched_setaffinity, 0, one)
    return _same(command, replace(surroundings(command, folder), before=before))


def _with_many_jobs(command: Command, folder: Path, _: int) -> Found:
    argv = command.argv()
    if "--jobs" not in argv:
        return _same(command, surroundings(command, folder))
    argv[argv.index("--jobs") + 1] = "64"
    problem = difference(command, run(argv, surroundings(command, folder)))
    return failed(problem, argv) if problem else OK


def _with_few_files(command: Command, folder: Path, seed: int) -> Found:
    count = int(np.random.default_rng(seed).integers(9, 33))
    return _limited(command, folder, resource.RLIMIT_NOFILE, count)


def _with_few_processes(command: Command, folder: Path, seed: int) -> Found:
    count = int(np.random.default_rng(seed).integers(1, 12))
    if os.geteuid() == 0:
        os.chown(folder, STRANGER, STRANGER)
    # Of root there may be as many as it likes.
    return _limited(command, folder, resource.RLIMIT_NPROC, count, is_stranger=True)


def _with_little_memory(command: Command, folder: Path, seed: int) -> Found:
    mebibytes = int(np.random.default_rng(seed).integers(60, 700))
    return _limited(command, folder, resource.RLIMIT_AS, mebibytes << 20)


def _limited(
    command: Command, folder: Path, what: int, limit: int, *, is_stranger: bool = False
) -> Found:
    before = partial(resource.setrlimit, what, (limit, limit))
    around = replace(surroundings(command, folder), before=before, is_stranger=is_stranger)
    ending = run(command.argv(), around)
    if "error while loading shared libraries" in ending.err or "Fatal Python error" in ending.err:
        return OK  # not even Python starts
    problem = misbehaviour(command, ending, codes={command.code, 3})
    problem = problem or half_written(folder, {})
    if not problem and (left := strays(folder)):
        problem = f"it left {left[0].name}"
    return failed(f"with a limit of {limit}: {problem}", command.argv()) if problem else OK


def _same(command: Command, around: Surroundings) -> Found:
    problem = difference(command, run(command.argv(), around))
    problem = problem or half_written(around.folder, {})
    return failed(problem, command.argv()) if problem else OK
