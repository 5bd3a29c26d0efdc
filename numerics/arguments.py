"""The one form in which a bad argument is refused, and the checks every kernel shares."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "InvalidArgumentError",
    "abridged",
    "check_support",
    "embedding_array",
    "embedding_matrix",
    "finite_array",
    "finite_float",
    "integer_at_least",
    "probability_vector",
    "refuse_non_finite",
    "row_blocks",
    "sign_array",
    "suggestion",
    "vector_of_length",
]

BLOCK_ENTRIES = 1 << 20  # 8 MiB of binary64: large for BLAS, small beside an embedding matrix
LONGEST_VALUE, LONGEST_FIX = 300, 2000  # characters that a refusal shows of what it was given
MASS_TOLERANCE = 1e-9  # a softmax of 10^6 scores misses total mass 1 by less than d u = 2e-10


class InvalidArgumentError(ValueError):
    """An argument that cannot be used, in the form ``<what>=<value>: <fix>``.

    Parameters
    ----------
    what : str
        Name of the argument as the caller wrote it.
    value : object
        What was given; shown with `str`, and without its middle if that is long.
    fix : str
        What is allowed, or how to mend the call.
    """

    def __init__(self, what: str, value: object, fix: str) -> None:
        self.what = what
        self.value = value
        self.fix = fix
        super().__init__(what, value, fix)

    def __str__(self) -> str:
        what, value = (abridged(str(part), LONGEST_VALUE) for part in (self.what, self.value))
        return f"{what}={value}: {abridged(self.fix, LONGEST_FIX)}"


def abridged(text: str, most: int) -> str:
    """Return a text; of one of more than `most` characters the beginning and the end."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}... ({len(text)} characters) ...{text[-most // 4 :]}"


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean NAME?`` for the nearest of some names; nothing if none is near."""
    if len(name) > LONGEST_VALUE:
        return ""
    from difflib import get_close_matches

    return "".join(f"; did you mean {near}?" for near in get_close_matches(name, names, n=1))


def integer_at_least(what: str, value: SupportsIndex, least: int) -> int:
    """Return `value` as an `int`, or refuse it when it is not an integer ``>= least``.

    Raises
    ------
    InvalidArgumentError
        If `value` is no integer (floats and bools included) or is too small.
    """
    fix = f"must be an integer >= {least}"
    if isinstance(value, (bool, np.bool_)):
        raise InvalidArgumentError(what, value, fix)
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(what, value, fix) from None
    if number < least:
        raise InvalidArgumentError(what, number, fix)
    return number


def finite_float(what: str, value: SupportsFloat) -> float:
    """Return `value` as a finite `float`, or refuse it.

    Raises
    ------
    InvalidArgumentError
        If `value` is no real number, is a bool or a string, is not finite, or overflows.
    """
    fix = "must be a finite real number"
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise InvalidArgumentError(what, value, fix)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(what, value, fix) from None
    if not math.isfinite(number):
        raise InvalidArgumentError(what, number, fix)
    return number


def row_blocks(rows: int, columns: int, *, entries: int = BLOCK_ENTRIES) -> Iterator[slice]:
    """Yield slices that cut a ``(rows, columns)`` matrix into blocks of at most `entries` entries.

    Work done block by block needs one block of memory, whatever the size of the matrix. A block
    has at least one row.
    """
    height = max(1, entries // max(1, columns))
    for start in range(0, rows, height):
        yield slice(start, min(start + height, rows))


def finite_array(what: str, value: ArrayLike, ndim: int) -> NDArray[np.float64]:
    """Return `value` as a finite binary64 array, without a copy when it is one already.

    Parameters
    ----------
    what : str
        Name of the argument, for the message.
    value : array_like
        Binary64 or narrower floats, or integers exact in binary64.
    ndim : int
        Number of axes required.

    Raises
    ------
    InvalidArgumentError
        If the entries are complex, strings, objects or bools, an integer is not exact in
        binary64, the number of axes is wrong, or an entry is infinite or NaN.
    """
    array = _real_array(what, value, ndim)
    refuse_non_finite(what, array)
    return array


def _real_array(what: str, value: ArrayLike, ndim: int) -> NDArray[np.float64]:
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidArgumentError(
            what, type(value).__name__, "rows must have one length"
        ) from None
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise InvalidArgumentError(
            what, f"array of {array.dtype}", "must be real numbers that fit binary64"
        )
    if array.ndim != ndim:
        raise InvalidArgumentError(what, f"array of shape {array.shape}", f"must have {ndim} axes")
    wide = np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        _refuse_inexact_integers(what, array, wide)
    return wide


def _refuse_inexact_integers(
    what: str, array: NDArray[np.generic], wide: NDArray[np.float64]
) -> None:
    # Compared as Python integers: casting 2^64 back to an integer dtype would wrap.
    # 2^53 + 1 itself rounds to 2^53, so the comparison is not strict.
    large = np.abs(wide) >= 2.0**53
    for index in map(tuple, np.argwhere(large)):
        if int(array[index]) != int(wide[index]):
            raise InvalidArgumentError(
                _entry(what, index), array[index], "is not exact in binary64"
            )


def refuse_non_finite(what: str, array: NDArray[np.float64]) -> None:
    """Refuse an array with an infinite or NaN entry, by the name of the first one."""
    # A sum of squares is finite only if every entry is: one pass and no temporary. It can overflow
    # on finite entries, so only the entries themselves decide a refusal. BLAS would share a long
    # product among threads, which then keep a core busy for 20 ms, waiting for more.
    if array.size == 0:
        return
    rows = array.reshape(array.shape[0], -1) if array.ndim > 1 else array.reshape(-1, 1)
    for block in row_blocks(*rows.shape):
        part = rows[block].reshape(-1)
        with np.errstate(all="ignore"):
            clean = math.isfinite(float(np.einsum("i,i->", part, part)))
        if not clean and not np.isfinite(part).all():
            first = int(np.flatnonzero(~np.isfinite(part))[0]) + block.start * rows.shape[1]
            index = np.unravel_index(first, array.shape)
            raise InvalidArgumentError(_entry(what, index), array[index], "must be finite")


def _entry(what: str, index: tuple[SupportsIndex, ...]) -> str:
    if not index:
        return what
    return f"{what}[{', '.join(str(operator.index(i)) for i in index)}]"


def embedding_array(V: ArrayLike) -> NDArray[np.float64]:
    """Return `V` as `embedding_matrix` does, without a look at its entries.

    For a kernel that multiplies with V, and sees in the products whether V is finite.
    """
    matrix = _real_array("V", V, 2)
    if matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise InvalidArgumentError(
            "V", f"array of shape {matrix.shape}", "must have at least 2 rows and 1 column"
        )
    return matrix


def embedding_matrix(V: ArrayLike) -> NDArray[np.float64]:
    """Return `V` as a finite ``(d, m)`` binary64 matrix with ``d >= 2``, ``m >= 1``, uncopied.

    Raises
    ------
    InvalidArgumentError
        As `finite_array`; or if there are fewer than two rows or no column.
    """
    matrix = embedding_array(V)
    refuse_non_finite("V", matrix)
    return matrix


def vector_of_length(what: str, value: ArrayLike, length: int) -> NDArray[np.float64]:
    """Return `value` as a finite binary64 vector with `length` entries, or refuse it."""
    vector = finite_array(what, value, 1)
    if vector.shape[0] != length:
        raise InvalidArgumentError(
            what, f"array of shape {vector.shape}", f"must have {length} entries"
        )
    return vector


def probability_vector(what: str, value: ArrayLike, d: int | None = None) -> NDArray[np.float64]:
    """Return `value` as an attention vector: nonnegative entries of total mass 1 up to rounding.

    Parameters
    ----------
    what : str
        Name of the argument, for the message.
    value : array_like, shape (d,)
        The attention.
    d : int, optional
        Length required; any length >= 2 if not given.

    Raises
    ------
    InvalidArgumentError
        As `finite_array`; or if the length is wrong, an entry is negative, or the total is
        further than 1e-9 from 1 (the rounding of a softmax stays below that for d <= 10^6).
    """
    if d is None:
        vector = finite_array(what, value, 1)
        if vector.shape[0] < 2:
            raise InvalidArgumentError(
                what, f"array of shape {vector.shape}", "must have at least 2 entries"
            )
    else:
        vector = vector_of_length(what, value, d)
    if vector.min() < 0:
        first = int(np.flatnonzero(vector < 0)[0])
        raise InvalidArgumentError(f"{what}[{first}]", vector[first], "must be nonnegative")
    total = float(np.sum(vector))
    if not abs(total - 1) <= MASS_TOLERANCE:
        raise InvalidArgumentError(what, f"array of total {total!r}", "must have total mass 1")
    return vector


def sign_array(what: str, value: ArrayLike, d: int) -> NDArray[np.integer]:
    """Return inputs ``(d,)`` or a batch ``(n, d)`` of signs in their own integer dtype.

    Raises
    ------
    InvalidArgumentError
        If the dtype is no integer, the last axis is not `d`, or an entry is not -1 or +1
        (255 in an unsigned array is a wrapped -1, and refused).
    """
    array = np.asarray(value)
    if not np.issubdtype(array.dtype, np.integer):
        raise InvalidArgumentError(what, f"array of {array.dtype}", "must be integers -1 or +1")
    if array.ndim not in (1, 2) or array.shape[-1] != d:
        raise InvalidArgumentError(
            what, f"array of shape {array.shape}", f"must be ({d},) or (n, {d})"
        )
    wrong = (array != 1) & (array != -1)
    if wrong.any():
        index = np.unravel_index(int(np.argmax(wrong)), array.shape)
        raise InvalidArgumentError(_entry(what, index), array[index], "must be -1 or +1")
    return array


def check_support(support: tuple[SupportsIndex, SupportsIndex], d: int) -> tuple[int, int]:
    """Return the support ``(a, b)`` as two `int`, or refuse it.

    Parameters
    ----------
    support : pair of int
        The two relevant positions, 0-based and in order.
    d : int
        Number of positions.

    Raises
    ------
    InvalidArgumentError
        If there are not exactly two positions, they are equal, or one is outside ``0..d-1``.
    """
    positions = tuple(support)
    if len(positions) != 2:
        raise InvalidArgumentError("support", positions, "must be two positions")
    a, b = (integer_at_least("support", position, 0) for position in positions)
    if a >= d or b >= d:
        raise InvalidArgumentError("support", (a, b), f"positions must be in 0..{d - 1}")
    if a == b:
        raise InvalidArgumentError("support", (a, b), "the two positions must differ")
    return a, b
