"""The largest loss over all 2^d inputs, bracketed in O(d log d), with an input that attains it.

Ours. Flipping x leaves (f - y)^2 alone, so take x_a = +1 and tau = x_a x_b = x_b. With p and q
the two heads' sums, (f - y)^2 = (1 - tau p q)^2, and 1 - tau p q >= 0: the supremum is R^2, R the
largest 1 - tau p q. For each tau, (p, q) runs through the +-1 sums of the planar generators
(gamma_i, gamma~_i), i outside the support, shifted by the support's part. They lie in a zonotope
whose boundary is met by turning the generators from -1 to +1 one at a time, by angle: once
upwards, once downwards. Every vertex is an input.

tau = -1. R = 1 + p q has an indefinite Hessian, so its maximum over the zonotope is on the
boundary, and along an edge, whose direction is nonnegative, it is convex: the maximum is at a
vertex, hence attained.

tau = +1. R = 1 - p q is concave along edges. The vertices bound the supremum from below, the
peaks of the edges from above: on the edge of generator i, with R_2 = 4 gamma_i gamma~_i,

    max over t in [0, 1] of (1 - t) R_s + t R_e + t (1 - t) R_2,

at most gamma_i gamma~_i above the better end. When each head has at least half of its mass on
the support, p and q are nonnegative and both smallest at -1 everywhere else: a vertex. With at
most one generator every input is a vertex. In general the supremum is weakly NP-hard (parallel
generators are PARTITION), so the bracket can stay open; the smallest case is d = 4.

Rounding. With alpha, alpha' the mass of head 1 on the positions where x is -1, +1, and beta,
beta' that of head 2,

    1 - p q = 2 (alpha' beta + alpha beta'),    1 + p q = 2 (alpha' beta' + alpha beta)

for total masses 1. Each mass is summed from its own side, never as 1 minus the other, so R is a
sum of products of sums of nonnegative numbers, and its error is relative even at 1e-150. The
bounds, u = 2^-53: two-level running sums of at most k^2 terms err by 2 k u, a mass by
(2 k + 2) u, R by (4 k + 6) u. The edge maximum is monotone and homogeneous in (R_s, R_e, R_2), so
it inherits that error and adds its own 8 u. Sorting is by quotients at most 1, correctly rounded
and so monotone: only generators whose quotients round alike, within 2 u of each other, can be out
of order, which moves a mass of one head by 2 u of itself, R by 4 u at most. Dividing by the
total masses, each the sum of two masses rounded once, adds 6 u. That is (4 k + 24) u in all; the
upper end is enlarged by (4 k + 32) u, which covers the second order. The lower end is the loss of
the witness, from four masses rounded once, and has 10 u of error for an allowance of 16 u.
Products and quotients that underflow add a few 2^-1074.

The bracket is therefore about the exact probability vectors gamma / sum gamma and
gamma~ / sum gamma~ of the given binary64 entries. If other entries differ from them by a relative
eps each, as a softmax does from the exact attention of the same scores, then R differs by a
relative 4 eps at most, to first order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import check_support, probability_vector

__all__ = ["Closure", "WorstCase", "worst_case_loss"]

_UNIT = 2.0**-53
_UNDERFLOW = 32 * 2.0**-1074
_FEW_TERMS = 128  # fsum adds up so many in the time of a few array operations


class Closure(StrEnum):
    """Why the bracket is closed up to rounding, or that it is open."""

    FEW_GENERATORS = "d <= 3"
    """At most one position outside the support has any attention."""
    CONCENTRATED = "concentrated attention"
    """Each head has at least half of its mass on the support."""
    VERTEX = "vertex"
    """No edge bound exceeds the best vertex, beyond the allowance for rounding."""
    OPEN = "open"
    """An edge bound exceeds every vertex: the supremum lies between."""


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """A bracket of sup_x (f(x) - y(x))^2, rounding included.

    Attributes
    ----------
    lower, upper : float
        ``0 <= lower <= sup_x (f - y)^2 <= upper <= 4``.
    witness : ndarray of int8, shape (d,)
        An input of loss at least `lower`.
    proved : Closure
        Why `lower` and `upper` agree up to rounding, or ``Closure.OPEN``.
    """

    lower: float
    upper: float
    witness: NDArray[np.int8]
    proved: Closure


def worst_case_loss(
    gamma: ArrayLike, gamma_tilde: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> WorstCase:
    """Bracket the largest loss over all inputs.

    Parameters
    ----------
    gamma, gamma_tilde : array_like, shape (d,)
        The attention of the two heads; zero and subnormal entries allowed.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If the vectors are no probability vectors of one length or the support does not fit.
    """
    gamma = probability_vector("gamma", gamma)
    gamma_tilde = probability_vector("gamma_tilde", gamma_tilde, gamma.shape[0])
    a, b = check_support(support, gamma.shape[0])
    with np.errstate(under="ignore"):
        return _bracket(gamma, gamma_tilde, (a, b))


class _Vertex(NamedTuple):
    """A vertex of the zonotope: the first `turned` generators have sign `sign`, the rest -sign."""

    R: float
    tau: int
    sign: int
    turned: int


def _bracket(
    gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], support: tuple[int, int]
) -> WorstCase:
    outside = (gamma > 0) | (gamma_tilde > 0)
    outside[list(support)] = False
    positions = np.flatnonzero(outside)
    positions = positions[_angle_order(gamma[positions], gamma_tilde[positions])]
    chains = _Chains.through(gamma, gamma_tilde, support, positions)
    allowance = (4 * math.isqrt(positions.shape[0]) + 36) * _UNIT

    R = {(tau, sign): chains.shortfalls(tau, sign) for tau in (-1, 1) for sign in (1, -1)}
    best = max((_best_vertex(*family, R[family]) for family in R), key=lambda vertex: vertex.R)
    peak = best.R
    if positions.shape[0] <= 1:
        proved = Closure.FEW_GENERATORS
    elif _concentrated(gamma, support) and _concentrated(gamma_tilde, support):
        proved = Closure.CONCENTRATED
    else:
        peak = max(peak, *(_highest_peak(R[1, sign], chains.curvatures) for sign in (1, -1)))
        closes = peak <= best.R * (1 + allowance)
        proved = Closure.VERTEX if closes else Closure.OPEN

    witness = np.full(gamma.shape[0], -best.sign, dtype=np.int8)
    witness[positions[: best.turned]] = best.sign
    witness[list(support)] = 1, best.tau
    plus, minus, plus_tilde, minus_tilde = _masses(gamma, gamma_tilde, witness)
    if best.tau < 0:
        plus_tilde, minus_tilde = minus_tilde, plus_tilde
    totals = (plus + minus) * (plus_tilde + minus_tilde)
    attained = 2.0 * (plus * minus_tilde + minus * plus_tilde) / totals
    return WorstCase(
        lower=_rounded_square(attained * (1 - 16 * _UNIT) - _UNDERFLOW, -1),
        upper=_rounded_square(peak / totals * (1 + allowance) + _UNDERFLOW, 1),
        witness=witness,
        proved=proved,
    )


def _angle_order(u: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.intp]:
    """Sort the generators (u_i, t_i) by angle, using only quotients that are at most 1."""
    # Nonnegative numbers are ordered like their bit patterns. Up to the diagonal the pattern of
    # t / u rises to that of 1; from there on that of u / t falls again, and is mirrored.
    patterns = (np.minimum(u, t) / np.maximum(u, t)).view(np.int64)
    diagonal = np.float64(1.0).view(np.int64)
    return np.argsort(np.where(t <= u, patterns, 2 * diagonal - patterns))


def _running_sums(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the first 0, 1, ..., n terms, in two levels of about sqrt(n)."""
    n = terms.shape[0]
    k = math.isqrt(max(n - 1, 0)) + 1
    sums = np.zeros(1 + k * k)
    sums[1 : n + 1] = terms
    rows = sums[1:].reshape(k, k)
    np.cumsum(rows, axis=1, out=rows)
    rows[1:] += np.cumsum(rows[:-1, -1])[:, np.newaxis]
    return sums[: n + 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Chains:
    """The masses along the two chains of vertices, for both heads.

    ``turned[k]`` and ``kept[k]`` are the masses of the first k and of the other generators.
    """

    on_support: tuple[float, float]
    on_support_tilde: tuple[float, float]
    turned: NDArray[np.float64]
    kept: NDArray[np.float64]
    turned_tilde: NDArray[np.float64]
    kept_tilde: NDArray[np.float64]
    curvatures: NDArray[np.float64]

    @classmethod
    def through(
        cls,
        gamma: NDArray[np.float64],
        gamma_tilde: NDArray[np.float64],
        support: tuple[int, int],
        positions: NDArray[np.intp],
    ) -> _Chains:
        a, b = support
        u, t = gamma[positions], gamma_tilde[positions]
        return cls(
            (float(gamma[a]), float(gamma[b])),
            (float(gamma_tilde[a]), float(gamma_tilde[b])),
            _running_sums(u),
            _running_sums(u[::-1])[::-1],
            _running_sums(t),
            _running_sums(t[::-1])[::-1],
            4.0 * (u * t),
        )

    def shortfalls(self, tau: int, sign: int) -> NDArray[np.float64]:
        """R = 1 - tau p q at the vertices where the turned generators have the given sign."""
        plus, minus = (self.turned, self.kept) if sign > 0 else (self.kept, self.turned)
        plus_tilde, minus_tilde = (
            (self.turned_tilde, self.kept_tilde)
            if sign > 0
            else (self.kept_tilde, self.turned_tilde)
        )
        gamma_a, gamma_b = self.on_support
        tilde_a, tilde_b = self.on_support_tilde
        if tau > 0:
            on, on_tilde = gamma_a + gamma_b, tilde_a + tilde_b
            return 2.0 * ((plus + on) * minus_tilde + (plus_tilde + on_tilde) * minus)
        return 2.0 * (
            (plus + gamma_a) * (plus_tilde + tilde_a) + (minus + gamma_b) * (minus_tilde + tilde_b)
        )


def _best_vertex(tau: int, sign: int, R: NDArray[np.float64]) -> _Vertex:
    turned = int(np.argmax(R))
    return _Vertex(float(R[turned]), tau, sign, turned)


def _highest_peak(R: NDArray[np.float64], curvatures: NDArray[np.float64]) -> float:
    rise = R[1:] - R[:-1]
    inside = np.abs(rise) < curvatures
    if not inside.any():
        return float(R.max())
    rise, curvature = rise[inside], curvatures[inside]
    middle = (R[1:][inside] + R[:-1][inside]) / 2
    peaks = middle + rise * (rise / curvature) / 4 + curvature / 4
    return max(float(R.max()), float(peaks.max()))


def _concentrated(gamma: NDArray[np.float64], support: tuple[int, int]) -> bool:
    """Whether at least half of the mass is on the support, decided exactly."""
    signed = gamma.copy()
    signed[list(support)] *= -1
    # numpy adds up no more than d terms, of size 1 in all: this errs by d u at most.
    excess = float(np.sum(signed))
    if abs(excess) > signed.shape[0] * 2.0 * _UNIT:
        return excess < 0
    return math.fsum(signed.tolist()) <= 0


def _masses(
    gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], x: NDArray[np.int8]
) -> tuple[float, float, float, float]:
    """Return the masses of either head where x is +1 and where it is -1, each rounded once."""
    positive = x > 0
    terms = np.zeros((4, x.shape[0]))
    np.copyto(terms[0], gamma, where=positive)
    np.copyto(terms[1], gamma, where=~positive)
    np.copyto(terms[2], gamma_tilde, where=positive)
    np.copyto(terms[3], gamma_tilde, where=~positive)
    plus, minus, plus_tilde, minus_tilde = _row_sums(terms)
    return plus, minus, plus_tilde, minus_tilde


