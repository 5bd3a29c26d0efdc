"""Parameters at which the Transformer is the model of two queries.

The conditions, for each head, with K the block of W_K that meets the embeddings:

- W_K has orthonormal columns on the embeddings, K^T K = 1, and vanishes on the bit;
- the readouts see the bit and nothing else: <w^g', W_O^g W_V^g z_i> is x_i for g' = g and 0 for
  the other head;
- scale K^T W_Q z_CLS is theta for the first head and theta~ for the second; biases are zero.

What they leave open is drawn at random: the values carry entries that no readout sees, W_Q acts on
directions that the CLS token does not have, and W_K and W_V do something to the CLS token, which is
masked as a key. Source: ours.
"""

from __future__ import annotations

from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    embedding_matrix,
    finite_float,
    integer_at_least,
    vector_of_length,
)

__all__ = ["equivalent_start"]


def equivalent_start(
    rng: np.random.Generator,
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    *,
    width: SupportsIndex,
    scale: SupportsFloat = 1.0,
    cls_norm: SupportsFloat = 1.0,
) -> dict[str, NDArray[np.float64]]:
    """Draw parameters at which the Transformer's output is that of (theta, theta~).

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws what the conditions leave open.
    V : array_like, shape (d, m)
        The embeddings.
    theta, theta_tilde : array_like, shape (m,)
        The queries of the two heads.
    width : int
        h, the number of entries of queries, keys and values; at least m.
    scale : float
        The factor of the scores that the layer will have: the query is K theta / scale.
    cls_norm : float
        The norm of the CLS token. A step eta of the model of two queries is a step
        ``eta / (scale * cls_norm) ** 2`` of this one.

    Returns
    -------
    dict
        The arrays of `numerics.transformer.layer.Parameters`, with n = m + 2.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, `width` is too small, or `scale` or
        `cls_norm` is not positive.
    """
    m = embedding_matrix(V).shape[1]
    n = m + 2
    queries = np.stack(
        [vector_of_length("theta", theta, m), vector_of_length("theta_tilde", theta_tilde, m)]
    )
    h = integer_at_least("width", width, 1)
    if h < m:
        raise InvalidArgumentError("width", h, f"must be at least m = {m}: K^T K = 1 needs h >= m")
    factor, norm = _positive("scale", scale), _positive("cls_norm", cls_norm)
    z = _orthonormal(rng, n, 1)[:, 0] * norm
    K = np.stack([_orthonormal(rng, h, m) for _ in range(2)])
    seen = np.stack([_orthonormal(rng, h, 1)[:, 0] for _ in range(2)])
    readout = _orthonormal(rng, n, 2).T

    W_K = np.concatenate([K, np.zeros((2, h, 1)), rng.normal(size=(2, h, 1))], axis=2)
    # z is spread over all coordinates, so W_Q has z in its rows, and anything off z.
    off_cls = np.eye(n) - np.outer(z, z) / norm**2
    query = np.einsum("ghm,gm->gh", K, queries) / factor
    W_Q = query[:, :, None] * z / norm**2 + rng.normal(size=(2, h, n)) @ off_cls
    # The output projection passes one direction of the values on, and the bit lies along it.
    unseen = np.eye(h) - seen[:, :, None] * seen[:, None, :]
    W_V = unseen @ rng.normal(size=(2, h, n))
    W_V[:, :, m] = seen
    W_O = readout[:, :, None] * seen[:, None, :]
    zeros = np.zeros((2, h))
    return {
        "W_Q": W_Q,
        "W_K": W_K,
        "W_V": W_V,
        "W_O": W_O,
        "b_Q": zeros,
        "b_K": zeros.copy(),
        "b_V": zeros.copy(),
        "readout": readout,
        "offset": np.zeros(()),
        "z_CLS": z,
    }


def _positive(what: str, value: SupportsFloat) -> float:
    number = finite_float(what, value)
    if not number > 0:
        raise InvalidArgumentError(what, number, "must be positive")
    return number


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
    basis: NDArray[np.float64] = np.linalg.qr(rng.normal(size=(rows, columns)))[0]
    return basis
