"""Mean and second moments of the slopes of one sample's loss, in O(d).

With p = <gamma, x>, q = <gamma~, x> and e = p q - x_a x_b, the loss of one sample is e^2 (no factor
1/2), and its slopes, the derivatives by gamma_i and gamma~_i, are 2 e q x_i and 2 e p x_i. Source
of the model: arXiv:2502.07553v2, section 2; the moments are ours.

The second moments E [4 e^2 q^2 x_i x_j], E [4 e^2 p q x_i x_j] and E [4 e^2 p^2 x_i x_j] are
diagonal matrices plus products of twelve vectors, so that no d x d matrix is formed. Write x' for x
off the support, p' = <gamma, x'>, q' = <gamma~, x'>. As x and -x have the same moments, take
x_a = 1 and x_b = tau = +1 or -1: then e^2 q^2, say, is a polynomial h in p' and q'. By the moment
rule of signs, with the cumulants kappa = 1, -2, 16, -272 of the orders 2, 4, 6, 8, the factors x'_i
and x'_j lie in one block of a partition or in two, together with k factors p' and l factors q'. Put
A = (k, l), |A| = k + l, phi_A = gamma^k gamma~^l off the support and 0 on it, and sum over what the
other blocks can be:

    h_A = E (d/dp')^k (d/dq')^l h / (k! l!)
    E h x'_i = sum of kappa_{|A|+1} h_A phi_Ai over odd |A|
    E h x'_i x'_j = sum of kappa_{|A|+1} kappa_{|B|+1} binom(A+B, A) h_{A+B} phi_Ai phi_Bj
                    over odd |A|, |B|, and for i = j of kappa_{|A|+2} h_A phi_Ai over even |A|.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import check_support, probability_vector, vector_of_length

__all__ = ["SlopeForm", "SlopeMoments", "slope_moments"]

_KAPPA = {2: 1.0, 4: -2.0, 6: 16.0, 8: -272.0}

# Of the six factors in e^2 q^2, e^2 p q or e^2 p^2 at most four are equal.
_MOST, _FACTORS = 4, 6
_EXPONENTS = [(k, l) for k in range(_MOST + 1) for l in range(_MOST + 1) if k + l <= _FACTORS]
_ODD = [(k, l) for k, l in _EXPONENTS if (k + l) % 2 == 1]
_EVEN = [(k, l) for k, l in _EXPONENTS if (k + l) % 2 == 0]

_BINOMIALS = np.array([[comb(k, i) for k in range(_MOST + 1)] for i in range(_MOST + 1)])
# kappa_{|A|+1} kappa_{|B|+1} binom(A+B, A) for odd |A|, |B|.
_K, _L = np.array(_ODD).T
_WAYS = np.array(
    [
        [_KAPPA[k + l + 1] * _KAPPA[i + j + 1] * comb(k + i, k) * comb(l + j, l) for i, j in _ODD]
        for k, l in _ODD
    ]
)

_PAIRS_OF_HEADS = ((0, 0), (0, 1), (1, 1))


@dataclass(frozen=True, slots=True, eq=False)
class SlopeForm:
    """A quadratic form in the slopes of both heads: for each two of them a d x d matrix.

    The matrix for heads g and h is diag(diagonals[g, h]) + vectors^T cores[g, h] vectors.

    Attributes
    ----------
    diagonals : ndarray, shape (2, 2, d)
        Symmetric in the heads.
    vectors : ndarray, shape (12, d)
        The indicators of a and of b, then gamma^k gamma~^l off the support for odd k + l.
    cores : ndarray, shape (2, 2, 12, 12)
        Symmetric in the heads and in the vectors.
    """

    diagonals: NDArray[np.float64]
    vectors: NDArray[np.float64]
    cores: NDArray[np.float64]

    def quadratic(self, r: ArrayLike, r_tilde: ArrayLike) -> float:
        """Return the value at coefficients `r` of head 1's slopes and `r_tilde` of head 2's.

        Raises
        ------
        InvalidArgumentError
            If `r` or `r_tilde` has not d finite entries.
        """
        d = self.vectors.shape[1]
        rows = np.stack([vector_of_length("r", r, d), vector_of_length("r_tilde", r_tilde, d)])
        with np.errstate(under="ignore"):
            images = rows @ self.vectors.T
            value = np.einsum("gi,ghij,hj->", images, self.cores, images)
            # Not by einsum, which would add the d terms one after the other.
            value += np.sum(self.diagonals * rows[:, np.newaxis] * rows)
        return float(value)

    def project(
        self, blocks: Iterable[tuple[slice, NDArray[np.float64], NDArray[np.float64]]], columns: int
    ) -> NDArray[np.float64]:
        """Return the matrix of the form in other coordinates.

        These are the products of R^T with head 1's slopes and of R~^T with head 2's.

        Parameters
        ----------
        blocks : iterable of (slice, ndarray, ndarray)
            Rows of R and of R~ and which they are, consumed one block at a time; every row must
            come once.
        columns : int
            Number k of columns of R and of R~.

        Returns
        -------
        ndarray, shape (2 k, 2 k)
            Symmetric to the last bit; the first k coordinates are those of head 1.
        """
        matrix = np.zeros((2, columns, 2, columns))
        images = np.zeros((2, self.vectors.shape[0], columns))
        with np.errstate(under="ignore"):
            for rows, *pair in blocks:
                for image, R in zip(images, pair, strict=True):
                    image += self.vectors[:, rows] @ R
                for g, h in _PAIRS_OF_HEADS:
                    weighted = self.diagonals[g, h, rows, np.newaxis] * pair[h]
                    matrix[g, :, h] += pair[g].T @ weighted
            for g, h in _PAIRS_OF_HEADS:
                matrix[g, :, h] += images[g].T @ self.cores[g, h] @ images[h]
        for h in range(2):
            matrix[h, :, h] = (matrix[h, :, h] + matrix[h, :, h].T) / 2
        matrix[1, :, 0] = matrix[0, :, 1].T
        return matrix.reshape(2 * columns, 2 * columns)


@dataclass(frozen=True, slots=True, eq=False)
class SlopeMoments:
    """Mean, second moments and covariance of the slopes of one sample's loss.

    Attributes
    ----------
    second : SlopeForm
        The second moments; its value at (r, r~) is E (sum r_i slope_i + sum r~_i slope~_i)^2.
    mean_coefficients : ndarray, shape (2, 12)
        The means of each head's slopes, as combinations of ``second.vectors``.
    """

    second: SlopeForm
    mean_coefficients: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The means, shape (2, d): dL/dgamma_i and dL/dgamma~_i for the population loss L."""
        with np.errstate(under="ignore"):
            return self.mean_coefficients @ self.second.vectors

    @property
    def covariance(self) -> SlopeForm:
        """The covariances: second moments less the products of the means.

        Subtracted among the coefficients, so that what the vectors have in common cannot cancel.
        """
        means = self.mean_coefficients
        products = means[:, np.newaxis, :, np.newaxis] * means[np.newaxis, :, np.newaxis, :]
        return SlopeForm(self.second.diagonals, self.second.vectors, self.second.cores - products)


