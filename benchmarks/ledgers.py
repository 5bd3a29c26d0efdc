"""Every derivation: deriving it, checking its steps, and printing all of it in LaTeX.

Each is derived in a process that has SymPy loaded and its cache empty; what it builds on is derived
with it, unless one before it has left it in the process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

from sympy.core.cache import clear_cache

from benchmarks.timing import Row, in_words
from derivations.catalogue import load, names
from derivations.printing.layout import fragment
from derivations.proof.ledger import Status

__all__ = ["rows"]


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure once, whatever `rounds`, and yield the table's lines."""
    del rounds  # a check takes what it takes; SymPy would remember what it did in the round before
    totals = [0.0, 0.0, 0.0]
    for name in names():
        spent = _spent(name)
        totals = [total + each for total, each in zip(totals, spent, strict=True)]
        yield Row(f"derivation {name}", _line(spent))
    yield Row(f"all {len(names())} derivations", _line(totals))


def _spent(name: str) -> list[float]:
    """Return the seconds of deriving, of checking and of printing."""
    clear_cache()
    stamps = [time.perf_counter()]
    derivation = load(name)
    stamps.append(time.perf_counter())
    results = derivation.check()
    stamps.append(time.perf_counter())
    assert not any(result.status is Status.FAILED for result in results), name
    assert fragment(derivation, results)
    stamps.append(time.perf_counter())
    return [later - earlier for earlier, later in pairwise(stamps)]


def _line(spent: list[float]) -> str:
    derived, checked, printed = map(in_words, spent)
    return f"derived in {derived}, checked in {checked}, printed in {printed}"
