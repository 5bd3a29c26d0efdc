"""The population loss and gradient to any number of digits, as mpmath finds them.

The instance is a set of binary64 numbers, which are rational numbers: they are used exactly, and
the scores are exact integers times a power of two. The formulas, the arithmetic, and how digits
are read off are written apart from `numerics.balls.gradient_digits` on purpose, as the two are held
against each other; they share which number is tried when (`numerics.settled_digits`).

A number is printed once two working precisions, the second twice the first, agree on all the
digits asked for, and at both the rounding errors, bounded to first order, are below the last of
them. Agreement alone is not enough: where attention rounds to 1, terms that ought to cancel in
part cancel exactly, and wrong digits agree. As mpmath's roundings are trusted, not enclosed, the
digits are no proof; "0" alone is always proved (`numerics.exact.zero`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import mul
from typing import SupportsIndex

from mpmath import MPContext
from numpy.typing import ArrayLike

from numerics.decimals import dyadic_digits, rational_digits
from numerics.exact.instance import ExactInstance
from numerics.multiprecision.model import (
    attention,
    exact_scores,
    gradient_weights,
    population_loss,
)
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

# Rounding errors at precision P, to first order. Sums and dot products are rounded once and each
# operation or exponential errs by at most a unit in the last place, so an attention is good to a
# relative 4 * 2^-P, and a weight, at most 24 with its terms counted positive and 25 roundings
# deep, to 600 * 2^-P, to which fixed point adds one unit. The terms of the loss are at most 8 in
# all, each some 20 roundings deep.
_WEIGHT_ERROR = 1 << 10
_LOSS_ERROR = 1 << 8


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
    n = check_digits(digits)
    instance = ExactInstance.exactly(V, theta, theta_tilde, support)
    if instance.uniform:
        return _uniform_attention(instance, n)
    return settle(instance, _Agreement(instance, n), _precisions(n), settled_means="settled")


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


def _precisions(digits: int) -> Iterator[int]:
    bits = first_bits(digits)
    while bits <= MAX_BITS:
        yield bits
        bits *= 2


class _Agreement:
    """Settles what shows the same digits at a working precision as at the one before."""

    def __init__(self, instance: ExactInstance, digits: int) -> None:
        self._instance = instance
        self._digits = digits
        self._context = MPContext()
        self._shown: dict[Entry, str | None] = {}

    def __call__(self, entries: Sequence[Entry], bits: int) -> dict[Entry, str]:
        self._context.prec = bits
        latest = _evaluate(self._instance, self._context, entries, self._digits)
        agreed = {
            entry: text for entry, text in latest.items() if text and text == self._shown.get(entry)
        }
        self._shown = latest
        return agreed


def _evaluate(
    instance: ExactInstance,
    context: MPContext,
    entries: Sequence[Entry],
    digits: int,
) -> dict[Entry, str | None]:
    """Return the digits of each entry at the context's precision.

    None stands for a number whose rounding error may reach the last digit, or that is outside the
    range of Decimal.
    """
    scores, scores_tilde = exact_scores(instance, context)
    gamma, gamma_tilde = attention(context, scores), attention(context, scores_tilde)
    bits = context.prec
    weights = [
        [
            int(context.ldexp(weight, bits))
            for weight in gradient_weights(context, *heads, instance.support)
        ]
        for heads in ((gamma, gamma_tilde), (gamma_tilde, gamma))
    ]
    found: dict[Entry, str | None] = {}
    for head, k in entries:
        if (head, k) == LOSS:
            value = population_loss(context, gamma, gamma_tilde, instance.support)
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
