"""The Transformer's gradient by every parameter, without a formula for it: two ways.

A complex step: L(w + i r) has the imaginary part r L'(w) up to r^3, and no difference is formed,
so r = 2^-300 gives the derivative to the last bits (Squire and Trapp 1998). JAX: automatic
differentiation of the same function, or of one whose attention, projections and all, is a library's
layer, Equinox's.
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
from numerics.transformer.layer import Architecture, Array, Attention, Parameters, population_loss

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
    """Tell whether Equinox is installed, and JAX below it, without importing them."""
    return has_jax() and find_spec("equinox") is not None


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
        `library_attention`, to have Equinox's layer in the place of ours.

    Raises
    ------
    InvalidArgumentError
        If JAX is not installed, or `attend` is Equinox's layer and Equinox is not.
    """
    if not has_jax():
        raise InvalidArgumentError(
            "differentiation", "jax", "needs JAX; pip install 'xorverify[rivals]'"
        )
    if attend is library_attention and not has_library_attention():
        raise InvalidArgumentError(
            "attend", "library_attention", "needs Equinox; pip install 'xorverify[rivals]'"
        )
    import jax

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
    parameters: Parameters, tokens: Array, architecture: Architecture, xp: ModuleType
) -> Array:
    """Return y by ``equinox.nn.MultiheadAttention``, our weights and biases in its projections.

    That layer divides the scores by h^1/2, so the weights and the bias of its query are ours times
    ``scale * h ** 0.5``: 1 at the scale of libraries. The mask is its own: a masked key has the
    most negative score there is, and thereby the weight 0.

    It is for JAX's arrays, and parameters without leading axes.

    Raises
    ------
    InvalidArgumentError
        If weights are to be dropped, which the library's layer does at random only.
    """
    import equinox
    import jax

    if architecture.dropout is not None:
        raise InvalidArgumentError(
            "dropout", "given", "the library's layer draws its own; leave it out"
        )
    heads, h, n = parameters["W_Q"].shape
    # Shapes alone: the weights that a new layer draws are all replaced.
    layer = equinox.filter_eval_shape(
        equinox.nn.MultiheadAttention,
        num_heads=heads,
        query_size=n,
        qk_size=h,
        vo_size=h,
        use_query_bias=True,
        use_key_bias=True,
        use_value_bias=True,
        key=jax.random.PRNGKey(0),
    )
    # A projection has the heads one below the other: its entry g h + i is entry i of head g.
    ours = {
        name: parameters[name].reshape(heads * h, *parameters[name].shape[2:])
        for name in ("W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V")
    }
    factor = architecture.scale * h**0.5
    layer = equinox.tree_at(
        lambda its: [
            its.query_proj.weight,
            its.query_proj.bias,
            its.key_proj.weight,
            its.key_proj.bias,
            its.value_proj.weight,
            its.value_proj.bias,
            its.output_proj.weight,
        ],
        layer,
        [
            factor * ours["W_Q"],
            factor * ours["b_Q"],
            ours["W_K"],
            ours["b_K"],
            ours["W_V"],
            ours["b_V"],
            xp.concatenate([*parameters["W_O"]], axis=1),
        ],
    )
    length = tokens.shape[-2]
    seen = xp.arange(length) > 0 if architecture.masked else xp.ones(length, dtype=bool)

    def at_the_cls_token(row: Array) -> Array:
        return layer(row[:1], row, row, mask=seen[None])[0]

    y: Array = jax.vmap(at_the_cls_token)(tokens)
    return y


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
