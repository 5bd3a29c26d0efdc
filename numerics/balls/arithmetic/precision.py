"""The working precision of ball arithmetic as a local setting.

python-flint keeps one precision for the whole process, shared by all threads. It is changed here
and nowhere else, under a lock: blocks of different threads take turns, each sees its own
precision from start to end, and the precision found on entry is put back however the block ends.
Ball arithmetic outside such a block may see another precision while one runs, in another thread;
its balls are then wider or narrower, and still right.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import SupportsIndex

import flint

from numerics.arguments import integer_at_least

__all__ = ["MIN_BITS", "precisions", "working_precision"]

MIN_BITS = 2
"""Least working precision that ball arithmetic accepts."""

# Reentrant: a block may call a function that opens one of its own.
_LOCK = threading.RLock()


@contextmanager
def working_precision(bits: SupportsIndex) -> Iterator[None]:
    """Run a block of ball arithmetic at a working precision of `bits`.

    Raises
    ------
    InvalidArgumentError
        If `bits` is no integer, or below 2.
    """
    wanted = integer_at_least("bits", bits, MIN_BITS)
    with _LOCK:
        found = flint.ctx.prec
        flint.ctx.prec = wanted
        try:
            yield
        finally:
            flint.ctx.prec = found


def precisions(first: int, most: int) -> Iterator[int]:
    """Yield `first`, doubled for as long as it is below `most`, and then `most` itself."""
    bits = first
    while bits < most:
        yield bits
        bits *= 2
    yield most
