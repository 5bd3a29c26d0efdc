"""Uniform signs, eight to a byte, every sample known by its number.

A sample of d signs is a row of r = ceil(d / 8) bytes: bit k of byte j is position 8 j + k, and 1
stands for +1, 0 for -1. The bits of the last byte beyond position d - 1 mean nothing. Sample s of a
stream is bytes s r, ..., s r + r - 1 of the 64-bit words of a PCG64 generator, each word with its
least significant byte first. The generator can be entered at any word, so a sample depends on its
number alone, whoever draws it and in whatever company.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import InvalidArgumentError, integer_at_least

__all__ = ["TILE", "SampleStream", "packed_columns", "row_bytes", "skip_samples"]

TILE = 4096
"""Samples that are worked on together; blocks of a stream are whole tiles but for the last."""

_BLOCK_BYTES = 1 << 20  # a few thousand times the work of a call to NumPy
_WORD_BYTES = 8


def row_bytes(d: int) -> int:
    """Return the number of bytes of one sample."""
    return -(-d // 8)


@dataclass(frozen=True, slots=True, eq=False)
class SampleStream:
    """The samples that follow a state of a generator.

    Attributes
    ----------
    first : numpy.random.PCG64
        A generator at the first word of sample 0, never moved.
    d : int
        Number of signs of a sample.
    """

    first: np.random.PCG64
    d: int

    @classmethod
    def following(cls, rng: np.random.Generator, d: SupportsIndex) -> SampleStream:
        """Return the stream that starts at the next word of `rng`, which is left as it is.

        Raises
        ------
        InvalidArgumentError
            If ``d < 1``, or the generator is not a PCG64, NumPy's default.
        """
        return cls(copy.deepcopy(_pcg64(rng)), integer_at_least("d", d, 1))

    def columns(
        self, start: int, count: int, *, out: NDArray[np.uint64] | None = None
    ) -> NDArray[np.uint64]:
        """Return the samples ``start, ..., start + count - 1`` as columns of 64-bit words.

        Parameters
        ----------
        start, count : int
            The number of the first sample, and how many there are, at least one.
        out : ndarray, optional
            Where to put them.

        Returns
        -------
        ndarray, shape (ceil(d / 64), count)
            Bit k of word w is position 64 w + k. Bits beyond position d - 1 are those of the
            samples that follow.
        """
        word, offset = divmod(start * row_bytes(self.d), _WORD_BYTES)
        entered = copy.deepcopy(self.first).advance(word)
        # Over the full range each draw is one word of the generator as it is; unlike the
        # generator's own `random_raw`, this lets other threads run.
        words = np.random.Generator(entered).integers(
            0, 2**64 - 1, _words_of(offset, count, self.d), dtype=np.uint64, endpoint=True
        )
        rows = _rows(words, offset, count, self.d)
        if out is None:
            return rows.T.copy()
        out[:] = rows.T
        return out

    def blocks(self, start: int, stop: int) -> Iterator[NDArray[np.uint64]]:
        """Yield the columns of the samples ``start, ..., stop - 1``, in blocks of whole tiles.

        A block takes about a mebibyte, or is one tile if that takes more. The next block is put in
        its place: fresh memory for each would take longer than drawing.
        """
        step = TILE * max(1, _BLOCK_BYTES // (TILE * row_bytes(self.d)))
        block = None
        for first in range(start, stop, step):
            count = min(step, stop - first)
            block = self.columns(first, count, out=block if count == step else None)
            yield block


def skip_samples(rng: np.random.Generator, d: int, n: int) -> None:
    """Move `rng` to the first word that no part of the `n` samples following it lies in."""
    _pcg64(rng).advance(-(-n * row_bytes(d) // _WORD_BYTES))


def packed_columns(packed: ArrayLike, d: SupportsIndex) -> NDArray[np.uint64]:
    """Return given samples, packed to bytes, as columns of 64-bit words.

    Parameters
    ----------
    packed : array_like of uint8, shape (n, ceil(d / 8))
        Bit k of byte j is position 8 j + k; the bits beyond position d - 1 may be anything.
    d : int
        Number of signs of a sample.

    Returns
    -------
    ndarray, shape (ceil(d / 64), n)
        As `SampleStream.columns`.

    Raises
    ------
    InvalidArgumentError
        If ``d < 1``, or `packed` holds no such bytes or no sample.
    """
    d = integer_at_least("d", d, 1)
    array = np.asarray(packed)
    if array.dtype != np.uint8:
        raise InvalidArgumentError("packed", f"array of {array.dtype}", "must be bytes, uint8")
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] != row_bytes(d):
        raise InvalidArgumentError(
            "packed", f"array of shape {array.shape}", f"must be (n, {row_bytes(d)}) with n >= 1"
        )
    words = np.zeros(_words_of(0, array.shape[0], d), dtype=np.uint64)
    words.view(np.uint8)[: array.size] = array.reshape(-1)
    return _rows(words, 0, array.shape[0], d).T.copy()


def _pcg64(rng: np.random.Generator) -> np.random.PCG64:
    bits = rng.bit_generator
    if not isinstance(bits, np.random.PCG64):
        raise InvalidArgumentError(
            "rng", f"generator of {type(bits).__name__}", "must be a PCG64, as default_rng makes"
        )
    return bits


def _words_of(offset: int, count: int, d: int) -> int:
    """Return in how many words the words of `count` rows lie, the first row at byte `offset`."""
    last = offset + (count - 1) * row_bytes(d)
    return -(-last // _WORD_BYTES) + -(-d // 64)


def _rows(words: NDArray[np.uint64], offset: int, count: int, d: int) -> NDArray[np.uint64]:
    """View rows that overlap, as they are no whole number of words, and may start at any byte."""
    return np.ndarray(
        (count, -(-d // 64)), np.uint64, words.data, offset, (row_bytes(d), _WORD_BYTES)
    )
