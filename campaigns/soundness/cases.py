"""A case of the campaign: an instance, what is asked about it, and what is drawn if not given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from numerics.embeddings import sample_embeddings, uniform_direction

__all__ = ["Array", "Case", "Kind", "Near", "drafted", "start"]

Array = NDArray[np.float64]
Sizes = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Near:
    """A tolerance next to the true largest loss.

    Attributes
    ----------
    digits : int
        The largest loss is rounded to so many significant digits,
    ulps : int
        and moved by so many units of the last of them.
    """

    digits: int
    ulps: int


@dataclass(frozen=True, eq=False)
class Case:
    """An instance and what is asked about it.

    Attributes
    ----------
    V : ndarray, shape (d, m)
        Embeddings.
    theta, theta_tilde : ndarray, shape (m,)
        The queries.
    support : pair of int
        The positions (a, b), 0-based.
    eta : str
        Step size, as a decimal number.
    tolerance : str or Near
        Tolerance, as a decimal number or by the true largest loss.
    kind : str
        A key of `KINDS`.
    seed, number : int
        From which it was made.
    digits : int
        How many digits of the gradient are asked for.
    low_bits : int
        A working precision at which the radii of balls show.
    nearness : int
        The tolerance asked about at that precision is the true largest loss, times 1 plus or
        minus 2^-abs(nearness), by its sign.
    route : str
        "kernel", "bundle" or "command": what the certificate goes through.
    """

    V: Array
    theta: Array
    theta_tilde: Array
    support: tuple[int, int]
    eta: str
    tolerance: str | Near
    kind: str = ""
    seed: int = 0
    number: int = 0
    digits: int = 17
    low_bits: int = 24
    nearness: int = 8
    route: str = "kernel"

    @property
    def band(self) -> str:
        """Whether radii are as large as the numbers at that precision, or may be small."""
        return "below 32 bits" if self.low_bits < 32 else "32 to 100 bits"

    def random(self) -> np.random.Generator:
        """Return a stream of its own for what a check draws."""
        return np.random.default_rng([self.seed, self.number, 1])


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to draw cases.

    Attributes
    ----------
    title : str
        What is special about them.
    make : callable
        ``make(rng, d, m)`` draws one.
    d, m : pair of int
        The least and the largest sizes.
    undecided : Fraction
        Largest share of the cases that `certify` may leave undecided before the campaign counts
        as empty.
    """

    title: str
    make: Callable[[np.random.Generator, int, int], Case]
    d: Sizes = (2, 7)
    m: Sizes = (1, 4)
    undecided: Fraction = Fraction(1, 10)


def drafted(
    rng: np.random.Generator,
    V: Array,
    theta: Array,
    theta_tilde: Array | None = None,
    *,
    support: tuple[int, int] | None = None,
    eta: str | None = None,
    tolerance: str | Near | None = None,
) -> Case:
    """Draw what is not given: an antisymmetric start in half of the cases, an ordinary step."""
    d = len(V)
    if theta_tilde is None:
        theta_tilde = -theta if rng.random() < 0.5 else _direction(rng, len(theta), like=theta)
    if support is None:
        a, b = rng.permutation(d)[:2].tolist()
        support = (a, b)
    return Case(
        np.ascontiguousarray(V, dtype=np.float64),
        np.asarray(theta, dtype=np.float64),
        np.asarray(theta_tilde, dtype=np.float64),
        support,
        eta or f"{d * d * int(rng.integers(1, 100))}e{int(rng.integers(-3, 2))}",
        tolerance or _tolerance(rng),
    )


def _direction(rng: np.random.Generator, m: int, *, like: Array) -> Array:
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(like))
    return uniform_direction(rng, m) * (length if math.isfinite(length) else 1.0)


def _tolerance(rng: np.random.Generator) -> str | Near:
    if rng.random() < 0.4:
        return f"{int(rng.integers(1, 4000))}e-3" if rng.random() < 0.7 else "0.01"
    return Near(int(rng.choice((2, 5, 9, 17, 30))), int(rng.integers(-1, 2)))


def start(rng: np.random.Generator, d: int, m: int) -> tuple[Array, Array]:
    """Draw rows on the sphere and a query of length 0.1, 1 or 10."""
    return sample_embeddings(rng, d, m), 10.0 ** rng.integers(-1, 2) * uniform_direction(rng, m)
