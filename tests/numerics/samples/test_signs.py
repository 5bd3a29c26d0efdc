from __future__ import annotations

import copy

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.samples.signs import TILE, SampleStream, packed_columns, row_bytes, skip_samples
from verify.instances.instance import draw_instance
from verify.seeds import Streams

LENGTHS = [1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 128, 129, 200]


def stream_bytes(rng, count):
    """The generator's words one by one, by another function than the stream's, in Python."""
    raw = copy.deepcopy(rng.bit_generator).random_raw(-(-count // 8))
    return b"".join(int(word).to_bytes(8, "little") for word in raw)[:count]


def bits_of_bytes(rows, d):
    return [[row[i // 8] >> (i % 8) & 1 for i in range(d)] for row in rows]


def bits_of_columns(columns, d):
    return [[int(word[i // 64]) >> (i % 64) & 1 for i in range(d)] for word in columns.T]


def drawn_bits(rng, d, start, count):
    width = -(-d // 8)
    data = stream_bytes(rng, (start + count) * width)
    rows = [data[s * width : (s + 1) * width] for s in range(start, start + count)]
    return bits_of_bytes(rows, d)


@pytest.mark.parametrize("d", LENGTHS)
@pytest.mark.parametrize(("start", "count"), [(0, 1), (0, 5), (3, 1), (7, 9), (16, 8)])
def test_a_sample_is_its_bytes_of_the_generators_words(d, start, count):
    rng = np.random.default_rng(d)
    columns = SampleStream.following(rng, d).columns(start, count)
    assert columns.shape == (-(-d // 64), count)
    assert columns.flags.c_contiguous
    assert columns.flags.aligned
    assert bits_of_columns(columns, d) == drawn_bits(rng, d, start, count)


def test_a_sample_far_away_is_reached_without_those_before_it():
    rng = np.random.default_rng(1)
    far = 10**12
    found = SampleStream.following(rng, 9).columns(far, 3)
    moved = copy.deepcopy(rng)
    moved.bit_generator.advance(2 * far // 8)
    assert bits_of_columns(found, 9) == drawn_bits(moved, 9, 0, 3)


def test_samples_follow_the_draws_of_an_instance():
    rng, again = Streams(5).trial(2), Streams(5).trial(2)
    draw_instance(rng, 21, 4)
    stream = SampleStream.following(rng, 21)
    # The stream keeps its place when the generator moves on.
    rng.random(100)
    draw_instance(again, 21, 4)
    assert bits_of_columns(stream.columns(2, 6), 21) == drawn_bits(again, 21, 2, 6)


def test_half_a_word_left_over_is_no_part_of_the_stream():
    rng = np.random.default_rng(2)
    rng.integers(10)
    assert rng.bit_generator.state["has_uint32"] == 1
    assert bits_of_columns(SampleStream.following(rng, 64).columns(0, 2), 64) == drawn_bits(
        rng, 64, 0, 2
    )


def test_blocks_are_whole_tiles_and_leave_nothing_out():
    stream = SampleStream.following(np.random.default_rng(3), 9)
    start, stop = 5, 5 + 2 * (1 << 19) + 3
    blocks = [block.copy() for block in stream.blocks(start, stop)]
    assert [block.shape[1] for block in blocks] == [1 << 19, 1 << 19, 3]
    joined = np.concatenate(blocks, axis=1)
    # Bits beyond position 8 are those of the samples that follow, in one block or another.
    assert np.array_equal(joined & 511, stream.columns(start, stop - start) & 511)
    wide = SampleStream.following(np.random.default_rng(3), 100_000)
    assert [block.shape[1] for block in wide.blocks(0, TILE + 2)] == [TILE, 2]


@pytest.mark.parametrize(("d", "n"), [(8, 1), (8, 8), (8, 9), (129, 3), (1000, 7)])
def test_skipping_moves_to_the_first_word_after(d, n):
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    skip_samples(rng, d, n)
    used = -(-n * row_bytes(d) // 8)
    assert rng.bit_generator.random_raw() == other.bit_generator.random_raw(used + 1)[-1]


@pytest.mark.parametrize("d", LENGTHS)
def test_given_bytes_are_packed_in_the_same_order(d):
    rows = np.random.default_rng(d).integers(256, size=(11, row_bytes(d)), dtype=np.uint8)
    for packed in (rows, np.asfortranarray(rows), rows.repeat(2, axis=0)[::2]):
        assert bits_of_columns(packed_columns(packed, d), d) == bits_of_bytes(rows.tolist(), d)


def test_refusals():
    for bits in (np.random.PCG64DXSM(0), np.random.Philox(0), np.random.MT19937(0)):
        name = type(bits).__name__
        for call in (SampleStream.following, lambda rng, d: skip_samples(rng, d, 1)):
            with pytest.raises(InvalidArgumentError, match=rf"^rng=generator of {name}: must be a"):
                call(np.random.Generator(bits), 3)
    with pytest.raises(InvalidArgumentError, match=r"^d=0: must be an integer >= 1$"):
        SampleStream.following(np.random.default_rng(0), 0)
    with pytest.raises(InvalidArgumentError, match=r"^packed=array of int8: must be bytes, uint8$"):
        packed_columns(np.zeros((1, 1), dtype=np.int8), 8)
    for shape in [(1,), (0, 2), (3, 1), (3, 3)]:
        with pytest.raises(
            InvalidArgumentError, match=r"^packed=array of shape .*must be \(n, 2\)"
        ):
            packed_columns(np.zeros(shape, dtype=np.uint8), 9)