def slope_moments(
    gamma: ArrayLike, gamma_tilde: ArrayLike, support: tuple[SupportsIndex, SupportsIndex]
) -> SlopeMoments:
    """Return the exact moments of one sample's slopes, x uniform on {-1, +1}^d.

    Accuracy: an entry of the three matrices, E 4 e^2 q^2 x_i x_j and its like, is a sum of products
    that cancel little, and so is its covariance. Where the heads spread, blocks of more factors
    add less by powers of the attention; where they succeed, e is small without being a difference.
    The error is some 10 u sqrt(M_ii M_jj), with u = 2^-53 and M the second moments, for any d and
    attention down to 1e-40 (tested against rational arithmetic) but for one case: if both heads
    concentrate on one and the same position off the support, up to 300 u, as the cumulants of order
    6 and 8 cancel there.

    Parameters
    ----------
    gamma, gamma_tilde : array_like, shape (d,)
        Probability vectors, the attention of the two heads.
    support : pair of int
        The positions (a, b), 0-based.

    Raises
    ------
    InvalidArgumentError
        If the vectors are no probability vectors of one length or the support does not fit.
    """
    gamma = probability_vector("gamma", gamma)
    d = gamma.shape[0]
    gamma_tilde = probability_vector("gamma_tilde", gamma_tilde, d)
    a, b = check_support(support, d)
    with np.errstate(under="ignore"):
        powers, powers_tilde = _powers_off(gamma, a, b), _powers_off(gamma_tilde, a, b)
        vectors = np.zeros((2 + len(_ODD), d))
        vectors[0, a] = vectors[1, b] = 1.0
        vectors[2:] = [powers[k] * powers_tilde[l] for k, l in _ODD]
        even_vectors = np.stack([powers[k] * powers_tilde[l] for k, l in _EVEN])
        # Each row is added by halves, which errs less than a product of matrices.
        moments = _moments_of_forms(dict(zip(_EVEN, even_vectors.sum(axis=1), strict=True)))

        weights = np.zeros((2, 2, len(_EVEN)))
        cores = np.zeros((2, 2, len(vectors), len(vectors)))
        mean_coefficients = np.zeros((2, len(vectors)))
        outside = float(np.sum(powers[1])), float(np.sum(powers_tilde[1]))
        for tau in (1.0, -1.0):
            e, p, q = _polynomials(gamma[[a, b]], gamma_tilde[[a, b]], outside, tau)
            slopes = 2.0 * _times(e, q), 2.0 * _times(e, p)
            for g in range(2):
                h_A = _mean_derivatives(slopes[g], moments)
                mean_coefficients[g] += _coefficients_of_one(h_A, tau) / 2
                for h in range(2):
                    h_A = _mean_derivatives(_times(slopes[g], slopes[h]), moments)
                    cores[g, h] += _coefficients_of_two(h_A, tau) / 2
                    weights[g, h] += [_KAPPA[k + l + 2] * h_A[k, l] / 2 for k, l in _EVEN]
        diagonals = weights @ even_vectors
    return SlopeMoments(SlopeForm(diagonals, vectors, cores), mean_coefficients)


