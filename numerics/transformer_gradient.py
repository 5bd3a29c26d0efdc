"""The Transformer's gradient by every parameter, without a formula for it: two ways.

A complex step: L(w + i r) has the imaginary part r L'(w) up to r^3, and no difference is formed,
so r = 2^-300 gives the derivative to the last bits (Squire and Trapp 1998). JAX: automatic
differentiation of the same function, or of one whose attention is the library's own layer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, row_blocks
from numerics.transformer import Architecture, Array, Attention, Parameters, population_loss

__all__ = [
    "LossAndGradient",
    "complex_step_gradient",
    "has_jax",
    "has_library_attention",
    "jax_gradient",
    "library_attention",
]

_STEP = 2.0**-300  # its square, 2^-600, is lost beside any weight above 1e-160

LossAndGradient: TypeAlias = Callable[[Parameters], tuple[float, dict[str, NDArray[np.float64]]]]
"""The population loss, and its gradient by each parameter that was asked for."""


def complex_step_gradient(
    V: NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
    architecture: Architecture,
    *,
    by: Collection[str],
) -> LossAndGradient:
    """Return a function that differentiates the population loss by complex steps.

    Parameters
    ----------
    V : ndarray, shape (d, m)
        The embeddings, d <= 12.
    support : pair of int
        The positions (a, b), 0-based.
    architecture : Architecture
        What the layer does.
    by : collection of str
        The parameters to differentiate by.
    """
    # What one perturbed parameter costs: keys and values of every token of every input.
    entries = 2 ** V.shape[0] * (V.shape[0] + 1)

    def gradient(parameters: Parameters) -> tuple[float, dict[str, NDArray[np.float64]]]:
        slopes = {}
        for name in by:
            array = parameters[name]
            slope = np.empty(array.size)
            for block in row_blocks(array.size, entries):
                shifts = np.eye(array.size)[block].reshape(-1, *array.shape)
                moved = {**parameters, name: array + 1j * _STEP * shifts}
                slope[block] = population_loss(moved, V, support, architecture).imag / _STEP
            slopes[name] = slope.reshape(array.shape)
        return float(population_loss(parameters, V, support, architecture)), slopes

    return gradient


def has_jax() -> bool:
    """Tell whether JAX is installed, without importing it."""
    return find_spec("jax") is not None


def has_library_attention() -> bool:
    """Tell whether JAX is installed and has an attention layer, as it has from 0.4.31 on."""
    if not has_jax():
        return False
    import jax

    return hasattr(jax.nn, "dot_product_attention")


def jax_gradient(
    V: NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
    architecture: Architecture,
    *,
    by: Collection[str],
    attend: Attention | None = None,
) -> LossAndGradient:
    """Return a function that differentiates the population loss by JAX, in binary64.

    JAX computes in binary32 unless told otherwise; it is told so for the call only. It compiles
    once for an `Architecture` and a shape, whatever V and the support are.

    Parameters
    ----------
    V, support, architecture, by
        As for `complex_step_gradient`.
    attend : callable, optional
        `library_attention`, to have the library's own layer in the place of ours.

    Raises
    ------
    InvalidArgumentError
        If JAX is not installed, or has no attention layer that `attend` could be.
    """
    if not has_jax():
        raise InvalidArgumentError(
            "differentiation", "jax", "needs JAX; pip install 'xorverify[rivals]'"
        )
    import jax

    if attend is library_attention and not has_library_attention():
        raise InvalidArgumentError(
            "jax", jax.__version__, "has no attention layer; pip install 'jax>=0.4.31'"
        )
    names = tuple(by)
    compiled = _compiled(architecture, attend)

    def gradient(parameters: Parameters) -> tuple[float, dict[str, NDArray[np.float64]]]:
        moving = {name: parameters[name] for name in names}
        fixed = {name: array for name, array in parameters.items() if name not in moving}
        with _binary64(jax):
            value, slopes = compiled(moving, fixed, V, support)
            return float(value), {name: np.array(slope) for name, slope in slopes.items()}

    return gradient


def library_attention(
    query: Array, keys: Array, values: Array, architecture: Architecture, xp: ModuleType
) -> Array:
    """Return the heads' outputs by ``jax.nn.dot_product_attention``, with its scale and mask.

    Raises
    ------
    InvalidArgumentError
        If weights are to be dropped, which the library's layer cannot do.
    """
    import jax

    if architecture.dropout is not None:
        raise InvalidArgumentError("dropout", "given", "the library's layer has none; leave it out")
    tokens = keys.shape[-3]
    seen = xp.arange(tokens) > 0 if architecture.masked else xp.ones(tokens, dtype=bool)
    heads = jax.nn.dot_product_attention(
        query[..., None, :, :], keys, values, mask=seen[None, None, None], scale=architecture.scale
    )
    return heads[..., 0, :, :]


@lru_cache(maxsize=8)
def _compiled(architecture: Architecture, attend: Attention | None) -> Callable[..., Array]:
    import jax
    import jax.numpy as jnp

    def loss(
        moving: dict[str, Array],
        fixed: dict[str, Array],
        V: Array,
        support: tuple[Array, Array],
    ) -> Array:
        return population_loss({**fixed, **moving}, V, support, architecture, xp=jnp, attend=attend)

    compiled: Callable[..., Array] = jax.jit(jax.value_and_grad(loss))
    return compiled


def _binary64(jax: ModuleType) -> AbstractContextManager[object]:
    """Return the context in which JAX has binary64; older versions keep it elsewhere."""
    namespace = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    context: AbstractContextManager[object] = namespace.enable_x64(True)
    return context
