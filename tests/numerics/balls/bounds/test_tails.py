from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mpf

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.binomial import clopper_pearson
from numerics.balls.bounds.exact_tails import exact_coordinate_tail
from numerics.balls.bounds.tails import (
    bernstein_tail,
    bernstein_threshold,
    chi_square_threshold,
    coordinate_mass,
    coordinate_tail,
    reciprocal_moment,
    reciprocal_square_moment,
    sphere_peak,
    squares_threshold,
    sub_gamma_tail,
    sub_gamma_threshold,
    sub_gaussian_tail,
    sub_gaussian_threshold,
)

BITS = st.sampled_from([4, 9, 64, 128])
DIMENSIONS = st.sampled_from([3, 4, 5, 7, 20, 256, 10**4, 10**9])
NOTHING = [arb.nan(), arb.pos_inf(), arb(0, arb.pos_inf())]
TINY = mpf(10) ** -60  # the references have 70 digits


@pytest.fixture(autouse=True)
def seventy_digits():
    with mpmath.workdps(70):
        yield


def real(x):
    """A fraction, or the number in a ball of radius zero, at the precision of the references."""
    if isinstance(x, arb):
        assert x.is_exact()
        x = upper_end(x)
    return mpf(x.numerator) / x.denominator


def low(ball):
    return real(lower_end(ball))


def high(ball):
    return real(upper_end(ball))


def bounded_tightly(bound, formula, bits):
    """Whether a bound is rounded up from the value of its formula, by a few units at `bits`.

    Exponents here are below 2^5, and worth as many units; the bounds take up to ten operations.
    """
    value = real(bound)
    return formula * (1 - TINY) <= value <= formula * (1 + mpf(2) ** (9 - bits))


# --- a coordinate on the sphere


def mp_peak(n):
    return mpmath.gammaprod([mpf(n) / 2], [mpf(n - 1) / 2]) / mpmath.sqrt(mpmath.pi)


def test_peaks_known_in_closed_form():
    with working_precision(100):
        for n, peak in [
            (3, arb(1) / 2),
            (4, 2 / arb.pi()),
            (5, arb(3) / 4),
            (6, 8 / (3 * arb.pi())),
            (7, arb(15) / 16),
        ]:
            assert sphere_peak(n).overlaps(peak)
            assert sphere_peak(n).rel_accuracy_bits() >= 95


@given(n=st.one_of(DIMENSIONS, st.integers(3, 10**9)), bits=BITS)
def test_peaks_of_neighbours(n, bits):
    # phi_n phi_{n+1} = (n-1)/(2 pi), and phi increases: phi_n^2 lies between two of these products.
    with working_precision(bits):
        peak = sphere_peak(n)
        assert (peak * sphere_peak(n + 1)).overlaps((n - 1) / (2 * arb.pi()))
        assert not peak**2 > (n - 1) / (2 * arb.pi())
        assert not peak**2 < (n - 2) / (2 * arb.pi())
    assert peak.rel_accuracy_bits() >= bits - 6


@pytest.mark.parametrize("n", [3, 10, 257, 10**5])
def test_peak_encloses_a_quotient_of_gammas(n):
    with working_precision(64):
        peak = sphere_peak(n)
    assert low(peak) <= mp_peak(n) <= high(peak)
    assert high(peak) - low(peak) <= mp_peak(n) * mpf(2) ** -58


