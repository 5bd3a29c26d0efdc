"""What is certified of a step, held against its definition: verdicts, and pushes of the scores.

Drawn instances have no ties, and the losses after their steps are far from the tolerance: a
certificate whose bound misses a term would pass there. Here the tolerance is next to the largest
loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TypeAlias

import numpy as np
from mpmath import MPContext, mpf
from numpy.typing import NDArray

from numerics.balls.certificate import certify_step
from numerics.balls.pushes import enclose_pushes
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.instance import Instance, draw_instance

__all__ = ["pushes_cell", "verdicts_cell"]

# Step sizes are below 50, and a gradient is at most 8 max |v|, |v|^2 <= 3: two scores differ by
# less than 2500, attention is above 10^-1100, and what is left of a loss, for which numbers near to
# 1 are subtracted, has a hundred digits and more.
_DIGITS = 1300
_MOST_QUARTERS = 200
# Relative to the largest loss: those of binary64 would not tell it from the last two.
_OFFSETS = (Fraction(1, 3), Fraction(1, 10**20), Fraction(1, 10**50))
_ROUNDINGS = Fraction(1, 10**100)

# So few bits that roundings are far larger than those of the truth.
_BITS = 64
_WIDTH = Fraction(1, 1 << 40)

Rows: TypeAlias = Sequence[Sequence[mpf]]


def verdicts_cell() -> Cell:
    """Return the cell on verdicts at small instances of every kind, next to the largest loss."""
    return fault_cell(
        "verdicts beside the largest loss",
        _verdict_faults,
        method=f"the step and the loss of every input by definition, to {_DIGITS} digits",
        claimed="certified above the largest loss; refuted below it, by an input that has more",
        grade=Grade.SAMPLED,
        precision=f"{_DIGITS} digits",
        trials=24,
        cost=1.0,
    )


def pushes_cell() -> Cell:
    """Return the cell on the enclosures of how hard a step pushes every score."""
    return fault_cell(
        "pushes of the scores",
        _push_faults,
        method=f"minus the gradient over all inputs, times every row, to {_DIGITS} digits",
        claimed=f"enclosures of the pushes at {_BITS} bits, at most {float(_WIDTH):g} wide",
        grade=Grade.SAMPLED,
        precision=f"{_DIGITS} digits",
        trials=24,
        cost=0.3,
    )


def _push_faults(rng: np.random.Generator) -> Faults:
    instance = _drawn(rng)
    mp = _context()
    V = _rows(mp, instance.V)
    before = _rows(mp, [instance.theta, instance.theta_tilde])
    after = _stepped(mp, V, before, instance.support, Fraction(1))
    heads = zip(enclose_pushes(*instance.arguments, bits=_BITS), before, after, strict=True)
    for (lowers, uppers), old, new in heads:
        moved = [x - y for x, y in zip(new, old, strict=True)]
        for row, low, high in zip(V, lowers, uppers, strict=True):
            push = _as_fraction(mp.fdot(row, moved))
            if not low <= push <= high or high - low > _WIDTH:
                yield f"[{low}, {high}] does not enclose {float(push)}: {instance}"


def _verdict_faults(rng: np.random.Generator) -> Faults:
    instance = _drawn(rng)
    eta = Fraction(int(rng.integers(1, _MOST_QUARTERS)), 4)
    losses = dict(_losses(instance, eta))
    largest = max(losses.values())
    for offset in _OFFSETS:
        for tolerance in (largest * (1 + offset), largest * (1 - offset)):
            found = certify_step(*instance.arguments, eta=eta, tolerance=tolerance)
            low, high = found.sup_loss or (Fraction(4), Fraction(0))
            encloses = low <= largest * (1 + _ROUNDINGS) and largest * (1 - _ROUNDINGS) <= high
            right = (
                found.verdict == "certified"
                if tolerance > largest
                else found.verdict == "refuted" and losses.get(found.witness or (), 0) > tolerance
            )
            if not right or not encloses:
                yield f"{found}, tolerance {tolerance}, eta {eta}, largest {largest}: {instance}"


def _drawn(rng: np.random.Generator) -> Instance:
    """Draw a small instance: as in the paper, or with ties, equal rows, or no start at all."""
    d, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    instance = draw_instance(rng, d, m)
    kind = int(rng.integers(6))
    if kind == 1:
        return replace(instance, theta_tilde=rng.uniform(-1, 1, size=m))
    if kind == 2:
        V = rng.integers(-1, 2, size=(d, m)).astype(np.float64)
        theta, theta_tilde = rng.integers(-1, 2, size=(2, m)).astype(np.float64)
        return replace(instance, V=V, theta=theta, theta_tilde=theta_tilde)
    if kind == 3:
        return replace(instance, theta=np.zeros(m), theta_tilde=np.zeros(m))
    if kind == 4:
        return replace(instance, V=instance.V[np.zeros(d, dtype=np.intp)])
    if kind == 5:
        return replace(instance, V=instance.V[rng.integers(0, d, size=d)])
    return instance


def _losses(instance: Instance, eta: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield the loss of every input after a step."""
    mp = _context()
    V = _rows(mp, instance.V)
    queries = _rows(mp, [instance.theta, instance.theta_tilde])
    theta, theta_tilde = _stepped(mp, V, queries, instance.support, eta)
    gamma, gamma_tilde = _attention(mp, V, theta), _attention(mp, V, theta_tilde)
    a, b = instance.support
    for x in product((1, -1), repeat=len(V)):
        e = _signed(mp, gamma, x) * _signed(mp, gamma_tilde, x) - x[a] * x[b]
        yield x, _as_fraction(e * e)


