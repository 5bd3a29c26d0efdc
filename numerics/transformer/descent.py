"""Gradient descent on the Transformer beside that on the two queries, compared step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.attention import softmax
from numerics.model import predict as predict_by_attention
from numerics.population import gradient
from numerics.transformer.gradient import LossAndGradient
from numerics.transformer.layer import Architecture, Parameters, all_inputs, mapped_queries, predict

__all__ = ["Comparison", "Rule", "compare", "descend", "descend_queries"]

Rule: TypeAlias = Literal["plain", "momentum", "adam"]
"""Plain gradient descent, heavy-ball momentum, or Adam."""

_MOMENTUM = 0.9
_ADAM_DECAYS = (0.9, 0.999)
_ADAM_EPSILON = 1e-8

Arrays: TypeAlias = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """How far the Transformer is from the model of two queries, after 0, 1, 2, ... steps.

    Attributes
    ----------
    queries : ndarray, shape (steps + 1,)
        The larger distance of a head's mapped query from theta or theta~, over the length of the
        way that the farther one of those has gone by the last step.
    predictions : ndarray, shape (steps + 1,)
        The largest difference of the predictions over all 2^d inputs.
    """

    queries: NDArray[np.float64]
    predictions: NDArray[np.float64]

    def largest(self) -> float:
        """Return the largest difference of all; nan if one is not a number."""
        return float(np.max(np.concatenate([self.queries, self.predictions])))


def descend(
    gradient: LossAndGradient,
    start: Parameters,
    *,
    eta: float,
    steps: int,
    rule: Rule = "plain",
    tied: bool = False,
) -> list[Parameters]:
    """Return the parameters at the start and after each step; what has no gradient is frozen.

    Parameters
    ----------
    gradient : callable
        Loss and gradient by the parameters that are trained.
    start : mapping
        The parameters at time 0.
    eta : float
        Step size, for the loss without the factor 1/2.
    steps : int
        Number of steps.
    rule : {"plain", "momentum", "adam"}
        How a step is made of the gradients: momentum 0.9; Adam with decays 0.9 and 0.999.
    tied : bool
        Whether both heads share one W_Q, so that its gradient is the sum over the heads.
    """
    visited: list[Parameters] = [start]
    update = _update(rule)
    for _ in range(steps):
        _, slopes = gradient(visited[-1])
        if tied:
            total = slopes["W_Q"].sum(axis=0, keepdims=True)
            slopes = {**slopes, "W_Q": np.repeat(total, 2, axis=0)}
        moved = {name: visited[-1][name] - eta * by for name, by in update(slopes).items()}
        visited.append({**visited[-1], **moved})
    return visited


def descend_queries(
    V: NDArray[np.float64],
    theta: NDArray[np.float64],
    theta_tilde: NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    eta: float,
    steps: int,
    rule: Rule = "plain",
) -> NDArray[np.float64]:
    """Return (theta, theta~) at the start and after each step, of shape (steps + 1, 2, m).

    The gradients are those of the closed form, `numerics.population.gradient`.
    """
    visited = [np.stack([theta, theta_tilde])]
    update = _update(rule)
    for _ in range(steps):
        found = gradient(V, visited[-1][0], visited[-1][1], support)
        by = update({"queries": np.stack([found.theta, found.theta_tilde])})
        visited.append(visited[-1] - eta * by["queries"])
    return np.stack(visited)


def compare(
    transformers: list[Parameters],
    architecture: Architecture,
    V: NDArray[np.float64],
    queries: NDArray[np.float64],
) -> Comparison:
    """Compare Transformers with pairs of queries, step by step.

    Parameters
    ----------
    transformers : list of mapping
        The parameters after each step, as from `descend`.
    architecture : Architecture
        What the layer does.
    V : ndarray, shape (d, m)
        The embeddings.
    queries : ndarray, shape (steps + 1, 2, m)
        The pairs, as from `descend_queries`.
    """
    x = all_inputs(V.shape[0])
    way = float(np.max(np.linalg.norm(queries[-1] - queries[0], axis=-1)))
    apart, predicted_apart = [], []
    for parameters, pair in zip(transformers, queries, strict=True):
        mapped = mapped_queries(parameters, V.shape[1], architecture)
        apart.append(float(np.max(np.linalg.norm(mapped - pair, axis=-1))) / way)
        expected = predict_by_attention(x.astype(np.int64), *(softmax(V @ query) for query in pair))
        found = predict(parameters, V, x, architecture)
        predicted_apart.append(float(np.max(np.abs(found - expected))))
    return Comparison(np.array(apart), np.array(predicted_apart))


def _update(rule: Rule) -> Callable[[Arrays], Arrays]:
    """Return what makes a step, up to -eta, of the gradient; it remembers what came before."""
    if rule == "plain":
        return lambda slopes: slopes
    sums: dict[str, NDArray[np.float64]] = {}
    squares: dict[str, NDArray[np.float64]] = {}
    done = 0

    def momentum(slopes: Arrays) -> Arrays:
        for name, slope in slopes.items():
            sums[name] = _MOMENTUM * sums.get(name, 0.0) + slope
        return dict(sums)

    def adam(slopes: Arrays) -> Arrays:
        nonlocal done
        done += 1
        first, second = _ADAM_DECAYS
        for name, slope in slopes.items():
            sums[name] = first * sums.get(name, 0.0) + (1 - first) * slope
            squares[name] = second * squares.get(name, 0.0) + (1 - second) * slope**2
        return {
            name: sums[name]
            / (1 - first**done)
            / (np.sqrt(squares[name] / (1 - second**done)) + _ADAM_EPSILON)
            for name in slopes
        }

    return momentum if rule == "momentum" else adam
