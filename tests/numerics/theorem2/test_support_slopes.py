import numpy as np
import pytest
from scipy.stats import ks_2samp

from numerics.arguments import InvalidArgumentError
from numerics.theorem2.slopes import one_step_slopes
from numerics.theorem2.support_slopes import draw_support_slopes

# A wrong law would show: of 30 comparisons of the right one, one in 300 runs falls below.
LEAST_P = 1e-4

STATISTICS = {
    "head 1": lambda x: x[:, 0],
    "head 2": lambda x: x[:, 1],
    "smaller": lambda x: x.min(axis=1),
    "larger": lambda x: x.max(axis=1),
    "difference": lambda x: x[:, 0] - x[:, 1],
    "sum": lambda x: x.sum(axis=1),
}


def drawn_in_full(d: int, m: int, draws: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(draws):
        rows = rng.standard_normal((d + 1, m))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        slopes = one_step_slopes(rows[:d], rows[d], (0, 1))
        found.append((slopes.theta.support_slope, slopes.theta_tilde.support_slope))
    return np.array(found)


@pytest.mark.parametrize(("d", "m"), [(3, 4), (12, 6), (60, 48)])
def test_the_law_is_that_of_draws_in_full(d: int, m: int) -> None:
    full = drawn_in_full(d, m, 3000)
    direct = draw_support_slopes(np.random.default_rng(8), d, m, draws=30_000)
    for name, statistic in STATISTICS.items():
        assert ks_2samp(statistic(full), statistic(direct)).pvalue > LEAST_P, name


def test_the_comparison_would_see_a_third_more_spread() -> None:
    full = drawn_in_full(12, 6, 3000)
    direct = draw_support_slopes(np.random.default_rng(8), 12, 6, draws=30_000)
    spread = (direct[:, 0] - direct[:, 1]) * 1.33
    assert ks_2samp(full[:, 0] - full[:, 1], spread).pvalue < LEAST_P


def test_draws_repeat_and_are_finite() -> None:
    first, second = (
        draw_support_slopes(np.random.default_rng(3), 1000, 10**9, draws=5) for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert first.shape == (5, 2)
    assert np.isfinite(first).all()


@pytest.mark.parametrize(("d", "m", "draws"), [(2, 8, 1), (8, 2, 1), (8, 8, 0)])
def test_what_is_too_small_is_refused(d: int, m: int, draws: int) -> None:
    with pytest.raises(InvalidArgumentError):
        draw_support_slopes(np.random.default_rng(0), d, m, draws=draws)
