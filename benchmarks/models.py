"""The other models: the Transformer, parity of k bits, and the rivals that are trained or fixed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import hadamard

from benchmarks.timing import Row, interleaved
from numerics.baselines.fixed_features import best_losses, relu_features
from numerics.baselines.trained_nets import draw_sample, train, train_with_scikit_learn
from numerics.baselines.walsh import walsh_hadamard
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.parity.population import parity_gradient
from numerics.parity.start import draw_start
from numerics.transformer.gradient import complex_step_gradient, jax_gradient
from numerics.transformer.layer import Architecture
from numerics.transformer.start import equivalent_start

__all__ = ["rows"]

_TRANSFORMER = (6, 4, 4)  # d, m and the width of a head
_PARITY = (10_000, 512)
_SIGNS = 12


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    yield from _transformer(rounds)
    yield from _parity(rounds)
    yield from _walsh(rounds)
    yield from _rivals(min(rounds, 3))


def _transformer(rounds: int) -> Iterator[Row]:
    d, m, width = _TRANSFORMER
    rng = np.random.default_rng(0)
    V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
    start = equivalent_start(rng, V, theta, -theta, width=width)
    gradients = {
        "complex steps": complex_step_gradient(V, (0, 1), Architecture(), by=start),
        "JAX": jax_gradient(V, (0, 1), Architecture(), by=start),
    }
    (_, ours), (_, peer) = (gradient(start) for gradient in gradients.values())
    for name in start:
        # A mean over 2^d inputs of order 1, in two orders.
        assert np.abs(ours[name] - peer[name]).max() < 1e-13, name
    figures = interleaved(
        {name: lambda gradient=gradient: gradient(start) for name, gradient in gradients.items()},
        rounds=rounds,
    )
    for name, figure in figures.items():
        yield Row(f"Transformer's gradient, d = {d}, m = {m}, width {width}: {name}", str(figure))


def _parity(rounds: int) -> Iterator[Row]:
    d, m = _PARITY
    rng = np.random.default_rng(0)
    V = sample_embeddings(rng, d, m)
    weights = rng.standard_normal(d)
    theta = {k: draw_start(rng, k, m) for k in (2, 3, 4)}
    figures = interleaved(
        {f"{k} heads": lambda k=k: parity_gradient(V, theta[k], tuple(range(k))) for k in theta}
        | {"two passes": lambda: (V @ theta[2][0], weights @ V)},
        rounds=rounds,
    )
    for name, figure in figures.items():
        yield Row(f"gradient of parity at ({d:,}, {m}): {name}", str(figure))


def _walsh(rounds: int) -> Iterator[Row]:
    table = np.random.default_rng(0).standard_normal((1 << _SIGNS, 4))
    matrix = hadamard(1 << _SIGNS, dtype=np.float64)
    # 2^12 terms of order 1 in two orders.
    assert np.abs(walsh_hadamard(table) - matrix @ table).max() < 1e-9
    figures = interleaved(
        {
            "ours": lambda: walsh_hadamard(table),
            "a product with SciPy's matrix": lambda: matrix @ table,
        },
        rounds=rounds,
    )
    for name, figure in figures.items():
        yield Row(
            f"Walsh-Hadamard transform of 4 tables over 2^{_SIGNS} inputs: {name}", str(figure)
        )


def _rivals(rounds: int) -> Iterator[Row]:
    features = relu_features(np.random.default_rng(0), _SIGNS, 256)
    sample = draw_sample(np.random.default_rng(0), 16, 400)
    contenders = {
        f"best losses of 256 ReLU features at d = {_SIGNS}, every support": lambda: best_losses(
            features, 2
        ),
        "net of width 4 at d = 16, trained by SciPy": lambda: train(
            np.random.default_rng(0), sample, width=4
        ),
        "net of width 4 at d = 16, trained by scikit-learn": lambda: train_with_scikit_learn(
            np.random.default_rng(0), sample, width=4
        ),
    }
    for name, figure in interleaved(contenders, rounds=rounds).items():
        yield Row(name, str(figure))
