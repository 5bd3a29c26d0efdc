from __future__ import annotations

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.model import input_loss, label, overlap, predict, signs_from_bits


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64])
@pytest.mark.parametrize("d", [128, 200])
def test_sums_of_narrow_integers_do_not_wrap(d, dtype):
    ones = np.ones(d, dtype=dtype)
    assert overlap(ones, ones) == d
    # With all weights 1, p = q = d.
    assert predict(ones, np.ones(d), np.ones(d)) == -d * d


def test_the_model_by_hand():
    gamma, gamma_tilde = [0.5, 0.25, 0.25], [0.125, 0.125, 0.75]
    x = np.array([1, -1, 1], dtype=np.int8)
    assert predict(x, gamma, gamma_tilde) == -0.5 * 0.75
    assert label(x, (0, 1)) == 1
    assert label(x, (0, 2)) == -1
    assert input_loss(x, gamma, gamma_tilde, (0, 1)) == (-0.375 - 1) ** 2
    assert input_loss(x, gamma, gamma_tilde, (0, 2)) == (-0.375 + 1) ** 2


def test_a_batch_is_its_rows():
    rng = np.random.default_rng(3)
    x = signs_from_bits(rng.integers(0, 2, (50, 9), dtype=np.uint8))
    gamma, gamma_tilde = rng.dirichlet(np.ones(9), 2)
    rows = [input_loss(row, gamma, gamma_tilde, (2, 5)) for row in x]
    # A sum of nine products in another order: nine units of rounding.
    np.testing.assert_allclose(input_loss(x, gamma, gamma_tilde, (2, 5)), rows, rtol=0, atol=1e-14)
    assert overlap(x, x).tolist() == [9] * 50
    assert overlap(x, x[0]).tolist() == [int(row @ x[0].astype(int)) for row in x.astype(int)]


def test_bits_become_signs_not_255():
    signs = signs_from_bits(np.array([[0, 1], [1, 0]], dtype=np.uint8))
    assert signs.dtype == np.int8
    assert signs.tolist() == [[-1, 1], [1, -1]]
    assert signs_from_bits([False, True]).tolist() == [-1, 1]
    with pytest.raises(InvalidArgumentError, match=r"^bits=2: must be 0 or 1$"):
        signs_from_bits([0, 2])
    with pytest.raises(InvalidArgumentError, match=r"^bits=array of float64"):
        signs_from_bits([0.5])


@pytest.mark.parametrize("bad", [[1, 0, 1], [1, -1], [1.0, 1.0, 1.0], [[[1, 1, 1]]], 1])
def test_inputs_that_are_no_signs_are_refused(bad):
    with pytest.raises(InvalidArgumentError, match=r"^x"):
        predict(bad, np.ones(3), np.ones(3))


def test_batches_that_do_not_match_are_refused():
    with pytest.raises(InvalidArgumentError, match=r"^z"):
        overlap(np.ones((2, 3), dtype=int), np.ones((4, 3), dtype=int))
