"""Tails of a coordinate on the sphere as exact as wanted, by Arb's incomplete beta function.

They cost some thirty times the elementary bounds, which are 1.72 times as large where they are
worst (as tested; nothing rests on it).
"""

from __future__ import annotations

import math
from typing import SupportsIndex

import flint
from flint import arb

from numerics.arguments import integer_at_least
from numerics.balls.arithmetic.exact import dyadic, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.tails import coordinate_tail

__all__ = ["exact_coordinate_tail"]

# Beyond this many bits the tail itself is summed, and no longer its difference from 1/2.
_MOST_CANCELLED = 2048
# What Arb's own sums and transformations may lose, beside the cancellation provided for.
_SPARE = 24


def exact_coordinate_tail(t: arb, n: SupportsIndex) -> arb:
    """Enclose P(y > t) for a coordinate y of a uniform point on the unit sphere of R^n.

    P(y > t) = (1 - I_{t^2}(1/2, (n-1)/2)) / 2 = I_{1-t^2}((n-1)/2, 1/2) / 2 for 0 <= t <= 1, as
    y^2 is Beta(1/2, (n-1)/2), and P(y > -t) = 1 - P(y > t). The probability decreases in t: a ball
    t counts by its two ends.

    Parameters
    ----------
    t : arb
        Threshold.
    n : int
        Dimension of the space, >= 2.

    Returns
    -------
    arb
        A ball that contains P(y > t) for all members t; [0, 1] if t is not finite. For a number t
        it is accurate to about the working precision, up to n of 10^9 at least, and takes 0.1 ms
        where the tail is above 10^-16.

    Raises
    ------
    InvalidArgumentError
        If ``n < 2``.
    """
    n = integer_at_least("n", n, 2)
    if not t.is_finite():
        return arb(0).union(1)
    return _tail_beyond(t.lower(), n).union(_tail_beyond(t.upper(), n))


def _tail_beyond(t: arb, n: int) -> arb:
    """Enclose P(y > t) for a number t."""
    if t < 0:
        return 1 - _tail_beyond(-t, n)
    if t >= 1:
        return arb(0)
    half, order = dyadic(1, -1), dyadic(n - 1, -1)
    bits = flint.ctx.prec + 2 * n.bit_length() + _SPARE
    cancelled = upper_end(-order * (-t * t).log1p() / arb.const_log2())
    # The first form takes about n t^2 terms and cancels; the second about 1/t^2 terms a bit, and is
    # the faster and safer one for large t.
    if 2 * t * t < 1 and cancelled is not None and cancelled < _MOST_CANCELLED:
        with working_precision(bits + math.ceil(cancelled)):
            tail = (1 - (t * t).beta_lower(half, order, regularized=1)) / 2
    else:
        with working_precision(bits):
            tail = ((1 - t) * (1 + t)).beta_lower(order, half, regularized=1) / 2
    # The elementary bound knows more where the precision was too low, or Arb gave up.
    known = arb(0).union(coordinate_tail(t, n))
    return known.intersection(tail) if tail.is_finite() else known
