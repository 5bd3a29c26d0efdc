"""Independent calls on worker processes; one that dies takes only its own call with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool
from threadpoolctl import threadpool_limits

__all__ = ["Failure", "available_cores", "run_calls"]

Result = TypeVar("Result")


@dataclass(frozen=True)
class Failure:
    """A call that produced no result, and why, in a line."""

    reason: str


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_calls(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], *, jobs: int
) -> Iterator[tuple[int, Result | Failure]]:
    """Yield ``(index, result)`` as the calls complete.

    Parameters
    ----------
    function : callable
        Importable by name; it and its arguments travel to another process.
    calls : sequence of tuple
        The positional arguments of each call. They are started in this order.
    jobs : int
        Number of worker processes.

    Yields
    ------
    tuple
        Index into `calls`, and the result; or a `Failure` if the call raised or its worker died.

    Notes
    -----
    Workers are started afresh (never forked), leave Ctrl-C to the parent, and use one thread for
    linear algebra, so that results do not depend on the number of cores. When the consumer stops
    early, the workers are ended.
    """
    pool = ProcessPool(
        max_workers=min(jobs, len(calls)) or 1,
        initializer=_prepare_worker,
        context=multiprocessing.get_context("spawn"),
    )
    try:
        index: dict[Future[Result], int] = {
            pool.schedule(function, args=call): i for i, call in enumerate(calls)
        }
        for future in as_completed(index):
            outcome: Result | Failure = _outcome(future)
            yield index[future], outcome
        pool.close()
    finally:
        pool.stop()
        pool.join()


def _outcome(future: Future[Result]) -> Result | Failure:
    try:
        return future.result()
    except ProcessExpired as death:
        return Failure(f"the worker process died (exit code {death.exitcode})")
    except Exception as failure:  # whatever a call raises becomes the record of that call
        return Failure(f"{type(failure).__name__}: {' '.join(str(failure).split())}")


_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _prepare_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries that are loaded already are limited here, those still to come by what they read.
    threadpool_limits(limits=1)
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
