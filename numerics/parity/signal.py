"""Where the signal of the first step alone sends k heads, drawn without the other positions.

The gradient of the permanent pushes the score of position s in head h in proportion to

    sum_{s' in S} w_hs' v_s . v_s',    w_hs = sum over bijections sigma with sigma(h) = s of
                                              exp(sum_h' v_sigma(h') . theta_h')

(docs/parity.md; ours). What is left out is what the other positions contribute: smaller by
1/sqrt(d) and 1/m for short queries, more for long ones. So this is the step at m dimensions and
infinitely many positions, for queries of any length, in O(k k!) a draw whatever m is.
"""

from __future__ import annotations

import itertools
import math
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import integer_at_least
from numerics.parity.population import check_heads
from numerics.parity.start import check_length, check_start, helmert

__all__ = ["draw_signal_choices", "signal_choices"]


def signal_choices(scores: NDArray[np.float64], products: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which position of the support the signal makes each head prefer.

    Parameters
    ----------
    scores : ndarray, shape (n, k, k)
        v_s . theta_h, with axes (draw, head, position).
    products : ndarray, shape (n, k, k)
        v_s . v_s'.

    Returns
    -------
    ndarray of int, shape (n, k)
        Numbers 0..k-1 of positions of the support.
    """
    k = scores.shape[1]
    bijections = list(itertools.permutations(range(k)))
    exponents = np.stack([scores[:, range(k), sigma].sum(axis=1) for sigma in bijections], axis=1)
    # A common factor does not change what is largest, and keeps long queries from overflowing.
    terms = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    weights = np.zeros_like(scores)
    for term, sigma in zip(terms.T, bijections, strict=True):
        weights[:, range(k), sigma] += term[:, np.newaxis]
    choices: NDArray[np.intp] = (weights @ products).argmax(axis=2)
    return choices


def draw_signal_choices(
    rng: np.random.Generator,
    k: SupportsIndex,
    m: SupportsIndex,
    *,
    start: str = "simplex",
    norm: SupportsFloat = 1.0,
    orthonormal: bool = False,
    draws: SupportsIndex,
) -> NDArray[np.intp]:
    """Draw scores and products on the support, exactly in law, and return the choices.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    k, m : int
        Number of heads, 2, 3 or 4, and embedding dimension (>= 2 k).
    start : {"simplex", "independent"}
        A key of `numerics.parity.start.STARTS`.
    norm : float
        Length of every query, > 0.
    orthonormal : bool
        Whether the embeddings are orthonormal and uniformly rotated, rather than independent and
        uniform on the sphere.
    draws : int
        How many draws, >= 1.

    Returns
    -------
    ndarray of int, shape (draws, k)

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    heads, n = check_heads(k), integer_at_least("draws", draws, 1)
    dimension, length = integer_at_least("m", m, 2 * heads), check_length(norm)
    if check_start(start) == "simplex":
        fixed = math.sqrt(heads / (heads - 1)) * helmert(heads).T
    else:
        fixed = _unit(_gaussian_rows(rng, n, heads, dimension))
    # In a basis that starts with the span of the queries, the embeddings are Gaussian there, and
    # beyond it have triangular coordinates of their own.
    reach = fixed.shape[-1]
    V = np.concatenate(
        [
            rng.standard_normal((n, heads, reach)),
            _gaussian_rows(rng, n, heads, dimension - reach),
        ],
        axis=2,
    )
    V = _orthonormalised(V) if orthonormal else _unit(V)
    scores = length * fixed @ V[:, :, :reach].transpose(0, 2, 1)
    return signal_choices(scores, V @ V.transpose(0, 2, 1))


def _gaussian_rows(rng: np.random.Generator, n: int, rows: int, m: int) -> NDArray[np.float64]:
    """Draw `rows` standard Gaussian vectors of R^m up to rotation, as lower triangles (Bartlett).

    m >= rows; the inner products are those of the vectors, in law.
    """
    L = np.tril(rng.standard_normal((n, rows, rows)), -1)
    freedom = m - np.arange(rows)
    L[:, range(rows), range(rows)] = np.sqrt(2 * rng.standard_gamma(freedom / 2, (n, rows)))
    return L


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rows / np.linalg.norm(rows, axis=2, keepdims=True))


def _orthonormalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Gram-Schmidt basis of Gaussian rows: uniformly rotated."""
    Q, R = np.linalg.qr(rows.transpose(0, 2, 1))
    Q = Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, np.newaxis, :]
    return np.asarray(Q.transpose(0, 2, 1))
