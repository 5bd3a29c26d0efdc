"""Pairs of attention vectors made from small integers: ties, zeros, underflow, concentration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, check_support, integer_at_least
from numerics.attention import softmax
from verify.seeds import Streams

__all__ = ["ATTENTION_KINDS", "AttentionKind", "AttentionPair", "check_kind"]

_Heads = NDArray[np.float64]  # of shape (2, d)


@dataclass(frozen=True, kw_only=True)
class AttentionPair:
    """The attention of two heads, made from what its `repr` shows.

    Parameters
    ----------
    kind : str
        A key of `ATTENTION_KINDS`.
    d : int
        Number of positions (>= 2).
    seed : int
        Root seed (>= 0).
    support : pair of int
        The positions (a, b), 0-based.

    Attributes
    ----------
    gamma, gamma_tilde : ndarray of shape (d,)
        Probability vectors, zeros and subnormal weights included.

    Raises
    ------
    InvalidArgumentError
        If an argument cannot be used.
    """

    kind: str
    d: int
    seed: int
    support: tuple[int, int]
    gamma: NDArray[np.float64] = field(init=False, repr=False, compare=False)
    gamma_tilde: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        d = integer_at_least("d", self.d, 2)
        support = check_support(self.support, d)
        rng = Streams(integer_at_least("seed", self.seed, 0)).trial(0)
        gamma, gamma_tilde = check_kind(self.kind).draw(rng, d, support)
        object.__setattr__(self, "gamma", gamma)
        object.__setattr__(self, "gamma_tilde", gamma_tilde)


@dataclass(frozen=True, slots=True)
class AttentionKind:
    """A kind of attention.

    Attributes
    ----------
    title : str
        What holds of both heads.
    draw : callable
        ``draw(rng, d, support)`` returns both heads, shape ``(2, d)``.
    """

    title: str
    draw: Callable[[np.random.Generator, int, tuple[int, int]], _Heads]


def check_kind(kind: str) -> AttentionKind:
    """Return the kind of this name, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If there is none.
    """
    if kind not in ATTENTION_KINDS:
        raise InvalidArgumentError("kind", kind, f"must be one of {', '.join(ATTENTION_KINDS)}")
    return ATTENTION_KINDS[kind]


def _smooth(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    return rng.dirichlet(np.full(d, 2.0), 2)


def _spiky(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    return rng.dirichlet(np.full(d, 0.2), 2)


def _tied(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    counts = rng.integers(1, 3, (2, d))
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _with_zeros(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    counts = rng.integers(0, 4, (2, d))
    for head in counts:
        empty, full = rng.permutation(d)[:2]
        head[empty], head[full] = 0, 1
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _one_hot(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    return np.eye(d)[rng.integers(d, size=2)]


def _antisymmetric(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    scores = rng.uniform(-30, 30, d)
    return np.stack([softmax(scores), softmax(-scores)])


def _underflowing(rng: np.random.Generator, d: int, _: tuple[int, int]) -> _Heads:
    # The least weight is below exp(-gap): exp(-708.4) is normal, exp(-745.2) rounds to zero.
    gaps = rng.uniform(709, 760, 2)
    scores = gaps[:, np.newaxis] * rng.random((2, d))
    for row, gap in zip(scores, gaps, strict=True):
        least, most = rng.permutation(d)[:2]
        row[least], row[most] = 0, gap
    return np.stack([softmax(row) for row in scores])


def _concentrated(rng: np.random.Generator, d: int, support: tuple[int, int]) -> _Heads:
    off = np.ldexp(1.0, -rng.integers(2, 60, (2, 1)))
    return np.asarray(off * rng.dirichlet(np.full(d, 2.0), 2) + (1 - off) * np.eye(d)[[*support]])


ATTENTION_KINDS: Mapping[str, AttentionKind] = MappingProxyType(
    {
        "smooth": AttentionKind("weights of one size", _smooth),
        "spiky": AttentionKind("weights of many sizes", _spiky),
        "ties": AttentionKind("two values only: parallel pairs (gamma_i, gamma~_i)", _tied),
        "zeros": AttentionKind("at least one weight is zero", _with_zeros),
        "one-hot": AttentionKind("one weight is 1", _one_hot),
        "antisymmetric": AttentionKind("gamma_i gamma~_i is the same for every i", _antisymmetric),
        "underflow": AttentionKind("the least weight is subnormal or zero", _underflowing),
        "concentrated": AttentionKind(
            "head 1 has more than half of its mass on a, head 2 on b", _concentrated
        ),
    }
)
"""The kinds of attention by name, the plainest first."""
