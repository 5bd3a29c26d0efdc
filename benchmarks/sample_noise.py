"""Noise of the empirical gradient: its covariance, draws from the Gaussian of it, and the samples.

What a user would do without a closed form is to estimate the covariance from samples: at (256, 64)
from so many that an entry is right within a percent of the variances.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers import numpy_covariance
from benchmarks.timing import Row, interleaved
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.samples.covariance import sample_covariance, sample_variance
from numerics.samples.gaussian_surrogate import GaussianSurrogate, covariance_factor
from numerics.samples.signs import SampleStream

__all__ = ["rows"]

_SIZES = ((256, 64), (1024, 256), (10_000, 512))
_ESTIMATED = 40_000  # samples: a correlation errs by 1/sqrt of that, a half percent
_BITS = 1 << 27


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    rounds = min(rounds, 5)
    for d, m in _SIZES:
        yield from _at(d, m, rounds=rounds)
    stream = SampleStream.following(np.random.default_rng(0), 512)
    n = _BITS // 512
    figure = interleaved({"ours": lambda: sum(1 for _ in stream.blocks(0, n))}, rounds=rounds)
    yield Row(f"{n:,} samples at d = 512, drawn alone", str(figure["ours"]))


def _at(d: int, m: int, *, rounds: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    V = sample_embeddings(rng, d, m)
    at = V, uniform_direction(rng, m), uniform_direction(rng, m), (0, 1)
    directions = uniform_direction(rng, m), uniform_direction(rng, m)
    covariance = sample_covariance(*at)
    surrogate = GaussianSurrogate.at(*at)
    contenders = {
        "covariance of one sample": lambda: sample_covariance(*at),
        "its variance along one direction": lambda: sample_variance(*at, *directions),
        "its factor": lambda: covariance_factor(covariance),
        "a draw of the surrogate": lambda: surrogate.draw(rng, 1000),
    }
    peer = "covariance, estimated by NumPy"
    if (d, m) == _SIZES[0]:
        contenders[peer] = lambda: numpy_covariance(*at, n=_ESTIMATED)
        scale = np.sqrt(np.diagonal(covariance))
        # Six standard errors of a correlation near zero, and of a variance at most twice that.
        most = 12 / np.sqrt(_ESTIMATED)
        assert np.abs((contenders[peer]() - covariance) / np.outer(scale, scale)).max() < most
    figures = interleaved(contenders, rounds=rounds)
    for name, figure in figures.items():
        yield Row(f"gradient noise at ({d:,}, {m}): {name}", str(figure))
    if peer in figures:
        gain = figures[peer].ratio(figures["covariance of one sample"])
        yield Row(f"gradient noise at ({d:,}, {m}): {peer}, over ours", str(gain))
