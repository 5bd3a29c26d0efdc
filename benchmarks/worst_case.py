"""The loss of the worst of 2^d inputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, interleaved
from numerics.attention import softmax
from numerics.worst_case import worst_case_loss

__all__ = ["rows"]

_SIZES = (10_000, 100_000, 1_000_000)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    for d in _SIZES:
        found = interleaved(
            {
                "before the step": partial(worst_case_loss, *_attention(d), (0, 1)),
                "after it": partial(worst_case_loss, *_attention_after(d), (0, 1)),
            },
            rounds=rounds,
        )
        for when, figure in found.items():
            goal, met = ("< 0.5 s", figure.median < 0.5) if d == _SIZES[-1] else ("", None)
            yield Row(f"worst-case loss {when} at d = {d:,}", str(figure), goal, met)


def _attention(d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Spread over all positions by scores of order 1, so that every angle counts."""
    rng = np.random.default_rng(0)
    return softmax(rng.standard_normal(d)), softmax(rng.standard_normal(d))


def _attention_after(d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Most on one position of the support, the rest over hundreds of orders of magnitude."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 100, (2, d))
    scores[0, 0] = scores[1, 1] = scores.max() + 10
    return softmax(scores[0]), softmax(scores[1])
