"""Instances as the paper has them, in every size, and with the queries it does not have."""

from __future__ import annotations

import numpy as np

from campaigns.soundness.cases import Case, drafted, start
from numerics.embeddings import uniform_direction


def sphere(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw rows and queries as the paper does."""
    return drafted(rng, *start(rng, d, m))


def learning(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw rows at right angles and a large step: the loss of every input becomes small."""
    turned, _ = np.linalg.qr(rng.normal(size=(max(d, m), max(d, m))))
    V = turned[:d]
    theta = uniform_direction(rng, V.shape[1])
    eta = f"{d * d * int(rng.integers(30, 3000))}"
    if rng.random() < 0.2:
        eta = str(rng.choice(("1e20", "1e400", "1e1000")))
    tolerance = "0.5" if rng.random() < 0.2 else f"1e-{int(rng.integers(1, 40))}"
    return drafted(rng, V, theta, -theta, eta=eta, tolerance=tolerance)


def ends(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put the support at the first and the last position, in either order."""
    support = (0, d - 1) if rng.random() < 0.5 else (d - 1, 0)
    return drafted(rng, *start(rng, d, m), support=support)


def theta_zero(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let a query or both be zero, and the gradient now and then end in a 5 to be rounded."""
    V, theta = start(rng, d, m)
    if rng.random() < 0.4:
        return drafted(rng, rng.integers(-9, 10, (4, m)) / 8, np.zeros(m), np.zeros(m))
    return drafted(rng, V, np.zeros(m), np.zeros(m) if rng.random() < 0.5 else theta)


def equal_queries(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let both heads agree."""
    V, theta = start(rng, d, m)
    return drafted(rng, V, theta, theta)


def free_queries(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw theta~ on its own, each entry of a size of its own."""
    V, theta = start(rng, d, m)
    return drafted(rng, V, theta, rng.normal(size=m) * 10.0 ** rng.integers(-3, 2, m))
