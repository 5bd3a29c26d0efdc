"""The model read literally: f(x) = -p q with p = <gamma, x>, q = <gamma~, x>, label -x_a x_b.

Source: arXiv:2502.07553v2, section 2. Inputs are signs of any integer dtype; sums are formed in
binary64 or in 64-bit integers, never in the dtype of the input, where 128 ones of int8 wrap.
"""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    finite_array,
    sign_array,
    vector_of_length,
)

__all__ = ["input_loss", "label", "overlap", "predict", "signs_from_bits"]


def predict(x: ArrayLike, gamma: ArrayLike, gamma_tilde: ArrayLike) -> NDArray[np.float64]:
    """Return ``f(x) = -<gamma, x> <gamma~, x>`` for one input or a batch.

    Parameters
    ----------
    x : array_like of int, shape (d,) or (n, d)
        Signs -1 and +1.
    gamma, gamma_tilde : array_like, shape (d,)
        The attention of each head; any finite weights, as rival attention maps need not be
        probability vectors.

    Returns
    -------
    ndarray, shape () or (n,)

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry of `x` is no sign, or a weight is not finite.
    """
    gamma = finite_array("gamma", gamma, 1)
    gamma_tilde = vector_of_length("gamma_tilde", gamma_tilde, gamma.shape[0])
    signs = sign_array("x", x, gamma.shape[0]).astype(np.float64)
    return np.asarray(-(signs @ gamma) * (signs @ gamma_tilde))


def label(x: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]) -> NDArray[np.int64]:
    """Return ``y = -x_a x_b`` for one input ``(d,)`` or a batch ``(n, d)``.

    Raises
    ------
    InvalidArgumentError
        If `x` holds anything but signs or the support does not fit it.
    """
    array = np.asarray(x)
    d = array.shape[-1] if array.ndim else 0
    a, b = check_support(support, d)
    signs = sign_array("x", array, d)
    return np.asarray(-signs[..., a].astype(np.int64) * signs[..., b])


def input_loss(
    x: ArrayLike,
    gamma: ArrayLike,
    gamma_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
) -> NDArray[np.float64]:
    """Return ``(f(x) - y)^2``, without the factor 1/2, for one input or a batch.

    Raises
    ------
    InvalidArgumentError
        As `predict` and `label`.
    """
    difference = predict(x, gamma, gamma_tilde) - label(x, support)
    return np.asarray(difference * difference)


def overlap(x: ArrayLike, z: ArrayLike) -> NDArray[np.int64]:
    """Return the inner products ``<x, z>`` of sign vectors ``(d,)`` or ``(n, d)``, exactly.

    Raises
    ------
    InvalidArgumentError
        If an entry is no sign or the shapes do not fit.
    """
    left = np.asarray(x)
    d = left.shape[-1] if left.ndim else 0
    left, right = sign_array("x", left, d), sign_array("z", z, d)
    if left.shape != right.shape and min(left.ndim, right.ndim) == 2:
        raise InvalidArgumentError("z", f"array of shape {right.shape}", f"must be {left.shape}")
    return np.asarray(np.einsum("...i,...i->...", left, right, dtype=np.int64, casting="unsafe"))


def signs_from_bits(bits: ArrayLike) -> NDArray[np.int8]:
    """Return -1 for a bit 0 and +1 for a bit 1, as int8.

    ``2 * bits - 1`` in uint8 would give 255 for a 0.

    Raises
    ------
    InvalidArgumentError
        If an entry is not 0 or 1.
    """
    array = np.asarray(bits)
    if array.dtype.kind not in "biu":
        raise InvalidArgumentError("bits", f"array of {array.dtype}", "must be integers 0 or 1")
    wrong = (array != 0) & (array != 1)
    if wrong.any():
        raise InvalidArgumentError("bits", array[wrong][0], "must be 0 or 1")
    return np.where(array == 1, np.int8(1), np.int8(-1))
