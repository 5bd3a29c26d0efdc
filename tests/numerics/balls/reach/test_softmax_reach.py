"""What softmax attention reaches at long queries, for every support at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.balls.reach.softmax_reach import softmax_reach
from numerics.embeddings import sample_embeddings
from numerics.enumeration import enumerate_loss


@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), m=st.integers(2, 5))
def test_every_input_of_every_support_is_below_the_bound(seed, d, m):
    V = sample_embeddings(np.random.default_rng(seed), d, m)
    reach = softmax_reach(V, tolerance=Fraction(1, 10))
    gaps = (V * V).sum(axis=1)[:, np.newaxis] - V @ V.T + 9 * np.eye(d)
    assert float(reach.gap) == pytest.approx(gaps.min(), rel=1e-9, abs=1e-14)
    assert reach.sup_loss <= Fraction(1, 10)
    heads = [softmax(reach.length * (V @ v)) for v in V]
    for a in range(d):
        for b in range(a):
            found = enumerate_loss(heads[a], heads[b], (a, b)).supremum
            # The kernel's scores are rounded by some units of 2^-53 of tau.
            assert found <= float(reach.sup_loss) * (1 + 1e-13 * reach.length)


def test_the_length_is_hardly_more_than_is_needed():
    V = sample_embeddings(np.random.default_rng(0), 40, 6)
    reach = softmax_reach(V, tolerance=Fraction(1, 100))
    shorter = 16 * 39**2 * np.exp(-2 * (reach.length - 3) * float(reach.gap))
    assert float(reach.sup_loss) <= 0.01 < shorter


def test_rows_of_other_lengths():
    # The longest row wins its own scores; the shorter ones of the same direction do not.
    assert softmax_reach([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]], tolerance=Fraction(1)) is None
    assert softmax_reach([[2.0, 0.0], [0.0, 1.0]], tolerance=Fraction(1)).gap == 1


def test_equal_embeddings_cannot_be_told_apart():
    assert softmax_reach([[1.0], [1.0], [-1.0]], tolerance=Fraction(1, 100)) is None


def test_a_tolerance_that_every_loss_meets_asks_for_nothing():
    reach = softmax_reach(np.eye(3), tolerance=Fraction(10**6))
    assert reach.length >= 0
    assert reach.sup_loss <= 10**6


def test_a_tiny_gap_asks_for_a_length_beyond_the_rounding():
    # The length has 80 bits here, and 2100: one more than is needed would be lost in 2^-128 of it.
    for size in (1e-12, 1e-300, 5e-324):
        reach = softmax_reach([[0.0, size], [size, 0.0]], tolerance=Fraction(1, 100))
        assert Fraction(99, 10_000) <= reach.sup_loss <= Fraction(1, 100)


def test_blocks_of_rows_change_nothing(monkeypatch):
    V = sample_embeddings(np.random.default_rng(1), 30, 4)
    whole = softmax_reach(V, tolerance=Fraction(1, 100))
    monkeypatch.setattr("numerics.balls.reach.softmax_reach._BLOCK_ENTRIES", 100)
    assert softmax_reach(V, tolerance=Fraction(1, 100)) == whole


@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(-1)])
def test_a_tolerance_that_is_not_positive_is_refused(tolerance):
    with pytest.raises(InvalidArgumentError, match=f"tolerance={tolerance}: must be positive"):
        softmax_reach(np.eye(3), tolerance=tolerance)
