"""The independent witness: all 2^d inputs, one by one, in whatever numbers are exact.

Nothing here knows of cumulants, partitions or power sums.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["dot", "enumerated_loss", "expectation", "inputs"]


def inputs(d: int) -> Iterator[tuple[int, ...]]:
    """Yield every x in {-1, +1}^d."""
    return itertools.product((-1, 1), repeat=d)


def dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """Return the inner product of two sequences of equal length, in any ring."""
    return sum(x * y for x, y in zip(left, right, strict=True))


def expectation(value: Callable[[tuple[int, ...]], Fraction | int], d: int) -> Fraction:
    """Return the mean of ``value(x)`` over all 2^d inputs x."""
    return Fraction(sum(value(x) for x in inputs(d))) * Fraction(1, 2**d)


def enumerated_loss(gamma: Sequence[Any], gamma_tilde: Sequence[Any]) -> Any:
    """Return the mean over all inputs of (f - y)^2, for the support (0, 1), in any ring."""
    total = 0
    for x in inputs(len(gamma)):
        prediction, label = -dot(gamma, x) * dot(gamma_tilde, x), -x[0] * x[1]
        total = total + (prediction - label) ** 2
    return total / 2 ** len(gamma)
