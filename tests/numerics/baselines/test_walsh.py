from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.baselines.walsh import all_inputs, number_of_signs, parity_numbers, walsh_hadamard


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_transform_is_the_sum_over_all_inputs_of_each_parity(d):
    inputs = all_inputs(d).astype(int)
    assert inputs.shape == (1 << d, d)
    assert len({tuple(x) for x in inputs.tolist()}) == 1 << d
    table = np.random.default_rng(d).integers(-9, 10, size=(1 << d, 3))
    found = walsh_hadamard(table)
    for number in range(1 << d):
        support = [i for i in range(d) if number >> i & 1]
        parity = inputs[:, support].prod(axis=1)
        assert found[number].tolist() == (parity @ table).tolist()


def test_parities_are_unit_vectors_of_their_numbers():
    d, k = 5, 3
    inputs = all_inputs(d).astype(int)
    numbers = parity_numbers(d, k)
    assert numbers.shape == (math.comb(d, k),)
    for number, support in zip(numbers, combinations(range(d), k), strict=True):
        transform = walsh_hadamard(inputs[:, list(support)].prod(axis=1))
        assert np.flatnonzero(transform).tolist() == [number]
        assert transform[number] == 1 << d


def test_twice_is_the_table_times_its_length_and_integers_stay_exact():
    table = np.array([[3**40 + row, -row] for row in range(16)], dtype=object)
    twice = walsh_hadamard(walsh_hadamard(table))
    assert (twice == 16 * table).all()


def test_a_constant_column_leaves_exactly_nothing_outside_row_0():
    assert not walsh_hadamard(np.full(1024, 0.1))[1:].any()


@pytest.mark.parametrize("shape", [(3,), (0,), (1, 4), (), (1 << 17,)])
def test_another_number_of_rows_is_refused(shape):
    with pytest.raises(InvalidArgumentError, match=r"table=array of shape .*: must have 2\^d rows"):
        number_of_signs(np.zeros(shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_inputs(0), "d=0: must be an integer >= 1"),
        (lambda: all_inputs(17), "d=17: must be at most 16"),
        (lambda: parity_numbers(4, 0), "k=0: must be an integer >= 1"),
        (lambda: parity_numbers(4, 5), "k=5: must be at most d = 4"),
    ],
)
def test_bad_sizes_are_refused(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    assert str(caught.value) == message
