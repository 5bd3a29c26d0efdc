"""The one form in which a bad argument is refused, and the checks every kernel shares."""

from __future__ import annotations

import operator
from typing import SupportsIndex

__all__ = ["InvalidArgumentError", "check_support", "integer_at_least"]


class InvalidArgumentError(ValueError):
    """An argument that cannot be used, in the form ``<what>=<value>: <fix>``.

    Parameters
    ----------
    what : str
        Name of the argument as the caller wrote it.
    value : object
        What was given; shown with `str`.
    fix : str
        What is allowed, or how to mend the call.
    """

    def __init__(self, what: str, value: object, fix: str) -> None:
        self.what = what
        self.value = value
        self.fix = fix
        super().__init__(what, value, fix)

    def __str__(self) -> str:
        return f"{self.what}={self.value}: {self.fix}"


def integer_at_least(what: str, value: SupportsIndex, least: int) -> int:
    """Return `value` as an `int`, or refuse it when it is not an integer ``>= least``.

    Raises
    ------
    InvalidArgumentError
        If `value` is no integer (floats and bools included) or is too small.
    """
    fix = f"must be an integer >= {least}"
    if isinstance(value, bool):
        raise InvalidArgumentError(what, value, fix)
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(what, value, fix) from None
    if number < least:
        raise InvalidArgumentError(what, number, fix)
    return number


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
