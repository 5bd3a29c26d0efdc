"""How N digits of the population gradient are settled, one number at a time, whoever computes them.

A number is settled once its digits are known at some working precision; the others are tried again
at the next one. A component of the gradient that is zero never shows a digit: "0" is printed only
for what is zero by proof (`numerics.exact.zero`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsIndex, TypeAlias

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.exact.instance import ExactInstance
from numerics.exact.zero import MAX_GROUPS, PositionGroups, balanced, vanishes

__all__ = [
    "LOSS",
    "MAX_BITS",
    "MAX_DIGITS",
    "Entry",
    "GradientDigits",
    "check_digits",
    "first_bits",
    "settle",
]

MAX_DIGITS = 1000
"""Most significant digits offered."""
MAX_BITS = 1 << 16
"""Highest working precision tried before a number is left undecided."""

_GUARD_BITS = 64

Entry: TypeAlias = tuple[int, int]
"""(0, k) and (1, k) are component k of dL/dtheta and of dL/dtheta~."""
LOSS: Entry = (-1, 0)
"""The entry that is the loss."""


@dataclass(frozen=True, slots=True)
class GradientDigits:
    """The population loss and gradients as decimal strings.

    Attributes
    ----------
    loss : str or None
        L = E (f - y)^2.
    theta, theta_tilde : tuple of (str or None), length m
        The components of dL/dtheta and dL/dtheta~. "0" is exact zero, proved.
    bits : int
        Highest working precision used; 0 if everything was rational.
    reason : str or None
        Why some entries are None; None if none is.
    """

    loss: str | None
    theta: tuple[str | None, ...]
    theta_tilde: tuple[str | None, ...]
    bits: int
    reason: str | None


def check_digits(digits: SupportsIndex) -> int:
    """Return the number of significant digits.

    Raises
    ------
    InvalidArgumentError
        If it is not in 1..1000.
    """
    n = integer_at_least("digits", digits, 1)
    if n > MAX_DIGITS:
        raise InvalidArgumentError("digits", n, f"must be at most {MAX_DIGITS}")
    return n


def first_bits(digits: int) -> int:
    """Return the working precision to begin with: that of the digits, and some to spare."""
    return math.ceil(digits * math.log2(10)) + _GUARD_BITS


def settle(
    instance: ExactInstance,
    attempt: Callable[[Sequence[Entry], int], Mapping[Entry, str]],
    precisions: Iterable[int],
    *,
    settled_means: str,
) -> GradientDigits:
    """Raise the working precision until every number is settled.

    Parameters
    ----------
    instance : ExactInstance
        The instance.
    attempt : callable
        ``attempt(entries, bits)`` returns the digits of those entries that it settles with `bits`.
    precisions : iterable of int
        The working precisions to try, rising; at least one.
    settled_means : str
        What settled digits are, in a word, for the reason of those that are not.
    """
    m = instance.V.shape[1]
    groups = PositionGroups.of(instance.scores, instance.scores_tilde, instance.support)
    constant = [k for k in range(m) if balanced(groups, instance.column(k))]
    settled: dict[Entry, str] = {(head, k): "0" for head in (0, 1) for k in constant}
    entries = [LOSS, *((head, k) for head in (0, 1) for k in range(m))]
    pending = [entry for entry in entries if entry not in settled]
    for number, bits in enumerate(precisions):
        settled |= attempt(pending, bits)
        pending = [entry for entry in pending if entry not in settled]
        if number == 1:
            # What two precisions left open may be zero: decide it, once.
            settled |= dict.fromkeys(_zeros(instance, groups, pending), "0")
            pending = [entry for entry in pending if entry not in settled]
        if not pending:
            break
    unsettled = f"digits not {settled_means} at {bits} bits, or outside the range of Decimal"
    return GradientDigits(
        settled.get(LOSS),
        tuple(settled.get((0, k)) for k in range(m)),
        tuple(settled.get((1, k)) for k in range(m)),
        bits,
        unsettled if pending else None,
    )


def _zeros(
    instance: ExactInstance, groups: PositionGroups, entries: Sequence[Entry]
) -> Iterator[Entry]:
    """Yield the components that are exactly zero, if there are few enough scores to tell."""
    if groups.distinct > MAX_GROUPS:
        return
    sides = (groups, groups.swapped())
    for entry in entries:
        head, k = entry
        if entry != LOSS and vanishes(sides[head], instance.column(k)):
            yield entry
