"""The chance that k heads part in one step, to first order: by quadrature and by draws.

To first order in the scores head h prefers, after one large step from k short queries, the
position s of the support with the largest utility

    U_hs = a (s^h_s - mean_h s_s) - b mean_h s_s + B_s,
    B_s = sum_{s' in S, s' != s} v_s . v_s' - k v_s . vbar,
    a = k/(k-1) - k/d + rho,    b = k/d + (2 k - 1) rho,

s^h_s = v_s . theta_h, vbar the mean of all d embeddings, rho from the square of the prediction, of
order 1/d (docs/parity.md; ours). In many dimensions scores and products are Gaussian, and up to
what all positions share, and over 1/sqrt(m), U_h = lambda (z_h + sqrt(kappa) c) with standard
Gaussian rows z_1, ..., z_k and c of k entries,

    kappa = beta/lambda^2 - 1/k,    beta_B = (1 - k/d) (k - 2 + 2 k/d),
    lambda^2 = |theta|^2 a^2 k/(k-1), beta = beta_B from the simplex start,
    lambda^2 = |theta|^2 a^2, beta = beta_B + |theta|^2 b^2/k from independent starts,

where beta is what the heads share: B, which is 0 for orthonormal embeddings, and their mean score.
Given c the heads choose independently, with one law:

    P(k different positions) = k! E prod_s pi_s(sqrt(kappa) c),
    pi_s(c) = int phi(t) prod_{s' != s} Phi(t + c_s - c_s') dt,

also for -1/k < kappa < 0, where sqrt(kappa) is imaginary, as both sides are analytic.
"""

from __future__ import annotations

import math
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, finite_float, integer_at_least
from numerics.parity.population import check_heads
from numerics.parity.start import check_length, check_start, helmert

__all__ = ["common_shock", "distinct_probability", "draw_distinct"]

# Nodes of the outer rule in each dimension: the integrand is a product of k smooth functions.
_NODES = 24
# The inner integrand falls below 1e-17 beyond 8.5, and its Fourier transform, a convolution of at
# most four factors exp(-w^2/2), below 1e-15 at w = 2 pi / step: so small is the trapezoidal error.
_REACH, _STEP = 8.5, 0.375

# Next to kappa = -1/k the imaginary shifts outgrow the Gaussian weight, and for a large kappa the
# choices are steep in c: there the rule fails.
_LEAST, _LARGEST = -0.5, 1.5


def common_shock(
    k: SupportsIndex,
    *,
    d: SupportsIndex | None = None,
    start: str = "simplex",
    norm: SupportsFloat = 1.0,
    orthonormal: bool = False,
) -> float:
    """Return kappa, the variance that the heads share over that of each one alone.

    Parameters
    ----------
    k : int
        Number of heads, 2, 3 or 4.
    d : int, optional
        Number of positions, > k; infinitely many if not given.
    start : {"simplex", "independent"}
        A key of `numerics.parity.start.STARTS`.
    norm : float
        Length of every query, > 0; short against sqrt(m) for the first order to count.
    orthonormal : bool
        Whether the embeddings are orthonormal, B = 0, rather than independent.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    heads = check_heads(k)
    share, (own, shared) = _support_share(heads, d), _gains(heads, d)
    beta = 0.0 if orthonormal else (1 - share) * (heads - 2 + 2 * share)
    if check_start(start) == "simplex":
        own *= math.sqrt(heads / (heads - 1))
    else:
        beta += (check_length(norm) * shared) ** 2 / heads
    return beta / (check_length(norm) * own) ** 2 - 1 / heads


def distinct_probability(k: SupportsIndex, shock: SupportsFloat) -> float:
    """Return P(k different positions) by quadrature over the common shock.

    For two heads it is arccos(r)/pi with r = kappa/(1 + kappa), the correlation of their two
    differences of utilities (Sheppard): 1 at kappa = -1/2.

    Parameters
    ----------
    k : int
        Number of heads, 2, 3 or 4.
    shock : float
        kappa; at least -1/2 for k = 2, else in [-1/(2 k), 1.5].

    Returns
    -------
    float
        With an error below 1e-6.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    heads, kappa = check_heads(k), finite_float("shock", shock)
    if heads == 2:
        if kappa < -0.5:
            raise InvalidArgumentError("shock", kappa, "must be at least -0.5")
        return math.acos(kappa / (1 + kappa)) / math.pi
    least = _LEAST / heads
    if not least <= kappa <= _LARGEST:
        fix = f"must be in [{least:.4g}, {_LARGEST:g}]; use draw_distinct beyond"
        raise InvalidArgumentError("shock", kappa, fix)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    grid = np.stack(np.meshgrid(*[nodes] * (heads - 1), indexing="ij"), axis=-1)
    mass = np.prod(np.meshgrid(*[weights] * (heads - 1), indexing="ij"), axis=0)
    # Only differences of the entries of c count: its k - 1 coordinates off the diagonal.
    c = np.emath.sqrt(kappa) * (grid.reshape(-1, heads - 1) @ helmert(heads))
    parted = np.prod(_choices(c), axis=-1).real
    mean = float(parted @ mass.reshape(-1)) / math.sqrt(2 * math.pi) ** (heads - 1)
    return math.factorial(heads) * mean


