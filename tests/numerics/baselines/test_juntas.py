from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.baselines.juntas import (
    average_best_loss,
    best_junta_loss,
    enumerated_average,
    least_positions,
)


def literal_loss(d, read, support):
    """The least mean square, from the definition: the mean label of all inputs that look alike."""
    alike = {}
    for x in itertools.product((-1, 1), repeat=d):
        label = int(np.prod([x[i] for i in support]))
        alike.setdefault(tuple(x[i] for i in read), []).append(label)
    squares = Fraction(0)
    for labels in alike.values():
        best = Fraction(sum(labels), len(labels))
        squares += sum((best - label) ** 2 for label in labels)
    return squares / 2**d


@given(st.integers(1, 6), st.data())
def test_one_support_from_the_definition(d, data):
    order = data.draw(st.permutations(range(d)))
    read = order[: data.draw(st.integers(0, d))]
    support = data.draw(st.permutations(range(d)))[: data.draw(st.integers(1, d))]
    found = best_junta_loss(d, read, support)
    assert found == literal_loss(d, read, support)
    assert found == (0 if set(support) <= set(read) else 1)


@pytest.mark.parametrize("d", range(2, 9))
def test_the_average_over_all_supports(d):
    order = np.random.default_rng(d).permutation(d).tolist()
    for k in range(1, min(d, 4) + 1):
        for r in range(d + 1):
            assert enumerated_average(d, order[:r], k) == average_best_loss(d, r, k)


def test_known_values():
    assert average_best_loss(64, 63) == 1 - Fraction(63 * 62, 64 * 63)
    assert average_best_loss(5, 3, 3) == Fraction(9, 10)
    assert average_best_loss(7, 1) == 1
    assert average_best_loss(7, 7, 4) == 0
    assert least_positions(64, Fraction(1, 20)) == 63
    assert least_positions(1024, Fraction(1, 20)) == 999
    assert least_positions(2, Fraction(0)) == 2
    assert least_positions(4, Fraction(99, 100)) == 2
    assert least_positions(4, Fraction(99, 100), 1) == 1


@given(st.integers(1, 400), st.integers(1, 4), st.integers(0, 99))
def test_the_least_number_of_positions_is_the_least_and_linear_in_d(d, k, percent):
    k, loss = min(d, k), Fraction(percent, 100)
    r = least_positions(d, loss, k)
    assert average_best_loss(d, r, k) <= loss < average_best_loss(d, r - 1, k)
    assert r**k >= (1 - loss) * d**k


@pytest.mark.parametrize("d", [2, 64, 1024, 10**6])
@pytest.mark.parametrize("loss", [Fraction(0), Fraction(1, 20), Fraction(3, 7), Fraction(99, 100)])
def test_the_root_is_where_pairs_suffice(d, loss):
    r = least_positions(d, loss)
    needed = (1 - loss) * d * (d - 1)
    # r >= 1/2 + sqrt(1/4 + needed), squared.
    assert (2 * r - 1) ** 2 >= 1 + 4 * needed > (2 * (r - 1) - 1) ** 2 * (r > 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: average_best_loss(4, 5), "r=5: must be at most d = 4"),
        (lambda: average_best_loss(4, -1), "r=-1: must be an integer >= 0"),
        (lambda: average_best_loss(4, 2, 5), "k=5: must be at most d = 4"),
        (lambda: least_positions(4, Fraction(1)), "loss=1: must be in [0, 1)"),
        (lambda: least_positions(0, Fraction(1, 2)), "d=0: must be an integer >= 1"),
        (
            lambda: best_junta_loss(4, (1, 1), (0,)),
            "read=(1, 1): must be different positions in 0..3",
        ),
        (
            lambda: best_junta_loss(4, (), (4,)),
            "support=(4,): must be different positions in 0..3",
        ),
        (lambda: enumerated_average(17, (), 2), "d=17: must be at most 16"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    assert str(caught.value) == message
