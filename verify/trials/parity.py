"""A trial of k-parity: draw embeddings, support and queries, take one step or several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.embeddings import sample_embeddings
from numerics.parity.population import ParityGradient, ParityStep, parity_gradient, parity_step
from numerics.parity.start import draw_start

__all__ = ["ParityInstance", "ParitySetting", "best_of_steps", "descend", "draw_parity"]


@dataclass(frozen=True)
class ParitySetting:
    """Sizes and laws of a draw.

    Parameters
    ----------
    k, d, m : int
        Number of heads and relevant positions, number of positions, embedding dimension.
    start : str
        A key of `numerics.parity.start.STARTS`.
    norm : float
        Length of every query.
    law : str
        Law of the embeddings, a key of `numerics.embeddings.LAWS`.
    """

    k: int
    d: int
    m: int
    start: str = "simplex"
    norm: float = 1.0
    law: str = "sphere"


@dataclass(frozen=True)
class ParityInstance:
    """Embeddings (d, m), queries (k, m) and the k relevant positions."""

    V: NDArray[np.float64]
    theta: NDArray[np.float64]
    support: tuple[int, ...]

    @property
    def unit(self) -> float:
        """d^k, the unit of the step size."""
        return float(len(self.V)) ** len(self.theta)

    def gradient(self) -> ParityGradient:
        """Return the population loss and its gradients at the start."""
        return parity_gradient(self.V, self.theta, self.support)

    def step(self, scale: float, *, start: ParityGradient | None = None) -> ParityStep:
        """Take one population step of size scale d^k."""
        return parity_step(self.V, self.theta, self.support, scale * self.unit, start=start)


def draw_parity(rng: np.random.Generator, setting: ParitySetting) -> ParityInstance:
    """Draw the support, uniform over ordered k-tuples, then V, then the queries."""
    support = tuple(rng.permutation(setting.d)[: setting.k].tolist())
    V = sample_embeddings(rng, setting.d, setting.m, law=setting.law)
    theta = draw_start(rng, setting.k, setting.m, start=setting.start, norm=setting.norm)
    return ParityInstance(V, theta, support)


def best_of_steps(instance: ParityInstance, scales: tuple[float, ...]) -> float:
    """Return the least population loss after one step of any of the sizes scale d^k."""
    start = instance.gradient()
    return min(instance.step(scale, start=start).loss for scale in scales)


def descend(instance: ParityInstance, scale: float, *, steps: int, tolerance: float) -> int | None:
    """Return after how many steps of size scale d^k the population loss is at most `tolerance`.

    None if it is not after `steps` of them.
    """
    current = instance
    for number in range(1, steps + 1):
        step = current.step(scale)
        if step.loss <= tolerance:
            return number
        current = ParityInstance(current.V, step.theta, current.support)
    return None
