import numpy as np
import pytest
from scipy.stats import kstest

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.parity.start import STARTS, draw_start, helmert
from numerics.sphere import coordinate_tail

# Of eight comparisons of the right law, one in a thousand runs falls below.
LEAST_P = 1e-4


@pytest.mark.parametrize(("k", "m"), [(2, 1), (2, 7), (3, 2), (3, 9), (4, 3), (4, 16)])
def test_the_simplex_has_equal_angles_and_sums_to_zero(k: int, m: int) -> None:
    theta = draw_start(np.random.default_rng(k + m), k, m, norm=2.0)
    expected = 4 * (k / (k - 1) * np.eye(k) - 1 / (k - 1))
    assert theta.shape == (k, m)
    assert np.abs(theta @ theta.T - expected).max() < 1e-14
    assert np.abs(theta.sum(axis=0)).max() < 1e-14


def test_the_product_of_the_weights_is_the_same_everywhere() -> None:
    rng = np.random.default_rng(1)
    theta = draw_start(rng, 4, 6)
    V = rng.standard_normal((12, 6))
    product = np.prod([softmax(V @ row) for row in theta], axis=0)
    assert np.ptp(product) < 1e-14 * product.max()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("k", [2, 3])
def test_every_query_is_uniform_on_the_sphere(start: str, k: int) -> None:
    rng, m = np.random.default_rng(5), 6
    drawn = np.array([draw_start(rng, k, m, start=start) for _ in range(1500)])
    assert np.abs(np.linalg.norm(drawn, axis=2) - 1).max() < 1e-14
    tails = np.array([coordinate_tail(abs(y), m) for y in drawn[:, k - 1, 1]])
    # P(|y| > t) at the t that was drawn is uniform.
    assert kstest(tails, "uniform").pvalue > LEAST_P
    assert kstest(np.sign(drawn[:, k - 1, 1]) * tails, "uniform", args=(-1, 2)).pvalue > LEAST_P


def test_independent_queries_are_uncorrelated() -> None:
    rng = np.random.default_rng(2)
    drawn = np.array([draw_start(rng, 3, 5, start="independent") for _ in range(2000)])
    products = np.einsum("nhm,ngm->nhg", drawn, drawn)[:, [0, 0, 1], [1, 2, 2]]
    # Each product has mean 0 and variance 1/5: four standard errors.
    assert np.abs(products.mean(axis=0)).max() < 4 / np.sqrt(5 * 2000)
    assert products.var(axis=0) == pytest.approx(1 / 5, rel=0.2)


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_helmert_rows_are_orthonormal_and_centred(k: int) -> None:
    H = helmert(k)
    assert np.abs(H @ H.T - np.eye(k - 1)).max() < 1e-15 * k
    assert np.abs(H.sum(axis=1)).max() < 1e-15 * k


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 1}, "k=1"),
        ({"k": 4, "m": 2}, "m=2: a simplex of 4 vertices needs m >= 3"),
        ({"norm": 0.0}, "norm=0.0: must be positive"),
        ({"norm": np.nan}, "norm=nan"),
        ({"start": "square"}, "start=square: must be one of simplex, independent"),
    ],
)
def test_bad_arguments_are_refused(options, message: str) -> None:
    arguments = {"k": 3, "m": 5, **options}
    with pytest.raises(InvalidArgumentError) as refusal:
        draw_start(np.random.default_rng(0), arguments.pop("k"), arguments.pop("m"), **arguments)
    assert str(refusal.value).startswith(message)
