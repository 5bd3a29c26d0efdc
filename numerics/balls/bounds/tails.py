"""Elementary tail bounds in balls: coordinates of points on spheres, sums of independent terms.

Every bound returned is a single number, rounded outwards, that is right for all members of the
argument balls: for a tail an upper bound on a probability, at most 1; for a threshold a number
that is exceeded with at most the probability asked for. Whatever is not finite, or not resolved
from the region where nothing can be said, gives the trivial bound: probability 1, threshold
infinity. A scale proved negative is refused.

Throughout, y is a coordinate of a uniform point on the unit sphere of R^n. (1 + y)/2 is
Beta((n-1)/2, (n-1)/2), y^2 is Beta(1/2, (n-1)/2), and for k >= 0

    E y^(2k) = (2k-1)!! / (n (n+2) ... (n+2k-2))  <=  (2k-1)!! / n^k,

the moment of a Gaussian g of variance 1/n, which has two consequences, term by term in the
exponential series. E e^(l y) <= e^(l^2/(2n)) for all real l: y is sub-Gaussian with proxy 1/n, its
variance (also Marchal and Arbel, On the sub-Gaussianity of the Beta and Dirichlet distributions,
Electron. Commun. Probab. 22, 2017). And E e^(l n y^2) <= E e^(l n g^2) for all l >= 0: upper tails
of weighted sums of chi-squares proved by moment generating functions hold for n y^2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import SupportsIndex

import flint
from flint import arb

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.balls.arithmetic.exact import dyadic
from numerics.balls.arithmetic.precision import working_precision

__all__ = [
    "bernstein_tail",
    "bernstein_threshold",
    "chi_square_threshold",
    "coordinate_mass",
    "coordinate_tail",
    "reciprocal_moment",
    "reciprocal_square_moment",
    "sphere_peak",
    "squares_threshold",
    "sub_gamma_tail",
    "sub_gamma_threshold",
    "sub_gaussian_tail",
    "sub_gaussian_threshold",
]


def sphere_peak(n: SupportsIndex) -> arb:
    """Enclose phi_n = Gamma(n/2) / (sqrt(pi) Gamma((n-1)/2)), the largest density of y.

    The density is phi_n (1 - y^2)^((n-3)/2). For orientation: by log-convexity of Gamma, phi_n is
    at most sqrt((n-1)/(2 pi)).

    Parameters
    ----------
    n : int
        Dimension of the space, >= 3; on the circle the density has no maximum.

    Returns
    -------
    arb
        Accurate to a few units of the working precision, for any n.

    Raises
    ------
    InvalidArgumentError
        If ``n < 3``.
    """
    return _density_constant(integer_at_least("n", n, 3), flint.ctx.prec)


# A search asks for the same few dimensions at the same precision all the time.
@lru_cache(maxsize=256)
def _density_constant(n: int, bits: int) -> arb:
    """Enclose phi_n, n >= 2, to about `bits` bits."""
    # log Gamma is of order n log n, the difference of order log n: what cancels is added before.
    with working_precision(bits + n.bit_length() + 10):
        ratio = (dyadic(n, -1).lgamma() - dyadic(n - 1, -1).lgamma()).exp()
        return ratio / arb.pi().sqrt()


def coordinate_tail(t: arb, n: SupportsIndex) -> arb:
    """Bound P(y > t) from above by (1 - t^2)^((n-1)/2) min(1/2, phi_n / ((n-1) t)).

    For 0 < t < 1 and n >= 2; the bound is 1/2 at t = 0, 1 below, and 0 (exactly) from 1 on. The
    bound decreases, so that a ball t counts by its lower end.

    First bound. h(t) = (1 - t^2)^((n-1)/2) - P(|y| > t) vanishes at 0 and at 1, and h'(t) is
    (1 - t^2)^((n-3)/2) (2 phi_n - (n-1) t), first positive and then negative: h >= 0.
    Second bound. P(y > t) <= int_t^1 (x/t) phi_n (1 - x^2)^((n-3)/2) dx, which is the bound.
    Both are ours in this form; the first is classical with 1 for 1/2.

    Parameters
    ----------
    t : arb
        Threshold.
    n : int
        Dimension of the space, >= 2.

    Raises
    ------
    InvalidArgumentError
        If ``n < 2``.
    """
    n = integer_at_least("n", n, 2)
    t = _smallest(t)  # a number now, or NaN: comparisons with numbers are decided
    if t >= 1:
        return arb(0)
    if not t >= 0:
        return arb(1)
    factor = arb(0.5)
    slope = (n - 1) * t
    if slope > 0:
        mills = _density_constant(n, flint.ctx.prec) / slope
        if mills < factor:
            factor = mills
    return _probability(factor * _power(t, n - 1))


def coordinate_mass(low: arb, high: arb, n: SupportsIndex) -> arb:
    """Bound P(low <= y <= high) from above, by length times largest density and by the tail.

    The largest density is phi_n (1 - z^2)^((n-3)/2), z being the point of the interval, cut to
    [-1, 1], that is nearest to 0. If the interval lies on one side of 0, the bound is no larger
    than `coordinate_tail` at |z|. An interval proved empty has probability 0.

    Parameters
    ----------
    low, high : arb
        Ends of the interval; the bound holds for the widest one.
    n : int
        Dimension of the space, >= 3.

    Raises
    ------
    InvalidArgumentError
        If ``n < 3``.
    """
    n = integer_at_least("n", n, 3)
    if not (low.is_finite() and high.is_finite()):
        return arb(1)
    low, high = low.lower(), high.upper()
    if low > high or low >= 1 or high <= -1:
        return arb(0)
    if high <= 0:  # by symmetry, on the side where the tail is
        low, high = -high, -low
    if high > 1:
        high = arb(1)
    if low < 0:
        if low < -1:
            low = arb(-1)
        return _probability(_density_constant(n, flint.ctx.prec) * (high - low))
    density = _density_constant(n, flint.ctx.prec) * _power(low, n - 3)
    mass, tail = _probability(density * (high - low)), coordinate_tail(low, n)
    return mass if mass < tail else tail


def reciprocal_moment(n: SupportsIndex) -> Fraction:
    """Return E (1 - y)^-1 = (n-2)/(n-3), exactly.

    (1 - y)/2 is Beta(a, a), a = (n-1)/2, and E B^-1 = (2a-1)/(a-1). By symmetry it is the
    expectation of (1 + y)^-1 too.

    Raises
    ------
    InvalidArgumentError
        If ``n < 4``: the expectation is infinite.
    """
    n = integer_at_least("n", n, 4)
    return Fraction(n - 2, n - 3)


def reciprocal_square_moment(n: SupportsIndex) -> Fraction:
    """Return E (1 - y)^-2 = (n-2)/(n-5), exactly.

    As `reciprocal_moment`, with E B^-2 = (2a-1)(2a-2) / ((a-1)(a-2)).

    Raises
    ------
    InvalidArgumentError
        If ``n < 6``: the expectation is infinite.
    """
    n = integer_at_least("n", n, 6)
    return Fraction(n - 2, n - 5)


def sub_gaussian_tail(t: arb, proxy: arb) -> arb:
    """Bound P(X >= t) from above by exp(-t^2 / (2 proxy)), for t >= 0.

    X has E e^(l X) <= e^(l^2 proxy / 2) for all l >= 0 (Hoeffding, 1963; Boucheron, Lugosi and
    Massart, Concentration Inequalities, 2013, section 2.3). Proxies of independent variables add,
    and that of c X is c^2 times that of X. For t <= 0 or a proxy of zero the bound is 1.

    Raises
    ------
    InvalidArgumentError
        If the proxy is proved negative.
    """
    _refuse_negative("proxy", proxy)
    t, proxy = _smallest(t), _largest(proxy)
    if not (t > 0 and proxy > 0):
        return arb(1)
    return _probability((-t * t / (2 * proxy)).exp())


def sub_gaussian_threshold(proxy: arb, exponent: arb) -> arb:
    """Return t = sqrt(2 proxy exponent): P(X >= t) <= e^-exponent, X as in `sub_gaussian_tail`.

    Parameters
    ----------
    proxy : arb
        Variance proxy, >= 0.
    exponent : arb
        Minus the logarithm of the probability; below zero it counts as zero.

    Raises
    ------
    InvalidArgumentError
        If the proxy is proved negative.
    """
    _refuse_negative("proxy", proxy)
    return _threshold((2 * _largest(proxy) * _largest(exponent)).sqrt())


def sub_gamma_tail(t: arb, variance: arb, scale: arb) -> arb:
    """Bound P(X >= t) by exp(-2 t^2 / (sqrt(variance) + sqrt(variance + 2 scale t))^2), t >= 0.

    X has E e^(l X) <= exp(l^2 variance / (2 (1 - scale l))) for 0 <= l < 1/scale. The exponent
    solves t = sqrt(2 variance L) + scale L (Boucheron, Lugosi and Massart, Concentration
    Inequalities, 2013, section 2.4). By (a + b)^2 <= 2 a^2 + 2 b^2 the bound is at most the usual
    exp(-t^2 / (2 (variance + scale t))). Variances of independent variables with a common scale
    add. For t <= 0, or if variance and scale are zero, the bound is 1.

    Raises
    ------
    InvalidArgumentError
        If the variance or the scale is proved negative.
    """
    _refuse_negative("variance", variance)
    _refuse_negative("scale", scale)
    t, variance = _smallest(t), _largest(variance)
    if not t > 0:
        return arb(1)
    root = variance.sqrt() + (variance + 2 * _largest(scale) * t).sqrt()
    if not root > 0:
        return arb(1)
    slope = t / root
    return _probability((-2 * slope * slope).exp())


def sub_gamma_threshold(variance: arb, scale: arb, exponent: arb) -> arb:
    """Return t = sqrt(2 variance exponent) + scale exponent: P(X >= t) <= e^-exponent.

    X as in `sub_gamma_tail`. A negative exponent counts as zero.

    Raises
    ------
    InvalidArgumentError
        If the variance or the scale is proved negative.
    """
    _refuse_negative("variance", variance)
    _refuse_negative("scale", scale)
    exponent = _largest(exponent)
    return _threshold((2 * _largest(variance) * exponent).sqrt() + _largest(scale) * exponent)


def bernstein_tail(t: arb, variance: arb, range_: arb) -> arb:
    """Bound P(X >= t) from above by exp(-t^2 / (2 (variance + range_ t / 3))), for t >= 0.

    X = sum_i (X_i - E X_i) with independent X_i <= range_ and sum_i E X_i^2 <= variance: Bernstein,
    as in Boucheron, Lugosi and Massart, Concentration Inequalities, 2013, Theorem 2.10 and
    Corollary 2.11 (its condition, sum_i E max(X_i, 0)^q <= (q!/2) variance c^(q-2) for q >= 3,
    holds with c = range_/3 as q!/2 >= 3^(q-2)). There is no lower bound on the X_i; they may be
    centred beforehand, and then `variance` bounds the sum of variances. By the same theorem X is
    sub-gamma with scale range_/3: `sub_gamma_tail` is never larger. For t <= 0, or if variance
    and range_ are zero, the bound is 1.

    Raises
    ------
    InvalidArgumentError
        If the variance or the range is proved negative.
    """
    _refuse_negative("variance", variance)
    _refuse_negative("range_", range_)
    t = _smallest(t)
    scale = _largest(variance) + _largest(range_) * t / 3
    if not (t > 0 and scale > 0):
        return arb(1)
    # Decreasing in t, as t^2 / (v + r t) = t / (v / t + r): the lower end counts.
    return _probability((-t * t / (2 * scale)).exp())


def bernstein_threshold(variance: arb, range_: arb, exponent: arb) -> arb:
    """Return t with P(X >= t) <= e^-exponent, X as in `bernstein_tail`.

    t = r + sqrt(r^2 + 2 exponent variance), r = exponent range_ / 3, is where the bound of
    `bernstein_tail` equals e^-exponent: the positive root of t^2 = 2 exponent (variance +
    range_ t / 3). A negative exponent counts as zero.

    Raises
    ------
    InvalidArgumentError
        If the variance or the range is proved negative.
    """
    _refuse_negative("variance", variance)
    _refuse_negative("range_", range_)
    exponent = _largest(exponent)
    r = exponent * _largest(range_) / 3
    return _threshold(r + (r * r + 2 * exponent * _largest(variance)).sqrt())


def chi_square_threshold(total: arb, length: arb, largest: arb, exponent: arb) -> arb:
    """Return q = total + 2 length sqrt(exponent) + 2 largest exponent.

    For weights w_i >= 0 with ``sum_i w_i <= total``, ``sum_i w_i^2 <= length^2`` and
    ``max_i w_i <= largest``, and independent standard Gaussians g_i,

        P(sum_i w_i g_i^2 >= q) <= e^-exponent

    (Laurent and Massart, Adaptive estimation of a quadratic functional by model selection, Ann.
    Statist. 28, 2000, Lemma 1): sum_i w_i (g_i^2 - 1) is sub-gamma with variance 2 length^2 and
    scale 2 largest, as log E e^(l (g^2 - 1)) = -l - log(1 - 2l)/2 <= l^2 / (1 - 2l). The proof asks
    for E e^(l g^2) at l >= 0 only, so that the same holds with n_i y_i^2 for g_i^2, where y_i are
    independent coordinates of uniform points on spheres of R^(n_i): they have the same mean, and
    their moment generating functions are no larger there. A negative exponent counts as zero.

    Raises
    ------
    InvalidArgumentError
        If one of the three scales is proved negative.
    """
    for what, scale in (("total", total), ("length", length), ("largest", largest)):
        _refuse_negative(what, scale)
    exponent = _largest(exponent)
    spread = _largest(length) * exponent.sqrt() + _largest(largest) * exponent
    return _threshold(_largest(total) + 2 * spread)


def squares_threshold(k: SupportsIndex, n: SupportsIndex, exponent: arb) -> arb:
    """Return q = (k + 2 sqrt(k exponent) + 2 exponent) / n: P(sum_i y_i^2 >= q) <= e^-exponent.

    `chi_square_threshold` for k independent coordinates y_i, with weights 1/n. A negative exponent
    counts as zero.

    Parameters
    ----------
    k, n : int
        Number of coordinates (>= 0) and dimension of the space (>= 1).
    exponent : arb
        Minus the logarithm of the probability.

    Raises
    ------
    InvalidArgumentError
        If ``k < 0`` or ``n < 1``.
    """
    k, n = integer_at_least("k", k, 0), integer_at_least("n", n, 1)
    exponent = _largest(exponent)
    return _threshold((k + 2 * ((k * exponent).sqrt() + exponent)) / n)


def _power(t: arb, twice: int) -> arb:
    """Return (1 - t^2)^(twice/2) for a number t in [0, 1)."""
    # By log1p: 1 - t^2, rounded, would lose a relative n 2^-bits where t is small.
    return ((-t * t).log1p() * twice / 2).exp()


def _probability(bound: arb) -> arb:
    """Return the upper end of a bound, or 1 where it is larger or unresolved."""
    bound = bound.upper()
    return bound if bound < 1 else arb(1)  # NaN is not below 1


def _threshold(bound: arb) -> arb:
    """Return the upper end of a threshold, or infinity where it is unresolved."""
    return bound.upper() if bound.is_finite() else arb.pos_inf()


def _smallest(x: arb) -> arb:
    """Return the smallest member of a ball, rounded downwards; NaN if it is not finite."""
    return x.lower() if x.is_finite() else arb.nan()


def _largest(x: arb) -> arb:
    """Return the largest member of a ball, rounded upwards, at least 0; NaN if it is not finite."""
    if not x.is_finite():
        return arb.nan()
    x = x.upper()
    return x if x > 0 else arb(0)


def _refuse_negative(what: str, x: arb) -> None:
    if x < 0:
        raise InvalidArgumentError(what, x, "must not be negative")
