"""The population loss L = E (f - y)^2 over uniform inputs, and its gradients, in O(d m).

Convention: no factor 1/2. Source of the model: arXiv:2502.07553v2, section 2; the closed forms
are ours. Two functions give the gradient: `gradient` at any pair of queries, and
`antisymmetric_gradient` at theta~ = -theta, written from other formulas, so that each checks
the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_matrix,
    probability_vector,
    vector_of_length,
)
from numerics.attention import softmax

__all__ = ["PopulationGradient", "antisymmetric_gradient", "gradient", "loss"]


@dataclass(frozen=True, slots=True, eq=False)
class PopulationGradient:
    """The population loss and its two gradients at one point.

    Attributes
    ----------
    loss : float
        L = E (f - y)^2.
    theta, theta_tilde : ndarray, shape (m,)
        dL/dtheta and dL/dtheta~.
    """

    loss: float
    theta: NDArray[np.float64]
    theta_tilde: NDArray[np.float64]


def loss(
    gamma: ArrayLike, gamma_tilde: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> float:
    """Return the population loss of a pair of attention vectors, as a sum of squares.

    x_a x_b p q is multilinear, so by Parseval, with mu = gamma_a gamma~_b + gamma_b gamma~_a,

        L = (1 - mu)^2 + <gamma, gamma~>^2 + sum (gamma_i gamma~_j + gamma_j gamma~_i)^2,

    the sum over the unordered pairs {i, j} other than S. With the total mass 1 of each head,
    1 - mu is a sum of products too, and running sums give the pairs in O(d): no subtraction
    anywhere, so the relative error is below about 4 d u for any loss above 1e-290.

    Parameters
    ----------
    gamma, gamma_tilde : array_like, shape (d,)
        Probability vectors.
    support : pair of int
        The positions (a, b), 0-based.

    Returns
    -------
    float
        L, in [0, 2].

    Raises
    ------
    InvalidArgumentError
        If the vectors are no probability vectors of one length or the support does not fit.
    """
    gamma = probability_vector("gamma", gamma)
    gamma_tilde = probability_vector("gamma_tilde", gamma_tilde, gamma.shape[0])
    support = check_support(support, gamma.shape[0])
    with np.errstate(under="ignore"):
        return _parseval_loss(_Heads.split(gamma, gamma_tilde, support))


def gradient(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
) -> PopulationGradient:
    """Return the population loss and both gradients at any queries.

    With g_i = dL/dgamma_i, the gradient is sum_i w_i v_i, w_i = gamma_i (g_i - sum_j gamma_j g_j).
    The terms of g_a and g_b that cancel where the heads succeed are combined beforehand, and the
    weight of the position that holds most attention is minus the sum of the others (they sum to
    zero), so the weights keep their relative accuracy while they shrink to nothing.

    Accuracy: to first order, component k errs by at most about
    ``(8 m |V| |theta| + d + 30) u sum_i T_i |v_ik|``, |V| the largest row norm, |theta| the larger
    query, T_i the weight w_i with every term counted positive. The signal 2/d^2 is of the order
    of sum_i T_i, not a small remainder of large terms, so at unit vectors this is a relative
    error in the norm: some 1e-15 in practice.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings. Read four times, once to check it; never copied if its rows or columns are
        contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V = embedding_matrix(V)
    d, m = V.shape
    theta = vector_of_length("theta", theta, m)
    theta_tilde = vector_of_length("theta_tilde", theta_tilde, m)
    support = check_support(support, d)
    gamma = softmax(_scores(V, "theta", theta))
    gamma_tilde = softmax(_scores(V, "theta_tilde", theta_tilde))
    heads = _Heads.split(gamma, gamma_tilde, support)
    with np.errstate(under="ignore"):
        weights = np.stack([_weights(heads), _weights(heads.swapped())])
        both = weights @ V
        return PopulationGradient(_parseval_loss(heads), both[0], both[1])


