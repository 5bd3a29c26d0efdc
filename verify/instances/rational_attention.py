"""Random attention as exact fractions, rich in the ties and zeros that break programs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_fractions", "draw_rational_attention", "draw_support", "normalised"]

_LARGEST_WEIGHT = 12


def draw_rational_attention(rng: np.random.Generator, d: int) -> list[Fraction]:
    """Draw an attention vector with integer weights 0..12 over their sum.

    Weights this small coincide and vanish often, so equal entries, parallel generators and
    positions without attention all occur.
    """
    weights = rng.integers(0, _LARGEST_WEIGHT + 1, size=d)
    weights[rng.integers(d)] += 1  # not all zero
    return normalised([Fraction(int(weight)) for weight in weights])


def draw_support(rng: np.random.Generator, d: int) -> tuple[int, int]:
    """Draw an ordered pair of different positions."""
    a, b = rng.permutation(d)[:2].tolist()
    return a, b


def normalised(values: Sequence[Fraction]) -> list[Fraction]:
    """Return `values` over their sum, exactly."""
    total = sum(values, Fraction(0))
    return [value / total for value in values]


def as_fractions(array: NDArray[np.float64]) -> list[Fraction]:
    """Return the entries of a vector as the rational numbers they are."""
    return [Fraction(value) for value in array.tolist()]