def _stepped(
    mp: MPContext, V: Rows, queries: Rows, support: tuple[int, int], eta: Fraction
) -> list[list[mpf]]:
    """Return the queries after a step: nothing is multiplied out, no sign averaged."""
    a, b = support
    theta, theta_tilde = queries
    after = [list(query) for query in queries]
    gamma, gamma_tilde = _attention(mp, V, theta), _attention(mp, V, theta_tilde)
    inputs = list(product((1, -1), repeat=len(V)))
    step = mp.mpf(eta.numerator) / (eta.denominator * len(inputs))
    for x in inputs:
        p, q = _signed(mp, gamma, x), _signed(mp, gamma_tilde, x)
        e = p * q - x[a] * x[b]
        for k in range(len(V[0])):
            column = [row[k] for row in V]
            after[0][k] -= step * 2 * e * q * _slope(mp, gamma, x, p, column)
            after[1][k] -= step * 2 * e * p * _slope(mp, gamma_tilde, x, q, column)
    return after


def _context() -> MPContext:
    mp = MPContext()
    mp.dps = _DIGITS
    return mp


def _rows(mp: MPContext, arrays: Iterable[NDArray[np.float64]]) -> list[list[mpf]]:
    return [[mp.mpf(entry) for entry in row.tolist()] for row in arrays]


def _as_fraction(x: mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent


def _attention(mp: MPContext, V: Rows, query: Sequence[mpf]) -> list[mpf]:
    powers = [mp.exp(mp.fdot(row, query)) for row in V]
    total = mp.fsum(powers)
    return [power / total for power in powers]


def _signed(mp: MPContext, gamma: Sequence[mpf], x: Sequence[int]) -> mpf:
    return mp.fsum(weight * sign for weight, sign in zip(gamma, x, strict=True))


def _slope(
    mp: MPContext, gamma: Sequence[mpf], x: Sequence[int], p: mpf, column: Sequence[mpf]
) -> mpf:
    """Return the derivative of p = sum gamma_i x_i by the entry of the query for this column."""
    return mp.fsum(
        weight * (sign - p) * v for weight, sign, v in zip(gamma, x, column, strict=True)
    )
