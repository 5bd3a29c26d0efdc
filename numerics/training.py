"""Gradient descent over many steps, on all inputs or on a fixed set of samples.

Source: arXiv:2502.07553v2, section 2: plain gradient descent on both queries at once, with one step
size and L = E (f - y)^2 (no factor 1/2). Theorem 2 and Corollary 3 speak of its first step.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import general_population
from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_matrix,
    finite_array,
    finite_float,
    integer_at_least,
    vector_of_length,
)
from numerics.attention_maps import AttentionMap
from numerics.one_step import Gradients
from numerics.samples.signs import skip_samples

__all__ = [
    "Objective",
    "Trajectory",
    "descend",
    "population_objective",
    "sample_objective",
    "stopping_loss",
]


class Objective(Protocol):
    """A loss with its gradients by both queries; the same queries always give the same bits."""

    def __call__(
        self, theta: NDArray[np.float64], theta_tilde: NDArray[np.float64], /
    ) -> Gradients:
        """Return loss and gradients.

        Raises
        ------
        InvalidArgumentError
            If the shapes do not fit. Where the queries are too large for binary64 it may raise, or
            return what is not finite.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """What gradient descent went through. All numbers are finite.

    Attributes
    ----------
    eta : float
        Step size.
    start, start_tilde : ndarray, shape (m,)
        The queries before the first step.
    losses : ndarray, shape (steps + 1,)
        The loss at the start and after each step.
    theta, theta_tilde : ndarray, shape (m,)
        The queries after the last step.
    diverged : bool
        Whether the next step would overflow: the queries, or the loss and gradients there.
    """

    eta: float
    start: NDArray[np.float64]
    start_tilde: NDArray[np.float64]
    losses: NDArray[np.float64]
    theta: NDArray[np.float64]
    theta_tilde: NDArray[np.float64]
    diverged: bool = False

    @property
    def steps(self) -> int:
        """The number of steps taken."""
        return len(self.losses) - 1


def population_objective(
    V: ArrayLike, support: tuple[SupportsIndex, SupportsIndex], *, attention: AttentionMap
) -> Objective:
    """Return the population loss of an attention map as an objective, in O(d m) a step.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings; never copied if its rows or columns are contiguous.
    support : pair of int
        The positions (a, b), 0-based.
    attention : AttentionMap
        What turns scores into weights.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix or the support does not fit it.
    """
    embeddings = embedding_matrix(V)
    positions = check_support(support, embeddings.shape[0])

    def objective(theta: NDArray[np.float64], theta_tilde: NDArray[np.float64], /) -> Gradients:
        return general_population.gradient(
            embeddings, theta, theta_tilde, positions, attention=attention
        )

    return objective


def sample_objective(
    V: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    rng: np.random.Generator,
    n: SupportsIndex,
    attention: AttentionMap,
    threads: SupportsIndex = 1,
) -> Objective:
    """Return the mean loss of `n` samples as an objective: the same samples at every step.

    They are drawn again at every step, so that memory does not grow with `n`. They are those that
    follow in `rng` now, and `rng` is left behind them.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings; never copied if its rows or columns are contiguous.
    support : pair of int
        The positions (a, b), 0-based.
    rng : numpy.random.Generator
        Source of the samples, a PCG64.
    n : int
        Number of samples, at least 1.
    attention : AttentionMap
        What turns scores into weights.
    threads : int
        Threads that share the work; the result is the same for any number.

    Raises
    ------
    InvalidArgumentError
        If V is no finite matrix, the support does not fit it, a number is too small, or the
        generator is no PCG64.
    """
    # Numba takes longer to load than many a descent on the population takes.
    from numerics.samples.empirical import empirical_gradient

    embeddings = embedding_matrix(V)
    d = embeddings.shape[0]
    positions = check_support(support, d)
    count = integer_at_least("n", n, 1)
    workers = integer_at_least("threads", threads, 1)
    first = copy.deepcopy(rng)
    skip_samples(rng, d, count)

    def objective(theta: NDArray[np.float64], theta_tilde: NDArray[np.float64], /) -> Gradients:
        return empirical_gradient(
            copy.deepcopy(first),
            embeddings,
            theta,
            theta_tilde,
            positions,
            n=count,
            threads=workers,
            attention=attention,
        )

    return objective


