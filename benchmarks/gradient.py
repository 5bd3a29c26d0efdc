"""The population gradient of both heads, beside JAX and PyTorch, and beside passes over V."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers import jax_gradient, torch_gradient
from benchmarks.timing import Row, interleaved
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.population import antisymmetric_gradient, gradient

__all__ = ["rows"]

_SIZES = ((10_000, 512), (100_000, 512))
_SUPPORT = (0, 1)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    for d, m in _SIZES:
        yield from _beside_peers(d, m, rounds=rounds)


def _beside_peers(d: int, m: int, *, rounds: int) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    V = sample_embeddings(rng, d, m)
    theta, theta_tilde = uniform_direction(rng, m), uniform_direction(rng, m)
    weights = rng.standard_normal(d)
    peers = {
        "PyTorch": torch_gradient(V, theta, theta_tilde, _SUPPORT),
        "JAX": jax_gradient(V, theta, theta_tilde, _SUPPORT),
    }
    ours = gradient(V, theta, theta_tilde, _SUPPORT)
    for name, peer in peers.items():
        for found, expected in zip(peer(), (ours.theta, ours.theta_tilde), strict=True):
            # Both sum d terms in binary64 in their own order.
            assert np.linalg.norm(found - expected) < 1e-10 * np.linalg.norm(expected), name
    figures = interleaved(
        {
            "ours": lambda: gradient(V, theta, theta_tilde, _SUPPORT),
            "antisymmetric": lambda: antisymmetric_gradient(V, theta, _SUPPORT),
            "two passes": lambda: (V @ theta, weights @ V),
            **peers,
        },
        rounds=rounds,
    )
    where = f"at ({d:.0e}, {m})".replace("e+0", "e")
    for name, figure in figures.items():
        yield Row(f"gradient {where}: {name}", str(figure))
    for name in ("ours", "antisymmetric"):
        passes = figures[name].ratio(figures["two passes"])
        met = passes.median <= 1.3
        yield Row(f"gradient {where}: {name} over two passes", str(passes), "<= 1.3", met)
    better = min(("PyTorch", "JAX"), key=lambda name: figures[name].median)
    gain = figures[better].ratio(figures["ours"])
    goal, met = (">= 2", gain.median >= 2) if d == _SIZES[0][0] else ("", None)
    yield Row(f"gradient {where}: {better}, the better peer, over ours", str(gain), goal, met)
