"""Gradient descent with attention applied score by score: a proof of where it ends, in balls.

Source: arXiv:2502.07553v2, section 5, for the maps; the closed forms are ours. With gamma_i =
phi(s_i), s = V theta, one step of population gradient descent is

    theta - eta V^T (phi'(s) g),    g_i = dL/dgamma_i,

taken for both queries at once. Every operation is one on balls, so the losses at the end are those
of the exact iteration from the given numbers, whatever binary64 would have made of it. Balls grow
from step to step: the working precision is doubled until what is left of it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, SupportsIndex

from flint import arb, arb_mat
from numpy.typing import ArrayLike

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_matrix,
    integer_at_least,
    vector_of_length,
)
from numerics.balls.arithmetic.exact import from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import MIN_BITS, precisions, working_precision
from numerics.balls.arithmetic.ternary import Ternary, less, less_equal
from numerics.balls.model import dot, population_loss
from numerics.balls.reach.least_singular import exact_matrix

__all__ = ["MAPS", "DescentCertificate", "PointwiseMap", "certify_descent"]

FIRST_BITS = 256
"""Working precision of the first attempt."""

# Queries that are known no better than this decide nothing a few steps later.
_WIDEST = 1

_WIDE = "the balls are too wide"
_BETWEEN = "the tolerance is above the mean loss, and below the bound of every loss"

Verdict = Literal["certified", "refuted", "undecided"]
Interval = tuple[Fraction, Fraction]
_Heads = tuple[list[arb], list[arb]]


@dataclass(frozen=True, slots=True)
class PointwiseMap:
    """A function phi that turns scores into weights, one by one.

    Attributes
    ----------
    value, derivative : callable
        phi and phi' of a ball.
    """

    value: Callable[[arb], arb]
    derivative: Callable[[arb], arb]


def _tanh_derivative(s: arb) -> arb:
    return 1 / s.cosh() ** 2


MAPS: Mapping[str, PointwiseMap] = MappingProxyType(
    {
        "linear": PointwiseMap(lambda s: s, lambda _: arb(1)),
        "erf": PointwiseMap(arb.erf, lambda s: 2 * (-s * s).exp() / arb.pi().sqrt()),
        "tanh": PointwiseMap(arb.tanh, _tanh_derivative),
    }
)
"""The maps by name."""


@dataclass(frozen=True, slots=True)
class DescentCertificate:
    """What was proved about the losses after a number of steps.

    Attributes
    ----------
    verdict : str
        "certified": the loss of every input is at most the tolerance. "refuted": that of some
        input is larger, since the mean is. "undecided": neither is proved.
    mean_loss : pair of Fraction or None
        Encloses the population loss after the last step; None if nothing was enclosed.
    sup_loss : pair of Fraction or None
        Encloses the largest loss of an input, between the mean and a bound that is seldom close.
    bits : int
        Highest working precision used.
    reason : str or None
        Why it is undecided.
    """

    verdict: Verdict
    mean_loss: Interval | None
    sup_loss: Interval | None
    bits: int
    reason: str | None


def certify_descent(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    attention: str,
    eta: Fraction,
    steps: SupportsIndex,
    tolerance: Fraction,
    max_bits: SupportsIndex = 4096,
) -> DescentCertificate:
    """Prove or refute that gradient descent ends where every input has loss at most `tolerance`.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    theta, theta_tilde : array_like, shape (m,)
        The queries at the start, taken as exact rational numbers.
    support : pair of int
        The positions (a, b), 0-based.
    attention : str
        A key of `MAPS`.
    eta : Fraction
        Step size, positive, for the loss without the factor 1/2.
    steps : int
        Number of steps; 0 decides about the start.
    tolerance : Fraction
        T, positive.
    max_bits : int
        Highest working precision; the first attempt uses 256 bits, or this if it is less.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, the map is unknown, or a number is out of
        its range.
    """
    matrix = embedding_matrix(V)
    d, m = matrix.shape
    queries = [
        vector_of_length("theta", theta, m).tolist(),
        vector_of_length("theta_tilde", theta_tilde, m).tolist(),
    ]
    positions = check_support(support, d)
    if attention not in MAPS:
        raise InvalidArgumentError("attention", attention, f"must be one of {', '.join(MAPS)}")
    for what, value in (("eta", eta), ("tolerance", tolerance)):
        if value <= 0:
            raise InvalidArgumentError(what, value, "must be positive")
    count = integer_at_least("steps", steps, 0)
    most = integer_at_least("max_bits", max_bits, MIN_BITS)
    for bits in precisions(min(FIRST_BITS, most), most):
        with working_precision(bits):
            heads = _descend(exact_matrix(matrix), queries, positions, MAPS[attention], eta, count)
            found = (
                DescentCertificate("undecided", None, None, bits, f"at {bits} bits {_WIDE}")
                if heads is None
                else _judge(heads, positions, tolerance, bits)
            )
        if found.verdict != "undecided" or found.reason == _BETWEEN:
            break
    return found


def _descend(
    V: arb_mat,
    queries: list[list[float]],
    support: tuple[int, int],
    phi: PointwiseMap,
    eta: Fraction,
    steps: int,
) -> _Heads | None:
    """Return the weights of both heads after the last step; None if balls are too wide to go on."""
    d, m = V.nrows(), V.ncols()
    transposed, rate = V.transpose(), from_fraction(eta)
    both = arb_mat(m, 2, [x for pair in zip(*queries, strict=True) for x in pair])
    for step in range(steps + 1):
        scores = (V * both).entries()
        heads = scores[::2], scores[1::2]
        gamma, gamma_tilde = ([phi.value(s) for s in head] for head in heads)
        if step == steps:
            return gamma, gamma_tilde
        slopes = _slopes(gamma, gamma_tilde, support), _slopes(gamma_tilde, gamma, support)
        pulled = [
            phi.derivative(s) * g
            for position in zip(*heads, *slopes, strict=True)
            for s, g in (position[::2], position[1::2])
        ]
        both = both - rate * (transposed * arb_mat(d, 2, pulled))
        if not all(x.rad() < _WIDEST for x in both.entries()):
            break
    return None


def _slopes(gamma: list[arb], gamma_tilde: list[arb], support: tuple[int, int]) -> list[arb]:
    """Return g_i = dL/dgamma_i.

    g_i / 2 = gamma_i |gamma~|^2 + 2 gamma~_i (<gamma, gamma~> - gamma_i gamma~_i)
              - delta_ia gamma~_b - delta_ib gamma~_a.
    """
    a, b = support
    square_tilde, overlap = dot(gamma_tilde, gamma_tilde), dot(gamma, gamma_tilde)
    halves = [
        g * square_tilde + 2 * t * (overlap - g * t)
        for g, t in zip(gamma, gamma_tilde, strict=True)
    ]
    halves[a] -= gamma_tilde[b]
    halves[b] -= gamma_tilde[a]
    return [2 * half for half in halves]


def _judge(
    heads: _Heads, support: tuple[int, int], tolerance: Fraction, bits: int
) -> DescentCertificate:
    mean, most = population_loss(*heads, support), _every_input(heads, support)
    limit = from_fraction(tolerance)
    verdict: Verdict = "undecided"
    reason: str | None = None
    if less_equal(most, limit) is Ternary.TRUE:
        verdict = "certified"
    elif less(limit, mean) is Ternary.TRUE:
        verdict = "refuted"
    elif less(mean, limit) is less(limit, most) is Ternary.TRUE:
        reason = _BETWEEN
    else:
        reason = f"at {bits} bits {_WIDE}"
    return DescentCertificate(verdict, _interval(mean, mean), _interval(mean, most), bits, reason)


def _interval(low: arb, high: arb) -> Interval | None:
    lower, upper = lower_end(low), upper_end(high)
    return None if lower is None or upper is None else (max(lower, Fraction(0)), upper)


def _every_input(heads: _Heads, support: tuple[int, int]) -> arb:
    """Bound (f - y)^2 for every input by the sum of the sizes of all coefficients, squared.

    x_a x_b - p q = (1 - mu) x_a x_b - <gamma, gamma~> - sum_{i<j} (gamma_i gamma~_j + gamma_j
    gamma~_i) x_i x_j, the last sum over the pairs other than S.
    """
    gamma, gamma_tilde = heads
    total = abs(dot(gamma, gamma_tilde))
    for i in range(len(gamma)):
        for j in range(i):
            coefficient = gamma[i] * gamma_tilde[j] + gamma[j] * gamma_tilde[i]
            total += abs(1 - coefficient if {i, j} == set(support) else coefficient)
    return total * total