@given(t=st.integers(1, 1023), n=DIMENSIONS.filter(lambda n: n <= 10**4), bits=BITS)
def test_tail_is_its_formula_rounded_up(t, n, bits):
    x = Fraction(t, 1024) if n < 30 else Fraction(t, 1024 * math.isqrt(n) // 5)
    with working_precision(200):
        ball = from_fraction(x)
    with working_precision(max(bits, 9)):  # 10 bits hold no more than t
        ball = ball.lower()
    with working_precision(bits):
        bound = coordinate_tail(ball, n)
    if bits >= 64:
        x = real(ball)
        envelope = (1 - x * x) ** (mpf(n - 1) / 2)
        formula = envelope * min(mpf(1) / 2, mp_peak(n) / ((n - 1) * x))
        assert bounded_tightly(bound, formula, bits)
    with working_precision(128):
        assert bound >= exact_coordinate_tail(ball, n).mid()


@given(t=st.integers(0, 4095), n=st.one_of(DIMENSIONS, st.just(2)))
def test_tail_bounds_the_probability_and_is_at_most_171_percent_of_it(t, n):
    # The two bounds cross where t = 2 phi_n / (n-1): there they are worst, and the worse the larger
    # n. In the limit the Gaussian tail at sqrt(2/pi), .21247, is bounded by exp(-1/pi)/2 = .36369.
    scale = 4096 if n < 50 else 512 * math.isqrt(n)
    with working_precision(128):
        x = arb(t) / scale
        bound, truth = coordinate_tail(x, n), exact_coordinate_tail(x, n)
        assert bound >= truth.lower()
        assert bound < truth * arb("1.7118")


def test_tail_where_its_two_bounds_cross():
    n = 10**9
    with working_precision(128):
        x = 2 * sphere_peak(n) / (n - 1)
        assert coordinate_tail(x, n) > exact_coordinate_tail(x, n) * arb("1.7116")


@pytest.mark.parametrize("n", [2, 3, 10**9])
def test_tail_ends(n):
    assert coordinate_tail(arb(0), n) == 0.5
    assert coordinate_tail(arb(-1) / 2**70, n) == 1
    assert coordinate_tail(arb(0, 1e-30), n) == 1
    assert coordinate_tail(arb(1), n) == 0
    assert coordinate_tail(arb(7), n) == 0
    # A ball that reaches below 1 proves nothing of the sort.
    assert coordinate_tail(arb(1, 1e-3), n) > 0
    assert coordinate_tail(arb(1, 2), n) == 1


def test_observed_tails_stay_below_the_bound_and_not_far():
    # Fixed seed; the lower ends miss with probability below 1e-9.
    n, trials = 12, 40_000
    points = np.random.default_rng(11).standard_normal((trials, n))
    y = points[:, 0] / np.sqrt(np.einsum("ij,ij->i", points, points))
    for t in (0.05, 0.2, 0.45):
        lower, _ = clopper_pearson(int((y > t).sum()), trials, level=1 - Fraction(1, 10**9))
        bound = coordinate_tail(arb(t), n)
        assert bound * 0.55 < lower < bound


@given(
    ends=st.tuples(st.integers(-70, 70), st.integers(-70, 70)).map(sorted),
    n=DIMENSIONS,
    bits=BITS,
)
def test_mass_bounds_the_probability_of_an_interval(ends, n, bits):
    scale = 64 if n < 50 else 8 * math.isqrt(n)
    with working_precision(128):
        a, b = (arb(x) / scale for x in ends)
        minus_a, minus_b = -a, -b
        truth = exact_coordinate_tail(a, n) - exact_coordinate_tail(b, n)
    with working_precision(bits):
        bound, mirrored = coordinate_mass(a, b, n), coordinate_mass(minus_b, minus_a, n)
    with working_precision(128):
        assert bound >= truth.lower()
        assert mirrored == bound


@given(i=st.integers(-6, 6), n=DIMENSIONS)
def test_mass_of_a_short_interval_is_not_overrated(i, n):
    # On an interval of length h the density varies by (n-3) y h / (1 - y^2) of itself: by .002.
    with working_precision(128):
        a = arb(i) / 3 / arb(n + 3).sqrt()
        b = a + arb(1) / 1000 / arb(n + 3).sqrt()
        truth = exact_coordinate_tail(a, n) - exact_coordinate_tail(b, n)
        assert coordinate_mass(a, b, n) <= truth * arb("1.002")


def test_mass_of_special_intervals():
    with working_precision(64):
        quarter, half, n = arb(0.25), arb(0.5), 3
        # Uniform on [-1, 1] in three dimensions.
        for a, b, mass in [
            (quarter, half, 0.125),
            (-half, quarter, 0.375),
            (-half, half, 0.5),
            (arb(-5), arb(5), 1),
            (arb(-5), arb(0), 0.5),
            (arb(-5), quarter, 0.625),
            (half, arb(9), 0.25),
            (arb(-9), -half, 0.25),
            (half, quarter, 0),
            (arb(1), arb(2), 0),
            (arb(-2), arb(-1), 0),
            (arb(1) / 3, arb(1) / 3, 0),
        ]:
            assert mass <= coordinate_mass(a, b, n) <= arb(mass) + 1e-18
        # Unordered ends: the widest interval counts.
        assert coordinate_mass(arb(0.5, 0.125), arb(0.5, 0.125), n) >= 0.125
        # Far out the tail is the smaller bound.
        assert coordinate_mass(quarter, arb(1), 400) == coordinate_tail(quarter, 400)


@pytest.mark.parametrize("n", [5, 7, 9, 21])
def test_reciprocal_moments(n):
    # int (1-y)^p (1+y)^q dy over [-1, 1] is 2^(p+q+1) p! q! / (p+q+1)!; the weight has p = q = k.
    k = (n - 3) // 2

    def integral(p):
        return Fraction(
            2 ** (p + k + 1) * math.factorial(p) * math.factorial(k), math.factorial(p + k + 1)
        )

    assert reciprocal_moment(n) == integral(k - 1) / integral(k)
    if k >= 2:
        assert reciprocal_square_moment(n) == integral(k - 2) / integral(k)


@pytest.mark.parametrize("n", [4, 10])
def test_first_reciprocal_moment_in_even_dimension(n):
    # y = cos u: the weight (1-y)^(n/2 - 5/2) (1+y)^(n/2 - 3/2) has no pole left.
    mean = mpmath.quad(
        lambda u: (1 + mpmath.cos(u)) * mpmath.sin(u) ** (n - 4), [0, mpmath.pi]
    ) * mp_peak(n)
    assert abs(mean - real(reciprocal_moment(n))) < mpf(10) ** -30


def test_second_reciprocal_moment_in_even_dimension():
    mean = mpmath.quad(
        lambda u: (1 + mpmath.cos(u)) ** 2 * mpmath.sin(u) ** 4, [0, mpmath.pi]
    ) * mp_peak(10)
    assert abs(mean - real(reciprocal_square_moment(10))) < mpf(10) ** -30


# --- sums


@given(
    t=st.integers(1, 40),
    variance=st.integers(1, 40),
    scale=st.integers(0, 40),
    bits=BITS,
)
@example(t=7, variance=3, scale=5, bits=64)
def test_bounds_are_their_formulas_rounded_up(t, variance, scale, bits):
    x, v, c = (Fraction(k, 8) for k in (t, variance, scale))
    with working_precision(64):
        X, W, C = (from_fraction(k) for k in (x, v, c))
    x, v, c = real(x), real(v), real(c)
    sub_gamma = 4 * x * x / (mpmath.sqrt(2 * v) + mpmath.sqrt(2 * v + 4 * c * x)) ** 2
    pairs = [
        (sub_gaussian_tail, (X, W), mpmath.exp(-x * x / (2 * v))),
        (sub_gaussian_threshold, (W, X), mpmath.sqrt(2 * v * x)),
        (bernstein_tail, (X, W, C), mpmath.exp(-x * x / (2 * (v + c * x / 3)))),
        (bernstein_threshold, (W, C, X), c * x / 3 + mpmath.sqrt((c * x / 3) ** 2 + 2 * v * x)),
        (sub_gamma_tail, (X, W, C), mpmath.exp(-sub_gamma)),
        (sub_gamma_threshold, (W, C, X), mpmath.sqrt(2 * v * x) + c * x),
        (chi_square_threshold, (W, X, C, X), v + 2 * x * mpmath.sqrt(x) + 2 * c * x),
    ]
    for function, arguments, formula in pairs:
        with working_precision(bits):
            bound = function(*arguments)
        assert real(bound) >= formula * (1 - TINY), function
        if bits >= 64 and formula > mpmath.exp(-30):
            assert bounded_tightly(bound, formula, bits), function


@given(k=st.integers(0, 10**15), n=st.integers(1, 10**9), L=st.integers(0, 60), bits=BITS)
def test_squares_threshold_is_its_formula_rounded_up(k, n, L, bits):
    with working_precision(bits):
        bound = squares_threshold(k, n, arb(L))
    formula = (k + 2 * mpmath.sqrt(mpf(k) * L) + 2 * L) / n
    assert real(bound) >= formula * (1 - TINY)
    if bits >= 64:
        assert bounded_tightly(bound, formula, bits)


@given(variance=st.integers(1, 40), scale=st.integers(0, 40), L=st.integers(1, 25))
def test_tails_at_their_thresholds(variance, scale, L):
    with working_precision(64):
        v, c, exponent = arb(variance) / 8, arb(scale) / 8, arb(L) / 2
        target = (-exponent).exp()
        for tail in [
            sub_gaussian_tail(sub_gaussian_threshold(v, exponent), v),
            bernstein_tail(bernstein_threshold(v, c, exponent), v, c),
            sub_gamma_tail(sub_gamma_threshold(v, c, exponent), v, c),
        ]:
            assert abs(tail / target - 1) < 1e-15
        # The claim that lets a caller prefer the sub-gamma form of Bernstein's inequality.
        assert sub_gamma_threshold(v, c / 3, exponent) <= bernstein_threshold(v, c, exponent)
        t = exponent
        assert sub_gamma_tail(t, v, c / 3) <= bernstein_tail(t, v, c) * (1 + arb(2) ** -50)


# For laws whose tails are known: (parameters, exponent L, factor). The threshold at e^-L is right,
# and times the factor it is wrong. At L = 3 bounds by moment generating functions lose the factor
# 1/(t sqrt(2 pi)) of the tail, hence .55 to .65; at L = 50 and 200 the loss is small beside e^-L.


@pytest.mark.parametrize(("L", "factor"), [(3, 0.65), (50, 0.95)])
def test_sub_gaussian_threshold_on_a_gaussian(L, factor):
    variance = 4
    t = real(sub_gaussian_threshold(arb(variance), arb(L)))

    def tail(t):
        return mpmath.erfc(t / mpmath.sqrt(2 * variance)) / 2

    assert tail(t) <= mpmath.exp(-L) < tail(factor * t)


def test_sub_gaussian_proxy_of_a_coordinate_is_its_variance():
    n, L = 10**4, 50
    t = sub_gaussian_threshold(arb(1) / n, arb(L))
    assert exact_coordinate_tail(t, n) <= (-arb(L)).exp()
    assert exact_coordinate_tail(0.95 * t, n) > (-arb(L)).exp()


@pytest.mark.parametrize(
    ("shape", "L", "factor"), [(100, 3, 0.6), (1, 200, 0.9), (10_000, 50, 0.95)]
)
def test_sub_gamma_threshold_on_a_gamma_variable(shape, L, factor):
    # Centred: log E e^(l X) = -l shape - shape log(1 - l) <= l^2 shape / (2 (1 - l)).
    t = real(sub_gamma_threshold(arb(shape), arb(1), arb(L)))

    def tail(t):
        return mpmath.gammainc(shape, shape + t, regularized=True)

    assert tail(t) <= mpmath.exp(-L) < tail(factor * t)
    for s in (t / 3, t):
        assert tail(s) <= real(sub_gamma_tail(arb(float(s)), arb(shape), arb(1))) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("trials", "p", "L", "factor", "sharper"),
    [
        (1000, Fraction(1, 100), 3, 0.55, 0.55),
        (10**6, Fraction(1, 2), 50, 0.95, 0.95),
        # A Poisson law of mean 1: range_ counts for everything, and its factor 1/3 decides.
        (10**6, Fraction(1, 10**6), 200, 0.4, 0.7),
    ],
)
def test_bernstein_thresholds_on_binomial_variables(trials, p, L, factor, sharper):
    with working_precision(200):
        chance = from_fraction(p)
        variance, range_ = trials * chance * (1 - chance), 1 - chance
        target = (-arb(L)).exp()

        def tail(t):
            k = int((trials * chance + t).ceil().unique_fmpz())
            return chance.beta_lower(k, trials - k + 1, regularized=1)

        t, s = (
            bernstein_threshold(variance, range_, arb(L)),
            sub_gamma_threshold(variance, range_ / 3, arb(L)),
        )
        assert t >= s
        assert tail(t) <= target
        assert tail(s) <= target
        assert tail(factor * t) > target
        assert tail(sharper * s) > target
        assert tail(t / 2) <= sub_gamma_tail(t / 2, variance, range_ / 3)
        assert tail(t / 2) <= bernstein_tail(t / 2, variance, range_)


