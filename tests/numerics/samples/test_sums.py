from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.samples.signs import TILE, packed_columns, row_bytes
from numerics.samples.sums import _LIMB_BITS, MOST_SAMPLES, Units, sum_samples

LENGTHS = [2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 128, 129]


def attention(rng, d):
    weights = rng.random(d) ** 4
    return weights / weights.sum()


def case(d, n, seed):
    """Two heads, bytes whose unused bits are not zero, and the same samples as bits."""
    rng = np.random.default_rng(seed)
    packed = rng.integers(256, size=(n, row_bytes(d)), dtype=np.uint8)
    bits = np.unpackbits(packed, axis=1, bitorder="little")[:, :d]
    return attention(rng, d), attention(rng, d), packed, bits


def supports_of(d):
    """Both ends, neighbours, and pairs within and across the words and the last byte."""
    last = d - 1
    first_of_last_byte = 8 * (last // 8)
    pairs = {
        (0, last),
        (last, 0),
        (0, 1),
        (last - 1, last),
        (first_of_last_byte, last),
        (d // 2, 0),
    }
    return sorted((a, b) for a, b in pairs if a != b)


def plain_sums(gamma, gamma_tilde, support, bits):
    """The same numbers without tables, tiles or parts, from a matrix of signs."""
    signs = 2 * bits.astype(np.int64) - 1
    fixed = [np.rint(weights * 2.0**62).astype(np.int64) for weights in (gamma, gamma_tilde)]
    p, q = ((signs @ weights).astype(np.float64) / 2.0**62 for weights in fixed)
    a, b = support
    e = p * q - signs[:, a] * signs[:, b]
    loss, *terms = ([int(t) for t in np.rint(x * 2.0**48)] for x in (e * e, e * q, e * p))
    slopes = [
        [sum(t * int(x) for t, x in zip(head, signs[:, i], strict=True)) for head in terms]
        for i in range(signs.shape[1])
    ]
    return sum(loss), slopes


def found_sums(gamma, gamma_tilde, support, packed):
    sums = sum_samples(gamma, gamma_tilde, support, [packed_columns(packed, gamma.shape[0])])
    assert sums.n == packed.shape[0]
    return sums.loss, sums.slopes.tolist()


@pytest.mark.parametrize("d", LENGTHS)
def test_equals_plain_sums_to_the_last_bit(d):
    gamma, gamma_tilde, packed, bits = case(d, 37, seed=d)
    for support in supports_of(d):
        assert found_sums(gamma, gamma_tilde, support, packed) == plain_sums(
            gamma, gamma_tilde, support, bits
        )


@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
def test_tiles_do_not_show(n):
    gamma, gamma_tilde, packed, bits = case(9, n, seed=n)
    assert found_sums(gamma, gamma_tilde, (8, 3), packed) == plain_sums(
        gamma, gamma_tilde, (8, 3), bits
    )


@given(st.integers(2, 140), st.integers(1, 40), st.integers(0, 10**6), st.data())
def test_sums_of_parts_add_up_and_symmetries_hold_exactly(d, n, seed, data):
    gamma, gamma_tilde, packed, bits = case(d, n, seed)
    a = data.draw(st.integers(0, d - 1))
    b = (a + data.draw(st.integers(1, d - 1))) % d
    whole = found_sums(gamma, gamma_tilde, (a, b), packed)
    blocks = [packed_columns(row[np.newaxis], d) for row in packed]
    parts = [sum_samples(gamma, gamma_tilde, (a, b), [block]) for block in blocks]
    total = sum(parts[1:], start=parts[0])
    assert (total.n, total.loss, total.slopes.tolist()) == (n, *whole)
    # x -> -x changes no term e q x_i.
    assert found_sums(gamma, gamma_tilde, (b, a), ~packed) == whole
    swapped = found_sums(gamma_tilde, gamma, (a, b), packed)
    assert swapped == (whole[0], [[tilde, own] for own, tilde in whole[1]])
    order = np.random.default_rng(seed).permutation(d)
    place = np.argsort(order)
    moved = np.packbits(bits[:, order], axis=1, bitorder="little")
    loss, slopes = found_sums(gamma[order], gamma_tilde[order], (place[a], place[b]), moved)
    assert loss == whole[0]
    assert slopes == [whole[1][i] for i in order]


@pytest.mark.parametrize("d", [128, 200])
def test_many_equal_signs_do_not_wrap(d):
    # 128 ones summed in int8 are -128, and 2 * 0 - 1 in uint8 is 255.
    gamma = np.full(d, 1 / d)
    for byte in (0, 255):
        packed = np.full((3, row_bytes(d)), byte, dtype=np.uint8)
        assert found_sums(gamma, gamma, (d - 1, 0), packed) == (0, [[0, 0]] * d)
        packed[:, 0] ^= 1
        # Position 0 differs: p = q = +-(1 - 2/d), and x_a x_b = -1.
        sign = 1 if byte else -1
        p = sign * (1 - 2 / d)
        e = p * p + 1
        loss, slopes = found_sums(gamma, gamma, (d - 1, 0), packed)
        # Attention sums to within 100 units u of 1, at most, and terms are rounded to 2^-48.
        assert loss == pytest.approx(3 * e * e * 2**48, abs=100)
        assert slopes[0] == pytest.approx([3 * e * p * -sign * 2**48] * 2, abs=100)
        assert slopes[1:] == [[-slopes[0][0]] * 2] * (d - 1)


def test_the_largest_terms_have_room():
    # Both heads look at position 2 alone and x_a x_b = -1: e = 2 and |e q| = 2 for every sample.
    d, n = 5, 3 * TILE
    gamma = np.eye(d)[2]
    packed = np.full((n, 1), 0b00101, dtype=np.uint8)
    loss, slopes = found_sums(gamma, gamma, (0, 1), packed)
    assert loss == 4 * n << 48
    assert slopes == [[(2 * n << 48) * sign] * 2 for sign in (1, -1, 1, -1, -1)]


def test_the_parts_of_a_sum_have_room_for_all_samples():
    # A tile adds at most 2^62 in all: to the low part less than its own unit, and the rest.
    largest = max(2**_LIMB_BITS, 2 ** (62 - _LIMB_BITS))
    assert MOST_SAMPLES // TILE * largest < 2**63
    assert MOST_SAMPLES >= 10**12


def test_means_are_correctly_rounded():
    gamma, gamma_tilde, packed, _ = case(3, 7, seed=1)
    sums = sum_samples(gamma, gamma_tilde, (0, 1), [packed_columns(packed, 3)])
    unit = Fraction(1, 7 * 2**48)
    assert sums.mean_loss() == float(sums.loss * unit)
    for head, means in enumerate(sums.mean_slopes()):
        assert means.tolist() == [float(2 * int(row[head]) * unit) for row in sums.slopes]


@pytest.mark.parametrize("total", [0.0, 0.3, 1 - 1e-9, 1.0, 1 + 1e-9])
def test_attention_of_total_one_keeps_its_units(total):
    units = Units.of(np.array([total / 2, -total / 2]), np.array([0.0, total]))
    assert (units.gamma, units.gamma_tilde) == (0, 0)
    assert (units.loss_bits, units.slope_bits) == (48, (48, 48))
    assert units.of_terms().tolist() == [2.0**-62, 2.0**-62, 2.0**48, 2.0**48, 2.0**48]


def test_units_double_until_they_hold_the_total():
    units = Units.of(np.array([-3.0, 2.0]), np.array([1.0, 1.0]))
    assert (units.gamma, units.gamma_tilde) == (3, 1)
    # e^2 in units of 2^8, e q of 2^(4 + 1), e p of 2^(4 + 3).
    assert (units.loss_bits, units.slope_bits) == (48 - 8, (48 - 5, 48 - 7))
    assert units.of_terms().tolist() == [2.0**-59, 2.0**-61, 2.0**40, 2.0**43, 2.0**41]


def test_weights_whose_loss_could_overflow_are_refused():
    for gamma, gamma_tilde in (([1e80, 1.0], [1e80, 1.0]), ([1e308, 1e308], [0.0, 0.0])):
        with pytest.raises(InvalidArgumentError, match=r"^gamma=weights of total .*: the loss"):
            Units.of(np.array(gamma), np.array(gamma_tilde))


@pytest.mark.parametrize("size", [1.0, 4.0, 4 * (1 + 1e-9), 2.0**200])
def test_a_tile_of_the_largest_terms_does_not_overflow(size):
    # Every sample is (+1, +1): p = size and q = -1, so that e = -(size + 1).
    packed = np.full((TILE, 1), 255, np.uint8)
    gamma, gamma_tilde = np.array([0.0, size]), np.array([-1.0, 0.0])
    sums = sum_samples(gamma, gamma_tilde, (0, 1), [packed_columns(packed, 2)])
    assert sums.mean_loss() == pytest.approx((size + 1) ** 2, rel=1e-12)
    expected = [[2 * (size + 1)] * 2, [-2 * (size + 1) * size] * 2]
    np.testing.assert_allclose(sums.mean_slopes(), expected, rtol=1e-12)
