"""The independent witness: all 2^d inputs, one by one, in exact rational arithmetic.

Nothing here knows of cumulants, partitions or power sums. The random instances are small rational
numbers from a seeded generator, so that a failure can be repeated.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

__all__ = ["dot", "expectation", "inputs", "random_attention", "random_integers"]

Number = Fraction | int


def inputs(d: int) -> Iterator[tuple[int, ...]]:
    """Yield every x in {-1, +1}^d."""
    return itertools.product((-1, 1), repeat=d)


def expectation(value: Callable[[tuple[int, ...]], Number], d: int) -> Fraction:
    """Return the mean of ``value(x)`` over all 2^d inputs x."""
    return Fraction(sum(value(x) for x in inputs(d))) / 2**d


def dot(left: Sequence[Number], right: Sequence[Number]) -> Number:
    """Return the inner product of two sequences of equal length."""
    return sum(x * y for x, y in zip(left, right, strict=True))


def random_attention(rng: random.Random, d: int) -> list[Fraction]:
    """Return d positive rational weights that sum to one."""
    weights = [rng.randint(1, 9) for _ in range(d)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def random_integers(rng: random.Random, d: int) -> list[int]:
    """Return d integers in -3..3, zero included."""
    return [rng.randint(-3, 3) for _ in range(d)]