@pytest.mark.parametrize(("k", "L", "factor"), [(10, 3, 0.45), (1, 200, 0.9), (10_000, 50, 0.94)])
def test_chi_square_threshold_on_equal_weights(k, L, factor):
    total, length, largest, exponent = (arb(x) for x in (2 * k, 2, 2, L))
    q = real(chi_square_threshold(total, length * arb(k).sqrt(), largest, exponent))

    def tail(q):
        return mpmath.gammainc(mpf(k) / 2, q / 4, regularized=True)

    assert tail(q) <= mpmath.exp(-L) < tail(2 * k + factor * (q - 2 * k))


def test_chi_square_threshold_on_unequal_weights():
    # Weights 1, 1/2, 1/2: the sum of the last two is exponential of mean 1.
    L = 20
    q = real(chi_square_threshold(arb(2), arb(1.5).sqrt(), arb(1), arb(L)))

    def tail(q):
        # P(g^2 + E > q) = P(g^2 > q) + E [e^-(q - g^2); g^2 <= q], with g^2 = x^2.
        inner = mpmath.quad(lambda x: mpmath.exp(x * x / 2 - q), [0, mpmath.sqrt(q)])
        return mpmath.erfc(mpmath.sqrt(q / 2)) + mpmath.sqrt(2 / mpmath.pi) * inner

    with mpmath.workdps(30):
        assert tail(q) <= mpmath.exp(-L) < tail(2 + 0.65 * (q - 2))


