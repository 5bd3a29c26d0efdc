"""Start-up: what a user waits before anything is computed, at the prompt and at an import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.timing import Row, interleaved

__all__ = ["rows"]

_COMMANDS = (("--version",), ("--help",), ("list",), ("show", "population-gradient"))
# What the imports of a wing come to: the libraries under it, and the first things a user takes.
_IMPORTS = (
    "numpy",
    "sympy",
    "numerics.population",
    "numerics.balls.certificate",
    "numerics.samples.empirical",
    "derivations.catalogue",
    "derivations.population",
    "verify.claims",
)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    program = str(Path(sys.executable).with_name("xorverify"))
    contenders: dict[str, Callable[[], object]] = {
        "python -c pass": _process(sys.executable, "-c", "")
    }
    for arguments in _COMMANDS:
        contenders[" ".join(("xorverify", *arguments))] = _process(program, *arguments)
    for module in _IMPORTS:
        contenders[f"import {module}"] = _process(sys.executable, "-c", f"import {module}")
    for name, figure in interleaved(contenders, rounds=min(rounds, 3)).items():
        yield Row(f"{name}, a process of its own", str(figure))


def _process(*command: str) -> Callable[[], object]:
    def run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own

    return run
