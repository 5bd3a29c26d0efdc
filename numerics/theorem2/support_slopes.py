"""The two slopes that decide between the positions of the support, drawn in O(d) whatever m is.

As the step grows, head 1 prefers the position of the support that it leans to at the start if its
slope is positive, head 2 the other one if its own is, and an ambient position matters only where
m is small against log d (docs/theorem2.md, sections 2 and 6; ours). The slopes depend on V and
theta^0 through the scores and the products of the orthogonal parts with v_a - v_b alone, whose
joint law is known: with d uniform points on a sphere and d on another, no V need be drawn.
"""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import integer_at_least

__all__ = ["draw_support_slopes"]


def draw_support_slopes(
    generator: np.random.Generator, d: SupportsIndex, m: SupportsIndex, *, draws: SupportsIndex
) -> NDArray[np.float64]:
    """Draw the slopes of both heads against the other position of the support.

    They are what `numerics.theorem2.slopes.one_step_slopes` calls `support_slope`, for V and
    theta^0 uniform on the unit sphere of R^m and independent, exactly in law.

    Parameters
    ----------
    generator : numpy.random.Generator
        Source of randomness.
    d, m : int
        Number of positions (>= 3) and embedding dimension (>= 3).
    draws : int
        How many independent draws, >= 1; d times as many numbers are held in memory.

    Returns
    -------
    ndarray, shape (draws, 2)
        Head 1 and head 2.

    Raises
    ------
    InvalidArgumentError
        If an argument is too small.
    """
    d, m = integer_at_least("d", d, 3), integer_at_least("m", m, 3)
    n = integer_at_least("draws", draws, 1)
    scores = _coordinates(generator, (n, d), m)
    # By symmetry the larger score of the support is that of position 0.
    scores[:, :2] = -np.sort(-scores[:, :2], axis=1)
    heights = np.sqrt((1 - scores) * (1 + scores))
    # The angle of the orthogonal parts of v_a and v_b, and of all others with their difference.
    cosine = _coordinates(generator, (n,), m - 1)
    along = _coordinates(generator, (n, d - 2), m - 1)
    lean = scores[:, 0] - scores[:, 1]
    product = heights[:, 0] * heights[:, 1] * cosine
    overlap = scores[:, 0] * scores[:, 1] + product
    distance = np.sqrt(heights[:, 0] ** 2 + heights[:, 1] ** 2 - 2 * product)
    parts = heights[:, 2:] * along
    slopes = np.empty((n, 2))
    for head, sign in enumerate((1.0, -1.0)):
        s = sign * scores
        uniform, moves = _weights(s, lean)
        weights = uniform[:, np.newaxis] + moves[:, 2:]
        own_move, other_move = moves[:, head], moves[:, 1 - head]
        structured = np.einsum("ij,ij->i", weights, s[:, 2:])
        noise = np.einsum("ij,ij->i", weights, parts)
        slopes[:, head] = (
            (2 * np.sinh(lean) - (own_move - other_move)) * (1 - overlap)
            - lean * structured
            - sign * distance * noise
        )
    return slopes


def _coordinates(
    generator: np.random.Generator, shape: tuple[int, ...], n: int
) -> NDArray[np.float64]:
    """Draw independent coordinates of uniform points on the unit sphere of R^n."""
    normal = generator.standard_normal(shape)
    rest = 2 * generator.standard_gamma((n - 1) / 2, shape)
    return np.asarray(normal / np.sqrt(normal * normal + rest))


def _weights(
    s: NDArray[np.float64], lean: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return c(0) for each draw and c_j - c(0) = K (e^s_j - 1) + M (e^2s_j - 1) for each j."""
    d = s.shape[1]
    E = np.exp(s)
    Z, Z_tilde = E.sum(axis=1), (1 / E).sum(axis=1)
    Z_2, Z_2_tilde = (E * E).sum(axis=1), (1 / (E * E)).sum(axis=1)
    omega = 1 / (Z * Z_tilde)
    kappa = 2 * np.cosh(lean) - omega * Z_2 * Z_2_tilde - 2 * d * (d - 1) * omega
    K, M = (kappa / Z)[:, np.newaxis], (omega * Z_2_tilde)[:, np.newaxis]
    grown = np.expm1(s)
    # e^2s - 1 = (e^s - 1)(e^s + 1).
    moves = grown * (K + M * (grown + 2))
    return kappa / Z + omega * Z_2_tilde + 2 * (d - 1) * omega, moves
