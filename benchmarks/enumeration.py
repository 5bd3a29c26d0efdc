"""All 2^d inputs: the mean loss and the largest one, beside NumPy with the inputs as a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, interleaved
from numerics.attention import softmax
from numerics.enumeration import enumerate_loss

__all__ = ["rows"]

_SIZES = (12, 16, 20)
_EXACT = (8, 12)
_SUPPORT = (0, 1)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    rounds = min(rounds, 5)
    for d in _SIZES:
        rng = np.random.default_rng(0)
        heads = softmax(rng.standard_normal(d)), softmax(rng.standard_normal(d))
        # Means of 2^d terms of order 1, summed in two orders.
        assert abs(enumerate_loss(*heads, _SUPPORT).mean - _by_matrix(*heads)) < 1e-12
        figures = interleaved(
            {
                "ours": lambda heads=heads: enumerate_loss(*heads, _SUPPORT),
                "NumPy, the mean alone": lambda heads=heads: _by_matrix(*heads),
            },
            rounds=rounds,
        )
        for name, figure in figures.items():
            yield Row(f"2^{d} inputs: {name}", str(figure))
    for d in _EXACT:
        rational = [Fraction(1 + i, d * (d + 1) // 2) for i in range(d)]
        run = {"ours": lambda x=rational: enumerate_loss(x, x[::-1], _SUPPORT)}
        figure = interleaved(run, rounds=rounds)["ours"]
        yield Row(f"2^{d} inputs in rational arithmetic", str(figure))


def _by_matrix(gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64]) -> float:
    d = len(gamma)
    x = 1.0 - 2.0 * ((np.arange(1 << d)[:, np.newaxis] >> np.arange(d)) & 1)
    a, b = _SUPPORT
    return float(np.mean(((x @ gamma) * (x @ gamma_tilde) - x[:, a] * x[:, b]) ** 2))
