"""The population loss and gradient to any number of digits, every printed digit proved.

The scores of binary64 numbers are exact; attention, loss and gradient are enclosed in balls. A
number is printed once both ends of its ball round to the same decimal string: rounding is
monotone, so the number itself rounds to that string. Otherwise the precision is doubled. "0" is
printed only for a number that is zero by proof (`numerics.exact.zero`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import SupportsIndex

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from numerics.balls.arithmetic.exact import (
    UnresolvedError,
    block_integers,
    dyadic,
    scaled_integers,
    symmetric,
)
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import precisions, working_precision
from numerics.balls.model import attention, gradient_weights, population_loss, powers
from numerics.decimals import EXACT_EXPONENT, dyadic_digits, rational_digits
from numerics.exact.instance import ExactInstance
from numerics.settled_digits import (
    LOSS,
    MAX_BITS,
    Entry,
    GradientDigits,
    check_digits,
    first_bits,
    settle,
)

__all__ = ["population_gradient_digits"]

# `dyadic_digits` rounds powers of two with exponents beyond its exact range, with a relative error
# below 10^-(digits + 38). Ends are moved outwards by 10^-(digits + 30) first, which covers it.
_GUARD_DIGITS = 30


def population_gradient_digits(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    digits: SupportsIndex = 17,
) -> GradientDigits:
    """Return the population loss and gradients with `digits` significant digits, proved.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    theta, theta_tilde : array_like, shape (m,)
        The queries, taken as exact rational numbers.
    support : pair of int
        The positions (a, b), 0-based.
    digits : int
        Significant digits, 1 to 1000, rounded to nearest. Positional for 1e-6 <= |x| < 1e21,
        with an exponent elsewhere.

    Returns
    -------
    GradientDigits
        Entries that 2^16 bits do not settle, and are not proved zero, are None.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or `digits` is out of range.
    """
    n = check_digits(digits)
    instance = ExactInstance.exactly(V, theta, theta_tilde, support)
    if instance.uniform:
        return _uniform_attention(instance, n)
    attempts = precisions(first_bits(n), MAX_BITS)
    return settle(instance, partial(_rounded, instance, n), attempts, settled_means="proved")


def _uniform_attention(instance: ExactInstance, digits: int) -> GradientDigits:
    """All scores of a head equal: attention 1/d exactly, and every number is rational.

    L = 1 - 1/d^2 - 2/d^3, and both gradients are -(2/d^2)(v_a + v_b - 2 vbar).
    """
    d = len(instance.V)
    weights = [-2] * d
    for position in instance.support:
        weights[position] += d
    (pulls,), unit = IntegerMatrix(instance.V).transposed_times([weights])
    scale = Fraction(-2, d**3) * Fraction(2) ** unit
    components = tuple(rational_digits(scale * pull, digits) for pull in pulls)
    loss = rational_digits(1 - Fraction(1, d**2) - Fraction(2, d**3), digits)
    return GradientDigits(loss, components, components, 0, None)


def _rounded(
    instance: ExactInstance, digits: int, entries: Sequence[Entry], bits: int
) -> dict[Entry, str]:
    """Return the strings of the entries whose balls round to one, at a working precision."""
    with working_precision(bits):
        try:
            enclosures = _enclosures(instance, entries, bits)
        except UnresolvedError:
            return {}
        found = {entry: _digits(x, digits) for entry, x in enclosures.items()}
    return {entry: text for entry, text in found.items() if text is not None}


def _enclosures(instance: ExactInstance, entries: Sequence[Entry], bits: int) -> dict[Entry, arb]:
    gamma = attention(powers(instance.scores, instance.unit))
    gamma_tilde = attention(powers(instance.scores_tilde, instance.unit))
    found: dict[Entry, arb] = {}
    if LOSS in entries:
        found[LOSS] = population_loss(gamma, gamma_tilde, instance.support)
    columns = sorted({k for head, k in entries if (head, k) != LOSS})
    if not columns:
        return found
    weights = [
        block_integers(gradient_weights(*heads, instance.support), bits)
        for heads in ((gamma, gamma_tilde), (gamma_tilde, gamma))
    ]
    all_of_them = len(columns) == instance.V.shape[1]
    matrix = IntegerMatrix(
        instance.V if all_of_them else np.ascontiguousarray(instance.V[:, columns])
    )
    sums, unit_V = matrix.transposed_times([integers for integers, _, _ in weights])
    for head, (total, (_, unit, lost)) in enumerate(zip(sums, weights, strict=True)):
        # sum_i |w_i - n_i 2^unit| |v_ik| <= lost max |v|
        error = symmetric(dyadic(1, matrix.exponent) * lost)
        for k, component in zip(columns, scaled_integers(total, unit_V + unit), strict=True):
            found[head, k] = component + error
    return {entry: found[entry] for entry in entries}


def _digits(x: arb, digits: int) -> str | None:
    """Return the one decimal string to which every member of a ball rounds, if there is one."""
    if not x.is_finite() or x.contains(0):
        return None
    upper, lower = _outwards(x, 1, digits), _outwards(-x, -1, digits)
    return upper if upper == lower else None


def _outwards(x: arb, sign: int, digits: int) -> str | None:
    """Return ``sign`` times an upper end of x rounded to nearest, once."""
    mantissa, exponent = map(int, x.upper().man_exp())
    if abs(exponent) <= EXACT_EXPONENT:
        return dyadic_digits(sign * mantissa, exponent, digits)
    guard = math.floor((digits + _GUARD_DIGITS) * math.log2(10))
    moved = (mantissa << guard) + abs(mantissa)
    return dyadic_digits(sign * moved, exponent - guard, digits)
