"""What a user would write instead: the closed-form loss, differentiated by JAX or PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SampleGradient",
    "jax_gradient",
    "jax_sample_gradient",
    "numpy_covariance",
    "numpy_sample_gradient",
    "torch_gradient",
    "torch_one_step",
    "torch_sample_gradient",
]

Vector = NDArray[np.float64]
Gradient = Callable[[], tuple[Vector, Vector]]
SampleGradient = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Both gradients, as rows, of the mean loss of the inputs that are the rows of a matrix."""


def torch_gradient(V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int]) -> Gradient:
    """Return a function that computes both gradients by PyTorch's autograd."""
    import torch

    embeddings = torch.from_numpy(V)

    def gradient() -> tuple[Vector, Vector]:
        queries = [
            torch.from_numpy(query).clone().requires_grad_() for query in (theta, theta_tilde)
        ]
        gamma, gamma_tilde = (torch.softmax(embeddings @ query, 0) for query in queries)
        _loss(torch, gamma, gamma_tilde, S).backward()
        return queries[0].grad.numpy(), queries[1].grad.numpy()

    return gradient


def jax_gradient(
    V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int], *, attention: str = "softmax"
) -> Gradient:
    """Return a function that computes both gradients by a compiled JAX gradient.

    `attention` is "softmax" or "erf".
    """
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    attend = {"softmax": jax.nn.softmax, "erf": jax.scipy.special.erf}[attention]

    def loss(queries: tuple[jax.Array, jax.Array], embeddings: jax.Array) -> jax.Array:
        gamma, gamma_tilde = (attend(embeddings @ query) for query in queries)
        return _loss(jnp, gamma, gamma_tilde, S)

    compiled = jax.jit(jax.grad(loss))
    embeddings = jnp.asarray(V)
    queries = (jnp.asarray(theta), jnp.asarray(theta_tilde))

    def gradient() -> tuple[Vector, Vector]:
        found = jax.block_until_ready(compiled(queries, embeddings))
        return np.asarray(found[0]), np.asarray(found[1])

    return gradient


def torch_one_step(d: int, m: int, eta: float, seed: int) -> Callable[[], float]:
    """Return a trial of Theorem 2 in PyTorch: draw, step, and the attention on the support."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def trial() -> float:
        V = torch.randn(d, m, dtype=torch.float64, generator=generator)
        V /= V.norm(dim=1, keepdim=True)
        theta = torch.randn(m, dtype=torch.float64, generator=generator)
        theta /= theta.norm()
        queries = [theta.clone().requires_grad_(), (-theta).requires_grad_()]
        gamma, gamma_tilde = (torch.softmax(V @ query, 0) for query in queries)
        _loss(torch, gamma, gamma_tilde, (0, 1)).backward()
        with torch.no_grad():
            after = [torch.softmax(V @ (query - eta * query.grad), 0) for query in queries]
        return float(after[0][:2].max() + after[1][:2].max())

    return trial


def torch_sample_gradient(
    V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int]
) -> SampleGradient:
    """Return a function that differentiates the mean loss of given inputs by PyTorch's autograd."""
    import torch

    embeddings = torch.from_numpy(V)

    def gradient(signs: NDArray[np.float64]) -> NDArray[np.float64]:
        queries = torch.from_numpy(np.stack([theta, theta_tilde])).requires_grad_()
        heads = torch.softmax(embeddings @ queries.T, 0)
        _mean_loss(torch.from_numpy(signs), heads, S).backward()
        return queries.grad.numpy()

    return gradient


def jax_sample_gradient(
    V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int]
) -> SampleGradient:
    """Return a function that differentiates the mean loss of given inputs by a compiled JAX one."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loss(queries: jax.Array, signs: jax.Array) -> jax.Array:
        return _mean_loss(signs, jax.nn.softmax(embeddings @ queries.T, 0), S)

    embeddings = jnp.asarray(V)
    queries = jnp.asarray(np.stack([theta, theta_tilde]))
    compiled = jax.jit(jax.grad(loss))
    return lambda signs: np.asarray(compiled(queries, signs))


def numpy_sample_gradient(
    V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int]
) -> SampleGradient:
    """Return a function that forms the same gradients by hand, by BLAS."""
    exponentials = np.exp(V @ np.stack([theta, theta_tilde]).T)
    heads = exponentials / exponentials.sum(axis=0)
    a, b = S

    def gradient(signs: NDArray[np.float64]) -> NDArray[np.float64]:
        means = signs @ heads
        residual = means[:, 0] * means[:, 1] - signs[:, a] * signs[:, b]
        terms = 2 * residual[:, np.newaxis] * means[:, ::-1]
        slopes = signs.T @ terms / len(signs)
        weights = heads * (slopes - np.sum(heads * slopes, axis=0))
        return weights.T @ V

    return gradient


def numpy_covariance(
    V: Vector, theta: Vector, theta_tilde: Vector, S: tuple[int, int], *, n: int
) -> NDArray[np.float64]:
    """Estimate the covariance of one sample's gradients by both queries from `n` samples."""
    exponentials = np.exp(V @ np.stack([theta, theta_tilde]).T)
    heads = exponentials / exponentials.sum(axis=0)
    a, b = S
    signs = 2.0 * np.random.default_rng(1).integers(0, 2, (n, len(V))) - 1.0
    means = signs @ heads
    terms = 2 * (means[:, 0] * means[:, 1] - signs[:, a] * signs[:, b])[:, np.newaxis]
    # grad_theta of one sample: 2 e q (sum_i gamma_i x_i v_i - p sum_i gamma_i v_i).
    gradients = [
        terms * means[:, [1 - head]] * ((signs * heads[:, head]) @ V - means[:, [head]] * centre)
        for head, centre in enumerate(heads.T @ V)
    ]
    return np.cov(np.concatenate(gradients, axis=1), rowvar=False)


def _mean_loss(signs, heads, S: tuple[int, int]):
    """Return the mean of (f - y)^2 in either library's arrays."""
    a, b = S
    means = signs @ heads
    return ((means[:, 0] * means[:, 1] - signs[:, a] * signs[:, b]) ** 2).mean()


def _loss(xp: ModuleType, gamma, gamma_tilde, S: tuple[int, int]):
    """Return the closed form of L in either library's arrays."""
    a, b = S
    products = gamma * gamma_tilde
    return (
        1
        - 2 * (gamma[a] * gamma_tilde[b] + gamma[b] * gamma_tilde[a])
        + xp.sum(gamma**2) * xp.sum(gamma_tilde**2)
        + 2 * xp.sum(products) ** 2
        - 2 * xp.sum(products**2)
    )
