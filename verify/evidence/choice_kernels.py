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
# Frequencies of independent draws: 10^-12 on either side, so that a right law fails in no run.
_DEVIATION = 7 * math.sqrt(0.25 / _DRAWS)
# Below -1/(2 k) and above 1.5 the quadrature does not reach; for four heads it takes seconds.
_LARGEST_SHOCK = 1.5
_MOST_HEADS = 3
# So many dimensions that scores are as small as the first order asks for.
_HUGE = 10**10


def choices_cell() -> Cell:
    """Return the cell on the draws of what the heads choose, and on their limits."""
    return fault_cell(
        "laws of the choices of k heads",
        _choice_faults,
        method="symmetry among the positions; Gaussian draws against draws of scores; quadrature",
        claimed="the same frequencies within seven deviations, or a quadrature that refuses",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=24,
        cost=0.6,
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
    if k > _MOST_HEADS:
        return
    d = k + int(rng.integers(1, 100))
    where += f", d = {d}, norm {norm}"
    drawn = draw_distinct(
        rng, k, d=d, start=start, norm=norm, orthonormal=orthonormal, draws=_DRAWS
    )
    shock = common_shock(k, d=d, start=start, norm=norm, orthonormal=orthonormal)
    try:
        chance = distinct_probability(k, shock)
    except InvalidArgumentError:
        if -1 / (2 * k) <= shock <= _LARGEST_SHOCK:
            yield f"{where}: {shock} is refused"
        return
    if not abs(drawn / _DRAWS - chance) <= _DEVIATION:
        yield f"{where}: {drawn} of {_DRAWS} drawn, {chance}"
