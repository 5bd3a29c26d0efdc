"""Any attention map: the population gradient beside JAX, and steps of gradient descent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers import jax_gradient
from benchmarks.timing import Row, interleaved
from numerics.attention_maps import MAPS
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.general_population import gradient
from numerics.training import descend, population_objective

__all__ = ["rows"]

_D, _M = 10_000, 512
_SUPPORT = (0, 1)
_STEPS = 100
_TRAINED = (256, 64)


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    rng = np.random.default_rng(0)
    V = sample_embeddings(rng, _D, _M)
    theta, theta_tilde = uniform_direction(rng, _M), uniform_direction(rng, _M)
    peer = jax_gradient(V, theta, theta_tilde, _SUPPORT, attention="erf")
    ours = gradient(V, theta, theta_tilde, _SUPPORT, attention=MAPS["erf"])
    for found, expected in zip(peer(), (ours.theta, ours.theta_tilde), strict=True):
        # Both sum d terms in binary64 in their own order.
        assert np.linalg.norm(found - expected) < 1e-10 * np.linalg.norm(expected)
    figures = interleaved(
        {
            name: lambda attention=attention: gradient(
                V, theta, theta_tilde, _SUPPORT, attention=attention
            )
            for name, attention in MAPS.items()
        }
        | {"erf by JAX": peer},
        rounds=rounds,
    )
    where = f"gradient at ({_D:,}, {_M})"
    for name, figure in figures.items():
        yield Row(f"{where}: {name}", str(figure))
    gain = figures["erf by JAX"].ratio(figures["erf"])
    yield Row(f"{where}: erf by JAX over ours", str(gain))
    yield from _descents(rounds)


def _descents(rounds: int) -> Iterator[Row]:
    """Time steps, of a size at which no run ends early."""
    d, m = _TRAINED
    rng = np.random.default_rng(0)
    V = sample_embeddings(rng, d, m)
    start = uniform_direction(rng, m), uniform_direction(rng, m)

    def train(name: str) -> None:
        objective = population_objective(V, _SUPPORT, attention=MAPS[name])
        found = descend(objective, *start, eta=1e-3, steps=_STEPS)
        assert len(found.losses) == _STEPS + 1

    figures = interleaved({name: lambda name=name: train(name) for name in MAPS}, rounds=rounds)
    for name, figure in figures.items():
        yield Row(f"{_STEPS} steps of gradient descent at ({d}, {m}): {name}", str(figure))
