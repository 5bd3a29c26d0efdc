"""Laws of embeddings, held against what defines them.

A law that is drawn wrongly may serve as well as the right one, or fail as often: how a step ends
does not tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from numerics.embeddings import sample_embeddings
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["laws_cell"]

# Rows are normalised, and sums of at most 50 squares rounded, in binary64.
_ACCURACY = 1e-13
# Of a sum of independent terms: 2 * 10^-9 on either side, so that a right law fails in no run.
_SIGMAS = 6.0


def laws_cell(laws: Sequence[str]) -> Cell:
    """Return the cell on some laws by name: those of `numerics.embeddings` but plug-ins."""
    return fault_cell(
        f"definition of {', '.join(laws)}",
        partial(_law_faults, tuple(laws)),
        method="norms, angles and means of entries; for a formula, entry by entry",
        claimed=f"what holds exactly within {_ACCURACY:g}, means within {_SIGMAS:g} deviations",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=4,
        cost=0.05,
    )


def _law_faults(laws: tuple[str, ...], rng: np.random.Generator) -> Faults:
    for law in laws:
        m = int(rng.integers(20, 50))
        d = m if law == "orthonormal" else int(rng.integers(20, 50))
        V = sample_embeddings(rng, d, m, law=law)
        for what, holds in _DEFINITIONS[law](V):
            if not holds:
                yield f"{law}, d = {d}, m = {m}: {what}"


Conditions = Iterator[tuple[str, bool]]


def _sphere(V: NDArray[np.float64]) -> Conditions:
    yield "rows of length 1", _close((V * V).sum(axis=1), 1.0)
    yield from _symmetric(V)


def _gaussian(V: NDArray[np.float64]) -> Conditions:
    # The square of a standard normal variable has variance 2, its fourth power 96.
    square = V * V * V.shape[1]
    yield "entries of variance 1/m", _mean(square - 1, 2.0)
    yield "entries of kurtosis 3", _mean(square * square - 3, 96.0)
    yield from _symmetric(V)


def _rademacher(V: NDArray[np.float64]) -> Conditions:
    yield "entries of size 1/sqrt(m)", _close(np.abs(V) * math.sqrt(V.shape[1]), 1.0)
    yield from _symmetric(V)


def _orthonormal(V: NDArray[np.float64]) -> Conditions:
    yield "orthonormal rows", _close(V @ V.T, np.eye(len(V)))
    # Its signs are not independent; those of one row nearly are.
    yield "signs that are fair", _mean(np.sign(V[0]), 1.0)


def _sinusoidal(V: NDArray[np.float64]) -> Conditions:
    d, m = V.shape
    for i in range(d):
        angles = [i / 10_000 ** (2 * (j // 2) / m) for j in range(m)]
        row = [math.sin(angle) if j % 2 else math.cos(angle) for j, angle in enumerate(angles)]
        yield f"row {i}", _close(V[i], np.array(row) / math.hypot(*row))


def _symmetric(V: NDArray[np.float64]) -> Conditions:
    yield "signs that are fair", _mean(np.sign(V), 1.0)
    turned = np.roll(V, 1, axis=0)
    yield "rows that are independent", _mean(np.sign(V * turned), 1.0)


def _close(values: NDArray[np.float64], truth: NDArray[np.float64] | float) -> bool:
    return bool(np.all(np.abs(values - truth) <= _ACCURACY))


def _mean(values: NDArray[np.float64], variance: float) -> bool:
    """Whether the mean of independent values of mean 0 is as near to it as it must be."""
    return bool(abs(values.mean()) <= _SIGMAS * math.sqrt(variance / values.size))


_DEFINITIONS: Mapping[str, Callable[[NDArray[np.float64]], Conditions]] = {
    "sphere": _sphere,
    "gaussian": _gaussian,
    "rademacher": _rademacher,
    "orthonormal": _orthonormal,
    "sinusoidal": _sinusoidal,
}
