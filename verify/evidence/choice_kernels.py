"""The laws of what k heads choose, held against each other and against symmetry.

How often the heads part hardly tells a law of the choices from another: whether each head chooses
each position as often as any, and the same chance by other draws and by quadrature, does.
"""

from __future__ import annotations

import math

import numpy as np

from numerics.arguments import InvalidArgumentError
from numerics.parity.prediction import common_shock, distinct_probability, draw_distinct
from numerics.parity.signal import draw_signal_choices
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["choices_cell"]

_DRAWS = 8_000
# Frequencies of independent draws: 10^-12 on either side of each, so that a right law fails in no
# run.
_DEVIATION = 7 * math.sqrt(0.25 / _DRAWS)
_ACCURACY = 1e-6  # what the quadrature promises
_ROUNDINGS = 1e-12
_BESIDE = 1e-3  # of the ends of its reach
_MOST_HEADS = 3  # of the quadrature: for four heads it takes seconds
# So many dimensions that scores are as small as the first order asks for.
_HUGE = 10**10


def choices_cell() -> Cell:
    """Return the cell on the draws of what the heads choose, and on their limits."""
    return fault_cell(
        "laws of the choices of k heads",
        _choice_faults,
        method="symmetry among the positions; Gaussian draws against draws of scores; quadrature",
        claimed="the same frequencies within seven deviations; a quadrature that refuses what it"
        " does not reach",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=24,
        cost=1.0,
    )


def _choice_faults(rng: np.random.Generator) -> Faults:
    k = int(rng.integers(2, 5))
    start = ("simplex", "independent")[int(rng.integers(2))]
    orthonormal = bool(rng.integers(2))
    m, norm = 2 * k + int(rng.integers(0, 8)), float(rng.uniform(0.5, 3))
    where = f"k = {k}, {start} start, orthonormal {orthonormal}"
    choices = draw_signal_choices(
        rng, k, m, start=start, norm=norm, orthonormal=orthonormal, draws=_DRAWS
    )
    for head, chosen in enumerate(choices.T):
        shares = np.bincount(chosen, minlength=k) / _DRAWS
        if not np.all(np.abs(shares - 1 / k) <= _DEVIATION):
            yield f"head {head} at {where}, m = {m}: positions in {shares.tolist()}"
    choices = draw_signal_choices(rng, k, _HUGE, start=start, orthonormal=orthonormal, draws=_DRAWS)
    parted = float((np.sort(choices, axis=1) == np.arange(k)).all(axis=1).mean())
    limit = draw_distinct(rng, k, start=start, orthonormal=orthonormal, draws=_DRAWS) / _DRAWS
    if not abs(parted - limit) <= math.sqrt(2) * _DEVIATION:
        yield f"{where}: {parted} part, {limit} in the limit"
    d = k + int(rng.integers(1, 100))
    where += f", d = {d}, norm {norm}"
    drawn = draw_distinct(
        rng, k, d=d, start=start, norm=norm, orthonormal=orthonormal, draws=_DRAWS
    )
    shock = common_shock(k, d=d, start=start, norm=norm, orthonormal=orthonormal)
    if not shock >= -1 / k - _ROUNDINGS:
        yield f"{where}: no covariance has the shock {shock}"
        return
    shared = _drawn_with_shock(rng, k, shock)
    if not abs(drawn - shared) <= math.sqrt(2) * _DEVIATION * _DRAWS:
        yield f"{where}: {drawn} of {_DRAWS} part, {shared} with the shock {shock}"
    if k <= _MOST_HEADS:
        yield from _quadrature_faults(rng, k)


def _quadrature_faults(rng: np.random.Generator, k: int) -> Faults:
    """Look at the quadrature in its reach, which has no end for two heads, and beyond it."""
    independent, chance = math.factorial(k) / k**k, distinct_probability(k, 0.0)
    if not abs(chance - independent) <= _ACCURACY:
        yield f"k = {k} independent heads: {independent} part, by quadrature {chance}"
    least, largest = (-1 / 2, math.inf) if k == 2 else (-1 / (2 * k), 1.5)
    beside = (end * (1 + offset) for end in (least, 1.5) for offset in (-_BESIDE, _BESIDE))
    for shock in (*beside, float(rng.uniform(least, 1.5))):
        try:
            chance = distinct_probability(k, shock)
        except InvalidArgumentError:
            if least <= shock <= largest:
                yield f"k = {k}: the shock {shock} is refused"
            continue
        drawn = _drawn_with_shock(rng, k, shock) / _DRAWS
        if not (least <= shock <= largest and abs(drawn - chance) <= _DEVIATION):
            yield f"k = {k}, shock {shock}: {drawn} part, by quadrature {chance}"


def _drawn_with_shock(rng: np.random.Generator, k: int, shock: float) -> int:
    """Return in how many draws k heads part whose utilities have the covariance 1 + shock J."""
    z = rng.standard_normal((_DRAWS, k, k))
    # The root of 1 + shock J is 1 + t J with (1 + t k)^2 = 1 + shock k.
    t = (math.sqrt(max(0.0, 1 + shock * k)) - 1) / k
    chosen = np.sort((z + t * z.sum(axis=1, keepdims=True)).argmax(axis=2), axis=1)
    return int((chosen == np.arange(k)).all(axis=1).sum())
