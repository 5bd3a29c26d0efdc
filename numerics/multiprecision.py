"""The population loss and gradient to any number of digits, and by differentiation.

The instance is a set of binary64 numbers, which are rational numbers: they are used exactly, and
the scores are exact integers times a power of two. Weights are formed in a private mpmath
context, so no precision of the caller, or of another thread, is ever touched.

A number is printed once two working precisions, the second twice the first, agree on all the
digits asked for, and at both the rounding errors, bounded to first order, are below the last of
them. Agreement alone is not enough: where attention rounds to 1, terms that ought to cancel in
part cancel exactly, and wrong digits agree. As mpmath's roundings are trusted, not enclosed, the
digits are no proof; "0" alone is always proved (`numerics.exact.zero`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import SupportsIndex

import mpmath
from mpmath import MPContext, mpf
from numpy.typing import ArrayLike

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.decimals import dyadic_digits, rational_digits
from numerics.exact.instance import ExactInstance
from numerics.exact.zero import MAX_GROUPS, PositionGroups, balanced, vanishes

__all__ = [
    "MAX_BITS",
    "MAX_DIGITS",
    "MAX_ENUMERATED",
    "GradientDigits",
    "numeric_gradient",
    "population_gradient_digits",
]

MAX_DIGITS = 1000
"""Most significant digits offered."""
MAX_BITS = 1 << 16
"""Highest working precision tried before a number is left undecided."""
MAX_ENUMERATED = 16
"""Largest d for which the loss is differentiated as a mean over all inputs."""

_GUARD_BITS = 64

# Rounding errors at precision P, to first order. Sums and dot products are rounded once and each
# operation or exponential errs by at most a unit in the last place, so an attention is good to a
# relative 4 * 2^-P, and a weight, at most 24 with its terms counted positive and 25 roundings
# deep, to 600 * 2^-P, to which fixed point adds one unit. The terms of the loss are at most 8 in
# all, each some 20 roundings deep.
_WEIGHT_ERROR = 1 << 10
_LOSS_ERROR = 1 << 8

_Entry = tuple[int, int]  # (0, k) and (1, k): component k of dL/dtheta and of dL/dtheta~
_LOSS: _Entry = (-1, 0)


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


def population_gradient_digits(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    digits: SupportsIndex = 17,
) -> GradientDigits:
    """Return the population loss and gradients with `digits` significant digits.

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

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or `digits` is out of range.
    """
    n = integer_at_least("digits", digits, 1)
    if n > MAX_DIGITS:
        raise InvalidArgumentError("digits", n, f"must be at most {MAX_DIGITS}")
    instance = ExactInstance.exactly(V, theta, theta_tilde, support)
    if len(set(instance.scores)) == len(set(instance.scores_tilde)) == 1:
        return _uniform_attention(instance, n)
    return _settle(instance, n)


def numeric_gradient(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    digits: SupportsIndex = 50,
    enumerated: bool = False,
) -> tuple[list[mpf], list[mpf]]:
    """Return dL/dtheta and dL/dtheta~ by central differences of the loss.

    With step h, the differences err by h^2 times a third derivative, of order ``|v|^3``, and by
    the rounding of the loss over h: h = 10^-(digits + 10) at three times the precision leaves
    errors far below 10^-digits for embeddings and queries of ordinary size.

    Parameters
    ----------
    V, theta, theta_tilde, support
        The instance, as for `population_gradient_digits`.
    digits : int
        Absolute accuracy wanted, in decimal digits.
    enumerated : bool
        Differentiate the mean of (f - y)^2 over all 2^d inputs, the definition itself
        (d <= 16), instead of the closed form.

    Returns
    -------
    list of mpf, list of mpf
        The two gradients, each of length m.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or d is too large to enumerate.
    """
    n = integer_at_least("digits", digits, 1)
    instance = ExactInstance.exactly(V, theta, theta_tilde, support)
    d = len(instance.scores)
    if enumerated and d > MAX_ENUMERATED:
        raise InvalidArgumentError("d", d, f"2^{d} inputs; must be at most {MAX_ENUMERATED}")
    context = MPContext()
    context.dps = 3 * (n + 10)
    h = context.mpf(10) ** -(n + 10)
    loss = _loss_by_enumeration if enumerated else _loss
    scores = instance.exact_scores(context)

    def derivative(k: int, head: int) -> mpf:
        column = instance.column(k)
        shift = [
            context.ldexp(context.mpf(entry), instance.unit_of_entries) * h for entry in column
        ]
        values = []
        for sign in (1, -1):
            moved = [list(scores[0]), list(scores[1])]
            moved[head] = [s + sign * step for s, step in zip(moved[head], shift, strict=True)]
            heads = [_attention(context, [context.exp(s) for s in part]) for part in moved]
            values.append(loss(context, heads[0], heads[1], instance.support))
        # Handed over bit by bit to mpmath's own context: mpf of another context is another type.
        return mpmath.mp.make_mpf(((values[0] - values[1]) / (2 * h))._mpf_)

    m = instance.V.shape[1]
    return [derivative(k, 0) for k in range(m)], [derivative(k, 1) for k in range(m)]


def _uniform_attention(instance: ExactInstance, digits: int) -> GradientDigits:
    """All scores of a head equal: attention 1/d exactly, and every number is rational.

    L = 1 - 1/d^2 - 2/d^3, and both gradients are -(2/d^2)(v_a + v_b - 2 vbar).
    """
    d, m = instance.V.shape
    a, b = instance.support
    unit = Fraction(2) ** instance.unit_of_entries
    components = []
    for k in range(m):
        column = instance.column(k)
        pull = column[a] + column[b] - Fraction(2 * sum(column), d)
        components.append(rational_digits(Fraction(-2, d * d) * pull * unit, digits))
    loss = rational_digits(1 - Fraction(1, d**2) - Fraction(2, d**3), digits)
    return GradientDigits(loss, tuple(components), tuple(components), 0, None)


def _settle(instance: ExactInstance, digits: int) -> GradientDigits:
    """Raise the working precision until every number has shown the same digits twice."""
    m = instance.V.shape[1]
    groups = PositionGroups.of(instance.scores, instance.scores_tilde, instance.support)
    constant = [k for k in range(m) if balanced(groups, instance.column(k))]
    settled: dict[_Entry, str] = {(head, k): "0" for head in (0, 1) for k in constant}
    entries = [_LOSS, *((head, k) for head in (0, 1) for k in range(m))]
    pending = [entry for entry in entries if entry not in settled]
    shown: dict[_Entry, str | None] = {}
    context = MPContext()
    for attempt, context.prec in enumerate(_precisions(digits)):
        latest = _evaluate(instance, context, pending, digits)
        settled |= {
            entry: text for entry, text in latest.items() if text and text == shown.get(entry)
        }
        pending = [entry for entry in pending if entry not in settled]
        if attempt == 1:
            # What two precisions could not agree on may be zero: decide it, once.
            settled |= dict.fromkeys(_zeros(instance, groups, pending), "0")
            pending = [entry for entry in pending if entry not in settled]
        if not pending:
            break
        shown = latest
    unsettled = f"digits not settled at {context.prec} bits, or outside the range of Decimal"
    return GradientDigits(
        settled.get(_LOSS),
        tuple(settled.get((0, k)) for k in range(m)),
        tuple(settled.get((1, k)) for k in range(m)),
        context.prec,
        unsettled if pending else None,
    )


def _precisions(digits: int) -> Iterator[int]:
    bits = math.ceil(digits * math.log2(10)) + _GUARD_BITS
    while bits <= MAX_BITS:
        yield bits
        bits *= 2


def _zeros(
    instance: ExactInstance, groups: PositionGroups, entries: Sequence[_Entry]
) -> Iterator[_Entry]:
    """Yield the components that are exactly zero, if there are few enough scores to tell."""
    if groups.distinct > MAX_GROUPS:
        return
    sides = (groups, groups.swapped())
    for entry in entries:
        head, k = entry
        if entry != _LOSS and vanishes(sides[head], instance.column(k)):
            yield entry


def _evaluate(
    instance: ExactInstance,
    context: MPContext,
    entries: Sequence[_Entry],
    digits: int,
) -> dict[_Entry, str | None]:
    """Return the digits of each entry at the context's precision.

    None stands for a number whose rounding error may reach the last digit, or that is outside the
    range of Decimal.
    """
    scores, scores_tilde = instance.exact_scores(context)
    gamma = _attention(context, [context.exp(s) for s in scores])
    gamma_tilde = _attention(context, [context.exp(s) for s in scores_tilde])
    bits = context.prec
    weights = [
        [int(context.ldexp(weight, bits)) for weight in _weights(context, *heads, instance.support)]
        for heads in ((gamma, gamma_tilde), (gamma_tilde, gamma))
    ]
    found: dict[_Entry, str | None] = {}
    for head, k in entries:
        if (head, k) == _LOSS:
            value = _loss(context, gamma, gamma_tilde, instance.support)
            mantissa, unit = int(context.ldexp(value, bits)), -bits
            error = _LOSS_ERROR
        else:
            column = instance.column(k)
            mantissa, unit = sum(map(mul, weights[head], column)), instance.unit_of_entries - bits
            error = _WEIGHT_ERROR * sum(map(abs, column))
        # Printed only if both ends of the error round alike: next to a tie they do not.
        ends = {dyadic_digits(mantissa + side * error, unit, digits) for side in (-1, 1)}
        found[head, k] = ends.pop() if len(ends) == 1 and abs(mantissa) > error else None
    return found


def _attention(context: MPContext, powers: list[mpf]) -> list[mpf]:
    total = context.fsum(powers)
    return [power / total for power in powers]


def _loss(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> mpf:
    """L = 1 - 2 mu + |gamma|^2 |gamma~|^2 + 2 <gamma, gamma~>^2 - 2 sum gamma_i^2 gamma~_i^2."""
    a, b = support
    mu = gamma[a] * gamma_tilde[b] + gamma[b] * gamma_tilde[a]
    products = list(map(mul, gamma, gamma_tilde))
    square, square_tilde = context.fdot(gamma, gamma), context.fdot(gamma_tilde, gamma_tilde)
    overlap = context.fsum(products)
    return 1 - 2 * mu + square * square_tilde + 2 * (overlap**2 - context.fdot(products, products))


def _loss_by_enumeration(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> mpf:
    """Return the mean of (f - y)^2 over all inputs, in Gray-code order."""
    a, b = support
    d = len(gamma)
    x = [1] * d
    p, q = context.fsum(gamma), context.fsum(gamma_tilde)
    total = context.mpf(0)
    for counter in range(1, (1 << d) + 1):
        total += (x[a] * x[b] - p * q) ** 2
        i = min((counter & -counter).bit_length(), d) - 1
        x[i] = -x[i]
        p += 2 * x[i] * gamma[i]
        q += 2 * x[i] * gamma_tilde[i]
    return total / (1 << d)


def _weights(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> list[mpf]:
    """Return w_i = gamma_i (g_i - sum_j gamma_j g_j), g = dL/dgamma: grad_theta L = sum w_i v_i."""
    a, b = support
    square_tilde = context.fdot(gamma_tilde, gamma_tilde)
    overlap = context.fdot(gamma, gamma_tilde)
    slopes = [
        2 * g * square_tilde + 4 * t * (overlap - g * t)
        for g, t in zip(gamma, gamma_tilde, strict=True)
    ]
    slopes[a] -= 2 * gamma_tilde[b]
    slopes[b] -= 2 * gamma_tilde[a]
    mean = context.fdot(gamma, slopes)
    return [g * (slope - mean) for g, slope in zip(gamma, slopes, strict=True)]
