"""The loss of the worst of 2^d inputs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Row, exponent, interleaved
from numerics.attention import softmax
from numerics.worst_case import worst_case_loss

__all__ = ["rows"]

_SIZES = (10_000, 100_000, 1_000_000)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    figures = []
    for d in _SIZES:
        rng = np.random.default_rng(0)
        # Attention that is spread over all positions, so that every angle counts.
        gamma, gamma_tilde = softmax(rng.standard_normal(d)), softmax(rng.standard_normal(d))
        run = {"ours": lambda g=gamma, t=gamma_tilde: worst_case_loss(g, t, (0, 1))}
        figures.append(interleaved(run, rounds=rounds)["ours"])
        goal, met = ("< 0.5 s", figures[-1].median < 0.5) if d == _SIZES[-1] else ("", None)
        yield Row(f"worst-case loss at d = {d:,}", str(figures[-1]), goal, met)
    k, error = exponent([d * np.log(d) for d in _SIZES], figures)
    yield Row("worst-case loss, growth with d log d", f"exponent {k:.2f} +- {error:.2f}", "about 1")