def descend(
    objective: Objective,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    *,
    eta: SupportsFloat,
    steps: SupportsIndex,
    tolerance: SupportsFloat | None = None,
    resume: Trajectory | None = None,
    on_step: Callable[[int, float, NDArray[np.float64], NDArray[np.float64]], object] | None = None,
) -> Trajectory:
    """Take gradient steps until one of: `steps` of them, a loss <= `tolerance`, divergence.

    Parameters
    ----------
    objective : Objective
        What to descend.
    theta, theta_tilde : array_like, shape (m,)
        The start.
    eta : float
        Step size, for the loss without the factor 1/2.
    steps : int
        The largest number of steps, those of `resume` included.
    tolerance : float, optional
        The loss at which to stop, at the start or after the first step that reaches it.
    resume : Trajectory, optional
        An earlier part of the same descent. The result is bit for bit what one descent without
        interruption would give.
    on_step : callable, optional
        Called after each step with its number, from 1, the loss and the queries.

    Raises
    ------
    InvalidArgumentError
        If the start does not fit the objective, a number is not usable, or `resume` cannot be a
        part of this descent: another start, step size or objective, more than `steps` steps, or
        a loss <= `tolerance` before its end.
    """
    rate = finite_float("eta", eta)
    most = integer_at_least("steps", steps, 0)
    goal = -math.inf if tolerance is None else finite_float("tolerance", tolerance)
    start = finite_array("theta", theta, 1).copy()
    start_tilde = vector_of_length("theta_tilde", theta_tilde, start.shape[0]).copy()
    if resume is None:
        queries = np.stack([start, start_tilde])
        at = objective(*queries)
        if not _is_finite(at):
            raise InvalidArgumentError("theta", f"start with loss {at.loss}", "must not overflow")
        losses = [at.loss]
    else:
        _refuse_another_descent(resume, start, start_tilde, rate, most, goal)
        queries = np.stack([resume.theta, resume.theta_tilde])
        at = objective(*queries)
        losses = resume.losses.tolist()
        if at.loss.hex() != losses[-1].hex():
            raise InvalidArgumentError(
                "resume",
                f"trajectory that ends at loss {losses[-1]!r}",
                f"the objective gives {at.loss!r} there; resume with the same instance, samples, "
                "attention and number of threads",
            )
    diverged = False
    while len(losses) <= most and losses[-1] > goal:
        with np.errstate(over="ignore", under="ignore"):
            after = queries - rate * np.stack([at.theta, at.theta_tilde])
        reached = _evaluate(objective, after)
        if reached is None:
            diverged = True
            break
        queries, at = after, reached
        losses.append(at.loss)
        if on_step is not None:
            on_step(len(losses) - 1, losses[-1], *queries.copy())
    return Trajectory(rate, start, start_tilde, np.array(losses), queries[0], queries[1], diverged)


def stopping_loss(tolerance: Fraction) -> float:
    """Return the largest binary64 number that is at most `tolerance`.

    A loss is at most the one exactly if it is at most the other.
    """
    if tolerance >= Fraction(sys.float_info.max):
        return sys.float_info.max
    nearest = float(tolerance)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > tolerance else nearest


def _evaluate(objective: Objective, queries: NDArray[np.float64]) -> Gradients | None:
    """Return the objective after a step, or None if the step has left the range of binary64."""
    if not np.isfinite(queries).all():
        return None
    try:
        found = objective(*queries)
    except InvalidArgumentError:
        # All other arguments were accepted at the start: it is the queries that are too large.
        return None
    return found if _is_finite(found) else None


def _is_finite(at: Gradients) -> bool:
    gradients = np.isfinite(at.theta).all() and np.isfinite(at.theta_tilde).all()
    return bool(gradients) and math.isfinite(at.loss)


def _refuse_another_descent(
    resume: Trajectory,
    start: NDArray[np.float64],
    start_tilde: NDArray[np.float64],
    eta: float,
    steps: int,
    tolerance: float,
) -> None:
    what = f"trajectory of {resume.steps} steps"
    for name, given, own in (
        ("eta", np.array(eta), np.array(resume.eta)),
        ("theta", start, resume.start),
        ("theta_tilde", start_tilde, resume.start_tilde),
    ):
        if given.tobytes() != own.tobytes():
            raise InvalidArgumentError("resume", what, f"started with another {name}")
    if resume.steps > steps:
        raise InvalidArgumentError("resume", what, f"has more than steps={steps}")
    early = np.flatnonzero(resume.losses[:-1] <= tolerance)
    if early.size:
        raise InvalidArgumentError(
            "resume", what, f"went on after step {early[0]}, whose loss reached the tolerance"
        )
