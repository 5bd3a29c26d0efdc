"""The gradient of single samples, enumerated or in closed form, against the bounds on its moments.

The scores avoid the events on the scores by construction: the thresholds are what they have. Where
a bound is near the truth a smaller one is seen to be wrong; any slip beside that shows against the
same formulas written again in binary64.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.sample_noise import SampleNoise
from numerics.balls.bounds.slope_bounds import ScoreBounds
from numerics.samples.moments import slope_moments

# All truths are sums of terms of one sign and order, formed in binary64.
ROUNDING = 1 + 1e-10


@pytest.fixture(autouse=True)
def enough_bits():
    with working_precision(80):
        yield


def odd_factorial(k):
    """(2k-1)!!"""
    return math.prod(range(1, 2 * k, 2))


def signs(d):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


def noise_of(s, m, *, by_range=False):
    """The bounds for thresholds that are what the scores have, the support being 0 and 1."""
    d = len(s)
    sigma, total = float(np.abs(s).max()), abs(float(s[2:].sum()))
    scores = ScoreBounds(
        d=d,
        sigma=from_float(sigma * ROUNDING),
        h=from_float(total * ROUNDING / d),
        q=from_float(float(s[2:] @ s[2:]) * ROUNDING / d),
    )
    return SampleNoise(scores, m, by_range=by_range)


def attention(s):
    up, down = np.exp(s), np.exp(-s)
    return up / up.sum(), down / down.sum(), up.sum() * down.sum()


def pushes(s, t, x):
    """G for every row of x, and what bounds it: |gamma~| |r| / omega."""
    gamma, gamma_tilde, inverse_omega = attention(s)
    r = gamma * (t - gamma @ t)
    p, q = x @ gamma, x @ gamma_tilde
    G = (p * q - x[:, 0] * x[:, 1]) * q * (x @ r) * inverse_omega
    return G, np.linalg.norm(gamma_tilde) * np.linalg.norm(r) * inverse_omega


def drawn(seed, d, size):
    """Scores and a direction, as even or as lopsided as the seed has it."""
    generator = np.random.default_rng(seed)
    s = size * generator.uniform(-1, 1, d) ** int(generator.integers(1, 4))
    return s, generator.standard_normal(d) ** int(generator.integers(1, 4))


@given(seed=st.integers(0, 10**6), d=st.integers(2, 8), k=st.integers(1, 6))
def test_moments_of_products_of_two_forms_in_signs(seed, d, k):
    generator = np.random.default_rng(seed)
    c, other = generator.standard_normal((2, d)) ** int(generator.integers(1, 4))
    if seed % 3 == 0:
        other = c
    moment = np.mean(np.abs((signs(d) @ c) * (signs(d) @ other)) ** k)
    assert moment <= odd_factorial(k) * (np.linalg.norm(c) * np.linalg.norm(other)) ** k * ROUNDING


@pytest.mark.parametrize("k", range(2, 7))
def test_equal_flat_forms_come_near_the_moments(k):
    d = 2000
    moment = sum(math.comb(d, i) * Fraction(d - 2 * i) ** (2 * k) for i in range(d + 1))
    share = moment / Fraction(2) ** d / Fraction(d) ** k / odd_factorial(k)
    assert Fraction(98, 100) <= share <= 1


def test_constants_of_bernsteins_condition():
    # With b = 1: (2k-1)!! 2^k <= (k!/2) 3 (40/3)^(k-2), and (2k-1)!! <= (k!/2) 3 2^(k-2).
    sample = [
        Fraction(odd_factorial(k) * 2**k)
        / (Fraction(math.factorial(k) * 3, 2) * Fraction(40, 3) ** (k - 2))
        for k in range(3, 60)
    ]
    frozen = [
        Fraction(odd_factorial(k)) / (Fraction(math.factorial(k) * 3, 2) * 2 ** (k - 2))
        for k in range(2, 60)
    ]
    for shares in (sample, frozen):
        assert shares[0] == 1
        assert all(later < earlier for earlier, later in itertools.pairwise(shares))


@given(
    seed=st.integers(0, 10**6), d=st.integers(5, 9), tenths=st.integers(1, 7), m=st.integers(6, 99)
)
def test_bounds_hold_for_enumerated_samples(seed, d, tenths, m):
    s, t = drawn(seed, d, tenths / 20)
    noise = noise_of(s, m)
    gamma, gamma_tilde, inverse_omega = attention(s)
    assert max(np.linalg.norm(gamma), np.linalg.norm(gamma_tilde)) <= float(noise.norm) * ROUNDING
    assert max(gamma.max(), gamma_tilde.max()) <= float(noise.largest) * ROUNDING
    assert inverse_omega <= float(noise.inverse_omega) * ROUNDING
    energy = from_float(float(t @ t) * ROUNDING)
    b, v = float(noise.product(energy)), float(noise.square(energy))
    x = signs(d)
    for scores in (s, -s):
        G, product = pushes(scores, t, x)
        assert product <= b * ROUNDING
        assert np.mean(G**2) <= v * ROUNDING
        for k in range(3, 9):
            most = math.factorial(k) / 2 * v * (40 * b / 3) ** (k - 2)
            assert np.mean(np.abs(G) ** k) <= most * ROUNDING
        # What the moments are for: the mean of n copies is sub-gamma.
        for share in (0.05, 0.3, 0.6, 0.9, 0.99):
            l = share / (40 * b / 3)
            bound = l * l * v / (2 * (1 - share))
            for sign in (-1, 1):
                assert math.log(np.mean(np.exp(sign * l * (G - G.mean())))) <= bound
        range_ = math.sqrt(float(noise_of(s, m, by_range=True).square(energy)))
        assert np.abs(G).max() <= range_ * ROUNDING


def test_bounds_that_are_near_the_truth():
    # Scores that fill their thresholds: the largest attention, and the norm of it.
    d, sigma = 4000, 0.2
    s = np.zeros(d)
    s[2::2], s[3::2] = sigma, -sigma
    noise = noise_of(s, 50)
    gamma, gamma_tilde, inverse_omega = attention(s)
    assert gamma.max() >= 0.97 * float(noise.largest)
    assert np.linalg.norm(gamma) >= 0.97 * float(noise.norm)
    assert inverse_omega >= 0.999 * float(noise.inverse_omega)
    # A direction along positions of the largest attention, which <gamma, t> does not see.
    t = np.zeros(d)
    t[2:2000:4], t[4:2000:4] = 1, -1
    energy = from_float(float(t @ t))
    r = gamma * (t - gamma @ t)
    assert np.linalg.norm(r) >= 0.97 * float(noise.largest * energy.sqrt())
    truth = slope_moments(gamma, gamma_tilde, (0, 1)).second.quadratic(r, np.zeros(d))
    truth *= inverse_omega**2 / 4
    # |<gamma~, r>| is at most |gamma~| |r|, and is small here: of the factor 3 only 1 is met.
    assert truth <= float(noise.square(energy)) <= 3.5 * truth
    # The range asks that all signs of r agree with those that make p, q and x_a x_b large.
    assert float(noise_of(s, 50, by_range=True).square(energy)) >= 4 * d / 2 * truth


def frozen(generator, d, m):
    """Frozen scores and direction: both scores of the support equal, t orthogonal to the start."""
    s = coordinates(generator, d, m)
    rho = float(coordinates(generator, 1, m)[0])
    s[:2] = math.sqrt((1 + rho) / 2) * coordinates(generator, 1, m - 1)[0]
    t = np.sqrt(1 - s**2) * coordinates(generator, d, m - 1)
    t[:2] = math.sqrt((1 - rho) / 2) * np.array([1, -1])
    return s, t


def coordinates(generator, count, m):
    return generator.choice([-1, 1], count) * np.sqrt(generator.beta(0.5, (m - 1) / 2, count))


@pytest.mark.parametrize(
    ("d", "m", "share"), [(100, 30, 0.3), (1000, 20, 0.5), (400, 4000, 0.9), (4000, 400, 0.85)]
)
def test_typical_square_against_the_mean_over_draws(d, m, share):
    generator = np.random.default_rng(20250706)
    squares = []
    vectors = [frozen(generator, d, m) for _ in range(60)]
    sigma = max(float(np.abs(s).max()) for s, _ in vectors)
    scores = ScoreBounds(
        d=d,
        sigma=from_float(sigma),
        h=from_float(max(abs(float(s[2:].sum())) for s, _ in vectors) / d),
        q=from_float(max(float(s[2:] @ s[2:]) for s, _ in vectors) / d),
    )
    for s, t in vectors:
        gamma, gamma_tilde, inverse_omega = attention(s)
        r = gamma * (t - gamma @ t)
        second = slope_moments(gamma, gamma_tilde, (0, 1)).second
        squares.append(second.quadratic(r, np.zeros(d)) * inverse_omega**2 / 4)
    mean, error = np.mean(squares), np.std(squares) / math.sqrt(60)
    bound = float(SampleNoise(scores, m).typical_square())
    assert share * bound <= mean - 4 * error
    assert mean + 4 * error <= bound


def transcribed(d, sigma, h, q, m, energy):
    """The constants once more, in binary64."""
    h_1, q_1 = h + 2 * sigma / d, q + 2 * sigma**2 / d
    z = 1 - h_1
    z_2 = 1 + 2 * h_1 + 4 * q_1 * (math.exp(2 * sigma) - 1 - 2 * sigma) / (2 * sigma) ** 2
    omega = (1 + q_1 * (math.cosh(sigma) - 1) / sigma**2) ** -2
    N, largest = math.sqrt(z_2 / d) / z, math.exp(sigma) / (d * z)
    b = N * largest * math.sqrt(energy) * d * d / omega
    R_squared = N**2 * (1 + N**2) / (m - 1) + math.exp(2 / (m - 1)) / (d * z) ** 2
    overlap = 2 * (d * d * N * N - d) / ((m - 1) * d**4)
    root = math.sqrt(N**2 * R_squared + overlap) + math.sqrt(105 * R_squared) * N**3
    return {
        "norm": N,
        "largest": largest,
        "inverse_omega": d * d / omega,
        "product": b,
        "square": b * b * (math.sqrt(3) + math.sqrt(105) * N * N) ** 2,
        "typical_square": (root * d * d / omega) ** 2,
        "range": 2 * math.sqrt(largest * energy) * d * d / omega,
    }


@pytest.mark.parametrize(
    ("d", "sigma", "h", "q", "m"),
    [(1000, 0.2, 0.004, 0.01, 300), (60, 0.9, 0.02, 0.3, 20), (8, 0.3, 0.1, 0.05, 6)],
)
@pytest.mark.parametrize("energy", [0.3, 2.0, 30.0])
def test_constants_from_a_second_transcription(d, sigma, h, q, m, energy):
    scores = ScoreBounds(d=d, sigma=from_float(sigma), h=from_float(h), q=from_float(q))
    noise, crude = SampleNoise(scores, m), SampleNoise(scores, m, by_range=True)
    expected = transcribed(d, sigma, h, q, m, energy)
    ball = from_float(energy)
    found = {
        "norm": noise.norm,
        "largest": noise.largest,
        "inverse_omega": noise.inverse_omega,
        "product": noise.product(ball),
        "square": noise.square(ball),
        "typical_square": noise.typical_square(),
        "range": crude.square(ball).sqrt(),
    }
    assert {name: float(value) for name, value in found.items()} == pytest.approx(
        expected, rel=1e-12
    )
    v, c, H = expected["square"], 40 * expected["product"] / 3, expected["range"]
    for n, more in itertools.product((100, 10**7), (0.0, 1e-3)):
        for deviations in (0.5, 2.0):
            proxy = v / n + more
            t = deviations * math.sqrt(proxy)
            exponent = 2 * (t / (math.sqrt(proxy) + math.sqrt(proxy + 2 * c * t / n))) ** 2
            extra = from_float(more) if more else None
            tail = noise.tail(from_float(t), arb(n), ball, more=extra)
            assert float(tail) == pytest.approx(math.exp(-exponent), rel=1e-9)
            proxy = H * H / n + more
            tail = crude.tail(from_float(t), arb(n), ball, more=extra)
            assert float(tail) == pytest.approx(math.exp(-t * t / (2 * proxy)), rel=1e-9)


def test_tail_against_simulated_means():
    d, n, repeats = 8, 60, 20_000
    generator = np.random.default_rng(7)
    s, t = np.array([0.1, -0.1, 0.2, -0.2, 0.1, -0.1, 0.05, -0.05]), np.zeros(d)
    t[:2], t[2:4] = 0.7, (0.5, -0.5)
    G, _ = pushes(s, t, signs(d))
    means = generator.choice(G, (repeats, n)).mean(axis=1) - G.mean()
    noise, energy = noise_of(s, 30), from_float(float(t @ t))
    # Thresholds where the bound is .5 and .05; the variance is met but for a factor of a few.
    for level in (math.log(2), math.log(20)):
        v, b = float(noise.square(energy)), float(noise.product(energy))
        threshold = math.sqrt(2 * v / n * level) + 40 * b / (3 * n) * level
        bound = float(noise.tail(from_float(threshold), arb(n), energy))
        assert bound == pytest.approx(math.exp(-level), rel=1e-9)
        for side in (means, -means):
            assert np.mean(side > threshold) <= bound


def test_the_range_has_no_typical_square():
    noise = noise_of(np.array([0.1, -0.1, 0.2, -0.2]), 10, by_range=True)
    with pytest.raises(ValueError, match=r"^by_range=True: the range"):
        noise.typical_square()
