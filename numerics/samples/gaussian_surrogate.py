"""Empirical gradients of more samples than can be drawn, by their exact mean and covariance.

The empirical gradient of n samples is the mean of n independent vectors: it has the population
gradient as its mean and 1/n of one sample's covariance as its own. The surrogate is Gaussian with
the same two, exact for every n; it misses the higher moments, which die out with n by the central
limit theorem. What rests on it is sampled, not proved. Source of the model: arXiv:2502.07553v2,
section 2 and Corollary 3; the surrogate is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpstrf

from numerics.arguments import InvalidArgumentError, finite_array, integer_at_least
from numerics.population import PopulationGradient, gradient
from numerics.samples.covariance import sample_covariance

__all__ = ["GaussianSurrogate", "covariance_factor"]

# The rounding of `sample_covariance` is below d u of sqrt(C_ii C_jj): 1.2e-10 at d = 10^6.
_CORRELATION_ERROR = 2e-10


@dataclass(frozen=True, slots=True, eq=False)
class GaussianSurrogate:
    """A Gaussian stand-in for the empirical gradient at one point, for any number of samples.

    Attributes
    ----------
    mean : PopulationGradient
        The population loss and gradients.
    factor : ndarray, shape (2 m, 2 m)
        F, with F F^T the covariance of one sample's gradients by theta and by theta~.
    """

    mean: PopulationGradient
    factor: NDArray[np.float64]

    @classmethod
    def at(
        cls,
        V: ArrayLike,
        theta: ArrayLike,
        theta_tilde: ArrayLike,
        support: tuple[SupportsIndex, SupportsIndex],
    ) -> GaussianSurrogate:
        """Form the mean and the covariance at any queries, once for all draws.

        Time is that of `sample_covariance` and `covariance_factor`.

        Parameters
        ----------
        V : array_like, shape (d, m)
            Embeddings; never copied if its rows or columns are contiguous.
        theta, theta_tilde : array_like, shape (m,)
            The queries of the two heads.
        support : pair of int
            The positions (a, b), 0-based.

        Raises
        ------
        InvalidArgumentError
            If a shape does not fit, an entry is not finite, or a score overflows.
        """
        mean = gradient(V, theta, theta_tilde, support)
        return cls(mean, covariance_factor(sample_covariance(V, theta, theta_tilde, support)))

    def draw(self, rng: np.random.Generator, n: SupportsIndex) -> PopulationGradient:
        """Draw what stands for the gradients of `n` samples; `loss` is the population's.

        A draw takes 2 m normal numbers and O(m^2) operations.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of randomness.
        n : int
            Number of samples, at least 1.

        Raises
        ------
        InvalidArgumentError
            If ``n < 1``.
        """
        n = integer_at_least("n", n, 1)
        noise = self.factor @ rng.standard_normal(self.factor.shape[1])
        noise /= math.sqrt(n)
        m = self.mean.theta.shape[0]
        return PopulationGradient(
            self.mean.loss, self.mean.theta + noise[:m], self.mean.theta_tilde + noise[m:]
        )


def covariance_factor(covariance: ArrayLike) -> NDArray[np.float64]:
    """Return a square matrix F with F F^T = covariance, which may be singular.

    By Cholesky's method with pivots, of the matrix scaled to a unit diagonal: the largest variance
    that the coordinates taken so far leave comes next, until all that is left is rounding. So a
    singular matrix needs no other method, and neither head is lost in the rounding of the other.

    The factor takes some k^3 / 6 multiplications and its check k^3; memory is that of six such
    matrices, of 128 MiB each at k = 4096.

    Parameters
    ----------
    covariance : array_like, shape (k, k)
        Symmetric. A coordinate of variance zero gets a row of zeros.

    Returns
    -------
    ndarray, shape (k, k)
        F, with a column of zeros for each dimension that is missing. The entries of F F^T are right
        within 2e-10 of sqrt(C_ii C_jj), commonly within 1e-13.

    Raises
    ------
    InvalidArgumentError
        If the matrix is not square, an entry is not finite, or F F^T cannot come so close: if it
        is not symmetric, or not positive semidefinite.
    """
    matrix = finite_array("covariance", covariance, 2)
    size = matrix.shape[0]
    if not size or matrix.shape != (size, size):
        raise InvalidArgumentError(
            "covariance", f"array of shape {matrix.shape}", "must be a square matrix"
        )
    variances = np.diagonal(matrix)
    if variances.min() < 0:
        k = int(np.argmin(variances))
        raise InvalidArgumentError(f"covariance[{k}, {k}]", variances[k], "must be nonnegative")
    deviations = np.sqrt(variances)
    # A row without variance, divided by infinity, becomes one of zeros.
    divisors = np.where(deviations > 0, deviations, np.inf)
    # What overflows cannot be a covariance, and the check below refuses it.
    with np.errstate(all="ignore"):
        correlations = matrix / divisors / divisors[:, np.newaxis]
        factor = _pivoted_cholesky(correlations)
        error = np.abs(factor @ factor.T - correlations).max()
        if not error <= _CORRELATION_ERROR:
            raise InvalidArgumentError(
                "covariance",
                f"matrix whose correlations no factor comes closer to than {error:.1e}",
                "must be symmetric and positive semidefinite",
            )
        factor *= deviations[:, np.newaxis]
    return factor


def _pivoted_cholesky(correlations: NDArray[np.float64]) -> NDArray[np.float64]:
    # LAPACK stops at a pivot below k u, and counts positions from 1.
    lower, order, rank, _ = dpstrf(correlations, lower=True)
    factor = np.zeros_like(correlations)
    factor[order - 1, :rank] = np.tril(lower[:, :rank])
    return factor
