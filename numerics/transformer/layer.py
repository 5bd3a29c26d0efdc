"""A single-layer Transformer that classifies by its CLS token, read literally.

Token 0 is the CLS token; token i of an input x carries the embedding v_i, the bit x_i and zeros:

    z_0 = z_CLS,   z_i = (v_i, x_i, 0)   in R^n, n > m

    query^g = W_Q^g z_0 + b_Q^g,   key_i^g = W_K^g z_i + b_K^g,   value_i^g = W_V^g z_i + b_V^g
    weights^g = softmax over i of scale * <query^g, key_i^g>,   token 0 masked out
    y = sum_g W_O^g (sum_i weights_i^g value_i^g),   f = -<w^1, y> <w^2, y> + offset

for the heads g = 1, 2, whose queries, keys and values have h entries. Only the output at the CLS
token is read, so only its query is formed. Everything that a library's layer may do besides (layer
norm, residual, dropout) is there to be switched on. At which parameters this is the model of two
queries is stated in `numerics.transformer.start`. Source: arXiv:2502.07553v2, section 2, where
the Transformer is reduced to two queries; the layer written out is ours.

The functions are analytic in every parameter, so that a complex step differentiates them, and are
written for any array library with NumPy's names, so that JAX can, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError

__all__ = [
    "MAX_POSITIONS",
    "Architecture",
    "Array",
    "Attention",
    "Parameters",
    "all_inputs",
    "attention",
    "mapped_queries",
    "population_loss",
    "predict",
]

MAX_POSITIONS = 12
"""Largest d at which the loss is formed over all inputs."""

Array: TypeAlias = Any
"""An array of NumPy or of JAX: neither library's annotations know the other's."""

Parameters: TypeAlias = Mapping[str, Array]
"""``W_Q``, ``W_K``, ``W_V`` (2, h, n); ``b_Q``, ``b_K``, ``b_V`` (2, h); ``W_O`` (2, n, h);
``readout`` (2, n), the rows w^1, w^2; ``offset`` (); ``z_CLS`` (n,). Any of them may have leading
axes, which the results then have as well."""

Attention: TypeAlias = Callable[[Parameters, Array, "Architecture", ModuleType], Array]
"""What makes the output y at the CLS token (..., N, n) of parameters and tokens
(..., N, d + 1, n), CLS first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Architecture:
    """What the layer does, beside its parameters.

    Attributes
    ----------
    scale : float
        The factor of the scores; libraries have ``h ** -0.5``.
    masked : bool
        Whether the CLS token is masked out as a key.
    norm : {"none", "layer", "rms"}
        What is done to each token before the projections: nothing, the mean subtracted and the
        rest divided by its standard deviation, or the token divided by its root mean square.
    residual : bool
        Whether the CLS token is added to y.
    dropout : ndarray, shape (2, d), optional
        Factors of the weights of each head, the same for all inputs: 0 for a weight dropped.
    readout : {"product", "mean"}
        f is minus the product of the two readings, or minus their mean.
    """

    scale: float = 1.0
    masked: bool = True
    norm: Literal["none", "layer", "rms"] = "none"
    residual: bool = False
    dropout: NDArray[np.float64] | None = None
    readout: Literal["product", "mean"] = "product"


def all_inputs(d: int) -> NDArray[np.float64]:
    """Return all 2^d inputs, one a row.

    Raises
    ------
    InvalidArgumentError
        If d is not in 1..12.
    """
    if not 1 <= d <= MAX_POSITIONS:
        raise InvalidArgumentError("d", d, f"must be in 1..{MAX_POSITIONS} to visit all 2^d inputs")
    return np.array(list(product((-1.0, 1.0), repeat=d)))


def population_loss(
    parameters: Parameters,
    V: Array,
    support: tuple[SupportsIndex, SupportsIndex],
    architecture: Architecture,
    *,
    xp: ModuleType = np,
    attend: Attention | None = None,
) -> Array:
    """Return L = E (f - y)^2, y = -x_a x_b, as the mean over all 2^d inputs.

    Parameters
    ----------
    parameters, V, architecture, xp, attend
        As for `predict`.
    support : pair of int
        The positions (a, b), 0-based.
    """
    a, b = support
    x = xp.asarray(all_inputs(V.shape[0]))
    difference = predict(parameters, V, x, architecture, xp=xp, attend=attend) + x[:, a] * x[:, b]
    return xp.mean(difference * difference, axis=-1)


