"""Parity of k bits with k heads: the population loss, its gradients and one step, for k <= 4.

Labels y = (-1)^(k-1) prod_{s in S} x_s, model f = (-1)^(k-1) prod_h <gamma^h, x>, one head for each
relevant position; k = 2 is the model of arXiv:2502.07553v2, the others are ours (docs/parity.md).
Convention: L = E (f - y)^2, no factor 1/2.

Everything is a polynomial in the power sums of elementwise products of the attention vectors. With
f in {0, 1, 2}^k, the joint cumulants of the p_h = <gamma^h, x> are kappa_|f| sum_i prod_h
(gamma^h_i)^f_h; their moments mu follow by recursion, and

    L = 1 - 2 perm(gamma^h_s) + mu_(2,...,2),
    d mu_(2,...,2) / d kappa_f = prod_h C(2, f_h) mu_(2,...,2)-f.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    embedding_array,
    embedding_matrix,
    finite_array,
    finite_float,
    integer_at_least,
    probability_vector,
)
from numerics.attention import softmax
from numerics.passes import all_scores, weighted_sums

__all__ = [
    "MAX_HEADS",
    "ParityGradient",
    "ParityStep",
    "check_heads",
    "check_parity_support",
    "parity_gradient",
    "parity_loss",
    "parity_step",
]

MAX_HEADS = 4
"""Largest number of heads: the cumulants of a sign are stated up to order 8."""

_SIGN_CUMULANTS = {2: 1, 4: -2, 6: 16, 8: -272}

Exponents = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParityGradient:
    """The population loss and its gradients by all queries at one point.

    Attributes
    ----------
    loss : float
        L = E (f - y)^2.
    theta : ndarray, shape (k, m)
        dL/dtheta_h, one row a head.
    """

    loss: float
    theta: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ParityStep:
    """The start, the step and what came of it.

    Attributes
    ----------
    start : ParityGradient
        Loss and gradients at time 0.
    theta : ndarray, shape (k, m)
        The queries after the step.
    gamma : ndarray, shape (k, d)
        The attention of each head after the step.
    heads : tuple of int
        The position with the largest attention in each head (the first one in a tie).
    loss : float
        The population loss after the step.
    """

    start: ParityGradient
    theta: NDArray[np.float64]
    gamma: NDArray[np.float64]
    heads: tuple[int, ...]
    loss: float

    def one_to_one(self, support: Iterable[int]) -> bool:
        """Whether the heads attend most to the positions of the support, one each."""
        return sorted(self.heads) == sorted(support)


def parity_loss(gamma: ArrayLike, support: Sequence[SupportsIndex]) -> float:
    """Return the population loss of k attention vectors, with an absolute error of some 1e-15.

    Parameters
    ----------
    gamma : array_like, shape (k, d)
        Probability vectors, one row a head, k = 2, 3 or 4.
    support : sequence of k int
        The relevant positions, 0-based.

    Raises
    ------
    InvalidArgumentError
        If the rows are no probability vectors, or the support does not fit.
    """
    rows = finite_array("gamma", gamma, 2)
    positions = check_parity_support(support, rows.shape[1], check_heads(rows.shape[0]))
    heads = np.stack([probability_vector(f"gamma[{h}]", row) for h, row in enumerate(rows)])
    with np.errstate(under="ignore"):
        return _Heads(heads, positions).loss


def parity_gradient(
    V: ArrayLike, theta: ArrayLike, support: Sequence[SupportsIndex]
) -> ParityGradient:
    """Return the population loss and its gradients by all queries.

    The gradient by theta_h is sum_i w_i v_i, w_i = gamma^h_i (g_i - sum_j gamma^h_j g_j) with
    g_i = dL/dgamma^h_i. The weights are as accurate as their largest terms: to some units of
    2^-53 while the heads spread over many positions, but where they succeed the terms cancel,
    and what is left is an absolute error of that size.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings.
    theta : array_like, shape (k, m)
        The queries, one row a head, k = 2, 3 or 4.
    support : sequence of k int
        The relevant positions, 0-based.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a score overflows.
    """
    V = embedding_matrix(V)
    queries = _queries(theta, V.shape[1])
    positions = check_parity_support(support, V.shape[0], queries.shape[0])
    heads = _Heads(_attention(V, queries), positions)
    with np.errstate(under="ignore"):
        return ParityGradient(heads.loss, weighted_sums(heads.weights(), V))


def parity_step(
    V: ArrayLike,
    theta: ArrayLike,
    support: Sequence[SupportsIndex],
    eta: SupportsFloat,
    *,
    start: ParityGradient | None = None,
) -> ParityStep:
    """Take one population gradient step of size `eta`, all heads at once.

    Parameters
    ----------
    V, theta, support
        As for `parity_gradient`.
    eta : float
        Step size, for the loss without the factor 1/2. The signal at a small start is
        2 (k-1)!/d^k, so that eta is naturally measured in units of d^k.
    start : ParityGradient, optional
        What `parity_gradient` returns there, if it is known already.

    Raises
    ------
    InvalidArgumentError
        As `parity_gradient`; or (naming `eta`) if a score overflows after the step.
    """
    rate = finite_float("eta", eta)
    V = embedding_array(V)
    if start is None:
        start = parity_gradient(V, theta, support)
    with np.errstate(all="ignore"):
        after = _queries(theta, V.shape[1]) - rate * start.theta
    scores = all_scores(V, after)
    if not np.isfinite(scores).all():
        raise InvalidArgumentError(
            "eta", rate, "the scores after the step overflow; use a smaller eta"
        )
    gamma = np.stack([softmax(row) for row in scores])
    heads = tuple(np.argmax(scores, axis=1).tolist())
    return ParityStep(start, after, gamma, heads, parity_loss(gamma, support))


def check_heads(k: SupportsIndex) -> int:
    """Return the number of heads as an `int`, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If it is not 2, 3 or 4.
    """
    heads = integer_at_least("k", k, 2)
    if heads > MAX_HEADS:
        raise InvalidArgumentError("k", heads, f"must be at most {MAX_HEADS} heads")
    return heads


def check_parity_support(support: Sequence[SupportsIndex], d: int, k: int) -> tuple[int, ...]:
    """Return k different positions as a tuple of `int`, or refuse them.

    Raises
    ------
    InvalidArgumentError
        If there are not exactly k positions, two are equal, or one is outside ``0..d-1``.
    """
    positions = tuple(integer_at_least("support", position, 0) for position in support)
    if len(positions) != k:
        raise InvalidArgumentError("support", positions, f"must be {k} positions, one for a head")
    if max(positions) >= d:
        raise InvalidArgumentError("support", positions, f"positions must be in 0..{d - 1}")
    if len(set(positions)) != k:
        raise InvalidArgumentError("support", positions, "the positions must differ")
    return positions


def _queries(theta: ArrayLike, m: int) -> NDArray[np.float64]:
    queries = finite_array("theta", theta, 2)
    check_heads(queries.shape[0])
    if queries.shape[1] != m:
        raise InvalidArgumentError(
            "theta", f"array of shape {queries.shape}", f"must have {m} columns, as V has"
        )
    return queries


def _attention(V: NDArray[np.float64], queries: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = all_scores(V, queries)
    if not np.isfinite(scores).all():
        raise InvalidArgumentError("theta", "query with an infinite score", "must not overflow")
    return np.stack([softmax(row) for row in scores])


class _Heads:
    """The attention of all heads, with its joint moments."""

    def __init__(self, gamma: NDArray[np.float64], support: tuple[int, ...]) -> None:
        self._gamma = gamma
        self._support = list(support)
        self._plan = _moment_plan(gamma.shape[0])
        # prod_h (gamma^h_i)^f_h, a row for each f.
        self._monomials = _monomials(gamma)[self._plan.rows]
        sums = self._monomials.sum(axis=1).tolist()
        self._cumulants = {
            f: _SIGN_CUMULANTS[sum(f)] * total
            for f, total in zip(self._plan.exponents, sums, strict=True)
        }
        self._moments = self._plan.moments(self._cumulants)
        # The terms of the permanent: prod_h gamma^h_sigma(h) for each bijection sigma.
        on_support = gamma[:, self._support].tolist()
        self._products = {
            sigma: math.prod(on_support[h][s] for h, s in enumerate(sigma))
            for sigma in itertools.permutations(range(len(support)))
        }

    @property
    def loss(self) -> float:
        cross = math.fsum(self._products.values())
        return float(1 - 2 * cross + self._moments[self._plan.top])

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of all heads as rows w: the gradient is sum_i w_i v_i.

        gamma^h_i dL/dgamma^h_i needs no derivative: that of a monomial in gamma^h_i, times
        gamma^h_i, is its exponent times the monomial.
        """
        plan = self._plan
        factors = [
            plan.multiplicity[f] * self._moments[plan.rest[f]] * _SIGN_CUMULANTS[sum(f)]
            for f in plan.exponents
        ]
        slopes = np.array(factors)[:, np.newaxis] * plan.powers
        w: NDArray[np.float64] = slopes.T @ self._monomials
        for sigma, product in self._products.items():
            for h, s in enumerate(sigma):
                w[h, self._support[s]] -= 2 * product
        w -= self._gamma * w.sum(axis=1, keepdims=True)
        return w


