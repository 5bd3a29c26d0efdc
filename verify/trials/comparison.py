"""A trial of a comparison of attention maps: draw a start, search the step size, descend.

Each run gets the step size that suits it best (`numerics.step_size_search`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.attention_maps import AttentionMap, find_map
from numerics.step_size_search import Candidate, search_step_size
from numerics.training import Trajectory, descend, population_objective
from verify.instances.starts import Start, draw_start
from verify.seeds import Streams

__all__ = ["Comparison", "compare_trial", "heads_of"]


@dataclass(frozen=True)
class Comparison:
    """The best descent of one attention map from one start.

    Parameters
    ----------
    attention : str
        Name of the attention map.
    trial : int
        Which start.
    start : str
        A name in `verify.instances.starts.STARTS`.
    support : pair of int
        The drawn support ``(a, b)``.
    best : Candidate
        The step size found, and what it leads to.
    heads : pair of int, optional
        Position of the largest weight, in absolute value, of either head at the end; None where
        every step size left all bounds.
    candidates : tuple of Candidate
        All step sizes tried, in order.
    """

    attention: str
    trial: int
    start: Start
    support: tuple[int, int]
    best: Candidate
    heads: tuple[int, int] | None
    candidates: tuple[Candidate, ...]

    @property
    def one_to_one(self) -> bool:
        """Whether the heads attend to the two support positions, one each."""
        return self.heads is not None and set(self.heads) == set(self.support)


def compare_trial(
    streams: Streams,
    trial: int,
    attention: str,
    *,
    d: int,
    m: int,
    start: Start,
    law: str,
    steps: int,
    tolerance: float,
) -> Comparison:
    """Draw a start, search the step size, and return the best descent.

    Parameters
    ----------
    streams : Streams
        Source of each trial's randomness.
    trial : int
        Which trial; the same one starts from the same point whatever the attention map.
    attention : str
        Name of the attention map, as in `numerics.attention_maps.find_map`.
    d, m : int
        Number of positions, embedding dimension.
    start : {"antisymmetric", "independent"}
        Whether theta~ is -theta, or a direction of its own.
    law : str
        Law of the embeddings, as in `verify.instances.laws.check_law`.
    steps : int
        The largest number of steps of a descent.
    tolerance : float
        The population loss at which a descent ends.

    Raises
    ------
    InvalidArgumentError
        If an argument cannot be used.
    """
    used = find_map(attention)
    instance = draw_start(streams.trial(trial), d, m, law=law, start=start)
    objective = population_objective(instance.V, instance.support, attention=used)
    queries = (instance.theta, instance.theta_tilde)
    candidates = search_step_size(objective, *queries, d=d, steps=steps, tolerance=tolerance)
    best = min(candidates, key=lambda each: each.rank)
    heads = None
    if math.isfinite(best.loss):
        end = descend(objective, *queries, eta=best.eta, steps=best.steps, tolerance=tolerance)
        heads = heads_of(end, instance.V, used)
    return Comparison(attention, trial, start, instance.support, best, heads, tuple(candidates))


def heads_of(end: Trajectory, V: NDArray[np.float64], attention: AttentionMap) -> tuple[int, int]:
    """Return where either head has its largest weight, in absolute value, at the end."""
    first, second = (
        int(np.argmax(np.abs(attention.weights(V @ query))))
        for query in (end.theta, end.theta_tilde)
    )
    return first, second
