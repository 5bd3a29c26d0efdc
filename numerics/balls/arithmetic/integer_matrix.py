"""Products of a binary64 matrix with vectors of long integers, exactly, at the speed of BLAS.

Ours, after the error-free splitting of Ozaki, Ogita, Oishi and Rump (Numerical Algorithms 59,
2012). A block of V is cut into slices, each a matrix of short integers times a power of two; a
vector is cut into limbs of 16 bits. A slice times a limb is a matrix product of small integers
in binary64 that stays below 2^53: every partial sum is an integer that binary64 holds, so the
product is exact in whatever order BLAS adds. The limbs are then put together as Python integers.
No entry of V ever becomes an object: V is read in blocks, and memory is that of a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntegerMatrix"]

_LIMB_BITS = 16
_SIGNIFICAND_BITS = 53
_LEAST_EXPONENT = -1074  # every binary64 number is an integer times 2^-1074
_BLOCK_ENTRIES = 1 << 18  # 2 MiB of binary64, so that a block and its slices stay in the cache
_MOST_PRODUCTS = 1 << 9  # that add up within 2^62, each within 2^53

_Sums = dict[int, list[int]]
"""Integers to be added, by the exponent of their unit."""


class IntegerMatrix:
    """A finite binary64 matrix that multiplies integer vectors exactly.

    Parameters
    ----------
    V : ndarray, shape (d, m)
        Finite entries; kept, never copied.
    """

    def __init__(self, V: NDArray[np.float64]) -> None:
        self.V = V
        self.exponent = max(
            (_exponent(V[block]) for block in self._blocks()), default=_LEAST_EXPONENT
        )

    def times(self, vectors: Sequence[Sequence[int]]) -> tuple[list[list[int]], int]:
        """Return ``V x`` for every x, in units of a power of two, and its exponent.

        Parameters
        ----------
        vectors : sequence of sequences of int
            Each of length m.
        """
        limbs = [_limbs(vector) for vector in vectors]
        stacked = np.concatenate(limbs, axis=1)
        blocks: list[_Sums] = []
        for rows in self._blocks():
            sums: _Sums = {}
            for slice_, unit in _slices(self.V[rows], _width(self.V.shape[1])):
                sums[unit] = _joined(slice_ @ stacked, [part.shape[1] for part in limbs])
            blocks.append(sums)
        unit = min((unit for sums in blocks for unit in sums), default=_LEAST_EXPONENT)
        count = len(vectors)
        products: list[list[int]] = [[] for _ in vectors]
        for rows, sums in zip(self._blocks(), blocks, strict=True):
            totals = _total(sums, unit, count * (rows.stop - rows.start))
            for head in range(count):
                products[head] += totals[head::count]
        return products, unit

    def transposed_times(self, vectors: Sequence[Sequence[int]]) -> tuple[list[list[int]], int]:
        """Return ``V^T w`` for every w, in units of a power of two, and its exponent.

        Parameters
        ----------
        vectors : sequence of sequences of int
            Each of length d.
        """
        limbs = [_limbs(vector) for vector in vectors]
        stacked = np.concatenate(limbs, axis=1)
        sizes = [limb.shape[1] for limb in limbs]
        sums: _Sums = {}
        blocks = list(self._blocks())
        for first in range(0, len(blocks), _MOST_PRODUCTS):
            # As binary integers: to put the limbs of every block together would take longer.
            products: dict[int, NDArray[np.int64]] = {}
            for rows in blocks[first : first + _MOST_PRODUCTS]:
                part = np.ascontiguousarray(stacked[rows].T)
                for slice_, unit in _slices(self.V[rows], _width(rows.stop - rows.start)):
                    product = (part @ slice_).astype(np.int64)
                    products[unit] = products[unit] + product if unit in products else product
            for unit, product in products.items():
                joined = _joined(product.T, sizes)
                before = sums.get(unit, [0] * len(joined))
                sums[unit] = [x + y for x, y in zip(before, joined, strict=True)]
        unit = min(sums, default=_LEAST_EXPONENT)
        count = len(vectors)
        totals = _total(sums, unit, count * self.V.shape[1])
        return [totals[head::count] for head in range(count)], unit

    def _blocks(self) -> Iterator[slice]:
        d, m = self.V.shape
        height = max(1, _BLOCK_ENTRIES // m)
        for start in range(0, d, height):
            yield slice(start, min(start + height, d))


def _width(terms: int) -> int:
    """Bits of a slice, so that a sum of that many products with a limb stays within 2^53."""
    return _SIGNIFICAND_BITS - _LIMB_BITS - (terms - 1).bit_length()


def _exponent(block: NDArray[np.float64]) -> int:
    """Return the least e with every entry below 2^e in size; for zeros, the least of all."""
    largest = max(float(block.max()), -float(block.min()))
    return int(np.frexp(largest)[1]) if largest > 0 else _LEAST_EXPONENT


def _scale(array: NDArray[np.float64], exponent: int, out: NDArray[np.float64]) -> None:
    if abs(exponent) <= 1000:
        np.multiply(array, 2.0**exponent, out=out)
    else:
        np.ldexp(array, exponent, out=out)


def _slices(block: NDArray[np.float64], width: int) -> Iterator[tuple[NDArray[np.float64], int]]:
    """Yield integer matrices below 2^width in size, with exponents of units; their sum is exact.

    Each is gone when the next is asked for: fresh memory for every one would take longer than it.
    Cutting off the bits below 2^unit leaves exactly those bits, with no rounding and no overflow.
    Where an entry is so small that scaling underflows, it is cut off whole, as it would be without.
    """
    rest, slice_ = block.copy(), np.empty_like(block)
    with np.errstate(under="ignore"):
        while (exponent := _exponent(rest)) > _LEAST_EXPONENT:  # until the rest is zero
            unit = max(exponent - width, _LEAST_EXPONENT)
            _scale(rest, -unit, slice_)
            np.trunc(slice_, out=slice_)
            yield slice_, unit
            _scale(slice_, unit, slice_)
            rest -= slice_


def _limbs(vector: Sequence[int]) -> NDArray[np.float64]:
    """Return the base-2^16 digits of integers, least first; the last one carries the sign."""
    size = max((n.bit_length() for n in vector), default=0) // _LIMB_BITS + 1
    data = b"".join(n.to_bytes(2 * size, "little", signed=True) for n in vector)
    digits = np.frombuffer(data, dtype="<u2").reshape(len(vector), size).astype(np.float64)
    digits[:, -1] -= np.where(digits[:, -1] >= 1 << (_LIMB_BITS - 1), 1 << _LIMB_BITS, 0)
    return digits


def _joined(products: NDArray[np.float64] | NDArray[np.int64], sizes: Sequence[int]) -> list[int]:
    """Put limbs together: row by row, one integer for each vector, its limbs side by side."""
    rows = products.shape[0]
    length = max(sizes) + 4  # a limb and all carries fit 63 bits, so four more limbs hold the rest
    digits = np.empty((rows, len(sizes), length), dtype="<u2")
    start = 0
    for head, size in enumerate(sizes):
        carry = np.zeros(rows, dtype=np.int64)
        for place in range(length):
            if place < size:
                carry += products[:, start + place].astype(np.int64)
            digits[:, head, place] = carry & ((1 << _LIMB_BITS) - 1)
            carry >>= _LIMB_BITS  # an arithmetic shift: the sign is carried along
        start += size
    data = digits.tobytes()
    return [
        int.from_bytes(data[place : place + 2 * length], "little", signed=True)
        for place in range(0, len(data), 2 * length)
    ]


def _total(sums: _Sums, unit: int, count: int) -> list[int]:
    total = [0] * count
    for exponent, integers in sums.items():
        shift = exponent - unit
        total = [x + (n << shift) for x, n in zip(total, integers, strict=True)]
    return total
