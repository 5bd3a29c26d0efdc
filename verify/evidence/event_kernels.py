"""The events of Theorem 2, each next to its threshold.

A draw comes within a rounding of a threshold once in 10^12 draws or so, and is to count as an event
then. Here every threshold is put there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from mpmath import mpf

from numerics.balls.bounds.events import HEADS
from numerics.theorem2.events import EventKey, EventThresholds, SliceThresholds, events_of_draw
from numerics.theorem2.slopes import one_step_slopes
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.evidence.slope_definitions import SlopeDefinitions, define_slopes
from verify.instances.instance import draw_instance

__all__ = ["events_cell"]

# Far beyond what roundings are counted with, 8 (d + m) 2^-53, and far below what is compared.
_CLEAR = 1e-9


def events_cell() -> Cell:
    """Return the cell on the events of draws that are next to a threshold."""
    return fault_cell(
        "events next to their thresholds",
        _event_faults,
        method="what each event compares, by definition",
        claimed=f"an event if it happens, by however little; none if {_CLEAR:g} is missing",
        grade=Grade.SAMPLED,
        precision="60 digits",
        trials=20,
        cost=0.3,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """An event, the threshold it is a matter of, and the value next to which it begins.

    It happens for thresholds above the value if `is_above`, for those below if not; if `is_far`,
    where the lean is on a slice beyond the first.
    """

    key: EventKey
    threshold: str
    value: mpf
    is_above: bool
    is_far: bool = False


def _event_faults(rng: np.random.Generator) -> Faults:
    d, m = int(rng.integers(3, 30)), int(rng.integers(2, 12))
    instance = draw_instance(rng, d, m)
    found = one_step_slopes(instance.V, instance.theta, instance.support)
    truth = define_slopes(instance)
    alpha, beta = rng.uniform([0.5, 0.0], [1.0, 0.2]).tolist()
    for place in _places(truth, alpha, beta):
        never = _never(d, m, alpha, beta, is_far=place.is_far)
        side = 1 if place.is_above else -1
        for threshold, happens in (
            (_beyond(place.value, side), True),
            (float(place.value) - side * _CLEAR, False),
        ):
            thresholds = _with(never, place.threshold, threshold)
            if events_of_draw(found, thresholds)[place.key] is not happens:
                yield (
                    f"{place.key} is {not happens} at {place.threshold} = {threshold!r}, beside"
                    f" {place.value}: {instance}"
                )


def _places(truth: SlopeDefinitions, alpha: float, beta: float) -> Iterator[_Place]:
    """Yield where each event begins."""
    d, s, rho = len(truth.scores), truth.scores, truth.overlap
    off = [s[j] for j in truth.ambient]
    yield _Place(("largest score", None), "largest_score", max(map(abs, s)), is_above=False)
    mean, mean_square = reduce(add, off) / d, reduce(add, (x * x for x in off)) / d
    yield _Place(("sum of scores", None), "mean_score", abs(mean), is_above=False)
    yield _Place(("sum of squared scores", None), "mean_square", mean_square, is_above=False)
    yield _Place(("overlap", None), "overlap", rho, is_above=False)
    # The least signal, times |A|.
    signal = 2 * (alpha * (1 - rho) - beta) * truth.lean
    yield _Place(("small lean", None), "support_slope", signal, is_above=True)
    least = truth.growth + rho / truth.growth
    for name, head in zip(HEADS, (truth.theta, truth.theta_tilde), strict=True):
        margin = signal + head.noise
        if head.noise < -2 * _CLEAR:  # else the lean is small there
            yield _Place(("near margin", name), "support_slope", margin, is_above=True)
        yield _Place(("far margin", name), "support_slope", margin, is_above=True, is_far=True)
        pull = least - max(head.pulls)
        yield _Place(("ambient alignment", name), "disturbance", pull, is_above=True)
        noise = head.support_noise
        yield _Place(("noise along the support", name), "support_noise", noise, is_above=False)
        noise = -min(head.ambient_noises)
        key = ("noise along an ambient position", name)
        yield _Place(key, "ambient_noise", noise, is_above=False)


def _never(d: int, m: int, alpha: float, beta: float, *, is_far: bool) -> EventThresholds:
    """Return thresholds at which nothing happens, with every lean on the near or the far slice."""
    bounds = SliceThresholds(
        alpha=alpha,
        beta=beta,
        support_noise=math.inf,
        ambient_noise=math.inf,
        disturbance=-math.inf,
    )
    return EventThresholds(
        d=d,
        m=m,
        largest_score=math.inf,
        overlap=math.inf,
        mean_score=math.inf,
        mean_square=math.inf,
        support_slope=-math.inf,
        ambient_slope=-math.inf,
        slices=(0.0,) if is_far else (),
        bounds=(bounds, bounds) if is_far else (bounds,),
    )


def _with(thresholds: EventThresholds, name: str, value: float) -> EventThresholds:
    changed: dict[str, Any] = {name: value}
    if name in EventThresholds.__slots__:
        return replace(thresholds, **changed)
    bounds = tuple(replace(each, **changed) for each in thresholds.bounds)
    return replace(thresholds, bounds=bounds)


def _beyond(value: mpf, side: int) -> float:
    """Return the first number in binary64 on one side of a value."""
    near = float(value)
    return near if side * (value - near) < 0 else math.nextafter(near, side * math.inf)
