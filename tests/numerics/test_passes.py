from __future__ import annotations

import math

import numpy as np
import pytest

from numerics import passes
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


def test_scores_that_overflow_are_infinite_without_a_warning():
    V = np.full((4, 2), 1e200)
    with np.errstate(all="raise"):
        assert np.isposinf(all_scores(V, np.full((1, 2), 1e200))).all()
