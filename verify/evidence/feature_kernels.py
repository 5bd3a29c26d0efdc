"""Projections onto embeddings whose columns differ much in size, held against rational arithmetic.

A span does not depend on how long its vectors are, and the accuracy of a projection on it should
not either: it is stated for columns of norm 1, and a kernel that forgets to scale them states one
for others.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["columns_cell"]

# Singular values of some sixteen numbers of size 1, a thousand times less at worst.
_ACCURACY = 1e-9


def columns_cell() -> Cell:
    """Return the cell on embeddings with columns of very different sizes."""
    return fault_cell(
        "columns of very different sizes",
        _column_faults,
        method="the columns before they are scaled, in rational arithmetic and about their means",
        claimed="the rank, and each loss within an accuracy that scaling does not change",
        grade=Grade.SAMPLED,
        precision="exact",
        trials=20,
        cost=0.05,
    )


def _column_faults(rng: np.random.Generator) -> Faults:
    from numerics.baselines.exact_features import exact_best_losses
    from numerics.baselines.fixed_features import best_losses

    d, D = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    k = int(rng.integers(1, d + 1))
    table = rng.integers(-3, 4, size=(1 << d, D)).astype(np.float64)
    table[:, 0] *= rng.integers(2)
    # By small integers and powers of two, so that nothing is rounded.
    scaled = np.ldexp(table * rng.integers(1, 1000, size=D), rng.integers(-300, 301, size=D))
    found, exact = best_losses(scaled, k), exact_best_losses(table, k)
    if found.rank != exact.rank:
        yield f"rank {found.rank}, not {exact.rank}, for {scaled.tolist()}"
    for loss, truth in zip(found.losses.tolist(), exact.losses, strict=True):
        # "not <=" rather than ">": what is not a number is a fault.
        if not abs(loss - truth) <= Fraction(found.accuracy):
            yield f"a loss of {loss}, exactly {truth}, for {scaled.tolist()}"
    # Again in rational arithmetic, with bits on either side of the point.
    moved = exact_best_losses(np.ldexp(table, rng.integers(-60, 61, size=D)), k)
    if (moved.rank, moved.losses) != (exact.rank, exact.losses):
        yield f"losses {moved.losses} of scaled columns, not {exact.losses}, for {table.tolist()}"
    accuracy = _accuracy(table, exact.rank)
    if not math.isclose(found.accuracy, accuracy, rel_tol=_ACCURACY):
        yield f"an accuracy of {found.accuracy}, not {accuracy}, for {scaled.tolist()}"


def _accuracy(table: NDArray[np.float64], rank: int) -> float:
    """Return twice NumPy's allowance over the least singular value that is not zero."""
    if rank == 0:
        return 0.0
    norms = np.linalg.norm(table, axis=0)
    unit = table[:, norms > 0] / norms[norms > 0]
    sizes = np.linalg.svd(unit - unit.mean(axis=0), compute_uv=False)
    inputs, D = len(table), len(norms)
    allowance = max(inputs - 1, D) * float(np.finfo(np.float64).eps) * math.sqrt(min(inputs - 1, D))
    least: float = sizes[rank - 1]
    return 2 * allowance / least
