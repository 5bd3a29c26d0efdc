"""The population loss L = E (f - y)^2 over uniform inputs, and its gradients, in O(d m).

Convention: no factor 1/2. Source of the model: arXiv:2502.07553v2, section 2; the closed forms
are ours. Two functions give the gradient: `gradient` at any pair of queries, and
`antisymmetric_gradient` at theta~ = -theta, written from other formulas, so that each checks
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_array,
    probability_vector,
    refuse_non_finite,
    vector_of_length,
)
from numerics.attention import softmax
from numerics.passes import all_scores, weighted_sums

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
    1 - mu is a sum of products too, and sums over all positions but one give the pairs in O(d):
    nothing cancels, so the relative error is below about 4 d u for any loss above 1e-290.

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
        return _Heads.split(gamma, gamma_tilde, support).loss()


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
        Embeddings. Read twice; never copied if its rows or columns are contiguous.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V = embedding_array(V)
    d, m = V.shape
    queries = {
        "theta": vector_of_length("theta", theta, m),
        "theta_tilde": vector_of_length("theta_tilde", theta_tilde, m),
    }
    support = check_support(support, d)
    scores, scores_tilde = _finite_scores(V, queries)
    heads = _Heads.split(softmax(scores), softmax(scores_tilde), support)
    with np.errstate(under="ignore"):
        both = weighted_sums(heads.weights(), V)
        return PopulationGradient(heads.loss(), both[0], both[1])


def antisymmetric_gradient(
    V: ArrayLike, theta: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> PopulationGradient:
    """Return the population loss and both gradients at theta~ = -theta, from scores V theta alone.

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
        Embeddings. Read twice; never copied if its rows or columns are contiguous.
    theta : array_like, shape (m,)
        The query of the first head; the second is its negative.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V = embedding_array(V)
    d, m = V.shape
    query = vector_of_length("theta", theta, m)
    a, b = check_support(support, d)
    (scores,) = _finite_scores(V, {"theta": query})
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
        both = weighted_sums(weights, V)
    value = 1.0 - 2.0 * (towards_a + towards_b) + square * square_tilde + d * flat
    return PopulationGradient(value, both[0], both[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Heads:
    """Two attention vectors; the rest is what lies outside the support, with zeros at it."""

    gamma: NDArray[np.float64]
    gamma_tilde: NDArray[np.float64]
    support: tuple[int, int]
    rest: NDArray[np.float64]
    rest_tilde: NDArray[np.float64]
    rest_square: float
    rest_square_tilde: float
    rest_product: float
    other_products: NDArray[np.float64]  # sum of rest_j rest~_j over j != i

    @classmethod
    def split(
        cls, gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], support: tuple[int, int]
    ) -> _Heads:
        rest, rest_tilde = gamma.copy(), gamma_tilde.copy()
        rest[list(support)] = rest_tilde[list(support)] = 0.0
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
                _sums_of_others(rest * rest_tilde),
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
            self.other_products,
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

    def loss(self) -> float:
        """Return L, the sum of squares of Parseval's identity."""
        gamma_a, gamma_b, tilde_a, tilde_b = self.on_support()
        square, square_tilde, product = self.rest_square, self.rest_square_tilde, self.rest_product
        constant = gamma_a * tilde_a + gamma_b * tilde_b + product
        with_a, with_b = (
            own * own * square_tilde + 2.0 * own * tilde * product + tilde * tilde * square
            for own, tilde in ((gamma_a, tilde_a), (gamma_b, tilde_b))
        )
        # sum_{i<j} (u_i t_j + u_j t_i)^2 = sum_i (t_i^2 sum_{j != i} u_j^2
        #                                          + u_i t_i sum_{j != i} u_j t_j)
        others = _sums_of_others(self.rest * self.rest)
        others *= self.rest_tilde
        pairs = self.rest_tilde @ others
        np.multiply(self.other_products, self.rest_tilde, out=others)
        pairs += self.rest @ others
        return float(self.shortfall() ** 2 + constant**2 + with_a + with_b + pairs)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of both heads as rows w: the gradient is sum_i w_i v_i."""
        weights = np.empty((2, self.gamma.shape[0]))
        self._fill_weights(weights[0])
        self.swapped()._fill_weights(weights[1])
        return weights

    def _fill_weights(self, w: NDArray[np.float64]) -> None:
        """Set w_i = gamma_i (g_i - sum_j gamma_j g_j) for head 1.

        Off the support g_i = 2 gamma_i |gamma~|^2 + 4 gamma~_i sum_{j != i} gamma_j gamma~_j. At a,
        1 - gamma_a gamma~_b = (1 - mu) + gamma_b gamma~_a leaves only small terms:

            g_a / 2 = -gamma~_b (1 - mu) + gamma_b gamma~_a gamma~_b
                      + gamma_a sum_{j != b} gamma~_j^2
                      + 2 gamma~_a sum_{j not in S} gamma_j gamma~_j.
        """
        gamma, gamma_tilde = self.gamma, self.gamma_tilde
        a, b = self.support
        gamma_a, gamma_b, tilde_a, tilde_b = self.on_support()
        square_tilde = self.rest_square_tilde + tilde_a * tilde_a + tilde_b * tilde_b
        short = self.shortfall()
        # The slopes g to begin with.
        np.add(self.other_products, gamma_a * tilde_a + gamma_b * tilde_b, out=w)
        w *= gamma_tilde
        w *= 4.0
        w += 2.0 * square_tilde * gamma
        w[a] = 2.0 * (
            tilde_a * (gamma_b * tilde_b + 2.0 * self.rest_product)
            + gamma_a * (self.rest_square_tilde + tilde_a * tilde_a)
            - tilde_b * short
        )
        w[b] = 2.0 * (
            tilde_b * (gamma_a * tilde_a + 2.0 * self.rest_product)
            + gamma_b * (self.rest_square_tilde + tilde_b * tilde_b)
            - tilde_a * short
        )
        w -= gamma @ w
        w *= gamma
        top = int(np.argmax(gamma))
        w[top] = 0.0
        w[top] = -np.sum(w)


def _sums_of_others(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn nonnegative terms, in place, into sum_{j != i} of them, to full relative accuracy.

    No term but the largest is more than half of the total, so only there the difference with the
    total could cancel.
    """
    top = int(np.argmax(terms))
    rest = np.sum(terms[:top]) + np.sum(terms[top + 1 :])
    np.subtract(rest + terms[top], terms, out=terms)
    terms[top] = rest
    return terms


def _finite_scores(
    V: NDArray[np.float64], queries: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return V theta for each query by its name, or refuse what makes a score not finite.

    Finite scores prove V finite, which saves a look at its entries: one that is not makes every
    product infinite or NaN, and every sum of such products. Not so with a query that has a zero,
    as BLAS may leave out a column that it would multiply with 0.
    """
    scores = all_scores(V, np.stack(list(queries.values())))
    finite = np.isfinite(scores)
    if not finite.all() or not any(query.all() for query in queries.values()):
        refuse_non_finite("V", V)
    for what, row, fine in zip(queries, scores, finite, strict=True):
        if not fine.all():
            first = int(np.argmin(fine))
            raise InvalidArgumentError(
                what,
                f"query with score {row[first]} at position {first}",
                "scores must not overflow",
            )
    return scores
