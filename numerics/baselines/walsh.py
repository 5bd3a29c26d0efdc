"""Functions of d signs as tables over all 2^d inputs, and their Walsh-Hadamard transform.

Row x of a table belongs to the input whose sign at position i is -1 where bit i of x is set. The
parity chi_S, the product of the signs at S, has the set S as the bits of its number.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, integer_at_least

__all__ = ["MAX_SIGNS", "all_inputs", "number_of_signs", "parity_numbers", "walsh_hadamard"]

MAX_SIGNS = 16
"""Largest d: a table of 2^16 inputs and 1000 features holds half a gigabyte."""


def all_inputs(d: SupportsIndex) -> NDArray[np.int8]:
    """Return all inputs in the order of a table, shape (2^d, d).

    Raises
    ------
    InvalidArgumentError
        If `d` is not in 1..16.
    """
    positions = np.arange(_checked(d))
    bits = (np.arange(1 << positions.shape[0])[:, np.newaxis] >> positions) & 1
    return (1 - 2 * bits).astype(np.int8)


def parity_numbers(d: SupportsIndex, k: SupportsIndex) -> NDArray[np.int64]:
    """Return the numbers of the parities of degree k, shape (C(d, k),), supports in order.

    Raises
    ------
    InvalidArgumentError
        If `d` is not in 1..16, or `k` not in 1..d.
    """
    positions = _checked(d)
    degree = integer_at_least("k", k, 1)
    if degree > positions:
        raise InvalidArgumentError("k", degree, f"must be at most d = {positions}")
    return np.array(
        [sum(1 << i for i in support) for support in combinations(range(positions), degree)]
    )


def walsh_hadamard(table: NDArray[Any]) -> NDArray[Any]:
    """Return the sums over all inputs of each parity times each column, in d 2^d additions.

    Parameters
    ----------
    table : ndarray, shape (2^d,) or (2^d, D)
        Columns are functions of the input. Floats, or Python integers in an object array, which
        stay exact.

    Returns
    -------
    ndarray, of the same shape and dtype
        Row S is the sum over x of chi_S(x) table[x]; row 0 is the plain sum. Applied twice it is
        2^d times the table.

    Raises
    ------
    InvalidArgumentError
        If the number of rows is no power of two in 2..2^16.
    """
    number_of_signs(table)
    sums = table
    half = 1
    while half < table.shape[0]:
        pairs = sums.reshape(-1, 2, half, *table.shape[1:])
        sums = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
        half *= 2
    return sums.reshape(table.shape)


def number_of_signs(table: NDArray[Any]) -> int:
    """Return d for a table of 2^d rows.

    Raises
    ------
    InvalidArgumentError
        If the number of rows is no power of two in 2..2^16.
    """
    rows = table.shape[0] if table.ndim else 0
    d = rows.bit_length() - 1
    if rows != 1 << max(d, 0) or not 1 <= d <= MAX_SIGNS:
        raise InvalidArgumentError(
            "table", f"array of shape {table.shape}", f"must have 2^d rows, d in 1..{MAX_SIGNS}"
        )
    return d


def _checked(d: SupportsIndex) -> int:
    number = integer_at_least("d", d, 1)
    if number > MAX_SIGNS:
        raise InvalidArgumentError("d", number, f"must be at most {MAX_SIGNS}")
    return number
