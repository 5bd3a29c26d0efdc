"""The covariance of the gradient of one sample's loss, at any queries, in O(d m^2).

One sample's gradient by theta is the sum of r_i times the slope by gamma_i, with r_i = gamma_i (v_i
- vbar) and vbar = sum gamma_i v_i, and by theta~ likewise: so its covariance is that of the slopes
(`numerics.samples.moments`) in other coordinates. The mean of n independent samples has 1/n of it.
Source of the model: arXiv:2502.07553v2, section 2 and Corollary 3; the covariance is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import embedding_matrix, row_blocks, vector_of_length
from numerics.attention import softmax
from numerics.passes import all_scores
from numerics.samples.moments import SlopeForm, slope_moments

__all__ = ["sample_covariance", "sample_variance"]


def sample_covariance(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
) -> NDArray[np.float64]:
    """Return the covariance of one sample's gradients by theta and by theta~.

    It takes three products of m x d and d x m matrices: on one core, 0.5 s at d = 1000, m = 1024
    and 1 s at d = 10^4, m = 512. Memory beside V is two matrices of the size of the result, five
    blocks of 8 MiB and some fifty vectors of length d.

    Accuracy: relative to the entries with every term counted positive, the slopes' covariance errs
    as `slope_moments` says, softmax by twice the rounding of a score, and a sum over the positions
    by d u at most. At unit vectors the variance along a direction in one head is right to some
    1e-15, against rational arithmetic up to d = 4000; where the noises of both heads cancel in a
    direction, the error is relative to that of one.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings; never copied if its rows or columns are contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    support : pair of int
        The positions (a, b), 0-based.

    Returns
    -------
    ndarray, shape (2 m, 2 m)
        Symmetric to the last bit, positive semidefinite up to rounding; theta first. It is
        singular where the heads are equal, and where m >= d.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V, heads, form = _start(V, theta, theta_tilde, support)
    return form.project(_coefficient_blocks(V, heads), V.shape[1])


def sample_variance(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    direction: ArrayLike,
    direction_tilde: ArrayLike,
) -> float:
    """Return the variance of direction . grad_theta + direction~ . grad_theta~, in O(d m).

    The arguments not described here and the accuracy are those of `sample_covariance`.

    Parameters
    ----------
    direction, direction_tilde : array_like, shape (m,)
        Not both zero, if the variance is not to be; a zero vector leaves one head out.

    Raises
    ------
    InvalidArgumentError
        As `sample_covariance`, for the directions as well.
    """
    V, heads, form = _start(V, theta, theta_tilde, support)
    m = V.shape[1]
    directions = np.stack(
        [
            vector_of_length("direction", direction, m),
            vector_of_length("direction_tilde", direction_tilde, m),
        ]
    )
    along = all_scores(V, directions)
    r, r_tilde = (head.coefficients(t) for head, t in zip(heads, along, strict=True))
    # A variance of zero can come out as a negative one of the size of its rounding.
    return max(form.quadratic(r, r_tilde), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Head:
    """The attention of one head, with its largest position as the origin of the embeddings.

    v_i - vbar is formed from differences with v_top: where the head concentrates, vbar is so near
    v_top that their difference would be lost.
    """

    gamma: NDArray[np.float64]
    top: int

    @classmethod
    def attending(cls, scores: NDArray[np.float64]) -> _Head:
        return cls(softmax(scores), int(np.argmax(scores)))

    def coefficients(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return r_i = gamma_i (t_i - tbar)."""
        moved: NDArray[np.float64] = t - t[self.top]
        with np.errstate(under="ignore"):
            moved -= self.gamma @ moved
            moved *= self.gamma
        return moved

    def mean_difference(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return vbar - v_top."""
        mean = np.zeros(V.shape[1])
        for rows in row_blocks(*V.shape):
            mean += self.gamma[rows] @ (V[rows] - V[self.top])
        return mean


def _start(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
) -> tuple[NDArray[np.float64], tuple[_Head, _Head], SlopeForm]:
    """Return the checked embeddings, the heads and the covariance of the slopes."""
    V = embedding_matrix(V)
    m = V.shape[1]
    queries = np.stack(
        [vector_of_length("theta", theta, m), vector_of_length("theta_tilde", theta_tilde, m)]
    )
    scores, scores_tilde = all_scores(V, queries)
    heads = _Head.attending(scores), _Head.attending(scores_tilde)
    moments = slope_moments(heads[0].gamma, heads[1].gamma, support)
    return V, heads, moments.covariance


def _coefficient_blocks(
    V: NDArray[np.float64], heads: tuple[_Head, _Head]
) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the rows gamma_i (v_i - vbar) of both heads, in blocks."""
    means = [head.mean_difference(V) for head in heads]
    for rows in row_blocks(*V.shape):
        R, R_tilde = (V[rows] - V[head.top] for head in heads)
        for part, head, mean in zip((R, R_tilde), heads, means, strict=True):
            part -= mean
            part *= head.gamma[rows, np.newaxis]
        yield rows, R, R_tilde
