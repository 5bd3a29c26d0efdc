"""How fast each score falls behind as the first step grows, and what that is made of.

From theta^0 and theta~^0 = -theta^0 a population step of size eta changes S_i - S_k, for head 1, by
2 eta omega slope_k, where i is the position of the support that the head leans to at the start,
and for head 2 likewise. The slopes do not depend on eta. Source: ours (docs/theorem2.md, sections
2 and 6), for unit rows of V and a unit theta^0. Here they are computed from the decomposition into
signal, own weights, structured part and orthogonal noise, not from the gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_array,
    refuse_non_finite,
    row_blocks,
    vector_of_length,
)
from numerics.passes import all_scores, weighted_sums

__all__ = ["HeadSlopes", "OneStepSlopes", "one_step_slopes"]

_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HeadSlopes:
    """The slopes of one head, with their parts.

    W is the sum of c_j v_j^perp over the positions off the support, where v_j^perp is v_j without
    its part along theta^0, and A = v_own - v_other.

    Attributes
    ----------
    own, other : int
        The position of the support that the head leans to, and the other one.
    weights : ndarray, shape (d,)
        c_j, of total 2 cosh Delta.
    signal : float
        2 sinh Delta (1 - rho).
    support_weights : float
        -(c_own - c_other)(1 - rho).
    structured : float
        -Delta sum c_j s_j over the positions off the support, s the scores of this head.
    noise : float
        -W.A.
    support_noise : float
        W.v_own.
    pulls : ndarray, shape (d - 2,)
        (e^Delta v_own + e^-Delta v_other).v_k for the ambient positions k.
    ambient_noises : ndarray, shape (d - 2,)
        (W - c_k v_k^perp).v_k.
    ambient_slopes : ndarray, shape (d - 2,)
        slope_k.
    """

    own: int
    other: int
    weights: NDArray[np.float64]
    signal: float
    support_weights: float
    structured: float
    noise: float
    support_noise: float
    pulls: NDArray[np.float64]
    ambient_noises: NDArray[np.float64]
    ambient_slopes: NDArray[np.float64]

    @property
    def support_slope(self) -> float:
        """The slope against the other position of the support."""
        return self.signal + self.support_weights + self.structured + self.noise


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OneStepSlopes:
    """The start and the slopes of both heads.

    Attributes
    ----------
    scores : ndarray, shape (d,)
        s = V theta^0.
    ambient : ndarray of int, shape (d - 2,)
        The positions off the support, in order: those of the arrays of each head.
    lean : float
        Delta = |s_a - s_b|.
    overlap : float
        rho = v_a.v_b.
    distance : float
        |A| = |v_a - v_b|.
    omega : float
        1/(Z Z~).
    theta, theta_tilde : HeadSlopes
        Head 1 and head 2, which lean to different positions.
    """

    scores: NDArray[np.float64]
    ambient: NDArray[np.intp]
    lean: float
    overlap: float
    distance: float
    omega: float
    theta: HeadSlopes
    theta_tilde: HeadSlopes


def one_step_slopes(
    V: ArrayLike, theta: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> OneStepSlopes:
    """Return the slopes of both heads against every other position, in O(d m).

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings with unit rows. Read four times; never copied if its rows or columns are
        contiguous.
    theta : array_like, shape (m,)
        theta^0, a unit vector; the query of the second head is its negative.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, a row or theta is no unit vector, or the
        two positions of the support have the same embedding.
    """
    V = embedding_array(V)
    d, m = V.shape
    query = vector_of_length("theta", theta, m)
    a, b = check_support(support, d)
    _require_unit_rows("V", V)
    _require_unit_rows("theta", query[np.newaxis])
    distance = float(np.linalg.norm(V[a] - V[b]))
    if not distance > 0:
        raise InvalidArgumentError("support", (a, b), "the embeddings there must differ")

    scores = all_scores(V, query[np.newaxis])[0]
    own, other = (a, b) if scores[a] >= scores[b] else (b, a)
    lean = float(scores[own] - scores[other])
    omega, weights, support_moves = _weights(scores, lean, own, other)
    ambient = np.delete(np.arange(d), [a, b])
    rest = weights.copy()
    rest[:, [a, b]] = 0.0
    along = rest @ scores
    W = weighted_sums(rest, V) - along[:, np.newaxis] * query
    products = all_scores(V, np.stack([W[0], W[1], V[own], V[other]]))

    def head(index: int, own: int, other: int, towards: int) -> HeadSlopes:
        """Head 1 for index 0; `towards` is the row of `products` with those of v_own."""
        return _head_slopes(
            scores,
            weights[index],
            ambient,
            own=own,
            other=other,
            lean=lean,
            support_move=support_moves[index],
            along=float(along[index]),
            noises=products[index],
            with_own=products[towards],
            with_other=products[5 - towards],
        )

    return OneStepSlopes(
        scores=scores,
        ambient=ambient,
        lean=lean,
        overlap=float(V[a] @ V[b]),
        distance=distance,
        omega=omega,
        theta=head(0, own, other, 2),
        theta_tilde=head(1, other, own, 3),
    )


def _require_unit_rows(what: str, rows: NDArray[np.float64]) -> None:
    # Normalised in binary64, a row of m entries has a square that misses 1, as computed, by less.
    allowed = 4 * (rows.shape[1] + 4) * _UNIT
    for block in row_blocks(*rows.shape):
        part = rows[block]
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", part, part)
            right = np.abs(squares - 1) <= allowed
        if not right.all():
            refuse_non_finite(what, rows)
            first = int(np.argmin(right))
            name = what if what == "theta" else f"{what}[{block.start + first}]"
            length = math.sqrt(squares[first])
            raise InvalidArgumentError(name, f"vector of length {length!r}", "must have length 1")


def _weights(
    scores: NDArray[np.float64], lean: float, own: int, other: int
) -> tuple[float, NDArray[np.float64], tuple[float, float]]:
    """Return omega, the weights c_j of both heads as rows, and c_own - c_other of each head.

    c_j = c(0) + f(s_j), f(s) = (kappa/Z) (e^s - 1) + omega Z~_2 (e^2s - 1), in which nothing of
    the size of c(0) is lost where f is small.
    """
    d = scores.shape[0]
    once = np.expm1(np.stack([scores, -scores]))
    twice = np.expm1(np.stack([2 * scores, -2 * scores]))
    Z, Z_tilde = d + once.sum(axis=1)
    Z_2, Z_2_tilde = d + twice.sum(axis=1)
    omega = float(1 / (Z * Z_tilde))
    kappa = 2 * math.cosh(lean) - omega * Z_2 * Z_2_tilde - 2 * d * (d - 1) * omega
    slow = kappa / np.array([[Z], [Z_tilde]])
    fast = omega * np.array([[Z_2_tilde], [Z_2]])
    f = slow * once + fast * twice
    moves = float(f[0, own] - f[0, other]), float(f[1, other] - f[1, own])
    return omega, slow + fast + 2 * (d - 1) * omega + f, moves


def _head_slopes(
    scores: NDArray[np.float64],
    weights: NDArray[np.float64],
    ambient: NDArray[np.intp],
    *,
    own: int,
    other: int,
    lean: float,
    support_move: float,
    along: float,
    noises: NDArray[np.float64],
    with_own: NDArray[np.float64],
    with_other: NDArray[np.float64],
) -> HeadSlopes:
    """Put the parts of one head together.

    `along` is the sum of c_j s_j off the support, s = V theta^0 for either head; `noises`,
    `with_own` and `with_other` are the products of W, v_own and v_other with all rows.
    """
    growth = math.exp(lean)
    overlap = float(with_own[other])
    s, c = scores[ambient], weights[ambient]
    own_products, other_products = with_own[ambient], with_other[ambient]
    pulls = growth * own_products + other_products / growth
    support_noise = float(noises[own])
    # W.v_k without the term of k itself, |v_k^perp|^2 = 1 - s_k^2.
    ambient_noises = noises[ambient] - c * (1 - s * s)
    slopes = growth + overlap / growth - pulls
    slopes -= (weights[own] - c) * (1 - own_products)
    slopes -= weights[other] * (overlap - other_products)
    # The product of two scores is the same for both heads.
    slopes -= (scores[own] - s) * (along - c * s)
    slopes += c * (own_products - s * scores[own]) - support_noise + ambient_noises
    return HeadSlopes(
        own=own,
        other=other,
        weights=weights,
        signal=2 * math.sinh(lean) * (1 - overlap),
        support_weights=-support_move * (1 - overlap),
        # Delta times the sum over the head's own scores: both change their sign with the head.
        structured=float(scores[other] - scores[own]) * along,
        noise=float(noises[other]) - support_noise,
        support_noise=support_noise,
        pulls=pulls,
        ambient_noises=ambient_noises,
        ambient_slopes=slopes,
    )
