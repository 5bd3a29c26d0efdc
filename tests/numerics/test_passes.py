from __future__ import annotations

import math

import numpy as np
import pytest

from numerics import passes
from numerics.arguments import InvalidArgumentError
from numerics.passes import all_scores, weighted_sums

UNIT = 2.0**-53


@pytest.fixture(params=[passes._BLOCK_ENTRIES, 40])
def _block_entries(request, monkeypatch):
    """As it is, one block for each test; and small enough for many blocks with a last short one."""
    monkeypatch.setattr(passes, "_BLOCK_ENTRIES", request.param)


def layouts(V):
    wide = np.zeros((2 * V.shape[0], 3 * V.shape[1]))
    wide[::2, ::3] = V
    return V, np.asfortranarray(V), wide[::2, ::3]


@pytest.mark.usefixtures("_block_entries")
@pytest.mark.parametrize(("d", "m"), [(2, 1), (23, 7), (300, 3), (9, 50)])
def test_products_are_those_of_exact_sums(d, m):
    rng = np.random.default_rng(d)
    matrix = rng.standard_normal((d, m))
    queries, weights = rng.standard_normal((2, m)), rng.standard_normal((2, d))
    for V in layouts(matrix):
        scores, sums = all_scores(V, queries), weighted_sums(weights, V)
        assert scores.shape == (2, d)
        assert sums.shape == (2, m)
        for head in range(2):
            # Whatever the order of n products and sums, they err by n u of the absolute terms.
            for i in range(d):
                terms = V[i] * queries[head]
                assert abs(scores[head, i] - math.fsum(terms)) <= (m + 1) * UNIT * abs(terms).sum()
            for k in range(m):
                terms = V[:, k] * weights[head]
                assert abs(sums[head, k] - math.fsum(terms)) <= (d + 1) * UNIT * abs(terms).sum()


@pytest.mark.usefixtures("_block_entries")
def test_one_query_and_three():
    rng = np.random.default_rng(1)
    V, queries = rng.standard_normal((23, 7)), rng.standard_normal((3, 7))
    together = all_scores(V, queries)
    for query, row in zip(queries, together, strict=True):
        np.testing.assert_allclose(all_scores(V, query[np.newaxis])[0], row, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("_block_entries")
@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("query", [0.0, 1.0])
def test_an_entry_that_is_not_finite_is_named_whatever_it_is_multiplied_with(entry, query):
    matrix = np.ones((23, 7))
    matrix[19, 5] = entry
    matrix[20, 1] = np.nan
    for V in layouts(matrix):
        with pytest.raises(InvalidArgumentError, match=rf"^V\[19, 5\]={entry}: must be finite$"):
            all_scores(V, np.full((2, 7), query))


def test_squares_may_overflow_and_so_may_scores():
    V = np.full((4, 2), 1e200)
    with np.errstate(all="raise"):
        assert np.array_equal(all_scores(V, np.ones((1, 2))), np.full((1, 4), 2e200))
        assert np.isposinf(all_scores(V, np.full((1, 2), 1e200))).all()
