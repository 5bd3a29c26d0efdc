"""Functions of r of the d signs (juntas): how well they predict the parity of k signs.

A net whose first layer touches r positions is such a function. Averaged over all supports of size
k, the best one has the loss 1 - C(r, k)/C(d, k), with no factor 1/2. Source: ours;
arXiv:2502.07553v2 sets its model against feed-forward nets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import SupportsIndex

import numpy as np

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.baselines.walsh import all_inputs, number_of_signs

__all__ = ["average_best_loss", "best_junta_loss", "enumerated_average", "least_positions"]


def average_best_loss(d: SupportsIndex, r: SupportsIndex, k: SupportsIndex = 2) -> Fraction:
    """Return 1 - C(r, k)/C(d, k).

    Parameters
    ----------
    d, r, k : int
        Numbers of positions, of those that are read, and of those of the parity.

    Raises
    ------
    InvalidArgumentError
        Unless 1 <= k <= d and 0 <= r <= d.
    """
    positions, degree = _sizes(d, k)
    read = integer_at_least("r", r, 0)
    if read > positions:
        raise InvalidArgumentError("r", read, f"must be at most d = {positions}")
    return 1 - Fraction(math.comb(read, degree), math.comb(positions, degree))


def least_positions(d: SupportsIndex, loss: Fraction, k: SupportsIndex = 2) -> int:
    """Return the least r with 1 - C(r, k)/C(d, k) <= loss.

    Raises
    ------
    InvalidArgumentError
        Unless 1 <= k <= d and 0 <= loss < 1.
    """
    positions, degree = _sizes(d, k)
    if not 0 <= loss < 1:
        raise InvalidArgumentError("loss", loss, "must be in [0, 1)")
    needed = (1 - loss) * math.comb(positions, degree)
    low, high = degree - 1, positions  # too few, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if math.comb(middle, degree) >= needed else (middle, high)
    return high


def best_junta_loss(d: SupportsIndex, read: Sequence[int], support: Sequence[int]) -> Fraction:
    """Return the least loss of a function of the signs at `read`, by visiting all 2^d inputs.

    The best prediction is the mean of the labels of all inputs that look alike.

    Parameters
    ----------
    d : int
        The number of positions.
    read, support : sequence of int
        The positions that are read, and those of the parity; each without repetition, 0-based.

    Raises
    ------
    InvalidArgumentError
        If `d` is not in 1..16, or a position is repeated or does not exist.
    """
    inputs = all_inputs(d)
    labels = inputs[:, _positions("support", support, inputs.shape[1])].prod(axis=1)
    seen = inputs[:, _positions("read", read, inputs.shape[1])] > 0
    alike = seen @ (1 << np.arange(seen.shape[1], dtype=np.int64))
    sizes = np.bincount(alike, minlength=1 << seen.shape[1])
    ahead = np.bincount(alike, weights=labels, minlength=1 << seen.shape[1])
    # The loss is 1 less the mean of e^2, e = ahead/size. All inputs that look alike are equally
    # many; the weights of bincount are whole numbers below 2^16, exact in binary64.
    if not (sizes == sizes[0]).all():
        raise ArithmeticError(f"groups of sizes {sorted(set(sizes.tolist()))}")
    squares = sum(int(each) ** 2 for each in ahead.tolist())
    return 1 - Fraction(squares, int(sizes[0]) << number_of_signs(inputs))


def enumerated_average(d: SupportsIndex, read: Sequence[int], k: SupportsIndex) -> Fraction:
    """Return the mean of `best_junta_loss` over all supports of size k.

    Raises
    ------
    InvalidArgumentError
        As `best_junta_loss`; or unless 1 <= k <= d.
    """
    positions, degree = _sizes(d, k)
    losses = [
        best_junta_loss(positions, read, support)
        for support in combinations(range(positions), degree)
    ]
    return sum(losses, Fraction(0)) / len(losses)


def _sizes(d: SupportsIndex, k: SupportsIndex) -> tuple[int, int]:
    positions, degree = integer_at_least("d", d, 1), integer_at_least("k", k, 1)
    if degree > positions:
        raise InvalidArgumentError("k", degree, f"must be at most d = {positions}")
    return positions, degree


def _positions(what: str, value: Sequence[int], d: int) -> list[int]:
    positions = [integer_at_least(what, position, 0) for position in value]
    if len(set(positions)) != len(positions) or any(position >= d for position in positions):
        raise InvalidArgumentError(
            what, tuple(positions), f"must be different positions in 0..{d - 1}"
        )
    return positions