def _powers_off(weights: NDArray[np.float64], a: int, b: int) -> NDArray[np.float64]:
    """Return the powers 0, ..., 4 of the weights as rows, with zeros at the support."""
    powers = np.ones((_MOST + 1, weights.shape[0]))
    for k in range(_MOST):
        np.multiply(powers[k], weights, out=powers[k + 1])
    powers[:, [a, b]] = 0.0
    return powers


def _moments_of_forms(power_sums: Mapping[tuple[int, int], float]) -> NDArray[np.float64]:
    """Return E p'^k q'^l for k, l <= 4 and k + l <= 6, from the sums of gamma^k gamma~^l.

    The moment rule, by the block of the first factor.
    """
    moments = np.zeros((_MOST + 1, _MOST + 1))
    moments[0, 0] = 1.0
    for k, l in _EVEN[1:]:
        # The first factor is a p' if there is one.
        first, first_tilde = (1, 0) if k else (0, 1)
        moments[k, l] = sum(
            comb(k - first, i - first)
            * comb(l - first_tilde, j - first_tilde)
            * _KAPPA[i + j]
            * power_sums[i, j]
            * moments[k - i, l - j]
            for i in range(first, k + 1)
            for j in range(first_tilde, l + 1)
            if (i + j) % 2 == 0
        )
    return moments


def _polynomials(
    on: NDArray[np.float64],
    on_tilde: NDArray[np.float64],
    outside: tuple[float, float],
    tau: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return e, p and q as polynomials in p' and q', for x_a = 1 and x_b = tau.

    `on` and `on_tilde` hold the attention at a and b, `outside` the masses elsewhere. As each head
    has mass 1, 1 - tau p q is a sum of products at p' = q' = 0, and so is small without being a
    difference where the heads succeed.
    """
    alpha, beta = on[0] + tau * on[1], on_tilde[0] + tau * on_tilde[1]
    off, off_tilde = outside
    gap = off * on_tilde.sum() + off_tilde * on.sum() + off * off_tilde
    gap += (1.0 - tau) * float(on @ on_tilde)
    e = np.array([[-tau * gap, alpha], [beta, 1.0]])
    return e, np.array([[alpha], [1.0]]), np.array([[beta, 1.0]])


def _times(f: NDArray[np.float64], g: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product of two polynomials, arrays of the coefficients of p'^k q'^l."""
    product = np.zeros((f.shape[0] + g.shape[0] - 1, f.shape[1] + g.shape[1] - 1))
    for (k, l), coefficient in np.ndenumerate(f):
        product[k : k + g.shape[0], l : l + g.shape[1]] += coefficient * g
    return product


def _mean_derivatives(h: NDArray[np.float64], moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return h_A for A = (k, l), k, l <= 8: the means of Taylor's coefficients of h."""
    rows, columns = h.shape
    k, l = np.arange(rows), np.arange(columns)
    # What A leaves of a monomial is left to the other blocks. Where A takes too much, the index
    # is negative and the binomial zero.
    left, left_tilde = k - k[:, np.newaxis], l - l[:, np.newaxis]
    ways = np.einsum("ik,jl->ijkl", _BINOMIALS[:rows, :rows], _BINOMIALS[:columns, :columns])
    rest = moments[left[:, np.newaxis, :, np.newaxis], left_tilde[:, np.newaxis, :]]
    h_A = np.zeros((2 * _MOST + 1, 2 * _MOST + 1))
    h_A[:rows, :columns] = np.einsum("ijkl,ijkl,kl->ij", ways, rest, h)
    return h_A


def _coefficients_of_one(h_A: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """Return E h x given x_a = 1, x_b = tau, as coefficients of the twelve vectors."""
    odd = [_KAPPA[k + l + 1] * h_A[k, l] for k, l in _ODD]
    return np.array([h_A[0, 0], tau * h_A[0, 0], *odd])


def _coefficients_of_two(h_A: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """Return E h x_i x_j given x_a = 1, x_b = tau, as coefficients of products of the vectors.

    Without the diagonal matrix off the support.
    """
    core = np.empty((2 + len(_ODD), 2 + len(_ODD)))
    core[0] = _coefficients_of_one(h_A, tau)
    core[1] = tau * core[0]
    core[:, :2] = core[:2].T
    core[2:, 2:] = _WAYS * h_A[_K[:, np.newaxis] + _K, _L[:, np.newaxis] + _L]
    return core
