"""The mean loss of k heads by visiting every input, in rational arithmetic: the witness.

It reads the definition (f - y)^2, and uses one fact only: x and -x have the same loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import SupportsIndex

from numerics.arguments import InvalidArgumentError
from numerics.parity.population import check_parity_support

__all__ = ["MAX_POSITIONS", "enumerate_parity_loss"]

MAX_POSITIONS = 20
"""Largest d: 2^19 inputs, a few seconds."""


def enumerate_parity_loss(
    gamma: Sequence[Sequence[Fraction]], support: Sequence[SupportsIndex]
) -> Fraction:
    """Return E (f - y)^2 = E (prod_h <gamma^h, x> - prod_{s in S} x_s)^2, exactly.

    Parameters
    ----------
    gamma : sequence of k sequences of d Fraction
        Any weights, one row a head, for any k; they need not be probability vectors.
    support : sequence of k int
        The relevant positions, 0-based.

    Raises
    ------
    InvalidArgumentError
        If the lengths differ, the support does not fit, or there are too many inputs to visit.
    """
    if not gamma:
        raise InvalidArgumentError("gamma", gamma, "must have a row for each head")
    d = len(gamma[0])
    if any(len(row) != d for row in gamma):
        raise InvalidArgumentError("gamma", [len(row) for row in gamma], "lengths must be equal")
    if d > MAX_POSITIONS:
        raise InvalidArgumentError("d", d, f"must be at most {MAX_POSITIONS} to visit all inputs")
    positions = check_parity_support(support, d, len(gamma))
    scales = [math.lcm(*(weight.denominator for weight in row)) for row in gamma]
    rows = [
        [int(weight * scale) for weight in row] for row, scale in zip(gamma, scales, strict=True)
    ]
    one = math.prod(scales)
    # Gray code: consecutive inputs differ in one sign, the lowest set bit of the counter.
    x, forms = [1] * d, [sum(row) for row in rows]
    total = 0
    for counter in range(1, (1 << (d - 1)) + 1):
        label = math.prod(x[position] for position in positions)
        total += (math.prod(forms) - label * one) ** 2
        if counter < 1 << (d - 1):
            i = (counter & -counter).bit_length()
            x[i] = -x[i]
            forms = [form + 2 * x[i] * row[i] for form, row in zip(forms, rows, strict=True)]
    return Fraction(total, one * one << (d - 1))
