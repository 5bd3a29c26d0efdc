"""The empirical gradient in bits a second, drawing included, beside PyTorch, JAX and NumPy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from benchmarks.peers import (
    SampleGradient,
    jax_sample_gradient,
    numpy_sample_gradient,
    torch_sample_gradient,
)
from benchmarks.timing import Figure, Row, interleaved
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.samples.empirical import empirical_gradient

__all__ = ["rows"]

_LENGTHS = (128, 512, 2048)
_M = 64
_BITS = 1 << 27
_LONG_BITS = 1 << 31  # so long that two threads have a core each for most of it
_CHUNK_BITS = 1 << 20  # of the peers: 8 MiB of binary64
_GOAL = 8.0  # Gbit/s on two cores
_MANY_BITS = 10**11
_MANY_AT = 512


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    threads = int(os.environ["OMP_NUM_THREADS"])
    for d in _LENGTHS:
        yield from _beside_peers(d, threads=threads, rounds=rounds)
    yield Row("memory: a sum over 256 MiB", _rate(_memory(rounds), 8 << 28))


def _beside_peers(d: int, *, threads: int, rounds: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    V, theta, theta_tilde = (
        sample_embeddings(rng, d, _M),
        *(uniform_direction(rng, _M) for _ in range(2)),
    )
    support = (0, d - 1)
    point = V, theta, theta_tilde, support
    peers: dict[str, SampleGradient] = {
        "PyTorch": torch_sample_gradient(*point),
        "JAX": jax_sample_gradient(*point),
        "NumPy": numpy_sample_gradient(*point),
    }

    def ours(n: int) -> np.ndarray:
        found = empirical_gradient(np.random.default_rng(1), *point, n=n, threads=threads)
        return np.stack([found.theta, found.theta_tilde])

    n = 2 * _CHUNK_BITS // d
    expected = ours(n)
    for name, peer in peers.items():
        # Both err by some 1e-14 of the largest slope; sums of n terms in binary64 do no better.
        difference = np.abs(_in_chunks(peer, d, n) - expected).max()
        assert difference < 1e-10 * np.abs(expected).max(), name

    n = _BITS // d
    contenders: dict[str, Callable[[], object]] = {
        name: partial(_in_chunks, peer, d, n) for name, peer in peers.items()
    }
    contenders["ours"] = partial(ours, n)
    contenders["drawing the bits alone, on one core"] = partial(_draw, _BITS // 64)
    figures = interleaved(contenders, rounds=min(rounds, 3))
    where = f"empirical gradient at d = {d:,}"
    for name, figure in figures.items():
        yield _row(f"{where}: {name}", figure, n * d, has_goal=name == "ours" and threads == 2)
    long = interleaved({"ours": partial(ours, _LONG_BITS // d)}, rounds=rounds)["ours"]
    yield _row(f"{where}: ours, of 2^31 signs", long, _LONG_BITS, has_goal=threads == 2)
    better = min(peers, key=lambda name: figures[name].median)
    gain = figures[better].ratio(figures["ours"])
    yield Row(f"{where}: {better}, the best peer, over ours", str(gain))
    if d == _MANY_AT:
        foretold = long.median * _MANY_BITS / _LONG_BITS
        many = interleaved({"ours": partial(ours, _MANY_BITS // d)}, rounds=1, warm=False)["ours"]
        yield Row(f"{where}: 1e11 bits, foretold {foretold:.3g} s", f"{many.median:.3g} s")


def _in_chunks(peer: SampleGradient, d: int, n: int) -> np.ndarray:
    """Return a peer's gradient from the samples that follow seed 1, which are those of ours."""
    rng = np.random.default_rng(1)
    chunk = _CHUNK_BITS // d
    total = np.zeros((2, _M))
    for _ in range(n // chunk):
        packed = np.frombuffer(rng.bytes(chunk * d // 8), np.uint8).reshape(chunk, -1)
        bits = np.unpackbits(packed, axis=1, bitorder="little")
        total += peer(2.0 * bits - 1.0)
    return total / (n // chunk)


def _draw(words: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(words >> 17):
        rng.integers(0, 2**64 - 1, 1 << 17, dtype=np.uint64, endpoint=True)


def _memory(rounds: int) -> Figure:
    words = np.ones(1 << 25, dtype=np.uint64)
    return interleaved({"sum": partial(np.sum, words)}, rounds=rounds)["sum"]


def _row(what: str, figure: Figure, bits: int, *, has_goal: bool) -> Row:
    if not has_goal:
        return Row(what, _rate(figure, bits))
    met = bits / figure.median >= _GOAL * 1e9
    return Row(what, _rate(figure, bits), f">= {_GOAL:g} Gbit/s", met)


def _rate(figure: Figure, bits: int) -> str:
    least, median, most = (
        bits / seconds / 1e9
        for seconds in (max(figure.seconds), figure.median, min(figure.seconds))
    )
    n = len(figure.seconds)
    return f"{median:.3g} Gbit/s ({least:.3g} to {most:.3g}, n = {n})"
