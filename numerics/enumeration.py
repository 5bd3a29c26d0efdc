"""The mean and the largest loss by visiting every input: the witness the closed forms answer to.

Exact in rational arithmetic, or fast in binary64. Both read the definition (f - y)^2 and use one
fact only: x and -x have the same loss, so half of the inputs suffice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, check_support, finite_array, finite_float

__all__ = ["MAX_POSITIONS", "MAX_POSITIONS_EXACT", "Enumeration", "enumerate_loss"]

MAX_POSITIONS_EXACT = 24
"""Largest d in rational arithmetic: 2^23 inputs, a few seconds."""
MAX_POSITIONS = 32
"""Largest d in binary64: 2^31 inputs, about twenty seconds."""

_SECONDS_PER_INPUT_EXACT = 5e-7
_SECONDS_PER_INPUT = 1e-8
_BLOCK_BITS = 16  # a block of 2^16 inputs and its temporaries stay in the cache

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True, slots=True)
class Enumeration(Generic[Number]):
    """The loss over all 2^d inputs.

    Attributes
    ----------
    mean : Fraction or float
        E (f - y)^2, the population loss.
    supremum : Fraction or float
        The largest (f - y)^2.
    witness : tuple of int
        An input of the largest loss, with x_a = +1.
    """

    mean: Number
    supremum: Number
    witness: tuple[int, ...]


@overload
def enumerate_loss(
    gamma: Sequence[Fraction],
    gamma_tilde: Sequence[Fraction],
    support: tuple[SupportsIndex, SupportsIndex],
) -> Enumeration[Fraction]: ...
@overload
def enumerate_loss(
    gamma: Sequence[float] | NDArray[np.float64],
    gamma_tilde: Sequence[float] | NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
) -> Enumeration[float]: ...
def enumerate_loss(
    gamma: Sequence[Fraction] | Sequence[float] | NDArray[np.float64],
    gamma_tilde: Sequence[Fraction] | Sequence[float] | NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
) -> Enumeration[Fraction] | Enumeration[float]:
    """Return the mean and the largest loss over all 2^d inputs.

    Parameters
    ----------
    gamma, gamma_tilde : sequence of Fraction, or of float, shape (d,)
        Any weights; they need not be probability vectors. With Fractions in both the result is
        exact, otherwise binary64.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If the lengths differ, the support does not fit, or there are too many inputs to visit:
        decided from d alone, with the estimate in the message.
    """
    d = len(gamma)
    if len(gamma_tilde) != d:
        raise InvalidArgumentError(
            "gamma_tilde", f"sequence of length {len(gamma_tilde)}", f"must have length {d}"
        )
    a, b = check_support(support, d)
    u, t = _fractions(gamma), _fractions(gamma_tilde)
    if u is not None and t is not None:
        _refuse_too_many(d, MAX_POSITIONS_EXACT, _SECONDS_PER_INPUT_EXACT)
        return _enumerate_exactly(u, t, a, b)
    _refuse_too_many(d, MAX_POSITIONS, _SECONDS_PER_INPUT)
    return _enumerate_binary64(_floats("gamma", gamma), _floats("gamma_tilde", gamma_tilde), a, b)


def _fractions(
    values: Sequence[Fraction] | Sequence[float] | NDArray[np.float64],
) -> list[Fraction] | None:
    if isinstance(values, np.ndarray):
        return None
    found = [value for value in values if isinstance(value, Fraction)]
    return found if len(found) == len(values) else None


def _floats(
    what: str, values: Sequence[Fraction] | Sequence[float] | NDArray[np.float64]
) -> NDArray[np.float64]:
    if isinstance(values, np.ndarray):
        return finite_array(what, values, 1)
    return np.array([finite_float(what, value) for value in values])


def _refuse_too_many(d: int, most: int, seconds_per_input: float) -> None:
    if d > most:
        # 2^(d-1) inputs are visited; logarithms keep the estimate finite for any d.
        digits = (d - 1) * math.log10(2)
        seconds = digits + math.log10(seconds_per_input)
        raise InvalidArgumentError(
            "d",
            d,
            f"enumeration visits 2^{d - 1} (about 1e{digits:.0f}) inputs, "
            f"about 1e{seconds:.0f} seconds; must be at most {most}",
        )


def _enumerate_exactly(
    gamma: list[Fraction], gamma_tilde: list[Fraction], a: int, b: int
) -> Enumeration[Fraction]:
    d = len(gamma)
    scale = math.lcm(*(value.denominator for value in gamma))
    scale_tilde = math.lcm(*(value.denominator for value in gamma_tilde))
    u = [int(value * scale) for value in gamma]
    t = [int(value * scale_tilde) for value in gamma_tilde]
    one = scale * scale_tilde
    # Gray code: consecutive inputs differ in one sign, the lowest set bit of the counter.
    free = [i for i in range(d) if i != a]
    x = [1] * d
    p, q = sum(u), sum(t)
    total, worst, witness = 0, -1, tuple(x)
    for counter in range(1, (1 << (d - 1)) + 1):
        gap = abs(one - p * q if x[b] > 0 else one + p * q)
        total += gap * gap
        if gap > worst:
            worst, witness = gap, tuple(x)
        if counter < 1 << (d - 1):
            i = free[(counter & -counter).bit_length() - 1]
            x[i] = -x[i]
            p += 2 * x[i] * u[i]
            q += 2 * x[i] * t[i]
    return Enumeration(
        Fraction(total, one * one << (d - 1)), Fraction(worst * worst, one * one), witness
    )


def _enumerate_binary64(
    gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], a: int, b: int
) -> Enumeration[float]:
    d = gamma.shape[0]
    # Bit k of an input's number is the sign of free[k]; b comes last, so that tau is constant on
    # each half, and a is always +1.
    free = np.array([i for i in range(d) if i not in {a, b}] + [b])
    low, high = free[:_BLOCK_BITS], free[_BLOCK_BITS:]
    p_low, q_low = _signed_sums(gamma[low]), _signed_sums(gamma_tilde[low])
    worst, number, means = -1.0, 0, []
    for block in range(1 << high.shape[0]):
        signs = 2.0 * ((block >> np.arange(high.shape[0])) & 1) - 1.0
        p = p_low + (gamma[a] + signs @ gamma[high])
        q = q_low + (gamma_tilde[a] + signs @ gamma_tilde[high])
        if high.shape[0]:
            tau = np.full(p.shape, signs[-1])
        else:
            tau = np.repeat([-1.0, 1.0], p.shape[0] // 2)
        losses = np.square(tau - p * q)
        means.append(float(np.mean(losses)))
        top = int(np.argmax(losses))
        if losses[top] > worst:
            worst, number = float(losses[top]), (block << low.shape[0]) + top
    x = np.ones(d, dtype=np.int64)
    x[free] = [2 * ((number >> k) & 1) - 1 for k in range(d - 1)]
    return Enumeration(math.fsum(means) / len(means), worst, tuple(x.tolist()))


def _signed_sums(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over all signs of the weights, bit k of the index being the sign of k."""
    sums = np.zeros(1)
    for weight in weights:
        sums = np.concatenate([sums - weight, sums + weight])
    return sums