@pytest.mark.parametrize("n", [200, 10**6])
def test_squares_threshold_on_one_coordinate(n):
    L = 50
    with working_precision(64):
        q = squares_threshold(1, n, arb(L))
        target = (-arb(L)).exp()
        assert 2 * exact_coordinate_tail(q.sqrt(), n) <= target
        # At n = 200 spheres have thinner tails than Gaussians.
        factor = arb("0.65") if n == 200 else arb("0.8")
        assert 2 * exact_coordinate_tail((factor * q).sqrt(), n) > target


def test_observed_sums_of_squares():
    # Uniform on [-1, 1], as coordinates in three dimensions are. Fixed seed, error below 1e-9.
    k, n, L, trials = 30, 3, 1, 20_000
    y = np.random.default_rng(5).uniform(-1, 1, (trials, k))
    sums = np.einsum("ij,ij->i", y, y)
    q = float(squares_threshold(k, n, arb(L)))
    level = 1 - Fraction(1, 10**9)
    _, upper = clopper_pearson(int((sums >= q).sum()), trials, level=level)
    lower, _ = clopper_pearson(int((sums >= k / n).sum()), trials, level=level)
    assert upper < (-arb(L)).exp() < lower


# --- arguments


@pytest.mark.parametrize("nothing", NOTHING)
def test_what_is_not_finite_gives_the_trivial_bound(nothing):
    one, big = arb(1), arb(100)
    for probability in [
        coordinate_tail(nothing, 9),
        coordinate_mass(nothing, one, 9),
        coordinate_mass(-one, nothing, 9),
        sub_gaussian_tail(nothing, one),
        sub_gaussian_tail(big, nothing),
        sub_gamma_tail(nothing, one, one),
        sub_gamma_tail(big, nothing, one),
        sub_gamma_tail(big, one, nothing),
        bernstein_tail(nothing, one, one),
        bernstein_tail(big, nothing, one),
        bernstein_tail(big, one, nothing),
    ]:
        assert probability == 1
    zero = arb(0)
    for threshold in [
        sub_gaussian_threshold(nothing, one),
        sub_gaussian_threshold(one, nothing),
        sub_gaussian_threshold(zero, nothing),
        sub_gamma_threshold(nothing, one, one),
        sub_gamma_threshold(one, nothing, one),
        sub_gamma_threshold(zero, zero, nothing),
        bernstein_threshold(nothing, one, one),
        bernstein_threshold(one, nothing, zero),
        bernstein_threshold(zero, zero, nothing),
        chi_square_threshold(nothing, one, one, one),
        chi_square_threshold(one, nothing, one, zero),
        chi_square_threshold(one, one, nothing, zero),
        chi_square_threshold(one, one, one, nothing),
        squares_threshold(0, 9, nothing),
    ]:
        assert threshold == arb.pos_inf()


