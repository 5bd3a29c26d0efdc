"""The population loss and its gradients for any attention map, in O(d m).

L = E (f - y)^2 over uniform inputs, f = -p q, no factor 1/2 (arXiv:2502.07553v2, section 2). The
weights may have any sign and any total. Softmax has more structure, and a module of its own,
`numerics.population`; the closed forms here are ours too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import population
from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_matrix,
    finite_array,
    vector_of_length,
)
from numerics.attention_maps import SOFTMAX, AttentionMap, weights_at
from numerics.passes import all_scores, weighted_sums
from numerics.population import PopulationGradient

__all__ = ["gradient", "loss"]


def loss(
    gamma: ArrayLike, gamma_tilde: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> float:
    """Return the population loss of any pair of weights, as a sum of squares.

    By Parseval, with mu = gamma_a gamma~_b + gamma_b gamma~_a,

        L = (1 - mu)^2 + <gamma, gamma~>^2 + sum (gamma_i gamma~_j + gamma_j gamma~_i)^2,

    the sum over the unordered pairs {i, j} other than S. At a small loss 1 - mu and the support's
    part of <gamma, gamma~> are small differences of large products; both are formed without error
    and rounded once.

    Accuracy: with u = 2^-53, and r, r~ the weights outside the support, the error is at most about
    ``(4 d + 20) u (L + sqrt(L) T + |r|^2 |r~|^2)``, where T = |gamma_S| |r~| + |gamma~_S| |r| is
    at most sqrt(2 L) times the condition number of the 2 x 2 weights on the support. So the
    relative accuracy stays as L goes to zero, unless that matrix is near to a singular one.

    Parameters
    ----------
    gamma, gamma_tilde : array_like, shape (d,)
        The weights of each head; any finite numbers.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If the weights are no finite vectors of one length d >= 2, the support does not fit, or
        the loss overflows.
    """
    gamma = finite_array("gamma", gamma, 1)
    d = gamma.shape[0]
    if d < 2:
        raise InvalidArgumentError("gamma", f"array of shape {gamma.shape}", "must have d >= 2")
    gamma_tilde = vector_of_length("gamma_tilde", gamma_tilde, d)
    support = check_support(support, d)
    with np.errstate(all="ignore"):
        value = _Heads.split(gamma, gamma_tilde, support).loss()
    if not math.isfinite(value):
        raise _overflow("gamma", gamma, gamma_tilde)
    return value


def gradient(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    attention: AttentionMap,
) -> PopulationGradient:
    """Return the population loss and both gradients at any queries.

    With g_i = dL/dgamma_i, the gradient is sum_i w_i v_i, w = (dgamma/ds)^T g. For softmax it is
    `numerics.population.gradient`, whose forms are more accurate there.

    Accuracy: for given weights, g_i errs by at most about (d + 20) u T_i, T_i with every term of
    `_Heads.slopes` counted positive. There the differences 1 - mu and <gamma, gamma~> are not
    taken apart, so that the slopes keep their relative accuracy while they shrink. The errors of
    the scores, m u |v_i| |theta|, and of the map come in addition.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings. Read three times; never copied if its rows or columns are contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    support : pair of int
        The positions (a, b), 0-based.
    attention : AttentionMap
        What turns scores into weights.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or the scores, the weights, the loss or
        the gradient overflow.
    """
    if attention is SOFTMAX:
        return population.gradient(V, theta, theta_tilde, support)
    V = embedding_matrix(V)
    d, m = V.shape
    queries = np.stack(
        [vector_of_length("theta", theta, m), vector_of_length("theta_tilde", theta_tilde, m)]
    )
    support = check_support(support, d)
    scores, scores_tilde = all_scores(V, queries)
    gamma = weights_at("theta", scores, attention)
    gamma_tilde = weights_at("theta_tilde", scores_tilde, attention)
    with np.errstate(all="ignore"):
        heads = _Heads.split(gamma, gamma_tilde, support)
        value = heads.loss()
        both = np.stack(
            [
                attention.pull_back(scores, gamma, heads.slopes()),
                attention.pull_back(scores_tilde, gamma_tilde, heads.swapped().slopes()),
            ]
        )
        both = weighted_sums(both, V)
    if not (math.isfinite(value) and np.isfinite(both).all()):
        raise _overflow("theta", gamma, gamma_tilde)
    return PopulationGradient(value, both[0], both[1])


def _overflow(
    what: str, gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64]
) -> InvalidArgumentError:
    largest = max(float(np.abs(gamma).max()), float(np.abs(gamma_tilde).max()))
    return InvalidArgumentError(
        what, f"weights up to {largest:.3g}", "the loss and its gradient must not overflow"
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Heads:
    """Two heads; the rest is what lies outside the support, with zeros at it."""

    gamma: NDArray[np.float64]
    gamma_tilde: NDArray[np.float64]
    support: tuple[int, int]
    rest: NDArray[np.float64]
    rest_tilde: NDArray[np.float64]
    rest_product: float
    short: float  # 1 - mu
    product: float  # <gamma, gamma~>

    @classmethod
    def split(
        cls, gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], support: tuple[int, int]
    ) -> _Heads:
        rest, rest_tilde = gamma.copy(), gamma_tilde.copy()
        rest[list(support)] = rest_tilde[list(support)] = 0.0
        rest_product = float(rest @ rest_tilde)
        own_a, own_b, tilde_a, tilde_b = (
            Fraction(float(head[i])) for head in (gamma, gamma_tilde) for i in support
        )
        return cls(
            gamma,
            gamma_tilde,
            support,
            rest,
            rest_tilde,
            rest_product,
            _rounded(1 - own_a * tilde_b - own_b * tilde_a),
            _rounded(own_a * tilde_a + own_b * tilde_b) + rest_product,
        )

    def swapped(self) -> _Heads:
        return _Heads(
            self.gamma_tilde,
            self.gamma,
            self.support,
            self.rest_tilde,
            self.rest,
            self.rest_product,
            self.short,
            self.product,
        )

    def on_support(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return (gamma_a, gamma~_a) and (gamma_b, gamma~_b)."""
        a, b = self.support
        gamma, gamma_tilde = self.gamma, self.gamma_tilde
        return (float(gamma[a]), float(gamma_tilde[a])), (float(gamma[b]), float(gamma_tilde[b]))

    def loss(self) -> float:
        """Return L, the sum of squares of Parseval's identity."""
        squares = [self.short * self.short, self.product * self.product]
        for own, tilde in self.on_support():
            pairs = own * self.rest_tilde
            pairs += tilde * self.rest
            squares.append(float(pairs @ pairs))
        # Over the pairs {i, j} outside S: half of the sum over all (i, j), less half of i = j.
        both = self.rest * self.rest_tilde
        others = float(
            (self.rest @ self.rest) * (self.rest_tilde @ self.rest_tilde)
            + self.rest_product * self.rest_product
            - 2.0 * (both @ both)
        )
        squares.append(0.0 if others < 0 else others)  # a NaN stays one
        return sum(squares)

    def slopes(self) -> NDArray[np.float64]:
        """Return g_i = dL/dgamma_i, as the derivative of the sum of squares.

            g_i / 2 = gamma_i sum_{j != i} gamma~_j^2 + gamma~_i (2 c - gamma_i gamma~_i)
            g_a / 2 = -gamma~_b (1 - mu) + gamma~_a (c + c_R) + gamma_a |r~|^2,

        for i not in S, with c = <gamma, gamma~>, c_R its part outside S, and r~ the weights
        gamma~ outside S.
        """
        gamma, gamma_tilde = self.gamma, self.gamma_tilde
        a, b = self.support
        (own_a, tilde_a), (own_b, tilde_b) = self.on_support()
        rest_square = float(self.rest_tilde @ self.rest_tilde)
        g = (rest_square + tilde_a * tilde_a + tilde_b * tilde_b) - gamma_tilde * gamma_tilde
        g *= gamma
        g += gamma_tilde * (2.0 * self.product - gamma * gamma_tilde)
        for i, own, tilde, other in ((a, own_a, tilde_a, tilde_b), (b, own_b, tilde_b, tilde_a)):
            g[i] = (
                tilde * (self.product + self.rest_product) + own * rest_square - other * self.short
            )
        g *= 2.0
        return g


def _rounded(number: Fraction) -> float:
    """Return the nearest binary64 number, or an infinity."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
