"""One step of gradient descent and the attention after it.

Source: arXiv:2502.07553v2, Theorem 2: from theta^0 and theta~^0 = -theta^0, both queries take
one step of size eta along the gradients of L = E (f - y)^2 (no factor 1/2) at time 0; Corollary 3:
along those of the mean loss of n samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    embedding_array,
    finite_float,
    vector_of_length,
)
from numerics.attention import softmax
from numerics.passes import all_scores
from numerics.population import antisymmetric_gradient, gradient

__all__ = ["Gradients", "OneStep", "one_step", "step_along"]


class Gradients(Protocol):
    """A loss and its gradients by both queries, over all inputs or over samples."""

    @property
    def loss(self) -> float:
        """The mean of (f - y)^2."""

    @property
    def theta(self) -> NDArray[np.float64]:
        """Its gradient by theta, shape (m,)."""

    @property
    def theta_tilde(self) -> NDArray[np.float64]:
        """Its gradient by theta~, shape (m,)."""


@dataclass(frozen=True, slots=True, eq=False)
class OneStep:
    """The start, the step and the attention after it.

    Attributes
    ----------
    start : Gradients
        Loss and gradients at time 0, along which the step was taken.
    theta, theta_tilde : ndarray, shape (m,)
        The queries after the step.
    scores, scores_tilde : ndarray, shape (d,)
        V theta and V theta~ after the step.
    gamma, gamma_tilde : ndarray, shape (d,)
        The attention of each head after the step.
    heads : pair of int
        The position with the largest attention in each head (the first one in a tie).
    """

    start: Gradients
    theta: NDArray[np.float64]
    theta_tilde: NDArray[np.float64]
    scores: NDArray[np.float64]
    scores_tilde: NDArray[np.float64]
    gamma: NDArray[np.float64]
    gamma_tilde: NDArray[np.float64]
    heads: tuple[int, int]


def one_step(
    V: ArrayLike,
    theta: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    eta: SupportsFloat,
    *,
    theta_tilde: ArrayLike | None = None,
) -> OneStep:
    """Take one population gradient step of size `eta`.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings. Read three times; never copied if its rows or columns are contiguous.
    theta : array_like, shape (m,)
        The query of the first head before the step.
    support : pair of int
        The positions (a, b), 0-based.
    eta : float
        Step size, for the loss without the factor 1/2.
    theta_tilde : array_like, shape (m,), optional
        The query of the second head; ``-theta`` if not given.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows, before the step or
        (naming `eta`) after it.
    """
    rate = finite_float("eta", eta)
    V = embedding_array(V)
    if theta_tilde is None:
        start = antisymmetric_gradient(V, theta, support)
        theta_tilde = -np.asarray(theta, dtype=np.float64)
    else:
        start = gradient(V, theta, theta_tilde, support)
    return step_along(V, theta, theta_tilde, start, rate)


def step_along(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    start: Gradients,
    eta: SupportsFloat,
) -> OneStep:
    """Take one step of size `eta` against given gradients.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings. Read once; never copied if its rows or columns are contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries before the step.
    start : Gradients
        The gradients there, of the population or of samples.
    eta : float
        Step size.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or (naming `eta`) a score overflows.
    """
    rate = finite_float("eta", eta)
    V = embedding_array(V)
    m = V.shape[1]
    before = vector_of_length("theta", theta, m)
    before_tilde = vector_of_length("theta_tilde", theta_tilde, m)
    slope = vector_of_length("start.theta", start.theta, m)
    slope_tilde = vector_of_length("start.theta_tilde", start.theta_tilde, m)
    with np.errstate(all="ignore"):
        after = before - rate * slope
        after_tilde = before_tilde - rate * slope_tilde
    scores, scores_tilde = all_scores(V, np.stack([after, after_tilde]))
    if not (np.isfinite(scores).all() and np.isfinite(scores_tilde).all()):
        raise InvalidArgumentError(
            "eta", rate, "the scores after the step overflow; use a smaller eta"
        )
    return OneStep(
        start,
        after,
        after_tilde,
        scores,
        scores_tilde,
        softmax(scores),
        softmax(scores_tilde),
        (int(np.argmax(scores)), int(np.argmax(scores_tilde))),
    )
