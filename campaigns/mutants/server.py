"""Checks cells on any copy of the wings, one process for each request; started as a script.

It has loaded the libraries that the wings need, and none of the wings: a request costs a fork, and
not the second that the libraries take. The process that a request gets is limited in memory, in
the seconds of processor time that each cell may take, and in time; it is the only one that ever
sees the copy, and it is gone when the next request comes.

A request is a line of JSON on standard input; the answer is some lines of JSON on standard output,
the last of which has the key ``end``.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

_LIBRARIES = (
    "flint",
    "mpmath",
    "numba",
    "numpy",
    "rich.console",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.special",
    "scipy.stats",
    "sympy",
)
_MEMORY = 6 << 30
# A machine that does other things too gives a process a part of its time.
_PATIENCE = 20


def main() -> None:
    """Answer requests until there are no more."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if not child:
            _serve(request)
        _, status = os.waitpid(child, 0)
        _end_group(child)
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        _tell(sys.stdout, {"end": died})


def _end_group(leader: int) -> None:
    """End what the request's process may have left behind."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _serve(request: dict[str, Any]) -> None:
    """Answer a request, and end this process."""
    os.setpgid(0, 0)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(request["root"])
    sys.path.insert(0, request["root"])
    sys.dont_write_bytecode = True
    try:
        _answer(request, answers)
    except BaseException as failure:  # whatever a mutant raises is its answer
        _tell(answers, {"broken": f"{type(failure).__name__}: {failure}"})
    finally:
        os._exit(0)


def _answer(request: dict[str, Any], answers: TextIO) -> None:
    coverage = _start_coverage(request["root"]) if request["trace"] else None
    _limit(request["start_seconds"])
    runner = _wing_module("verify.runner", request["root"])
    if request["cells"] is None:
        _list_cells(runner, request, answers)
    else:
        _check_cells(runner, request, answers)
    if coverage is not None:
        coverage.stop()
        data = coverage.get_data()
        root = request["root"] + os.sep
        _tell(
            answers,
            {
                "lines": {
                    Path(file.removeprefix(root)).as_posix(): data.lines(file)
                    for file in data.measured_files()
                }
            },
        )


def _wing_module(name: str, root: str) -> ModuleType:
    module = importlib.import_module(name)
    if not str(module.__file__).startswith(root):
        raise ImportError(f"{name} comes from {module.__file__}, not from {root}")
    return module


def _list_cells(runner: ModuleType, request: dict[str, Any], answers: TextIO) -> None:
    for claim in runner.CLAIMS.values():
        for cell in claim.cells(request["profile"]):
            listed = {
                "claim": claim.id,
                "name": cell.name,
                "cost": cell.cost,
                "derivation": cell.derivation,
                "stance": claim.stance,
            }
            _tell(answers, {"listed": listed})


def _check_cells(runner: ModuleType, request: dict[str, Any], answers: TextIO) -> None:
    """Check cells in their order; the first whose grade is not the expected one is the last."""
    for claim, cell, seconds, expected in request["cells"]:
        _limit(seconds)
        start = time.process_time()
        try:
            evidence, _ = runner.check_cell(claim, cell, request["profile"], request["seed"])
            found = {
                "subject": evidence.subject,
                "grade": str(evidence.grade),
                "computed": evidence.computed,
                "claimed": evidence.claimed,
                "reason": evidence.reason,
            }
        except Exception as failure:  # as the runner does
            reason = f"{type(failure).__name__}: {failure}"
            found = {
                "subject": "statement",
                "grade": "error",
                "computed": "nothing",
                "claimed": "",
                "reason": reason,
                "of_machine": isinstance(failure, MemoryError | OSError),
            }
        found |= {"claim": claim, "cell": cell, "seconds": time.process_time() - start}
        _tell(answers, {"graded": found})
        if expected is not None and found["grade"] != expected:
            return


def _limit(seconds: float) -> None:
    """Let this process be killed if it takes more time than that from now on."""
    spent = time.process_time()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(spent + seconds), hard))
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE * seconds)


def _start_coverage(root: str) -> Any:
    from coverage import Coverage

    coverage = Coverage(data_file=None, config_file=False, source=[root], messages=False)
    coverage.start()
    return coverage


def _tell(stream: TextIO, answer: object) -> None:
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


if __name__ == "__main__":
    main()
