"""A chunk: some trials of one cell, run in one go by whoever has the time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

from numerics.arguments import InvalidArgumentError
from verify.running.memory import refuse_beyond_memory
from verify.running.pool import Failure, describe
from verify.running.threads import use_one_thread
from verify.seeds import Streams
from verify.sweep.kinds import Kind, find_kind
from verify.sweep.parameters import Field, Values

__all__ = [
    "Chunk",
    "ChunkResult",
    "Execute",
    "ExecutorLostError",
    "Outcome",
    "Place",
    "Row",
    "run_chunk",
]

Row: TypeAlias = tuple[Field, ...]
"""One trial: its number, its error or None, and the kind's columns in order (None in an error)."""


@dataclass(frozen=True)
class Chunk:
    """Some trials of one cell.

    Parameters
    ----------
    kind : str
        A key of `verify.sweep.kinds.KINDS`.
    cell : str
        Id of the cell.
    parameters, settings : Values
        What the kind's trials are given.
    seed : int
        Root seed of the sweep.
    trials : range
        Which trials.
    """

    kind: str
    cell: str
    parameters: Values
    settings: Values
    seed: int
    trials: range


@dataclass(frozen=True)
class ChunkResult:
    """The rows of a chunk's trials, and the seconds they took together."""

    rows: list[Row]
    seconds: float


Outcome: TypeAlias = ChunkResult | Failure
Execute: TypeAlias = Callable[
    [Callable[[], Chunk | None]], Generator[tuple[Chunk, Outcome], None, None]
]
"""An executor: it takes chunks, has `run_chunk` called on each and yields what came of it.

``take()`` hands over the next chunk, or None if there is none for now. The executor holds as many
chunks as keep its workers busy, yields outcomes in any order, and asks again after each, as a
chunk whose worker died (``Failure.died``) comes back in parts. It ends when it holds none and gets
none. What makes further work impossible is an `ExecutorLostError`.
"""


@dataclass(frozen=True)
class Place:
    """Where chunks are run.

    Parameters
    ----------
    execute : Execute
        The executor.
    slots : callable
        Returns how many chunks it holds at a time, which may change.
    memory : int, optional
        Bytes that those chunks may need together, if that is for the sweep to watch.
    """

    execute: Execute
    slots: Callable[[], int]
    memory: int | None = None


class ExecutorLostError(Exception):
    """No more chunks can be run; the message says why, in a line."""


def run_chunk(chunk: Chunk) -> ChunkResult:
    """Run the trials of a chunk; one that raises becomes a row with its error.

    A cell that cannot be run, or not in the memory of this machine, has that error in each row.
    """
    # For good: on a cluster, threads of this process may run chunks at the same time.
    use_one_thread()
    start = time.monotonic()
    kind = find_kind("kind", chunk.kind)
    try:
        kind.check(chunk.parameters, chunk.settings)
        refuse_beyond_memory(
            "cell", chunk.cell, kind.worker_bytes(chunk.parameters, chunk.settings)
        )
    except InvalidArgumentError as refusal:
        rows = [_failed(kind, trial, str(refusal)) for trial in chunk.trials]
    else:
        streams = Streams(chunk.seed, chunk.cell)
        rows = [_run(kind, streams, trial, chunk) for trial in chunk.trials]
    return ChunkResult(rows, time.monotonic() - start)


def _run(kind: Kind, streams: Streams, trial: int, chunk: Chunk) -> Row:
    try:
        found = kind.run_trial(streams, trial, chunk.parameters, chunk.settings)
        return (trial, None, *(_field(name, found[name]) for name in kind.COLUMNS))
    except Exception as failure:  # whatever a trial raises becomes the record of that trial
        return _failed(kind, trial, describe(failure))


def _failed(kind: Kind, trial: int, error: str) -> Row:
    return (trial, error, *(None for _ in kind.COLUMNS))


def _field(name: str, value: object) -> Field:
    """Return a result as the database holds it; SQLite would turn a NaN into NULL unasked."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{name}={value}: must be finite")
        return float(value)
    raise TypeError(f"{name} is of type {type(value).__name__}, which the database cannot hold")
