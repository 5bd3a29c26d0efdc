"""The gradient by central differences of the loss, in as many digits as are asked for.

It knows no formula of the gradient, and with ``enumerated`` none of the loss either: the witness
that the closed forms answer to.
"""

from __future__ import annotations

from typing import SupportsIndex

import mpmath
from mpmath import MPContext, mpf
from numpy.typing import ArrayLike

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.exact.instance import ExactInstance
from numerics.multiprecision.model import attention, exact_scores, population_loss

__all__ = ["MAX_ENUMERATED", "numeric_gradient"]

MAX_ENUMERATED = 16
"""Largest d for which the loss is differentiated as a mean over all inputs."""


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
        The instance, as for `numerics.multiprecision.gradient_digits`.
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
    loss = _loss_by_enumeration if enumerated else population_loss
    scores = exact_scores(instance, context)

    def derivative(k: int, head: int) -> mpf:
        column = instance.column(k)
        shift = [
            context.ldexp(context.mpf(entry), instance.unit_of_entries) * h for entry in column
        ]
        values = []
        for sign in (1, -1):
            moved = [list(scores[0]), list(scores[1])]
            moved[head] = [s + sign * step for s, step in zip(moved[head], shift, strict=True)]
            heads = [attention(context, part) for part in moved]
            values.append(loss(context, heads[0], heads[1], instance.support))
        # Handed over bit by bit to mpmath's own context: mpf of another context is another type.
        return mpmath.mp.make_mpf(((values[0] - values[1]) / (2 * h))._mpf_)

    m = instance.V.shape[1]
    return [derivative(k, 0) for k in range(m)], [derivative(k, 1) for k in range(m)]


def _loss_by_enumeration(
    context: MPContext, gamma: list[mpf], gamma_tilde: list[mpf], support: tuple[int, int]
) -> mpf:
    """Return the mean of (f - y)^2 over all inputs, in Gray-code order."""
    a, b = support
    d = len(gamma)
    x = [1] * d
    p, q = context.fsum(gamma), context.fsum(gamma_tilde)
    # What a turned sign adds to p and q, by the sign it has then; doubling is exact.
    turned = [
        {sign: (2 * sign * g, 2 * sign * t) for sign in (1, -1)}
        for g, t in zip(gamma, gamma_tilde, strict=True)
    ]
    total = context.mpf(0)
    for counter in range(1, (1 << d) + 1):
        e = x[a] * x[b] - p * q
        total += e * e
        i = min((counter & -counter).bit_length(), d) - 1
        x[i] = -x[i]
        to_p, to_q = turned[i][x[i]]
        p += to_p
        q += to_q
    return total / (1 << d)
