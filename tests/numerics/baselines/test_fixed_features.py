from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.baselines import exact_features, fixed_features
from numerics.baselines.exact_features import exact_best_losses
from numerics.baselines.fixed_features import (
    average_floor,
    best_losses,
    fourier_features,
    parity_features,
    power_features,
    product_features,
    relu_features,
)
from numerics.baselines.walsh import all_inputs

MAKERS = {
    "relu": relu_features,
    "fourier": fourier_features,
    "powers": lambda rng, d, D: power_features(rng, d, D, degree=3),
    "products": lambda rng, d, D: product_features(rng, d, D, factors=3),
    "parities": lambda rng, d, D: parity_features(rng, d, D, k=3),
}


def literal_losses(table, k):
    """Least squares on all inputs, support by support, without any transform."""
    d = table.shape[0].bit_length() - 1
    inputs = all_inputs(d).astype(float)
    design = np.column_stack([np.ones(table.shape[0]), table])
    losses = []
    for support in combinations(range(d), k):
        label = inputs[:, list(support)].prod(axis=1)
        weights, *_ = np.linalg.lstsq(design, label, rcond=None)
        losses.append(np.mean(np.square(design @ weights - label)))
    return np.array(losses)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MAKERS)
def test_projections_are_least_squares_over_all_inputs(name, k):
    d, D = 6, 9
    table = MAKERS[name](np.random.default_rng(k), d, D)
    assert table.shape == (1 << d, D)
    found = best_losses(table, k)
    # lstsq solves well-conditioned systems of 64 equations with numbers of size 100 or less.
    assert found.losses == pytest.approx(literal_losses(table, k), abs=1e-10)
    assert found.losses.mean() >= float(average_floor(d, D, k)) - found.accuracy
    assert found.rank <= D


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32), st.data())
def test_binary64_and_rational_arithmetic_agree(d, D, seed, data):
    k = data.draw(st.integers(1, d))
    # Few values, so that zero, constant and dependent columns are common.
    table = np.random.default_rng(seed).integers(-1, 2, size=(1 << d, D)).astype(float)
    found, exact = best_losses(table, k), exact_best_losses(table, k)
    assert found.rank == exact.rank <= min(D, (1 << d) - 1)
    assert found.losses == pytest.approx(
        [float(loss) for loss in exact.losses], rel=0, abs=max(found.accuracy, 1e-15)
    )
    assert exact.mean >= 1 - Fraction(exact.rank, math.comb(d, k)) >= average_floor(d, D, k)
    assert all(0 <= loss <= 1 for loss in exact.losses)


@pytest.mark.parametrize("k", [2, 3])
def test_numbers_with_all_their_bits_agree(k):
    table = fourier_features(np.random.default_rng(8), 6, 8)
    found, exact = best_losses(table, k), exact_best_losses(table, k)
    assert (found.rank, exact.rank) == (8, 8)
    assert found.losses == pytest.approx([float(loss) for loss in exact.losses], abs=1e-13)


def test_the_bound_is_attained_by_parities_and_by_products_of_two_forms():
    rng = np.random.default_rng(0)
    for k, D in ((2, 7), (3, 11), (4, 8)):
        fit = exact_best_losses(parity_features(rng, 6, D, k=k), k)
        assert fit.mean == average_floor(6, D, k)
        assert sorted(fit.losses) == [0] * D + [1] * (math.comb(6, k) - D)
    products = product_features(rng, 6, 9, factors=2)
    assert exact_best_losses(products, 2).mean == average_floor(6, 9, 2)
    assert set(exact_best_losses(products, 3).losses) == {1}


def test_independent_features_that_differ_by_a_constant_do_not_attain_the_bound():
    # Less their means, which is what the bound is attained by, they are the same.
    parity = all_inputs(4)[:, :2].prod(axis=1)
    fit = exact_best_losses(np.stack([parity, parity + 1], axis=1), 2)
    assert (fit.rank, fit.mean) == (1, 1 - Fraction(1, 6))
    assert fit.mean > average_floor(4, 2, 2)


