from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.exact.norms import unit_norm_deviation


def test_exact_unit_rows_deviate_by_nothing():
    assert unit_norm_deviation(np.array([[1.0, 0.0], [0.0, -1.0]])) == (0, 0)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), m=st.integers(1, 6))
def test_enclosure_is_narrow_and_holds_the_deviation(seed, d, m):
    V = np.random.default_rng(seed).standard_normal((d, m)) * 2.0 ** np.arange(m)
    lower, upper = unit_norm_deviation(V)
    assert 0 <= upper - lower <= Fraction(1, 2**128)
    # |r - 1| <= t if and only if (1-t)^2 <= r^2 <= (1+t)^2 with max(1-t, 0): exact in squares.
    squares = [sum(Fraction(v) ** 2 for v in row.tolist()) for row in V]

    def all_within(t):
        return all(max(1 - t, 0) ** 2 <= square <= (1 + t) ** 2 for square in squares)

    assert all_within(upper)
    assert not all_within(lower - Fraction(1, 2**120))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_rows(scale):
    lower, upper = unit_norm_deviation(np.array([[scale, 0.0], [1.0, 0.0]]))
    exact = abs(Fraction(scale) - 1)
    assert lower <= exact <= upper