def antisymmetric_gradient(
    V: ArrayLike, theta: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> PopulationGradient:
    """Return the population loss and both gradients at theta~ = -theta, from one pass V theta.

    At this start omega = gamma_i gamma~_i is the same for every i. With s = V theta and
    Delta = s_a - s_b, so that omega e^Delta = gamma_a gamma~_b,

        L = 1 - 2 omega (e^Delta + e^-Delta) + |gamma|^2 |gamma~|^2 + 2 d (d-1) omega^2
        -grad_theta L / 2 = omega (e^Delta v_a + e^-Delta v_b)
            - sum_j [omega kappa gamma_j + |gamma~|^2 gamma_j^2 + 2 (d-1) omega^2] v_j,
        omega kappa = omega (e^Delta + e^-Delta) - |gamma|^2 |gamma~|^2 - 2 d (d-1) omega^2,

    and theta~ by s -> -s. Everything is written in gamma, which cannot overflow.

    Accuracy: as `gradient` while the heads spread over many positions, which a unit theta
    ensures. Where they concentrate on S the terms cancel, the error stays of order
    ``u |v|`` while the gradient vanishes, and `gradient` is the better function.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings. Read three times, once to check it; never copied if its rows or columns are
        contiguous.
    theta : array_like, shape (m,)
        The query of the first head; the second is its negative.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V = embedding_matrix(V)
    d, m = V.shape
    theta = vector_of_length("theta", theta, m)
    a, b = check_support(support, d)
    scores = _scores(V, "theta", theta)
    gamma, gamma_tilde = softmax(scores), softmax(-scores)
    with np.errstate(under="ignore"):
        top = int(np.argmax(gamma))
        omega = float(gamma[top] * gamma_tilde[top])
        towards_a = float(gamma[a] * gamma_tilde[b])  # omega e^Delta
        towards_b = float(gamma[b] * gamma_tilde[a])  # omega e^-Delta
        square, square_tilde = float(gamma @ gamma), float(gamma_tilde @ gamma_tilde)
        flat = 2.0 * (d - 1) * omega * omega
        omega_kappa = towards_a + towards_b - square * square_tilde - d * flat
        weights = np.stack(
            [
                gamma * (omega_kappa + square_tilde * gamma) + flat,
                gamma_tilde * (omega_kappa + square * gamma_tilde) + flat,
            ]
        )
        weights[:, a] -= towards_a, towards_b
        weights[:, b] -= towards_b, towards_a
        weights *= 2.0
        both = weights @ V
    value = 1.0 - 2.0 * (towards_a + towards_b) + square * square_tilde + d * flat
    return PopulationGradient(value, both[0], both[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Heads:
    """Two attention vectors, split into their support and the rest, with the sums in use."""

    gamma: NDArray[np.float64]
    gamma_tilde: NDArray[np.float64]
    support: tuple[int, int]
    rest: NDArray[np.float64]
    rest_tilde: NDArray[np.float64]
    rest_square: float
    rest_square_tilde: float
    rest_product: float

    @classmethod
    def split(
        cls, gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], support: tuple[int, int]
    ) -> _Heads:
        rest, rest_tilde = np.delete(gamma, support), np.delete(gamma_tilde, support)
        with np.errstate(under="ignore"):
            return cls(
                gamma,
                gamma_tilde,
                support,
                rest,
                rest_tilde,
                float(rest @ rest),
                float(rest_tilde @ rest_tilde),
                float(rest @ rest_tilde),
            )

    def swapped(self) -> _Heads:
        return _Heads(
            self.gamma_tilde,
            self.gamma,
            self.support,
            self.rest_tilde,
            self.rest,
            self.rest_square_tilde,
            self.rest_square,
            self.rest_product,
        )

    def on_support(self) -> tuple[float, float, float, float]:
        a, b = self.support
        gamma, gamma_tilde = self.gamma, self.gamma_tilde
        return float(gamma[a]), float(gamma[b]), float(gamma_tilde[a]), float(gamma_tilde[b])

    def shortfall(self) -> float:
        """1 - mu = (total mass)(total mass~) - mu, without the subtraction."""
        gamma_a, gamma_b, tilde_a, tilde_b = self.on_support()
        off, off_tilde = float(np.sum(self.rest)), float(np.sum(self.rest_tilde))
        return (
            gamma_a * tilde_a
            + gamma_b * tilde_b
            + off * (tilde_a + tilde_b)
            + off_tilde * (gamma_a + gamma_b)
            + off * off_tilde
        )


def _parseval_loss(heads: _Heads) -> float:
    gamma_a, gamma_b, tilde_a, tilde_b = heads.on_support()
    rest, rest_tilde = heads.rest, heads.rest_tilde
    constant = gamma_a * tilde_a + gamma_b * tilde_b + heads.rest_product
    with_a = gamma_a * rest_tilde + tilde_a * rest
    with_b = gamma_b * rest_tilde + tilde_b * rest
    # sum_{i<j} (u_i t_j + u_j t_i)^2, from the sums over i < j of u_i^2, t_i^2 and u_i t_i.
    square, square_tilde, product = rest * rest, rest_tilde * rest_tilde, rest * rest_tilde
    pairs = (
        square_tilde[1:] @ np.cumsum(square)[:-1]
        + square[1:] @ np.cumsum(square_tilde)[:-1]
        + 2.0 * (product[1:] @ np.cumsum(product)[:-1])
    )
    return float(heads.shortfall() ** 2 + constant**2 + with_a @ with_a + with_b @ with_b + pairs)


def _weights(heads: _Heads) -> NDArray[np.float64]:
    """Return w_i of head 1, grad_theta L = sum_i w_i v_i.

    Off the support g_i = 2 gamma_i |gamma~|^2 + 4 gamma~_i sum_{j != i} gamma_j gamma~_j. At a,
    1 - gamma_a gamma~_b = (1 - mu) + gamma_b gamma~_a leaves only small terms:

        g_a / 2 = -gamma~_b (1 - mu) + gamma_b gamma~_a gamma~_b
                  + gamma_a sum_{j != b} gamma~_j^2 + 2 gamma~_a sum_{j not in S} gamma_j gamma~_j.
    """
    gamma, gamma_tilde = heads.gamma, heads.gamma_tilde
    a, b = heads.support
    gamma_a, gamma_b, tilde_a, tilde_b = heads.on_support()
    square_tilde = heads.rest_square_tilde + tilde_a * tilde_a + tilde_b * tilde_b
    product = heads.rest_product + gamma_a * tilde_a + gamma_b * tilde_b
    short = heads.shortfall()
    slopes = 2.0 * square_tilde * gamma + 4.0 * gamma_tilde * (product - gamma * gamma_tilde)
    slopes[a] = 2.0 * (
        tilde_a * (gamma_b * tilde_b + 2.0 * heads.rest_product)
        + gamma_a * (heads.rest_square_tilde + tilde_a * tilde_a)
        - tilde_b * short
    )
    slopes[b] = 2.0 * (
        tilde_b * (gamma_a * tilde_a + 2.0 * heads.rest_product)
        + gamma_b * (heads.rest_square_tilde + tilde_b * tilde_b)
        - tilde_a * short
    )
    weights: NDArray[np.float64] = gamma * (slopes - gamma @ slopes)
    top = int(np.argmax(gamma))
    weights[top] = 0.0
    weights[top] = -np.sum(weights)
    return weights


def _scores(V: NDArray[np.float64], what: str, query: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        scores = V @ query
    if not np.isfinite(scores).all():
        first = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InvalidArgumentError(
            what,
            f"query with score {scores[first]} at position {first}",
            "scores must not overflow",
        )
    return np.asarray(scores)
