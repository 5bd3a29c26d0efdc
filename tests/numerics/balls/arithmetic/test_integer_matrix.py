from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.balls.arithmetic import integer_matrix
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix


def matrix(seed, d, m, spread):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(d, m)) * 2.0 ** rng.integers(-spread, spread + 1, (d, m))
    V[rng.random((d, m)) < 0.1] = 0.0
    return V


def vectors(seed, length, bits):
    rng = np.random.default_rng([seed, 1])
    return [
        [int(rng.integers(-9, 10)) * 3 ** int(rng.integers(0, bits)) for _ in range(length)]
        for _ in range(2)
    ]


def exact_products(V, xs):
    rows = [[Fraction(entry) for entry in row] for row in V.tolist()]
    return [[sum(v * n for v, n in zip(row, x, strict=True)) for row in rows] for x in xs]


@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from([0, 5, 60, 1000]),
    st.sampled_from([1, 20, 150]),
    st.sampled_from([1, 7, 1 << 18]),
)
def test_products_are_exact(seed, d, m, spread, bits, block):
    V = matrix(seed, d, m, spread)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integer_matrix, "_BLOCK_ENTRIES", block)
        held = IntegerMatrix(V)
        for product, argument, array in (
            (held.times, vectors(seed, m, bits), V),
            (held.transposed_times, vectors(seed, d, bits), V.T),
        ):
            found, unit = product(argument)
            scale = Fraction(2) ** unit
            assert [[n * scale for n in part] for part in found] == exact_products(array, argument)
    assert np.abs(V).max() < 2.0**held.exponent or not V.any()


@pytest.mark.parametrize("length", [1, 2, 3, 1000, 4097])
def test_the_largest_sums_do_not_round(length):
    # Every slice entry and every limb at its largest, so that sums come close to 2^53.
    V = np.full((2, length), np.nextafter(1.0, 0.0))
    V[1] *= -1
    x = [(1 << 400) - 1] * length
    (found,), unit = IntegerMatrix(V).times([x])
    exact = Fraction(V[0, 0]) * x[0] * length
    assert [n * Fraction(2) ** unit for n in found] == [exact, -exact]
    (found,), unit = IntegerMatrix(np.ascontiguousarray(V.T)).transposed_times([x])
    assert [n * Fraction(2) ** unit for n in found] == [exact, -exact]


def test_extreme_entries_and_zeros():
    V = np.array([[1.7976931348623157e308, 5e-324], [0.0, -0.0], [-5e-324, 2.0**1000]])
    (found,), unit = IntegerMatrix(V).times([[1, -1]])
    assert [[n * Fraction(2) ** unit for n in found]] == exact_products(V, [[1, -1]])
    (zeros,), _ = IntegerMatrix(np.zeros((2, 3))).times([[1, 2, 3]])
    assert zeros == [0, 0]
    (zeros,), _ = IntegerMatrix(np.zeros((2, 3))).transposed_times([[1, 2]])
    assert zeros == [0, 0, 0]
