"""Instances on which formulas are tried: small rational numbers from a seeded generator.

They are the same on every run, so that a failure can be repeated.
"""

from __future__ import annotations

import random
from fractions import Fraction

__all__ = [
    "concentrated_attention",
    "random_attention",
    "random_fractions",
    "random_integers",
    "seeded",
]


def seeded(seed: int) -> random.Random:
    """Return a generator of instances."""
    return random.Random(seed)  # noqa: S311  (instances to be repeated, not secrets)


def random_integers(rng: random.Random, d: int) -> list[int]:
    """Return d integers in -3..3, zero included."""
    return [rng.randint(-3, 3) for _ in range(d)]


def random_fractions(rng: random.Random, d: int) -> list[Fraction]:
    """Return d positive rational numbers between 1/9 and 9."""
    return [Fraction(rng.randint(1, 9), rng.randint(1, 9)) for _ in range(d)]


def random_attention(rng: random.Random, d: int) -> list[Fraction]:
    """Return d positive weights of similar sizes that sum to one."""
    return _normalised([rng.randint(1, 9) for _ in range(d)])


def concentrated_attention(rng: random.Random, d: int) -> list[Fraction]:
    """Return d positive weights of very different sizes that sum to one."""
    return _normalised([4 ** rng.randint(0, 4) for _ in range(d)])


def _normalised(weights: list[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]
