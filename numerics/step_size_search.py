"""The step size that suits a descent best, found by trying.

Softmax attention wants steps of order d^2, linear attention of order 1 or less, so that no step
size is fair to all. The search that `SEARCH` states in words is the same for every attention map,
and any map may profit from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.training import Objective, descend

__all__ = ["SEARCH", "Candidate", "first_step_sizes", "search_step_size"]

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


def first_step_sizes(d: int) -> list[float]:
    """Return the step sizes that a search begins with, in order."""
    largest = math.ceil(math.log10(_LARGEST_SCALE * d * d))
    return [
        10.0 ** (k / _PER_DECADE) for k in range(_PER_DECADE * _SMALLEST, _PER_DECADE * largest + 1)
    ]


def search_step_size(
    objective: Objective,
    theta: NDArray[np.float64],
    theta_tilde: NDArray[np.float64],
    *,
    d: int,
    steps: int,
    tolerance: float,
) -> list[Candidate]:
    """Try the step sizes of `SEARCH`, and return what they led to, in their order.

    Parameters
    ----------
    objective : Objective
        What to descend.
    theta, theta_tilde : ndarray, shape (m,)
        The start.
    d : int
        Number of positions, by which the step sizes go.
    steps : int
        The largest number of steps of a descent.
    tolerance : float
        The loss at which a descent ends.
    """
    tried: list[Candidate] = []

    def attempt(eta: float) -> None:
        most = _most_steps(tried, steps)
        tried.append(_try(objective, theta, theta_tilde, eta, most, tolerance))

    # The large ones first: the sooner one of them succeeds, the fewer steps all others need.
    for eta in reversed(first_step_sizes(d)):
        attempt(eta)
    best = min(tried, key=lambda each: each.rank)
    for eta in _finer_step_sizes(best.eta):
        attempt(eta)
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
    objective: Objective,
    theta: NDArray[np.float64],
    theta_tilde: NDArray[np.float64],
    eta: float,
    steps: int,
    tolerance: float,
) -> Candidate:
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
