"""Linear models on a fixed embedding of the inputs: the population loss of the best one.

An embedding of d signs in D dimensions is a table of 2^d rows and D columns. The best linear model
with a free intercept is the projection of the label onto the span of its columns and the constants,
under the uniform law on all 2^d inputs: nothing is sampled, nothing trained. For the parity of the
signs at S the least square loss is 1 - sum_j U[S, j]^2, where U is an orthonormal basis of the span
of the columns' Walsh-Hadamard transforms without their row 0. No factor 1/2. Source: ours;
arXiv:2502.07553v2 sets its model against fixed embeddings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import InvalidArgumentError, finite_array, integer_at_least
from numerics.baselines.walsh import all_inputs, number_of_signs, parity_numbers, walsh_hadamard

__all__ = [
    "ParityFit",
    "average_floor",
    "best_losses",
    "fourier_features",
    "parity_features",
    "power_features",
    "product_features",
    "relu_features",
]


@dataclass(frozen=True, slots=True, eq=False)
class ParityFit:
    """The best linear models for all parities of one degree.

    Attributes
    ----------
    losses : ndarray, shape (C(d, k),)
        The least population loss of each support, supports in order.
    rank : int
        The dimension of the span of the features and the constants, less 1.
    accuracy : float
        Bounds the error of each loss, as long as the rank is right; 1 or more says nothing.
    """

    losses: NDArray[np.float64]
    rank: int
    accuracy: float


def average_floor(d: SupportsIndex, D: SupportsIndex, k: SupportsIndex) -> Fraction:
    """Return 1 - D/C(d, k), which the losses average to at least, for every embedding.

    Raises
    ------
    InvalidArgumentError
        Unless 1 <= k <= d and D >= 1.
    """
    positions, degree = integer_at_least("d", d, 1), integer_at_least("k", k, 1)
    if degree > positions:
        raise InvalidArgumentError("k", degree, f"must be at most d = {positions}")
    return 1 - Fraction(integer_at_least("D", D, 1), math.comb(positions, degree))


def best_losses(table: ArrayLike, k: SupportsIndex) -> ParityFit:
    """Return the least population loss for every parity of degree k, in binary64.

    Parameters
    ----------
    table : array_like, shape (2^d, D)
        The embedding, inputs in the order of `numerics.baselines.walsh.all_inputs`.
    k : int
        The degree.

    Notes
    -----
    Columns that are constant, or depend on others, are told by their singular values, after every
    column has been scaled to norm 1. `numerics.baselines.exact_features` decides the same exactly.

    Raises
    ------
    InvalidArgumentError
        If an entry is not finite, the number of rows is no power of two in 2..2^16, or k is not in
        1..d.
    """
    features = finite_array("table", table, 2)
    supports = parity_numbers(number_of_signs(features), k)
    # Row 0, the mean, is left out: of a constant column all that is left is exactly zero.
    transforms = walsh_hadamard(_unit_columns(features))[1:] / math.sqrt(features.shape[0])
    left, sizes, _ = np.linalg.svd(transforms, full_matrices=False)
    # The transform and the decomposition are backward stable: what they add is a few d u of the
    # norm of the matrix, which is at most sqrt(D). This is NumPy's own allowance, far above that.
    noise = max(transforms.shape) * float(np.finfo(np.float64).eps) * math.sqrt(sizes.shape[0])
    rank = int((sizes > noise).sum())
    if rank == 0:
        return ParityFit(np.ones(supports.shape), 0, 0.0)
    basis = left[supports - 1, :rank]
    # A space is turned by at most noise/size, and the squares of its projections by twice that.
    accuracy = 2 * noise / float(sizes[rank - 1])
    return ParityFit(1 - np.square(basis).sum(axis=1), rank, accuracy)


def _unit_columns(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns over their norms; a zero column stays zero."""
    # By powers of two first, so that no square overflows and a constant column stays constant.
    _, exponents = np.frexp(np.abs(features).max(axis=0))
    scaled = np.ldexp(features, -exponents)
    norms = np.linalg.norm(scaled, axis=0)
    return np.asarray(scaled / np.where(norms > 0, norms, 1.0))


def relu_features(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex
) -> NDArray[np.float64]:
    """Draw max(w.x + c, 0) with standard Gaussian w/sqrt(d) and c, as a table (2^d, D)."""
    return np.maximum(_forms(rng, d, D), 0)


def fourier_features(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex
) -> NDArray[np.float64]:
    """Draw cos(w.x + c) with standard Gaussian entries of w and c, as a table (2^d, D)."""
    return np.cos(_forms(rng, d, D, normalised=False))


def power_features(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex, *, degree: SupportsIndex
) -> NDArray[np.float64]:
    """Draw (w.x + c)^degree with standard Gaussian w/sqrt(d) and c, as a table (2^d, D)."""
    return _forms(rng, d, D) ** integer_at_least("degree", degree, 1)


def product_features(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex, *, factors: SupportsIndex
) -> NDArray[np.float64]:
    """Draw products of linear forms with integer weights in -9..9, as a table (2^d, D).

    Products of two are of degree 2 up to a constant: for k = 2 they can do no better.
    """
    inputs = all_inputs(d).astype(np.int64)
    columns, number = integer_at_least("D", D, 1), integer_at_least("factors", factors, 1)
    weights = rng.integers(-9, 10, size=(number, inputs.shape[1], columns))
    return np.asarray((inputs @ weights).prod(axis=0), dtype=np.float64)


def parity_features(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex, *, k: SupportsIndex
) -> NDArray[np.float64]:
    """Draw D different parities of degree k: the best that a fixed embedding can do.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than D.
    """
    numbers, count = parity_numbers(d, k), integer_at_least("D", D, 1)
    if count > numbers.shape[0]:
        raise InvalidArgumentError("D", count, f"must be at most {numbers.shape[0]}")
    chosen = rng.permutation(numbers)[:count]
    inputs = all_inputs(d)
    bits = (chosen[:, np.newaxis] >> np.arange(inputs.shape[1])) & 1
    signs = np.where(bits[np.newaxis] == 1, inputs[:, np.newaxis], 1)
    return np.asarray(signs.prod(axis=2), dtype=np.float64)


def _forms(
    rng: np.random.Generator, d: SupportsIndex, D: SupportsIndex, *, normalised: bool = True
) -> NDArray[np.float64]:
    inputs = all_inputs(d).astype(np.float64)
    columns = integer_at_least("D", D, 1)
    weights = rng.standard_normal((inputs.shape[1], columns))
    if normalised:
        weights /= math.sqrt(inputs.shape[1])
    return np.asarray(inputs @ weights + rng.standard_normal(columns))