def _row_sums(terms: NDArray[np.float64]) -> list[float]:
    """Return the sums of the rows, of n nonnegative terms each, to (1 + n u) u of themselves.

    Halves are added term by term. What that rounds off is found exactly, by Knuth's two-sum, and
    added up apart: n / 2 numbers, n / 4, ..., of u of the sum at most in each round, so that the
    rounding of their own sums, in whatever order, comes to n u^2 of the sum.
    """
    rests = []
    while terms.shape[1] > _FEW_TERMS:
        half = terms.shape[1] // 2
        left, right, odd = terms[:, :half], terms[:, half : 2 * half], terms[:, 2 * half :]
        total = left + right
        virtual = total - left
        rests.append(np.sum((left - (total - virtual)) + (right - virtual), axis=1))
        rests.extend(odd.T)
        terms = total
    columns = np.concatenate([terms, *(rest[:, np.newaxis] for rest in rests)], axis=1)
    return [math.fsum(row) for row in columns.tolist()]


def _rounded_square(R: float, direction: int) -> float:
    """Return R^2 rounded outwards, R cut off at its range [0, 2]."""
    R = min(max(R, 0.0), 2.0)
    square = R * R * (1 + direction * 4 * _UNIT) + direction * _UNDERFLOW
    return min(max(square, 0.0), 4.0)