def predict(
    parameters: Parameters,
    V: Array,
    x: Array,
    architecture: Architecture,
    *,
    xp: ModuleType = np,
    attend: Attention | None = None,
) -> Array:
    """Return f(x) for a batch of inputs.

    Parameters
    ----------
    parameters : mapping
        The arrays listed at `Parameters`.
    V : array, shape (d, m)
        The embeddings, with m < n.
    x : array, shape (N, d)
        Signs, in floating point.
    architecture : Architecture
        What the layer does.
    xp : module
        `numpy` or `jax.numpy`.
    attend : callable, optional
        Takes the place of `attention`.

    Returns
    -------
    array, shape (..., N)
    """
    tokens = _tokens(parameters["z_CLS"], V, x, xp)
    normed = _normed(tokens, architecture.norm, xp)
    y = (attend or attention)(parameters, normed, architecture, xp)
    if architecture.residual:
        y = y + tokens[..., 0, :]
    readings = xp.einsum("...gn,...xn->...xg", parameters["readout"], y)
    first, second = readings[..., 0], readings[..., 1]
    joint = first * second if architecture.readout == "product" else (first + second) / 2
    return parameters["offset"][..., None] - joint


def attention(
    parameters: Parameters, tokens: Array, architecture: Architecture, xp: ModuleType
) -> Array:
    """Return y: each head's mean of the values under its weights, projected and summed."""
    query = xp.einsum("...ghn,...xn->...xgh", parameters["W_Q"], tokens[..., 0, :])
    query = query + parameters["b_Q"][..., None, :, :]
    keys, values = (
        xp.einsum("...ghn,...xtn->...xtgh", parameters[weight], tokens)
        + parameters[bias][..., None, None, :, :]
        for weight, bias in (("W_K", "b_K"), ("W_V", "b_V"))
    )
    scores = architecture.scale * xp.einsum("...xgh,...xtgh->...xgt", query, keys)
    hidden = xp.arange(scores.shape[-1]) == 0
    if architecture.masked:
        scores = xp.where(hidden, -xp.inf, scores)
    # A constant, whatever the imaginary part: the weights do not depend on it.
    top = xp.max(scores.real, axis=-1, keepdims=True)
    exponentials = xp.exp(scores - top)
    weights = exponentials / xp.sum(exponentials, axis=-1, keepdims=True)
    if architecture.dropout is not None:
        kept = xp.concatenate([xp.ones((2, 1)), xp.asarray(architecture.dropout)], axis=-1)
        weights = weights * kept
    heads = xp.einsum("...xgt,...xtgh->...xgh", weights, values)
    return xp.einsum("...gnh,...xgh->...xn", parameters["W_O"], heads)


def mapped_queries(
    parameters: Parameters, m: SupportsIndex, architecture: Architecture
) -> NDArray[np.float64]:
    """Return theta and theta~, as rows: ``scale * K^T (W_Q z_CLS + b_Q)`` of each head.

    K is the block of W_K that meets the embeddings, so that v_i . theta is the score of
    position i wherever W_K vanishes on the bit and b_K is zero.
    """
    query = np.einsum("ghn,n->gh", parameters["W_Q"], parameters["z_CLS"]) + parameters["b_Q"]
    queries: NDArray[np.float64] = architecture.scale * np.einsum(
        "ghm,gh->gm", parameters["W_K"][:, :, :m], query
    )
    return queries


def _tokens(z_CLS: Array, V: Array, x: Array, xp: ModuleType) -> Array:
    """Return the tokens of each input, CLS first, of shape (..., N, d + 1, n)."""
    (inputs, d), m, n = x.shape, V.shape[1], z_CLS.shape[-1]
    blocks = [
        xp.broadcast_to(V, (inputs, d, m)),
        xp.asarray(x)[:, :, None],
        xp.zeros((inputs, d, n - m - 1)),
    ]
    positions = xp.concatenate(blocks, axis=-1)
    leading = z_CLS.shape[:-1]
    return xp.concatenate(
        [
            xp.broadcast_to(z_CLS[..., None, None, :], (*leading, inputs, 1, n)),
            xp.broadcast_to(positions, (*leading, inputs, d, n)),
        ],
        axis=-2,
    )


def _normed(tokens: Array, norm: Literal["none", "layer", "rms"], xp: ModuleType) -> Array:
    if norm == "none":
        return tokens
    if norm == "layer":
        tokens = tokens - xp.mean(tokens, axis=-1, keepdims=True)
    # No epsilon: the tokens are no constants. A square, not a modulus, is analytic.
    return tokens / xp.sqrt(xp.mean(tokens * tokens, axis=-1, keepdims=True))