def draw_distinct(
    rng: np.random.Generator,
    k: SupportsIndex,
    *,
    d: SupportsIndex | None = None,
    start: str = "simplex",
    norm: SupportsFloat = 1.0,
    orthonormal: bool = False,
    draws: SupportsIndex,
) -> int:
    """Return in how many of `draws` Gaussian draws the k utilities have different maxima.

    Scores and products are drawn as they stand in the definition of U, without kappa: a second
    way to the same probability, for queries of every length.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    k, d, start, norm, orthonormal
        As for `common_shock`.
    draws : int
        How many draws, >= 1.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range.
    """
    heads, n = check_heads(k), integer_at_least("draws", draws, 1)
    share, length = _support_share(heads, d), check_length(norm)
    own, shared = _gains(heads, d)
    z = rng.standard_normal((n, heads, heads))
    if check_start(start) == "simplex":
        # Gaussian scores with correlation -1/(k-1): centred over the heads, at unit variance.
        z = math.sqrt(heads / (heads - 1)) * (z - z.mean(axis=1, keepdims=True))
    mean = z.mean(axis=1, keepdims=True)
    utility = length * (own * (z - mean) - shared * mean)
    if not orthonormal:
        products = np.triu(rng.standard_normal((n, heads, heads)), 1)
        within = (products + products.transpose(0, 2, 1)).sum(axis=2)
        # k vbar: the support has a share in it, and the sum over the d - k others is Gaussian.
        others = math.sqrt(heads * share * (1 - share)) * rng.standard_normal((n, heads))
        utility += ((1 - share) * within - others)[:, np.newaxis, :]
    chosen = np.sort(utility.argmax(axis=2), axis=1)
    return int((chosen == np.arange(heads)).all(axis=1).sum())


def _support_share(k: int, d: SupportsIndex | None) -> float:
    return 0.0 if d is None else k / integer_at_least("d", d, k + 1)


def _gains(k: int, d: SupportsIndex | None) -> tuple[float, float]:
    """Return a and b: what multiplies a score less its mean over the heads, and minus that mean."""
    if d is None:
        return k / (k - 1), 0.0
    n = integer_at_least("d", d, k + 1)
    # (k - 1)! d^k rho.
    rest = {2: n - 2, 3: (n - 2) * (3 * n - 8), 4: (n - 2) * (15 * n * n - 90 * n + 136)}[k]
    rho = rest / (math.factorial(k - 1) * n**k)
    return k / (k - 1) - k / n + rho, k / n + (2 * k - 1) * rho


def _choices(c: NDArray[np.float64] | NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return pi_s(c) for each row of c: the chance that c_s + z_s is the largest."""
    from scipy.special import erfc

    t = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * _STEP
    k = c.shape[1]
    chances = np.empty(c.shape, dtype=np.complex128)
    for s in range(k):
        inside = np.ones((c.shape[0], t.shape[0]), dtype=c.dtype)
        for other in range(k):
            if other != s:
                shift = (c[:, s] - c[:, other])[:, np.newaxis]
                inside *= erfc(-(t + shift) / math.sqrt(2)) / 2
        chances[:, s] = inside @ density
    return chances
