"""One run of a comparison of attention maps: a start, a search of its step size, its best descent.

Softmax attention wants steps of order d^2, linear attention of order 1 or less, so that no step
size is fair to all. Each run gets its own, by the search that `SEARCH` states in words; it is the
same for every map, and any map may profit from it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import AttentionMap, find_map
from numerics.embeddings import uniform_direction
from numerics.training import Objective, Trajectory, descend, population_objective
from verify.instance import Instance, draw_instance
from verify.seeds import Streams

__all__ = [
    "SEARCH",
    "STARTS",
    "Candidate",
    "Comparison",
    "Start",
    "compare_trial",
    "draw_start",
    "first_step_sizes",
    "heads_of",
    "read_start",
    "search_step_size",
    "stopping_loss",
]

Start: TypeAlias = Literal["antisymmetric", "independent"]
STARTS: tuple[Start, ...] = get_args(Start)

_SMALLEST = -6  # eta = 10^-6
_LARGEST_SCALE = 1000  # up to the first power of ten that is at least 1000 d^2
_PER_DECADE = 2
_REFINEMENTS = 3  # as many times finer around the best
_HOPELESS = 1000.0

SEARCH = (
    "each run has the step size that suits it best. Tried are the half powers of ten from 1e-6 to"
    " 1000 d^2 or beyond, then those within a third of a decade of the best of them, six a decade."
    " Of two step sizes the better one reaches the tolerance in fewer steps, or reaches it at all,"
    " or else has the smaller loss after its last step, or is the smaller one. A descent ends early"
    " where its loss exceeds 1000 times that of the start, or can no longer be the best."
)
"""The rule by which a run's step size is found, in words."""


@dataclass(frozen=True)
class Candidate:
    """What one step size of a search led to.

    Parameters
    ----------
    eta : float
        The step size.
    steps : int
        Steps taken until the tolerance was reached, the steps were used up, or the descent was
        given up.
    reached : bool
        Whether the loss after them is at most the tolerance.
    loss : float
        The loss after them; infinite where the descent left all bounds.
    """

    eta: float
    steps: int
    reached: bool
    loss: float

    @property
    def rank(self) -> tuple[bool, int, float, float]:
        """The better candidate has the smaller rank."""
        return not self.reached, self.steps if self.reached else 0, self.loss, self.eta


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
        One of `STARTS`.
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


def stopping_loss(tolerance: Fraction) -> float:
    """Return the largest binary64 number that is at most `tolerance`.

    A loss is at most the one exactly if it is at most the other.
    """
    if tolerance >= Fraction(sys.float_info.max):
        return sys.float_info.max
    nearest = float(tolerance)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > tolerance else nearest


def read_start(what: str, text: str) -> Start:
    """Return one of `STARTS`.

    Raises
    ------
    InvalidArgumentError
        If `text` is none of them.
    """
    for start in STARTS:
        if text == start:
            return start
    raise InvalidArgumentError(what, text, f"must be one of {', '.join(STARTS)}")


def draw_start(rng: np.random.Generator, d: int, m: int, *, law: str, start: Start) -> Instance:
    """Draw an instance with either start.

    The order of the draws is support, V, theta, then theta~ if it is independent.

    Raises
    ------
    InvalidArgumentError
        As `verify.instance.draw_instance`.
    """
    instance = draw_instance(rng, d, m, law=law)
    if start == "antisymmetric":
        return instance
    return replace(instance, theta_tilde=uniform_direction(rng, m))


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
        Law of the embeddings, as in `verify.embedding_laws.check_law`.
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
    candidates = search_step_size(objective, instance, steps=steps, tolerance=tolerance)
    best = min(candidates, key=lambda each: each.rank)
    heads = None
    if math.isfinite(best.loss):
        queries = (instance.theta, instance.theta_tilde)
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


def first_step_sizes(d: int) -> list[float]:
    """Return the step sizes that a search begins with, in order."""
    largest = math.ceil(math.log10(_LARGEST_SCALE * d * d))
    return [
        10.0 ** (k / _PER_DECADE) for k in range(_PER_DECADE * _SMALLEST, _PER_DECADE * largest + 1)
    ]


def search_step_size(
    objective: Objective, instance: Instance, *, steps: int, tolerance: float
) -> list[Candidate]:
    """Try the step sizes of `SEARCH`, and return what they led to, in their order.

    Parameters
    ----------
    objective : Objective
        What to descend.
    instance : Instance
        Its start; the step sizes depend on its number of positions.
    steps : int
        The largest number of steps of a descent.
    tolerance : float
        The loss at which a descent ends.
    """
    tried: list[Candidate] = []
    # The large ones first: the sooner one of them succeeds, the fewer steps all others need.
    for eta in reversed(first_step_sizes(instance.d)):
        tried.append(_try(objective, instance, eta, _most_steps(tried, steps), tolerance))
    best = min(tried, key=lambda each: each.rank)
    for eta in _finer_step_sizes(best.eta):
        tried.append(_try(objective, instance, eta, _most_steps(tried, steps), tolerance))
    return sorted(tried, key=lambda each: each.eta)


def _finer_step_sizes(eta: float) -> Iterator[float]:
    for k in range(1 - _REFINEMENTS, _REFINEMENTS):
        if k != 0:
            yield eta * 10.0 ** (k / (_PER_DECADE * _REFINEMENTS))


def _most_steps(tried: list[Candidate], steps: int) -> int:
    """Return after how many steps a descent that has not reached the tolerance cannot be best."""
    return min((each.steps for each in tried if each.reached), default=steps)


class _HopelessError(Exception):
    """The loss has left all bounds, after the number of steps given."""


def _try(
    objective: Objective, instance: Instance, eta: float, steps: int, tolerance: float
) -> Candidate:
    theta, theta_tilde = instance.theta, instance.theta_tilde
    bound = _HOPELESS * objective(theta, theta_tilde).loss

    def watch(step: int, loss: float, *_: object) -> None:
        if loss > bound:
            raise _HopelessError(step)

    try:
        end = descend(
            objective,
            theta,
            theta_tilde,
            eta=eta,
            steps=steps,
            tolerance=tolerance,
            on_step=watch,
        )
    except _HopelessError as hopeless:
        return Candidate(eta, int(hopeless.args[0]), reached=False, loss=math.inf)
    if end.diverged:
        return Candidate(eta, end.steps, reached=False, loss=math.inf)
    loss = float(end.losses[-1])
    return Candidate(eta, end.steps, reached=loss <= tolerance, loss=loss)
