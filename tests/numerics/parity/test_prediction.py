from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, multivariate_normal

from numerics.arguments import InvalidArgumentError
from numerics.parity import prediction
from numerics.parity.population import parity_step
from numerics.parity.prediction import common_shock, distinct_probability, draw_distinct

# Sixteen comparisons of the right law: one in six hundred runs falls below.
LEAST_P = 1e-4

SETTINGS = [
    {},
    {"start": "independent"},
    {"norm": 0.6},
    {"d": 12},
    {"d": 12, "start": "independent", "norm": 0.8},
]


def gains(k: int, d: int | None) -> tuple[float, float]:
    """Return a_k and b_k, with r_k as derivation parity_first_step prints it."""
    if d is None:
        return k / (k - 1), 0.0
    r = {2: (d - 2) / d**4, 3: (d - 2) * (3 * d - 8) / d**6}[k]
    rho = r * d**k / math.factorial(k - 1)
    return k / (k - 1) - k / d + rho, k / d + (2 * k - 1) * rho


def orthant(k: int, *, start: str = "simplex", norm: float = 1.0, d: int | None = None) -> float:
    """Return k! P(head h prefers position h), from the covariance of all differences."""
    share = 0.0 if d is None else k / d
    scores = np.eye(k)
    if start == "simplex":
        scores = (k * np.eye(k) - 1) / (k - 1)
    centring = np.eye(k) - 1 / k
    own, shared = gains(k, d)
    pushes = own * centring - shared * np.ones((k, k)) / k
    leans = norm**2 * pushes @ scores @ pushes
    # B as a linear form in the products of pairs within the support, and with the others.
    pairs = list(itertools.combinations(range(k), 2))
    within = np.array([[float(s in pair) for pair in pairs] for s in range(k)]) * (1 - share)
    B = within @ within.T + k * share * (1 - share) * np.eye(k)
    utilities = np.kron(leans, np.eye(k)) + np.kron(np.ones((k, k)), B)
    rows = np.zeros((k * (k - 1), k * k))
    for r, (h, s) in enumerate(itertools.permutations(range(k), 2)):
        rows[r, h * k + h], rows[r, h * k + s] = 1, -1
    law = multivariate_normal(cov=rows @ utilities @ rows.T, allow_singular=True)
    law.maxpts = 400_000
    return math.factorial(k) * float(law.cdf(np.zeros(len(rows)), rng=np.random.default_rng(0)))


def cases(*heads: int) -> list:
    """Pair numbers of heads with the settings that the quadrature reaches."""
    return [
        (k, options)
        for k in heads
        for options in SETTINGS
        if k == 2 or common_shock(k, **options) <= 1.5
    ]


# Without d, the differences of two heads are opposite, and have no density.
@pytest.mark.parametrize(
    ("k", "options"), [case for case in cases(2, 3) if case[0] == 3 or "d" in case[1]]
)
def test_the_quadrature_is_the_orthant_probability(k: int, options) -> None:
    # Genz's method with 400 000 points is right to about 1e-4 in six dimensions.
    found = distinct_probability(k, common_shock(k, **options))
    assert found == pytest.approx(orthant(k, **options), abs=3e-4)


@pytest.mark.parametrize(("k", "options"), cases(2, 3, 4))
def test_the_quadrature_is_the_share_of_draws(k: int, options) -> None:
    found = draw_distinct(np.random.default_rng(9), k, draws=20_000, **options)
    expected = distinct_probability(k, common_shock(k, **options))
    assert binomtest(found, 20_000, expected).pvalue > LEAST_P


def test_the_comparison_would_see_another_power() -> None:
    wrong = distinct_probability(3, common_shock(3, start="independent"))
    found = draw_distinct(np.random.default_rng(9), 3, draws=20_000)
    assert binomtest(found, 20_000, wrong).pvalue < LEAST_P


def nearly_orthogonal(rng: np.random.Generator, n: int, m: float) -> np.ndarray:
    """Draw n uniform unit vectors of R^m up to rotation, as lower triangles (Bartlett)."""
    L = np.tril(rng.standard_normal((n, n)), -1)
    L[range(n), range(n)] = np.sqrt(2 * rng.standard_gamma((m - np.arange(n)) / 2))
    return L / np.linalg.norm(L, axis=1, keepdims=True)


