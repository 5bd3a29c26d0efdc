"""The explicit Theorem 2: time of one answer at the command line, start-up included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.timing import Row, interleaved

__all__ = ["rows"]

_SIZES = ((1_000, 128), (10**6, 512), (10**15, 124), (10**15, 10**15))
_GOAL = 2.0


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    for d, m in _SIZES:
        found = interleaved({"ours": lambda d=d, m=m: _bound(d, m)}, rounds=min(rounds, 3))["ours"]
        yield Row(
            f"theorem2 --bound at ({d:g}, {m:g}), a process of its own",
            str(found),
            f"< {_GOAL:g} s",
            found.median < _GOAL,
        )


def _bound(d: int, m: int) -> None:
    command = [sys.executable, "-m", "verify", "theorem2", "--bound", "--json"]
    command += ["--d", str(d), "--m", str(m)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
