"""Products of the embeddings with the vectors of both heads, one pass over V for the two.

A product of V with a vector does two operations an entry, fewer than a core can do while memory
delivers the entry. So V is taken in blocks of rows that fit the cache of a core, and a block is
used for both heads while it is there. OpenBLAS leaves most products of one block on one thread, but
not those with many short rows, whose last bits can then depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import row_blocks

__all__ = ["all_scores", "weighted_sums"]

_BLOCK_ENTRIES = 1 << 17  # 1 MiB of binary64: the second-level cache of a core


def all_scores(V: NDArray[np.float64], queries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products V theta, for each row theta of `queries`.

    Parameters
    ----------
    V : ndarray, shape (d, m)
        Embeddings; never copied if its rows or columns are contiguous.
    queries : ndarray, shape (k, m)
        One query a row.

    Returns
    -------
    ndarray, shape (k, d)
        Infinite or NaN, without a warning, where a product overflows or an entry is not finite.
    """
    columns = np.ascontiguousarray(queries.T)
    scores = np.empty((queries.shape[0], V.shape[0]))
    blocks = list(row_blocks(*V.shape, entries=_BLOCK_ENTRIES))
    with np.errstate(all="ignore"):
        for rows in blocks:
            block = V[rows]
            if len(blocks) > 1 and block.flags.c_contiguous:
                _fetch(block)
            scores[:, rows] = (block @ columns).T
    return scores


def weighted_sums(weights: NDArray[np.float64], V: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of w_i v_i over the rows of V, for each row w of `weights`.

    Parameters
    ----------
    weights : ndarray, shape (k, d)
        One weight for each row of V.
    V : ndarray, shape (d, m)
        Embeddings, finite; never copied if its rows or columns are contiguous.

    Returns
    -------
    ndarray, shape (k, m)
    """
    sums = np.zeros((weights.shape[0], V.shape[1]))
    # Backwards: the cache still holds the end of V, where a pass has just ended.
    for rows in reversed(list(row_blocks(*V.shape, entries=_BLOCK_ENTRIES))):
        block = V[rows]
        # Not one product of matrices: BLAS would first copy the block into an order of its own.
        for head, row in enumerate(weights):
            sums[head] += row[rows] @ block
    return sums


def _fetch(block: NDArray[np.float64]) -> None:
    """Bring a block to the cache.

    Memory delivers the entries in their order faster than in that of a product, which takes
    several rows at a time. The squared norms of the rows are a quick way to read them all.
    """
    np.matmul(block[:, np.newaxis, :], block[:, :, np.newaxis])