def test_minus_infinity_is_no_number_either():
    assert coordinate_tail(arb.neg_inf(), 9) == 1
    assert sub_gaussian_tail(arb.neg_inf(), arb(1)) == 1
    assert coordinate_mass(arb.neg_inf(), arb.neg_inf(), 9) == 1


def test_tails_where_nothing_can_be_said():
    zero, one = arb(0), arb(1)
    for t in (zero, -one, arb(1, 2)):
        assert sub_gaussian_tail(t, one) == 1
        assert sub_gamma_tail(t, one, one) == 1
        assert bernstein_tail(t, one, one) == 1
    assert sub_gaussian_tail(one, zero) == 1
    assert sub_gamma_tail(one, zero, zero) == 1
    assert bernstein_tail(one, zero, zero) == 1
    # Without variance a scale still makes a bound.
    assert bernstein_tail(arb(30), zero, one) < 1e-19
    assert sub_gamma_tail(arb(30), zero, one) < 1e-12


def test_a_negative_exponent_counts_as_zero():
    one = arb(1)
    for below in (-one, arb(-1, 0.5)):
        assert sub_gaussian_threshold(one, below) == 0
        assert sub_gamma_threshold(one, one, below) == 0
        assert bernstein_threshold(one, one, below) == 0
        assert chi_square_threshold(one, one, one, below) == 1
        assert squares_threshold(3, 1, below) == 3