@pytest.mark.parametrize("start", ["simplex", "independent"])
def test_the_first_order_is_that_of_exact_steps_at_few_positions(start: str) -> None:
    # At m = 10^8 nothing but the first order counts. Without the 1/d of the gains the chances
    # would be 0.2256 and 0.1786.
    rng, k, d, trials = np.random.default_rng(3), 3, 8, 2500
    together = math.sqrt(k / (k - 1)) * (np.eye(k) - 1 / k)
    parted = 0
    for _ in range(trials):
        rows = nearly_orthogonal(rng, d + k, 1e8)
        theta = rows[:k]
        if start == "simplex":
            theta = together @ np.linalg.qr(theta.T)[0].T
        step = parity_step(rows[k:], theta, range(k), 1e9 * d**k)
        parted += step.one_to_one(range(k))
    expected = distinct_probability(k, common_shock(k, d=d, start=start))
    assert binomtest(parted, trials, expected).pvalue > LEAST_P
    without = {"simplex": 0.2256, "independent": 0.1786}[start]
    assert binomtest(parted, trials, without).pvalue < LEAST_P


@pytest.mark.parametrize(
    ("k", "start", "expected"),
    [
        (3, "simplex", 0.236360390),
        (3, "independent", 0.188626966),
        (4, "simplex", 0.030862450),
        (4, "independent", 0.022215697),
    ],
)
def test_the_values_at_unit_length(k: int, start: str, expected: float) -> None:
    found = distinct_probability(k, common_shock(k, start=start))
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("k", [3, 4])
def test_blind_choices(k: int) -> None:
    assert distinct_probability(k, 0.0) == pytest.approx(math.factorial(k) / k**k, abs=1e-14)


@pytest.mark.parametrize(("k", "shock"), [(3, -1 / 6), (3, 0.3), (3, 1.5), (4, 0.3), (4, 1.5)])
def test_the_number_of_nodes_is_enough(monkeypatch, k: int, shock: float) -> None:

    found = distinct_probability(k, shock)
    monkeypatch.setattr(prediction, "_NODES", 32)
    assert found == pytest.approx(distinct_probability(k, shock), abs=1e-6)


def test_four_heads_with_an_imaginary_shift() -> None:
    shock = common_shock(4, norm=2.5)
    assert -0.125 < shock < 0
    found = draw_distinct(np.random.default_rng(6), 4, norm=2.5, draws=20_000)
    assert binomtest(found, 20_000, distinct_probability(4, shock)).pvalue > LEAST_P


def test_what_is_shared_makes_heads_collide() -> None:
    chances = [distinct_probability(3, shock) for shock in (-1 / 6, 0.0, 0.5, 1.5)]
    assert chances == sorted(chances, reverse=True)


@pytest.mark.parametrize("d", [10, 1000, 10**6])
@pytest.mark.parametrize(("start", "factor"), [("simplex", 1), ("independent", 2)])
def test_two_heads_follow_the_arctangent_law(d: int, start: str, factor: int) -> None:
    found = 1 - distinct_probability(2, common_shock(2, d=d, start=start))
    law = 2 / math.pi * math.atan(math.sqrt(factor / d))
    # The law keeps the first order in 1/d of kappa, of which the failure is like a square root.
    assert found == pytest.approx(law, rel=2 / d + 1e-6)


def test_orthonormal_embeddings_share_nothing() -> None:
    assert common_shock(3, orthonormal=True, norm=0.1, d=50) == pytest.approx(-1 / 3, abs=1e-15)
    found = draw_distinct(np.random.default_rng(4), 3, orthonormal=True, draws=20_000)
    # Of 4 10^6 centred Gaussian matrices, 0.5077 had their row maxima in different columns.
    assert binomtest(found, 20_000, 0.5077).pvalue > LEAST_P
    long = draw_distinct(np.random.default_rng(5), 3, norm=1e6, draws=20_000)
    assert binomtest(long, 20_000, 0.5077).pvalue > LEAST_P


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distinct_probability(3, -0.2), "shock=-0.2: must be in [-0.1667, 1.5]"),
        (lambda: distinct_probability(4, 1.6), "shock=1.6: must be in [-0.125, 1.5]"),
        (lambda: distinct_probability(2, -0.6), "shock=-0.6: must be at least -0.5"),
        (lambda: distinct_probability(5, 0.0), "k=5"),
        (lambda: common_shock(3, d=3), "d=3: must be an integer >= 4"),
        (lambda: common_shock(3, norm=-1.0), "norm=-1.0: must be positive"),
        (lambda: common_shock(3, start="x"), "start=x"),
        (lambda: draw_distinct(np.random.default_rng(0), 3, draws=0), "draws=0"),
    ],
)
def test_bad_arguments_are_refused(call, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
