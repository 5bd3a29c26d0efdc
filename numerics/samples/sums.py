"""Sums over samples of what the empirical gradient needs, in integers, by tables of bytes.

With p = sum gamma_i x_i, q = sum gamma~_i x_i and e = p q - x_a x_b, a sample adds e^2 to the loss,
e q x_i to the slope of gamma_i and e p x_i to that of gamma~_i. A byte of signs adds one of 256
values to p and q, looked up in a table, and at the end it is where e q and e p go in one of 256
bins; the bins are unfolded into the sums of the byte's eight positions when many samples have
passed. That is two look-ups for eight signs.

gamma is rounded to multiples of 2^-62, and e^2, e q and e p to multiples of 2^-48. All sums are
therefore sums of integers: exact, and the same in every order. These roundings and a few operations
in binary64 for each sample are all that is lost, however many samples there are. Weights of larger
total, which are no softmax's, are rounded to multiples of larger powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from numerics.arguments import MASS_TOLERANCE, InvalidArgumentError
from numerics.samples.signs import TILE

__all__ = ["MOST_SAMPLES", "SampleSums", "Units", "sample_runs", "sum_samples"]

# With |p| <= 1 + 3e-9, any part of its sum is below 2^63 in units of 2^-62, and |e q| and e^2 are
# at most 4 (1 + 2e-8): a tile's sum of them is below 2^63 in units of 2^-48.
_ATTENTION_BITS = 62
_TERM_BITS = 48
_MOST_DOUBLINGS = 500  # e^2 is below 2^(2 + 2 * 500), and is formed in binary64

MOST_SAMPLES = TILE << 30
"""Samples that can be added up at once, some 4 10^12; sums of more can be added.

