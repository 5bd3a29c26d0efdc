from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2_contingency

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings
from numerics.parity import signal
from numerics.parity.prediction import common_shock, distinct_probability
from numerics.parity.signal import draw_signal_choices, signal_choices
from numerics.parity.start import draw_start

LEAST_P = 1e-4


def literal_choices(V: np.ndarray, theta: np.ndarray) -> tuple[int, ...]:
    """Return the choices from the definition, one draw at a time."""
    k = len(theta)
    chosen = []
    for h in range(k):
        weights = [
            sum(
                math.exp(sum(float(V[s] @ theta[g]) for g, s in enumerate(sigma)))
                for sigma in itertools.permutations(range(k))
                if sigma[h] == own
            )
            for own in range(k)
        ]
        chosen.append(int(np.argmax(V @ (weights @ V))))
    return tuple(chosen)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_choices_follow_the_definition(k: int) -> None:
    rng = np.random.default_rng(k)
    for norm in (0.5, 2.0, 20.0):
        V, theta = sample_embeddings(rng, k, 6), draw_start(rng, k, 6, norm=norm)
        found = signal_choices((theta @ V.T)[np.newaxis], (V @ V.T)[np.newaxis])
        assert tuple(found[0].tolist()) == literal_choices(V, theta)


def test_triangular_rows_have_the_products_of_gaussian_vectors() -> None:
    n, m = 40_000, 6
    rows = signal._gaussian_rows(np.random.default_rng(2), n, 4, m)
    products = rows @ rows.transpose(0, 2, 1)
    # The variance of a squared length is 2 m, that of a product m: five standard errors.
    error = np.sqrt(m / n * (1 + np.eye(4)))
    assert np.all(np.abs(products.mean(axis=0) - m * np.eye(4)) < 5 * error)
    assert products.var(axis=0) == pytest.approx(m * (1 + np.eye(4)), rel=0.1)


def test_orthonormal_rows_keep_the_sense_of_the_gaussian_ones() -> None:
    rows = np.random.default_rng(3).standard_normal((200, 3, 5))
    basis = signal._orthonormalised(rows)
    assert np.abs(basis @ basis.transpose(0, 2, 1) - np.eye(3)).max() < 1e-14
    triangle = rows @ basis.transpose(0, 2, 1)
    assert np.abs(np.triu(triangle, 1)).max() < 1e-13
    assert np.diagonal(triangle, axis1=1, axis2=2).min() > 0


def distinct(choices: np.ndarray) -> int:
    k = choices.shape[1]
    return int((np.sort(choices, axis=1) == np.arange(k)).all(axis=1).sum())


@pytest.mark.parametrize("start", ["simplex", "independent"])
@pytest.mark.parametrize("law", ["sphere", "orthonormal"])
def test_the_law_is_that_of_draws_in_full(start: str, law: str) -> None:
    k, m, n, norm = 3, 6, 4000, 1.5
    rng = np.random.default_rng(11)
    scores, products = np.empty((n, k, k)), np.empty((n, k, k))
    for i in range(n):
        V, theta = sample_embeddings(rng, k, m, law=law), draw_start(rng, k, m, start=start)
        scores[i], products[i] = norm * theta @ V.T, V @ V.T
    full = distinct(signal_choices(scores, products))
    direct = distinct(
        draw_signal_choices(
            np.random.default_rng(12),
            k,
            m,
            start=start,
            norm=norm,
            orthonormal=law == "orthonormal",
            draws=n,
        )
    )
    table = [[full, n - full], [direct, n - direct]]
    assert chi2_contingency(table).pvalue > LEAST_P


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("start", ["simplex", "independent"])
def test_in_many_dimensions_the_first_order_decides(k: int, start: str) -> None:
    n = 20_000
    choices = draw_signal_choices(np.random.default_rng(k), k, 10**10, start=start, draws=n)
    expected = distinct_probability(k, common_shock(k, start=start))
    assert binomtest(distinct(choices), n, expected).pvalue > LEAST_P


def test_two_heads_always_part() -> None:
    for start in ("simplex", "independent"):
        for m in (4, 64):
            choices = draw_signal_choices(np.random.default_rng(0), 2, m, start=start, draws=500)
            assert distinct(choices) == 500


def test_long_queries_solve_the_assignment() -> None:
    rng = np.random.default_rng(3)
    short, long, longest = (
        distinct(draw_signal_choices(rng, 3, 64, norm=norm, draws=2000)) for norm in (1.0, 8.0, 1e5)
    )
    assert short < long < longest
    # What is missing are draws whose two best assignments nearly tie.
    assert longest > 1990


def test_bad_arguments_are_refused() -> None:
    rng = np.random.default_rng(0)
    for k, m, options in ((5, 20, {}), (3, 5, {}), (3, 6, {"norm": 0.0}), (3, 6, {"start": "x"})):
        with pytest.raises(InvalidArgumentError):
            draw_signal_choices(rng, k, m, draws=1, **options)
