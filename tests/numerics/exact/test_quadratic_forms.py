"""The quadratic forms of linear attention, against enumeration, LAPACK and known spaces."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings
from numerics.exact.quadratic_forms import form_space, rank_at_least
from numerics.exact.rank import exact_rank, integer_rows


def by_enumeration(V):
    """Return the dimension, |P 1|^2 and |P x_i x_j|^2 from values at all inputs, in binary64."""
    d, m = V.shape
    inputs = np.array(list(itertools.product((-1.0, 1.0), repeat=d)))
    along = inputs @ V
    forms = [along[:, k] * along[:, j] for k in range(m) for j in range(k + 1)]
    U, values, _ = np.linalg.svd(np.array(forms).T / math.sqrt(len(inputs)), full_matrices=False)
    rank = int((values > 1e-10 * values[0]).sum())
    basis = U[:, :rank] * math.sqrt(len(inputs))
    pairs = itertools.combinations(range(d), 2)
    targets = {(i, j): inputs[:, i] * inputs[:, j] for i, j in pairs}
    share = {pair: ((basis.T @ y / len(inputs)) ** 2).sum() for pair, y in targets.items()}
    return rank, ((basis.mean(axis=0)) ** 2).sum(), share


@given(seed=st.integers(0, 10**6), d=st.integers(3, 7), m=st.integers(1, 4))
def test_all_of_it_is_what_enumeration_finds(seed, d, m):
    V = sample_embeddings(np.random.default_rng(seed), d, m)
    rank, constant, share = by_enumeration(V)
    found = form_space(V, None)
    assert found.dimension == rank
    assert float(found.constant) == pytest.approx(constant, abs=1e-6)
    for pair, value in share.items():
        assert float(found.targets[pair]) == pytest.approx(value, abs=1e-6)
    assert found.constant + sum(found.targets.values()) == found.dimension
    assert found.mean_loss == 1 - sum(found.targets.values()) / math.comb(d, 2)


@pytest.mark.parametrize(("d", "m"), [(8, 2), (12, 4), (24, 8)])
def test_narrow_embeddings_have_all_forms(d, m):
    V = sample_embeddings(np.random.default_rng(d), d, m)
    forms = m * (m + 1) // 2
    found = form_space(V)
    assert found.dimension == rank_at_least(V) == forms
    assert found.targets == {}
    assert found.mean_loss >= 1 - Fraction(m * (m + 1), d * (d - 1))


def test_wide_embeddings_reach_every_target():
    V = sample_embeddings(np.random.default_rng(0), 5, 7)
    found = form_space(V, [(4, 1)])
    assert found.dimension == math.comb(5, 2) + 1
    assert (found.constant, found.targets, found.mean_loss) == (1, {(1, 4): 1}, 0)


def test_positions_with_a_coordinate_of_their_own_cost_forms():
    rest = np.array([[1.0, 2.0], [2.0, -1.0], [1.0, 1.0], [3.0, 1.0]])
    for alone in range(4):
        V = np.zeros((4 + alone, 2 + alone))
        V[:alone, :alone] = np.eye(alone)
        V[alone:, alone:] = rest
        k = 2 + alone
        assert form_space(V).dimension == k * (k + 1) // 2 - max(alone - 1, 0)


def test_no_linear_head_is_below_its_bound():
    rng = np.random.default_rng(5)
    V = rng.integers(-3, 4, (8, 3)).astype(float)
    found = form_space(V, None)
    for _ in range(200):
        g, t = (V @ rng.standard_normal(3) for _ in range(2))
        Q = (g @ g) * (t @ t) + 2 * (g @ t) ** 2 - 2 * (g * g) @ (t * t)
        for (a, b), share in found.targets.items():
            assert (g[a] * t[b] + g[b] * t[a]) ** 2 / Q <= float(share) * (1 + 1e-12)


def test_a_part_of_the_positions_bounds_the_rank_from_below():
    V = sample_embeddings(np.random.default_rng(1), 30, 4)
    ranks = [rank_at_least(V, positions=n) for n in (2, 3, 4, 5, 12, 30)]
    assert ranks == [1, 3, 6, 10, 10, 10]


def test_no_forms_at_all():
    found = form_space(np.zeros((3, 2)), None)
    assert (found.dimension, found.constant, found.mean_loss) == (0, 0, 1)
    assert set(found.targets.values()) == {0}


def test_what_would_take_hours_is_refused():
    with pytest.raises(InvalidArgumentError, match="must be at most"):
        form_space(np.ones((1024, 16)))


def test_the_exact_rank_sees_what_binary64_cannot():
    V = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    assert np.linalg.matrix_rank(V) == 1
    assert exact_rank(V) == 2
    assert exact_rank(V * 2.0**-1000) == 2
    assert exact_rank([[0.1, 0.2], [0.2, 0.4]]) == 1
    assert exact_rank(sample_embeddings(np.random.default_rng(0), 6, 12)) == 6


def test_integer_rows_are_exact():
    V = np.array([[0.5, -3.0], [2.0**-60, 0.0]])
    assert integer_rows(V) == [[2**59, -3 * 2**60], [1, 0]]
    with pytest.raises(InvalidArgumentError, match=r"V\[0, 0\]=nan"):
        integer_rows([[np.nan], [1.0]])


@pytest.mark.parametrize("support", [(1, 1), (0, 5), (-1, 2), (0, 1, 2), (0.5, 1)])
def test_supports_that_do_not_fit_are_refused(support):
    with pytest.raises(InvalidArgumentError, match="support"):
        form_space(np.eye(5, 2), [support])


@pytest.mark.parametrize("positions", [1, 0, -1, 2.5])
def test_too_few_positions_are_refused(positions):
    with pytest.raises(InvalidArgumentError, match=f"positions={positions}"):
        rank_at_least(np.eye(5, 2), positions=positions)