def _monomials(gamma: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return prod_h (gamma^h_i)^f_h for every f in {0, 1, 2}^k, in order; shape (3^k, d)."""
    powers = np.stack([np.ones_like(gamma), gamma, gamma * gamma], axis=1)
    products: NDArray[np.float64] = powers[0]
    for head in powers[1:]:
        products = (products[:, np.newaxis] * head).reshape(-1, gamma.shape[1])
    return products


@dataclass(frozen=True, slots=True, eq=False)
class _MomentPlan:
    """How the joint moments of k forms up to (2,...,2) follow from their cumulants.

    Attributes
    ----------
    top : tuple of int
        (2, ..., 2).
    exponents : tuple
        All f in {0, 1, 2}^k with an even total, other than 0.
    powers : ndarray, shape (number of f, k)
        The same as an array.
    rows : list of int
        Where they are among all f in {0, 1, 2}^k.
    terms : dict
        For each f, the (coefficient, g, f - g) with mu_f = sum coefficient kappa_g mu_(f-g).
    multiplicity, rest : dict
        prod_h C(2, f_h) and (2, ..., 2) - f.
    """

    top: Exponents
    exponents: tuple[Exponents, ...]
    powers: NDArray[np.float64]
    rows: list[int]
    terms: dict[Exponents, tuple[tuple[int, Exponents, Exponents], ...]]
    multiplicity: dict[Exponents, int]
    rest: dict[Exponents, Exponents]

    def moments(self, cumulants: dict[Exponents, float]) -> dict[Exponents, float]:
        moments = {(0,) * len(self.top): 1.0}
        for f in self.exponents:
            total = 0.0
            for coefficient, g, rest in self.terms[f]:
                total += coefficient * cumulants[g] * moments[rest]
            moments[f] = total
        return moments


@cache
def _moment_plan(k: int) -> _MomentPlan:
    top = (2,) * k
    # In the order of itertools.product, f - g comes before f.
    every = list(itertools.product(range(3), repeat=k))
    rows = [row for row, f in enumerate(every) if sum(f) > 0 and sum(f) % 2 == 0]
    exponents = tuple(every[row] for row in rows)
    return _MomentPlan(
        top=top,
        exponents=exponents,
        powers=np.array(exponents, dtype=np.float64),
        rows=rows,
        terms={f: tuple(_terms(f, exponents)) for f in exponents},
        multiplicity={f: _binomials(top, f) for f in exponents},
        rest={f: _difference(top, f) for f in exponents},
    )


def _terms(
    f: Exponents, exponents: tuple[Exponents, ...]
) -> Iterable[tuple[int, Exponents, Exponents]]:
    """Yield the blocks g that hold one given form of head h, h the first with f_h > 0."""
    h = next(j for j, exponent in enumerate(f) if exponent > 0)
    given = tuple(int(j == h) for j in range(len(f)))
    for g in exponents:
        if g[h] > 0 and all(part <= whole for part, whole in zip(g, f, strict=True)):
            yield _binomials(_difference(f, given), _difference(g, given)), g, _difference(f, g)


def _binomials(upper: Exponents, lower: Exponents) -> int:
    return math.prod(math.comb(n, r) for n, r in zip(upper, lower, strict=True))


def _difference(left: Exponents, right: Exponents) -> Exponents:
    return tuple(x - y for x, y in zip(left, right, strict=True))