def test_scale_and_shift_of_features_and_repetitions_change_nothing():
    table = relu_features(np.random.default_rng(3), 5, 4)
    changed = np.column_stack([1e200 * table + 1e190, table[:, 0] - table[:, 1], np.ones(32)])
    plain, other = best_losses(table, 2), best_losses(changed, 2)
    assert other.rank == plain.rank == 4
    assert other.losses == pytest.approx(plain.losses, abs=1e-11)
    exact = exact_best_losses(np.column_stack([table, 4 * table - 0.5]), 2)
    # The shift is rounded: what is exact is the rank of the numbers as they stand.
    assert exact.rank >= 4
    integers = np.round(16 * table)
    twice = exact_best_losses(np.column_stack([integers, 3 - 2 * integers]), 2)
    assert twice == exact_best_losses(integers, 2)


def test_features_that_are_constant_learn_nothing():
    for table in (np.full((8, 2), 0.1), np.zeros((8, 1))):
        found = best_losses(table, 2)
        assert (found.rank, found.losses.tolist()) == (0, [1, 1, 1])
        exact = exact_best_losses(table, 2)
        assert (exact.rank, exact.losses) == (0, (1, 1, 1))


def test_one_junta_is_a_fixed_embedding():
    # All functions of two of four signs: 3 parities and the constant.
    inputs = all_inputs(4).astype(float)
    table = np.column_stack([inputs[:, 0], inputs[:, 2], inputs[:, 0] * inputs[:, 2]])
    assert exact_best_losses(table, 2).losses == (1, 0, 1, 1, 1, 1)


def test_features_that_nearly_depend_on_each_other_still_count():
    parities = parity_features(np.random.default_rng(1), 5, 2, k=2)
    close = np.column_stack([parities[:, 0], parities[:, 0] + 1e-4 * parities[:, 1]])
    assert best_losses(close, 2).rank == 2
    assert sorted(best_losses(close, 2).losses)[:2] == pytest.approx([0, 0], abs=1e-10)
    # Apart by less than binary64 can tell after a transform, and still two in exact arithmetic.
    closer = np.column_stack([parities[:, 0], parities[:, 0] + 1e-15 * parities[:, 1]])
    assert (best_losses(closer, 2).rank, exact_best_losses(closer, 2).rank) == (1, 2)
    same = np.column_stack([parities[:, 0], parities[:, 0] * (1 + 1e-9)])
    assert best_losses(same, 2).rank == exact_best_losses(same, 2).rank == 1


def test_the_stated_accuracy():
    table = parity_features(np.random.default_rng(1), 5, 4, k=2)
    # Singular values 1, of a matrix of 31 rows and norm 1: twice 31 eps sqrt(4).
    expected = 2 * 31 * 2.0**-52 * 2
    for factors in (1.0, [1, 1.7, 1e-3, 1e6]):
        assert best_losses(table * factors, 2).accuracy == pytest.approx(expected, rel=1e-9, abs=0)


def test_floor():
    assert average_floor(12, 33, 2) == Fraction(1, 2)
    assert average_floor(12, 110, 3) == Fraction(1, 2)
    assert average_floor(10, 60, 2) < 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: relu_features(rng, 0, 3), "d=0: must be an integer >= 1"),
        (lambda rng: relu_features(rng, 3, 0), "D=0: must be an integer >= 1"),
        (lambda rng: parity_features(rng, 4, 7, k=2), "D=7: must be at most 6"),
        (lambda rng: power_features(rng, 4, 1, degree=0), "degree=0: must be an integer >= 1"),
        (lambda rng: product_features(rng, 4, 1, factors=0), "factors=0: must be an integer >= 1"),
        (lambda _: average_floor(3, 1, 4), "k=4: must be at most d = 3"),
        (lambda _: best_losses(np.zeros((8, 2)), 4), "k=4: must be at most d = 3"),
        (lambda _: exact_best_losses(np.zeros((8, 2)), 0), "k=0: must be an integer >= 1"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call(np.random.default_rng(0))
    assert str(caught.value) == message


@pytest.mark.parametrize("projection", [best_losses, exact_best_losses])
@pytest.mark.parametrize("table", [np.zeros((6, 2)), np.full((8, 2), np.nan), np.zeros(8)])
def test_bad_tables_are_refused(projection, table):
    with pytest.raises(InvalidArgumentError, match="table"):
        projection(table, 2)


def test_exact_arithmetic_lives_in_a_module_of_its_own():
    assert not hasattr(fixed_features, "fmpz_mat")
    assert hasattr(exact_features, "fmpz_mat")
