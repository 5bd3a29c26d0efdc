"""Softmax attention: the weights, their logarithms, and the mass left off one position.

Scores that differ by hundreds are ordinary after one large step, so the mass off the chosen
position, 1 - gamma_a, is as small as 1e-300 and is never computed as that difference. The
rounding of ``scores - max(scores)``, up to 700 u, is put back by an exact two-term difference,
so that every weight has a relative error of a few units u plus that of the sum.
"""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import InvalidArgumentError, finite_array, integer_at_least

__all__ = ["complement", "log_softmax", "softmax"]

_UNDERFLOW_EXPONENT = -746.0  # exp rounds to zero below log(2^-1075) = -745.13
_BLOCK_ENTRIES = 1 << 13  # the temporaries of a block stay in the cache


def softmax(scores: ArrayLike) -> NDArray[np.float64]:
    """Return ``gamma_i = exp(s_i) / sum_j exp(s_j)``.

    Parameters
    ----------
    scores : array_like, shape (d,)
        Any finite scores; neither their size nor their spread can overflow.

    Returns
    -------
    ndarray, shape (d,)
        Nonnegative weights, subnormal ones kept, of total mass 1 up to rounding.

    Raises
    ------
    InvalidArgumentError
        If `scores` is not a nonempty finite vector.
    """
    scores = _scores(scores)
    with np.errstate(under="ignore"):
        weights = _exp_difference(scores, scores.max())
        weights /= np.sum(weights)
    return weights


def log_softmax(scores: ArrayLike) -> NDArray[np.float64]:
    """Return ``log gamma_i``, accurate also where gamma_i is next to 1 or underflows.

    The normaliser is ``log1p`` of the mass beside the largest term, so ``log gamma`` of a
    dominant position keeps its relative accuracy. An entry below -1.8e308 is ``-inf``.

    Raises
    ------
    InvalidArgumentError
        If `scores` is not a nonempty finite vector.
    """
    scores = _scores(scores)
    top = int(np.argmax(scores))
    with np.errstate(under="ignore", over="ignore"):
        weights = _exp_difference(scores, scores[top])
        weights[top] = 0.0
        shifted: NDArray[np.float64] = scores - scores[top]
        shifted -= math.log1p(float(np.sum(weights)))
    return shifted


def complement(scores: ArrayLike, position: SupportsIndex) -> float:
    """Return ``1 - gamma_position`` as a quotient of positive sums.

    With M the largest of the other scores and r = sum_{i != position} exp(s_i - M) in [1, d),
    it is ``r e / (1 + r e)``, e = exp(M - s_position): nothing cancels, and nothing underflows
    before the result does.

    Parameters
    ----------
    scores : array_like, shape (d,)
        Any finite scores.
    position : int
        The position whose weight is left out.

    Raises
    ------
    InvalidArgumentError
        If `scores` is not a nonempty finite vector or `position` is outside it.
    """
    scores = _scores(scores)
    position = integer_at_least("position", position, 0)
    if position >= scores.shape[0]:
        raise InvalidArgumentError("position", position, f"must be in 0..{scores.shape[0] - 1}")
    others = np.delete(scores, position)
    if others.shape[0] == 0:
        return 0.0
    top = others.max()
    pair = np.array([top, scores[position]])
    with np.errstate(under="ignore"):
        rest = float(np.sum(_exp_difference(others, top)))
        other, own = map(float, _exp_difference(pair, pair.max()))
    return rest * other / (own + rest * other)


def _scores(scores: ArrayLike) -> NDArray[np.float64]:
    vector = finite_array("scores", scores, 1)
    if vector.shape[0] == 0:
        raise InvalidArgumentError("scores", "array of shape (0,)", "must not be empty")
    return vector


def _exp_difference(scores: NDArray[np.float64], top: np.float64) -> NDArray[np.float64]:
    """Return exp(s_i - top) for top >= max s, with the rounding of the difference put back."""
    powers = np.empty_like(scores)
    for start in range(0, scores.shape[0], _BLOCK_ENTRIES):
        part = scores[start : start + _BLOCK_ENTRIES]
        with np.errstate(over="ignore", invalid="ignore"):
            difference = part - top
            # Knuth's two-sum: difference + rest = s_i - top exactly, unless the difference
            # overflows, where the exponential is zero whatever the rest.
            virtual = difference - part
            rest = (part - (difference - virtual)) - (top + virtual)
        rest[difference < _UNDERFLOW_EXPONENT] = 0.0
        power = np.exp(difference)
        np.add(power, power * rest, out=powers[start : start + _BLOCK_ENTRIES])
    return powers
