"""Trials of Theorem 2 per second, beside PyTorch and beside drawing the embeddings alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers import torch_one_step
from benchmarks.timing import Row, interleaved
from numerics.embeddings import sample_embeddings
from verify.seeds import Streams
from verify.trials.one_step import run_trials

__all__ = ["rows"]

_D, _M = 1024, 128
_ETA = 1000.0 * _D**2
_TRIALS = 20


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    peer = torch_one_step(_D, _M, _ETA, seed=0)
    ours = run_trials(Streams(0), range(_TRIALS), _D, _M, eta=_ETA)
    # The draws differ; that both learn says that both take the step. Full attention sums to 2.
    assert np.median([sum(trial.attention) for trial in ours]) > 1.99
    assert np.median([peer() for _ in range(_TRIALS)]) > 1.99

    def draw() -> None:
        for i in range(_TRIALS):
            sample_embeddings(Streams(0).trial(i), _D, _M)

    def trials_in_torch() -> None:
        for _ in range(_TRIALS):
            peer()

    figures = interleaved(
        {
            "ours": lambda: run_trials(Streams(0), range(_TRIALS), _D, _M, eta=_ETA),
            "drawing V alone": draw,
            "PyTorch": trials_in_torch,
        },
        rounds=rounds,
    )
    where = f"{_TRIALS} trials at ({_D}, {_M})"
    for name, figure in figures.items():
        yield Row(f"{where}: {name}", str(figure))
    gain = figures["PyTorch"].ratio(figures["ours"])
    # PyTorch's trial ends at the attention; ours also bounds the loss of every input.
    yield Row(f"{where}: PyTorch over ours", str(gain), ">= 3", gain.median >= 3)
    most = figures["PyTorch"].ratio(figures["drawing V alone"])
    yield Row(f"{where}: PyTorch over drawing V, which no trial can beat", str(most))
    drawing = figures["ours"].ratio(figures["drawing V alone"])
    yield Row(f"{where}: ours over drawing V", str(drawing), "<= 1.5", drawing.median <= 1.5)
