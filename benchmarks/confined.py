"""Suites in a process that is confined to so many cores, before any library starts its threads."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks.timing import Row

__all__ = ["Measured", "measure"]

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Measured = dict[str, list[Row]]
"""The lines of each suite, by its name."""


def measure(suites: Sequence[str], cores: int, rounds: int) -> Measured | None:
    """Run suites in this process, which is confined for good.

    Returns
    -------
    Measured or None
        None if so many cores are not to be had.
    """
    if not _confine(cores):
        return None
    found = {}
    for name in suites:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found[name] = list(import_module(f"benchmarks.{name}").rows(rounds=rounds))
    return found


def _confine(cores: int) -> bool:
    """Give every contender the same cores."""
    os.environ.update(dict.fromkeys(_THREADS, str(cores)), JAX_PLATFORMS="cpu")
    if cores == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if not hasattr(os, "sched_setaffinity"):
        return 1 <= cores <= (os.cpu_count() or 1)
    # The flag does not suffice: JAX computes a gradient on two cores in spite of it.
    allowed = sorted(os.sched_getaffinity(0))
    if not 1 <= cores <= len(allowed):
        return False
    os.sched_setaffinity(0, allowed[-cores:])
    return True