A sum is kept in two parts, high 2^32 + low, and a tile adds less than 2^32 to either.
"""
_LIMB_BITS = 32
_LIMB_MASK = (1 << _LIMB_BITS) - 1

_BYTE = 256  # values of a byte
_PAIRS = 2 * _BYTE  # entries of a byte's table or bins: one for each value and head, in turn
_GROUP = 4  # bytes treated together: their tables, 16 KiB, stay in the first-level cache
_GROUP_BITS = 8 * _GROUP


@dataclass(frozen=True, slots=True)
class Units:
    """Powers of two in whose multiples p, q and the terms of the sums are held.

    With |p| <= 2^j and |q| <= 2^k, e is at most 2 2^h, h = j + k. The units are 2^j and 2^k times
    2^-62 for p and q, and 2^-48 times 2^(2h) for e^2, 2^(h + k) for e q and 2^(h + j) for e p.

    Attributes
    ----------
    gamma, gamma_tilde : int
        j and k, both 0 for softmax.
    """

    gamma: int
    gamma_tilde: int

    @classmethod
    def of(cls, gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64]) -> Units:
        """Return the least units that hold p and q on every input, none below softmax's.

        Raises
        ------
        InvalidArgumentError
            If the product of the totals is so large that a loss could overflow.
        """
        doublings = []
        for head in (gamma, gamma_tilde):
            with np.errstate(over="ignore"):
                total = float(np.sum(np.abs(head)))
            # A softmax of total 1 up to rounding is not doubled.
            doublings.append(max(0, math.frexp(total * (1 - 2 * MASS_TOLERANCE))[1]))
            if not (math.isfinite(total) and sum(doublings) <= _MOST_DOUBLINGS):
                raise InvalidArgumentError(
                    "gamma", f"weights of total {total:.3g}", "the loss must not overflow"
                )
        return cls(*doublings)

    @property
    def loss_bits(self) -> int:
        """Minus the logarithm of the unit of e^2."""
        return _TERM_BITS - 2 * (self.gamma + self.gamma_tilde)

    @property
    def slope_bits(self) -> tuple[int, int]:
        """Minus the logarithms of the units of e q and e p."""
        h = self.gamma + self.gamma_tilde
        return _TERM_BITS - h - self.gamma_tilde, _TERM_BITS - h - self.gamma

    def of_terms(self) -> NDArray[np.float64]:
        """Return the units of p and q, and one over those of e^2, e q and e p."""
        return np.ldexp(
            1.0,
            [
                self.gamma - _ATTENTION_BITS,
                self.gamma_tilde - _ATTENTION_BITS,
                self.loss_bits,
                *self.slope_bits,
            ],
        )


@dataclass(frozen=True, slots=True, eq=False)
class SampleSums:
    """Exact sums over some samples; those over other samples can be added.

    Attributes
    ----------
    n : int
        Number of samples.
    loss : int
        Sum of e^2.
    slopes : ndarray of int, shape (d, 2)
        Sums of e q x_i and e p x_i, as Python's integers.
    units : Units
        What the sums are multiples of; those of the same weights have the same.
    """

    n: int
    loss: int
    slopes: NDArray[np.object_]
    units: Units

    def __add__(self, other: SampleSums) -> SampleSums:
        return SampleSums(
            self.n + other.n, self.loss + other.loss, self.slopes + other.slopes, self.units
        )

    def mean_loss(self) -> float:
        """Return the mean of e^2, correctly rounded."""
        up, down = self._shifts(self.units.loss_bits)
        return (self.loss << up) / down  # of integers: correctly rounded

    def mean_slopes(self) -> NDArray[np.float64]:
        """Return the means of 2 e q x_i and 2 e p x_i, correctly rounded, as rows of length d."""
        means = np.empty(self.slopes.shape[::-1])
        for head, bits in enumerate(self.units.slope_bits):
            up, down = self._shifts(bits - 1)
            means[head] = (self.slopes[:, head] << up) / down
        return means

    def _shifts(self, bits: int) -> tuple[int, int]:
        """Return k and an integer N with 2^k / N = 2^-bits / n."""
        return max(-bits, 0), self.n << max(bits, 0)


def sample_runs(n: int, parts: int) -> list[range]:
    """Cut samples 0 to n - 1 into runs for one sum each: `parts`, or as many as it takes."""
    parts = max(parts, -(-n // MOST_SAMPLES))
    return [range(k * n // parts, (k + 1) * n // parts) for k in range(parts)]


def sum_samples(
    gamma: NDArray[np.float64],
    gamma_tilde: NDArray[np.float64],
    support: tuple[int, int],
    blocks: Iterable[NDArray[np.uint64]],
) -> SampleSums:
    """Add up the samples of all blocks, which are consumed one at a time.

    Parameters
    ----------
    gamma, gamma_tilde : ndarray, shape (d,)
        Finite weights.
    support : pair of int
        The positions (a, b), 0-based.
    blocks : iterable of ndarray, shape (ceil(d / 64), k)
        Samples as columns of words, as `numerics.samples.signs` makes them; at most `MOST_SAMPLES`
        in all, in blocks of whole tiles but for the last.

    Raises
    ------
    InvalidArgumentError
        As `Units.of`.
    """
    d = gamma.shape[0]
    units = Units.of(gamma, gamma_tilde)
    of_terms = units.of_terms()
    tables = _byte_tables(gamma, gamma_tilde, units)
    sums = np.zeros((2, 2 * _GROUP_BITS * -(-d // _GROUP_BITS) + 1), dtype=np.int64)
    n = 0
    for columns in blocks:
        _add_block(columns, tables, *support, of_terms, sums)
        n += columns.shape[1]
    high, low = sums.astype(object)
    exact = (high << _LIMB_BITS) + low
    return SampleSums(n, exact[-1], exact[: 2 * d].reshape(d, 2), units)


def _byte_tables(
    gamma: NDArray[np.float64], gamma_tilde: NDArray[np.float64], units: Units
) -> NDArray[np.int64]:
    """Return what each value of each byte adds to p and q, for whole groups of bytes.

    Positions beyond d - 1 have no attention, so that their bits add nothing.
    """
    d = gamma.shape[0]
    attention = np.zeros((_GROUP_BITS * -(-d // _GROUP_BITS), 2), dtype=np.int64)
    heads = ((gamma, units.gamma), (gamma_tilde, units.gamma_tilde))
    for head, (weights, doublings) in enumerate(heads):
        attention[:d, head] = np.rint(np.ldexp(weights, _ATTENTION_BITS - doublings))
    bits = np.arange(_BYTE)[:, np.newaxis] >> np.arange(8) & 1
    tables: NDArray[np.int64] = np.matmul(2 * bits - 1, attention.reshape(-1, 8, 2))
    return tables.reshape(-1)


@njit(nogil=True)
def _add_block(
    columns: NDArray[np.uint64],
    tables: NDArray[np.int64],
    a: int,
    b: int,
    units: NDArray[np.float64],
    sums: NDArray[np.int64],
) -> None:
    terms = np.empty(2 * TILE, dtype=np.int64)
    bins = np.zeros(_GROUP * _PAIRS, dtype=np.int64)
    groups = tables.size // bins.size
    for start in range(0, columns.shape[1], TILE):
        stop = min(start + TILE, columns.shape[1])
        terms[:] = 0
        for group in range(groups):
            _look_up(columns[group >> 1, start:stop], group, tables, terms)
        loss = _form_terms(
            columns[a // 64, start:stop], a % 64, columns[b // 64, start:stop], b % 64, units, terms
        )
        _add(sums, sums.shape[1] - 1, loss)
        for group in range(groups):
            _scatter(columns[group >> 1, start:stop], group, terms, bins)
            _unfold(bins, group, sums)


# Tables and bins are indexed as one axis, with constant strides: over several axes, Numba would
# multiply by lengths at every access. A column is one word of every sample, two groups of bytes.


@njit(nogil=True)
def _look_up(
    column: NDArray[np.uint64], group: int, tables: NDArray[np.int64], terms: NDArray[np.int64]
) -> None:
    """Add what the bytes of the group add to p and q of sample s to its terms 2 s and 2 s + 1."""
    shift = np.uint64(_GROUP_BITS * (group & 1))
    for s in range(column.size):
        word = column[s] >> shift
        p, q = terms[2 * s], terms[2 * s + 1]
        for j in range(_GROUP):
            value = np.int64((word >> np.uint64(8 * j)) & np.uint64(255))
            entry = (group * _GROUP + j) * _PAIRS + 2 * value
            p += tables[entry]
            q += tables[entry + 1]
        terms[2 * s], terms[2 * s + 1] = p, q


@njit(nogil=True)
def _form_terms(
    column_a: NDArray[np.uint64],
    bit_a: int,
    column_b: NDArray[np.uint64],
    bit_b: int,
    units: NDArray[np.float64],
    terms: NDArray[np.int64],
) -> np.int64:
    """Turn p and q of every sample into e q and e p, and return the sum of e^2."""
    of_p, of_q, of_loss, of_slope, of_slope_tilde = units
    loss = np.int64(0)
    for s in range(column_a.size):
        p, q = terms[2 * s] * of_p, terms[2 * s + 1] * of_q
        differ = (column_a[s] >> np.uint64(bit_a) ^ column_b[s] >> np.uint64(bit_b)) & np.uint64(1)
        e = p * q - (1.0 - 2.0 * np.float64(differ))
        loss += np.int64(np.rint(e * e * of_loss))
        terms[2 * s] = np.int64(np.rint(e * q * of_slope))
        terms[2 * s + 1] = np.int64(np.rint(e * p * of_slope_tilde))
    return loss


@njit(nogil=True)
def _scatter(
    column: NDArray[np.uint64], group: int, terms: NDArray[np.int64], bins: NDArray[np.int64]
) -> None:
    """Add the terms of every sample to the bins of its bytes in the group."""
    shift = np.uint64(_GROUP_BITS * (group & 1))
    for s in range(column.size):
        word = column[s] >> shift
        of_gamma, of_gamma_tilde = terms[2 * s], terms[2 * s + 1]
        for j in range(_GROUP):
            value = np.int64((word >> np.uint64(8 * j)) & np.uint64(255))
            entry = j * _PAIRS + 2 * value
            bins[entry] += of_gamma
            bins[entry + 1] += of_gamma_tilde


@njit(nogil=True)
def _unfold(bins: NDArray[np.int64], group: int, sums: NDArray[np.int64]) -> None:
    """Add the sums over x_i of the group's positions i, and empty the bins.

    The upper half of a byte's bins has its highest bit set. Upper minus lower half is the sum for
    that position; with the halves added together, the same holds for the next bit.
    """
    for j in range(_GROUP):
        first = j * _PAIRS
        half = _PAIRS // 2
        for bit in range(7, -1, -1):
            of_gamma, of_gamma_tilde = np.int64(0), np.int64(0)
            for k in range(first, first + half, 2):
                of_gamma += bins[k + half] - bins[k]
                of_gamma_tilde += bins[k + half + 1] - bins[k + 1]
                bins[k] += bins[k + half]
                bins[k + 1] += bins[k + half + 1]
            entry = 2 * (_GROUP_BITS * group + 8 * j + bit)
            _add(sums, entry, of_gamma)
            _add(sums, entry + 1, of_gamma_tilde)
            half //= 2
    bins[:] = 0


@njit(nogil=True)
def _add(sums: NDArray[np.int64], entry: int, number: np.int64) -> None:
    sums[0, entry] += number >> _LIMB_BITS
    sums[1, entry] += number & _LIMB_MASK
