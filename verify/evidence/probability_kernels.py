"""The kernels that grade samples, held against ball arithmetic: intervals, and tails on the sphere.

An interval that is too short would let every sampled claim pass, and a bound of a tail that is too
small every certified one that counts events.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from numerics.balls.arithmetic.exact import upper_end
from numerics.balls.arithmetic.precision import working_precision
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["interval_cell", "tail_cell"]

_BITS = 96
# Of the distance from 0 or 1, whichever is nearer, and of a tail: SciPy is good to some 1e-11 here,
# and no inequality of a claim is decided within 1e-9 of it.
_ACCURACY = 1e-9


def interval_cell() -> Cell:
    """Return the cell on the confidence intervals of proportions."""
    return fault_cell(
        "Clopper-Pearson intervals",
        _interval_faults,
        method="ends moved in balls while their tails are proved small enough",
        claimed=f"the ends, within {_ACCURACY:g} of their distance from 0 or 1",
        grade=Grade.CERTIFIED,
        precision=f"{_BITS} bits",
        trials=6,
        cost=0.7,
    )


def _interval_faults(rng: np.random.Generator) -> Faults:
    from numerics.balls.binomial import clopper_pearson as certified
    from numerics.binomial import clopper_pearson

    trials = int(10 ** rng.uniform(0, 5))
    level = 1 - float(2.0 ** -rng.integers(1, 12))  # 1/2 to 1 - 1/2048, as binary64 has them
    for count in (0, int(rng.integers(trials + 1)), trials):
        found = clopper_pearson(count, trials, level=level)
        ends = map(upper_end, certified(count, trials, level=Fraction(level)))
        for end, truth in zip(found, ends, strict=True):
            # Both distances, as the nearer one is the harder to hit.
            if truth is None or not all(
                abs(Fraction(end) - truth) <= Fraction(_ACCURACY) * distance + Fraction(1, 10**15)
                for distance in (truth, 1 - truth)
            ):
                yield f"{count} of {trials} at level {level}: {found}"


def tail_cell() -> Cell:
    """Return the cell on the tails of a coordinate of a uniform point on the sphere."""
    return fault_cell(
        "tails of a coordinate on the sphere",
        _tail_faults,
        method="incomplete beta functions in balls",
        claimed=f"the tail within {_ACCURACY:g}, and bounds of it not below it nor twice as large",
        grade=Grade.CERTIFIED,
        precision=f"{_BITS} bits",
        trials=50,
        cost=0.05,
    )


def _tail_faults(rng: np.random.Generator) -> Faults:
    from numerics import sphere
    from numerics.balls.bounds import tails
    from numerics.balls.bounds.exact_tails import exact_coordinate_tail

    m = int(10 ** rng.uniform(0.5, 6))
    t = min(float(rng.uniform(0, 8)) / math.sqrt(m), 0.875)
    with working_precision(_BITS):
        truth = exact_coordinate_tail(arb(t), m)
        bound = tails.coordinate_tail(arb(t), m)
        two_sided = arb(sphere.coordinate_tail(t, m))
        if not abs(two_sided / (2 * truth) - 1) <= _ACCURACY:
            yield f"P(|y| > {t}) = {two_sided} for m = {m}; {2 * truth} in balls"
        if not truth.mid() <= bound <= 2 * truth:
            yield f"P(y > {t}) <= {bound} for m = {m}; {truth} in balls"
        nearer = arb(t) / 2
        wide = exact_coordinate_tail(nearer.union(arb(t)), m)
        if not (
            wide.contains(truth.mid()) and wide.contains(exact_coordinate_tail(nearer, m).mid())
        ):
            yield f"P(y > t) = {wide} for m = {m} and t in [{nearer}, {t}]; {truth} at its end"