@given(
    middle=st.integers(1, 30),
    radii=st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted),
    n=DIMENSIONS,
)
def test_a_wider_ball_gives_a_wider_bound(middle, radii, n):
    with working_precision(64):
        narrow, wide = (arb(arb(middle) / 32, arb(r) / 64) for r in radii)
        fixed = arb(3) / 4
        slack = 1 + arb(2) ** -50  # the two are rounded differently
        for bound in [
            lambda x: coordinate_tail(x, n),
            lambda x: coordinate_mass(x, fixed, n),
            lambda x: coordinate_mass(-fixed, x, n),
            lambda x: sub_gaussian_tail(x, fixed),
            lambda x: sub_gaussian_tail(fixed, x),
            lambda x: sub_gaussian_threshold(x, x),
            lambda x: sub_gamma_tail(x, fixed, fixed),
            lambda x: sub_gamma_tail(fixed, x, x),
            lambda x: sub_gamma_threshold(x, x, x),
            lambda x: bernstein_tail(x, fixed, fixed),
            lambda x: bernstein_tail(fixed, x, x),
            lambda x: bernstein_threshold(x, x, x),
            lambda x: chi_square_threshold(x, x, x, x),
            lambda x: squares_threshold(5, n, x),
        ]:
            assert bound(narrow) <= bound(wide) * slack
            # A number inside: either end.
            for end in (narrow.lower(), narrow.upper()):
                if end >= 0:
                    assert bound(end) <= bound(narrow) * slack


def test_refusals():
    one = arb(1)
    for call, what in [
        (lambda: sphere_peak(2), "n=2"),
        (lambda: sphere_peak(3.0), "n=3.0"),
        (lambda: coordinate_tail(one, 1), "n=1"),
        (lambda: coordinate_mass(one, one, 2), "n=2"),
        (lambda: reciprocal_moment(3), "n=3"),
        (lambda: reciprocal_square_moment(5), "n=5"),
        (lambda: squares_threshold(-1, 3, one), "k=-1"),
        (lambda: squares_threshold(1, 0, one), "n=0"),
        (lambda: sub_gaussian_tail(one, -one), "proxy=-1"),
        (lambda: sub_gaussian_threshold(-one, one), "proxy=-1"),
        (lambda: sub_gamma_tail(one, -one, one), "variance=-1"),
        (lambda: sub_gamma_tail(one, one, -one), "scale=-1"),
        (lambda: sub_gamma_threshold(-one, one, one), "variance=-1"),
        (lambda: sub_gamma_threshold(one, -one, one), "scale=-1"),
        (lambda: bernstein_tail(one, -one, one), "variance=-1"),
        (lambda: bernstein_tail(one, one, -one), "range_=-1"),
        (lambda: bernstein_threshold(-one, one, one), "variance=-1"),
        (lambda: bernstein_threshold(one, -one, one), "range_=-1"),
        (lambda: chi_square_threshold(-one, one, one, one), "total=-1"),
        (lambda: chi_square_threshold(one, -one, one, one), "length=-1"),
        (lambda: chi_square_threshold(one, one, -one, one), "largest=-1"),
    ]:
        with pytest.raises(InvalidArgumentError, match=f"^{what}"):
            call()


def test_a_search_can_call_the_elementary_bounds_at_any_size():
    with working_precision(64):
        t = arb(6) / arb(10**9).sqrt()
        assert coordinate_tail(t, 10**9) * 10**15 > 1
        # (e^(-18) phi / (n t) up to 1e-8) against the Gaussian tail 9.866e-10 times 1 + 1/36.
        assert 9.86e-10 < coordinate_tail(t, 10**9) < 1.02e-9
        assert coordinate_tail(arb(0.5), 10**9) < arb(10) ** -(10**7)
        assert squares_threshold(10**15, 10**9, arb(30)) < 1_000_001
