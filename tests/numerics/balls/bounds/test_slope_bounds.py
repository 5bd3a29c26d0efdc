"""Scores made to strain the bounds: each bound holds for all of them, and some come near it.

A bound that is too small is seen by the scores that break it, one that is too large by the best of
them not coming near any more, and any slip by the same constants from a second transcription.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.slope_bounds import ScoreBounds, UnmetConditionError, require_positive
from verify.testing.strategies import instances

# The truth is computed in binary64 from sums of at most 10^4 terms of order 1, divided by d.
ROUNDING = 1e-12

# sigma, h and q by d: as they are for draws (the first two), and far from it.
SETTINGS = [
    (10_000, 0.2, 4e-4, 0.0042),
    (300, 0.35, 0.01, 0.02),
    (60, 0.9, 0.02, 0.3),
    (60, 0.9, 0.2, 0.1),
    (12, 0.5, 0.05, 0.2),
    (100, 0.1, 0.05, 0.003),
    (3, 0.3, 0.02, 0.01),
]

# The scores of the support, as multiples of sigma, the larger one first.
SUPPORTS = [(1, -1), (1, 0.9), (-0.9, -1), (0, 0), (0.5, -0.5), (1, 0), (0, -1), (1, 1)]


@pytest.fixture(autouse=True)
def enough_bits():
    with working_precision(80):
        yield


def score_bounds(d, sigma, h, q):
    return ScoreBounds(d=d, sigma=from_float(sigma), h=from_float(h), q=from_float(q))


def weights(s, lean):
    """c_j, f_j and kappa of head 1 as they are defined."""
    d = len(s)
    Z, Z_tilde = np.exp(s).sum(), np.exp(-s).sum()
    Z_2, Z_2_tilde = np.exp(2 * s).sum(), np.exp(-2 * s).sum()
    omega = 1 / (Z * Z_tilde)
    kappa = 2 * math.cosh(lean) - omega * Z_2 * Z_2_tilde - 2 * d * (d - 1) * omega
    f = kappa / Z * np.expm1(s) + omega * Z_2_tilde * np.expm1(2 * s)
    c = kappa / Z + omega * Z_2_tilde + 2 * (d - 1) * omega + f
    return c, f, kappa


def truths(s, own, other):
    """What the scores of a head make of the bounded quantities, the support being 0 and 1."""
    d, lean = len(s), s[own] - s[other]
    c, f, kappa = weights(s, lean)
    frozen = weights(np.concatenate([[0.0, 0.0], s[2:]]), 0.0)[0]
    gap = d * np.abs(c - frozen)[2:].max()
    result = {
        "Z": np.exp(s).sum() / d,
        "Z_2": np.exp(2 * s).sum() / d,
        "kappa": kappa,
        "C_1": np.cosh(s).sum() / d,
        "C_2": np.cosh(2 * s).sum() / d,
        "omega": d * d / (np.exp(s).sum() * np.exp(-s).sum()),
        "norm": np.linalg.norm(f),
        "amplitude": np.abs(f).max(),
        "weight": np.abs(c).max(),
        "noise": np.linalg.norm(c),
        "beta": abs(c[2:] @ s[2:]) / 2,
        "moves": gap,
        # Weights that bound those of both starts and do not depend on the support's scores.
        "frozen noise": np.linalg.norm(np.abs(frozen[2:]) + gap / d),
    }
    if lean > 0:
        result["growth"] = (f[own] - f[other]) / lean
    return result


def ends(scores, lean):
    """The bounds, by the same names; None on a side that has none."""
    found = scores.slopes(from_float(lean))
    pairs = {
        "Z": scores.z,
        "Z_2": scores.z_2,
        "kappa": scores.kappa(from_float(lean)),
        "C_1": (None, scores.cosh_mean(1)),
        "C_2": (None, scores.cosh_mean(2)),
        "omega": (scores.omega_least, arb(1)),
        "norm": (None, found.norm),
        "amplitude": (None, found.amplitude),
        "weight": (None, found.weight),
        "noise": (None, found.noise),
        "beta": (None, found.beta),
        "moves": (None, found.moves),
        "frozen noise": (None, found.frozen_noise(scores.d)),
        "growth": (-found.decrease, 2 - 2 * found.alpha),
    }
    return {
        name: tuple(None if end is None else float(end) for end in pair)
        for name, pair in pairs.items()
    }


def assert_within(truth, bounds):
    for name, value in truth.items():
        low, high = bounds[name]
        assert low is None or value >= low - ROUNDING, name
        assert value <= high + ROUNDING, name


def off_support(d, sigma, h, q, *, up, down, size, target):
    """Scores with shares of the sum of squares at +size and -size, and a sum near target h d."""
    n = d - 2
    ups = min(n, int(up * q * d / size**2))
    downs = min(n - ups, int(down * q * d / size**2))
    s = np.zeros(n)
    s[:ups], s[ups : ups + downs] = size, -size
    rest = n - ups - downs
    if rest > 0:
        most = min(sigma, math.sqrt(max(0.0, q * d - s @ s) / rest))
        s[ups + downs :] = np.clip((target * h * d - s.sum()) / rest, -most, most)
    return s


def strained(d, sigma, h, q):
    """Score vectors that avoid the three events, with the support in front."""
    shares = [0, 0.25, 0.5, 0.75, 1]
    for up, down, size, target in itertools.product(shares, shares, [sigma, sigma / 2], [-1, 0, 1]):
        if up + down <= 1:
            s = off_support(d, sigma, h, q, up=up, down=down, size=size, target=target)
            # A hair beyond an end, by rounding, is worth less than what is allowed for it.
            if abs(s.sum()) <= h * d * (1 + 1e-13) and s @ s <= q * d * (1 + 1e-13):
                for support in SUPPORTS:
                    yield np.concatenate([sigma * np.array(support), s])


def extremes(setting):
    """The bounds at the largest lean, and the least and largest truth of strained scores."""
    scores = score_bounds(*setting)
    bounds = {}
    found = {}
    for s in strained(*setting):
        lean = float(s[0] - s[1])
        if lean not in bounds:
            bounds[lean] = ends(scores, lean)
        for head in (truths(s, 0, 1), truths(-s, 1, 0)):
            assert_within(head, bounds[lean])
            for name, value in head.items():
                low, high = found.get(name, (value, value))
                found[name] = min(low, value), max(high, value)
    return bounds[2 * setting[1]], found


@pytest.mark.parametrize("setting", SETTINGS)
def test_strained_scores_stay_within_all_bounds(setting):
    bounds, found = extremes(setting)
    assert found.keys() == bounds.keys()


def test_strained_scores_come_near_the_bounds():
    bounds, found = extremes(SETTINGS[0])
    # By how far from 1 they are: the ends of the sums of exponentials.
    for name, side, share in [
        ("Z", 0, 0.98),
        ("Z", 1, 0.94),
        ("Z_2", 0, 0.97),
        ("Z_2", 1, 0.88),
        ("C_1", 1, 0.99),
        ("C_2", 1, 0.99),
        ("omega", 0, 0.99),
    ]:
        assert abs(found[name][side] - 1) >= share * abs(bounds[name][side] - 1), name
    for name, share in [
        ("norm", 0.85),
        ("amplitude", 0.95),
        ("weight", 0.85),
        ("noise", 0.999),
        ("beta", 0.75),
        ("moves", 0.65),
        ("frozen noise", 0.999),
        ("growth", 0.7),
    ]:
        assert found[name][1] >= share * bounds[name][1], name
    # kappa asks for opposite extremes of omega and Z_2 Z~_2 at once, which no scores have: of its
    # distance from the value at zero scores a quarter is real on one side, next to nothing on the
    # other. And f falls nowhere at these sizes: c'' is crude, and only the converse pays for it.
    at_zero = 2 / 10_000 - 1
    assert found["kappa"][0] - at_zero <= 0.2 * (bounds["kappa"][0] - at_zero)
    assert found["growth"][0] > 0


@given(
    instance=instances(min_d=3, max_d=60, min_m=2, max_m=30),
    stretch=st.integers(1, 20),
    spare=st.integers(0, 3),
)
def test_thresholds_equal_to_what_the_scores_have_are_enough(instance, stretch, spare):
    d, (a, b) = instance.d, instance.support
    s = stretch / 20 * instance.V @ instance.theta
    a, b = (a, b) if s[a] >= s[b] else (b, a)
    s = np.concatenate([s[[a, b]], np.delete(s, [a, b])])
    sigma = float(np.abs(s).max())
    assume(sigma > 1e-3)
    h, q = abs(float(s[2:].sum())) / d, float(s[2:] @ s[2:]) / d
    try:
        scores = score_bounds(d, sigma, h, q)
    except UnmetConditionError:
        assume(False)
    bounds = ends(scores, float(s[0] - s[1]) + spare / 10)
    for head in (truths(s, 0, 1), truths(-s, 1, 0)):
        assert_within(head, bounds)


def transcribed(d, sigma, h, q, lean):
    """The constants once more, in binary64, in the order of the proof."""

    def g(x):
        return (math.exp(x) - 1 - x) / x**2

    def big_c(k):
        return 1 + q_1 * (math.cosh(k * sigma) - 1) / sigma**2

    def pi(k):
        x = k * sigma
        odd = 4 * math.sinh(x) * (k * h + q * (math.sinh(x) - x) / sigma**2)
        both = 4 * (math.exp(x) - 1) ** 2 / d
        return (4 * (math.cosh(x) - 1) * big_c(k) + odd + both) / d

    h_1, q_1 = h + 2 * sigma / d, q + 2 * sigma**2 / d
    omega = big_c(1) ** -2
    Z = 1 - h_1, 1 + h_1 + q_1 * g(sigma)
    M = omega * (1 - 2 * h_1), 1 + 2 * h_1 + 4 * q_1 * g(2 * sigma)
    kappa = 2 / d - big_c(2) ** 2, 2 * math.cosh(lean) - omega * (3 - 2 / d)
    K = min(kappa[0] / z for z in Z), max(kappa[1] / z for z in Z)
    k_1 = max(abs(K[1] + 2 * M[1]), abs(K[0] + 2 * M[0]))
    most = max(K[1] * g(sigma), K[1] * g(-sigma)) + 4 * M[1] * g(2 * sigma)
    least = min(K[0] * g(sigma), K[0] * g(-sigma)) + 4 * M[0] * g(-2 * sigma)
    F = k_1 + max(abs(most), abs(least)) * sigma
    R = F * math.sqrt(q_1 / d)
    steepest = 2 * M[1] * math.exp(2 * sigma)
    increase = max(0, max(K[1] * math.exp(sigma), K[1] * math.exp(-sigma)) + steepest) / d
    e = 2 * (math.exp(sigma) - 1) / d
    mu = pi(1) * M[1] + 2 * (math.exp(2 * sigma) - 1) / d
    k = 2 * math.cosh(lean) - 2 + pi(2) + big_c(2) ** 2 * pi(1) + 2 * pi(1)
    largest = max(big_c(2) ** 2 - 2 / d, abs(2 - omega * (3 - 2 / d)))
    K_moves = k / (1 - h_1) + largest * e / (1 - h_1) ** 2
    moves = K_moves * math.exp(sigma) + mu * math.exp(2 * sigma) + 2 * pi(1)
    return {
        "Z": Z,
        "Z_2": (1 - 2 * h_1, M[1]),
        "kappa": kappa,
        "C_1": (None, big_c(1)),
        "C_2": (None, big_c(2)),
        "omega": (omega, 1),
        "norm": (None, R),
        "amplitude": (None, F * sigma / d),
        "weight": (None, 2 * math.cosh(lean) / d + 2 * F * sigma / d),
        "noise": (None, math.sqrt(4 * math.cosh(lean) ** 2 / d + R**2)),
        "beta": (None, (2 * math.cosh(lean) * h + R * math.sqrt(q * d)) / 2),
        "moves": (None, moves),
        "frozen noise": (None, math.sqrt(4 / d + R**2) + moves / math.sqrt(d)),
        "growth": (-(max(map(abs, K)) * math.exp(sigma) + steepest) / d, increase),
    }


@pytest.mark.parametrize("setting", [*SETTINGS, (50, 1.0, 0.3, 0.9)])
@pytest.mark.parametrize("lean", [0.0, 0.1, 0.7, 2.0])
def test_constants_from_a_second_transcription(setting, lean):
    bounds, expected = ends(score_bounds(*setting), lean), transcribed(*setting, lean)
    assert bounds.keys() == expected.keys()
    for name, pair in expected.items():
        # Nothing here cancels by more than a factor of ten or so.
        for end, value in zip(bounds[name], pair, strict=True):
            assert end == value or end == pytest.approx(value, rel=1e-12, abs=1e-13), name


def test_rates_and_their_inverse():
    scores = score_bounds(1000, 0.3, 0.002, 0.02)
    bounds = scores.slopes(arb(0.4))
    for rho in (-0.5, 0.0, 0.2):
        least = 2 * (float(bounds.alpha) * (1 - rho) - float(bounds.beta))
        assert float(bounds.least_rate(arb(rho))) == pytest.approx(least, rel=1e-14)
        signal = math.sinh(0.4) / 0.4 + float(bounds.decrease) / 2
        most = 2 * (signal * (1 - rho) + float(bounds.beta))
        assert float(bounds.largest_rate(arb(rho))) == pytest.approx(most, rel=1e-14)
    excess, stretch = map(float, bounds.stretch(arb(0.3)))
    c = 1 - excess
    assert float(bounds.least_rate(arb(c))) == pytest.approx(0, abs=1e-15)
    # (1 - rho)/(c - rho) increases: it is largest at rho_0, where the bound is attained.
    assert stretch == pytest.approx((1 - 0.3) / (c - 0.3), rel=1e-13)


@pytest.mark.parametrize("m", [6, 9, 40])
def test_mean_inverse_rate_against_quadrature(m):
    from scipy.integrate import quad

    bounds = score_bounds(1000, 0.3, 0.002, 0.02).slopes(arb(0.4))
    rho_0 = 0.6
    alpha, beta = float(bounds.alpha), float(bounds.beta)
    peak = math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(math.pi)

    def density(rho):
        return peak * (1 - rho * rho) ** ((m - 3) / 2)

    mean = quad(lambda rho: density(rho) / (2 * (alpha * (1 - rho) - beta)), -1, rho_0)[0]
    bound = float(bounds.mean_inverse_rate(m, arb(rho_0)))
    # The difference: overlaps beyond rho_0 count in the bound, and r is for rho_0. Where m is large
    # neither weighs anything, and what is left is of second order in beta.
    assert mean <= bound <= mean * (1.6 if m == 6 else 1.2 if m == 9 else 1.001)


def test_conditions_that_fail_name_the_event():
    with pytest.raises(UnmetConditionError, match=r"^sum of scores: 1 - 2 h") as unmet:
        score_bounds(100, 0.5, 0.495, 0.1)
    assert unmet.value.event == "sum of scores"
    with pytest.raises(UnmetConditionError, match=r"^largest score: sigma <= 1$"):
        score_bounds(100, 1 + 2**-52, 0.01, 0.1)
    bounds = score_bounds(1000, 0.3, 0.002, 0.02).slopes(arb(0.4))
    with pytest.raises(UnmetConditionError, match=r"^near margin: 1 - beta/alpha > rho_0"):
        bounds.stretch(arb(0.999))
    steep = score_bounds(20, 1.0, 0.1, 0.9).slopes(arb(2))
    with pytest.raises(UnmetConditionError, match=r"^near margin: alpha > 0"):
        steep.mean_inverse_rate(9, arb(0.1))


@pytest.mark.parametrize("value", [arb(0), arb(-1), arb(0.5, 0.6), arb("nan")])
def test_what_is_not_seen_to_be_positive_is_not(value):
    require_positive(arb(1e-30), "event", "condition")
    with pytest.raises(UnmetConditionError):
        require_positive(value, "event", "condition")
