"""Sweeps: rows into the database, what a trial costs beyond itself, and what two workers gain."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, Row, interleaved
from verify.console.progress import Progress
from verify.seeds import Streams
from verify.sweep.chunk import run_chunk
from verify.sweep.config import Sweep
from verify.sweep.local import this_machine
from verify.sweep.plan import Plan
from verify.sweep.runner import run_sweep
from verify.sweep.store import Store
from verify.sweep.writer import Writer
from verify.trials.one_step import run_trials

__all__ = ["rows"]

_WRITERS = 8
_ROWS = 100_000
_CHUNK = 50  # rows: what a worker sends at 20 ms a trial
_D, _M = 8192, 512  # some 50 ms a trial
_SHORT, _LONG = 20, 160
_QUIET = Progress(quiet=True)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    yield _store(min(rounds, 5))
    yield from _overhead(min(rounds, 3))
    if len(os.sched_getaffinity(0)) >= 2:
        yield _two_workers(min(rounds, 3))


def _sweep(d: int, m: int, trials: int) -> Sweep:
    config = {"name": "benchmark", "kind": "theorem2", "trials": str(trials), "seed": "0"}
    return Sweep.from_canonical({**config, "grid": {"d": [str(d)], "m": [str(m)]}})


def _store(rounds: int) -> Row:
    """Time the writing of chunks of rows, as they come from eight workers, each in its turn."""
    sweep = _sweep(4, 2, _ROWS)
    place = this_machine(_WRITERS)
    (chunk,) = [Plan(_sweep(4, 2, 1), (), place=place).take()]
    assert chunk is not None
    ((_, *found),) = run_chunk(chunk).rows
    share = _ROWS // _WRITERS
    starts = [worker * share + k for k in range(0, share, _CHUNK) for worker in range(_WRITERS)]
    batches = [[(trial, *found) for trial in range(start, start + _CHUNK)] for start in starts]

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder), sweep) as store:
            writer = Writer(store, say=print)
            for batch in batches:
                writer.add(chunk.cell, batch)
            writer.finish()
            assert store.counts()[chunk.cell].rows == _ROWS

    figure = interleaved({"ours": write}, rounds=rounds)["ours"]
    rates = sorted(_ROWS / seconds for seconds in figure.seconds)
    return Row(
        f"sweep: {_ROWS:,} rows from {_WRITERS} workers into the database, {_CHUNK} a transaction",
        f"{_ROWS / figure.median:,.0f} rows/s ({rates[0]:,.0f} to {rates[-1]:,.0f}, n = {rounds})",
    )


def _overhead(rounds: int) -> Iterator[Row]:
    """Time sweeps of two lengths with one worker; what start-up costs is in both."""
    more = _LONG - _SHORT
    figures = interleaved(
        {
            "bare": lambda: _bare(more),
            "short": lambda: _run(_sweep(_D, _M, _SHORT), jobs=1),
            "long": lambda: _run(_sweep(_D, _M, _LONG), jobs=1),
        },
        rounds=rounds,
    )
    pairs = zip(figures["long"].seconds, figures["short"].seconds, strict=True)
    added = Figure(tuple(long - short for long, short in pairs))
    each = figures["bare"].median / more
    where = f"sweep at ({_D:,}, {_M}), {1e3 * each:.3g} ms a trial"
    start = figures["short"].median - _SHORT * added.median / more
    yield Row(f"{where}: start-up and end", f"{start:.3g} s")
    ratio = added.ratio(figures["bare"])
    yield Row(
        f"{where}: a trial in a sweep over one in a bare loop",
        str(ratio),
        "<= 1.05",
        ratio.median <= 1.05,
    )


def _two_workers(rounds: int) -> Row:
    """Time the same sweep with one worker and with two, start-up included."""
    sweep = _sweep(_D, _M, _LONG)
    figures = interleaved(
        {"1": lambda: _run(sweep, jobs=1), "2": lambda: _run(sweep, jobs=2)}, rounds=rounds
    )
    gain = figures["1"].ratio(figures["2"])
    what = f"sweep of {_LONG} trials at ({_D:,}, {_M}): one worker over two"
    return Row(what, str(gain), ">= 1.8", gain.median >= 1.8)


def _bare(trials: int) -> None:
    run_trials(Streams(0), range(trials), _D, _M, eta=1000.0 * _D**2)


def _run(sweep: Sweep, *, jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder), sweep) as store:
        reason = run_sweep(store, place=this_machine(jobs), progress=_QUIET)
        assert reason is None
        assert store.counts()[sweep.cells[0].id].rows == sweep.trials
