"""The events of Theorem 2, next to their thresholds, held against their definition.

A draw comes within a rounding of a threshold once in 10^12 draws or so, and is to count as an event
then. Here one threshold is put there, and what the others leave to happen is looked at as well.
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
from verify.instances.instance import Instance, draw_instance

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
        cost=0.5,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A threshold of an event, and the value next to which the event begins.

    It happens for thresholds above the value if `is_above`, for those below if not.
    """

    threshold: str
    value: mpf
    is_above: bool = False


def _event_faults(rng: np.random.Generator) -> Faults:
    # With a single position off the support its noises are zero, for both heads.
    d, m = int(rng.integers(4, 30)), int(rng.integers(2, 12))
    instance = _drawn(rng, d, m)
    found = one_step_slopes(instance.V, instance.theta, instance.support)
    truth = define_slopes(instance)
    thresholds = _drawn_thresholds(rng, d, m, float(truth.lean / truth.distance))
    for place in _places(truth, thresholds):
        side = 1 if place.is_above else -1
        for value in (_beyond(place.value, side), float(place.value) - side * _CLEAR):
            changed = _with(thresholds, truth, place.threshold, value)
            right = dict(_events(truth, changed))
            wrong = {
                key
                for key, happens in events_of_draw(found, changed).items()
                if happens != right[key]
            }
            if wrong:
                yield f"{wrong} at d = {d}, m = {m}, {place.threshold} = {value!r}: {changed}"


def _drawn(rng: np.random.Generator, d: int, m: int) -> Instance:
    """Draw an instance, one in four with |A| so small that what is divided by it errs far more."""
    instance = draw_instance(rng, d, m)
    if rng.integers(4):
        return instance
    V, (a, b) = instance.V.copy(), instance.support
    V[b] = V[a] + 1e-3 * rng.standard_normal(m)
    V[b] /= np.linalg.norm(V[b])
    return replace(instance, V=V)


def _drawn_thresholds(rng: np.random.Generator, d: int, m: int, y: float) -> EventThresholds:
    """Draw thresholds that are never met or always, with the ends of slices around y."""
    ends = (y / 2, y - _CLEAR, y + _CLEAR, 2 * y)
    slices = ends[int(rng.integers(len(ends) + 1)) :]
    scores = np.where(rng.random(4) < 0.9, math.inf, -math.inf).tolist()

    def bounds() -> SliceThresholds:
        noises = np.where(rng.random(2) < 0.5, math.inf, -math.inf).tolist()
        return SliceThresholds(
            alpha=float(rng.uniform(0.5, 1.0)),
            beta=float(rng.uniform(0.0, 0.2)),
            support_noise=noises[0],
            ambient_noise=noises[1],
            disturbance=(-math.inf, math.inf)[int(rng.integers(2))],
        )

    return EventThresholds(
        d=d,
        m=m,
        largest_score=scores[0],
        overlap=scores[1],
        mean_score=scores[2],
        mean_square=scores[3],
        support_slope=(-math.inf, math.inf)[int(rng.integers(2))],
        ambient_slope=0.0,
        slices=slices,
        bounds=tuple(bounds() for _ in range(len(slices) + 1)),
    )


def _places(truth: SlopeDefinitions, thresholds: EventThresholds) -> Iterator[_Place]:
    """Yield where each event begins."""
    yield _Place("largest_score", _largest_score(truth))
    yield _Place("mean_score", _mean_score(truth))
    yield _Place("mean_square", _mean_square(truth))
    yield _Place("overlap", truth.overlap)
    signal = _signal(truth, thresholds)
    yield _Place("support_slope", signal, is_above=True)
    for head in (truth.theta, truth.theta_tilde):
        yield _Place("support_slope", signal + head.noise, is_above=True)
        yield _Place("disturbance", _least(truth) - max(head.pulls), is_above=True)
        yield _Place("support_noise", head.support_noise)
        yield _Place("ambient_noise", -min(head.ambient_noises))


def _events(
    truth: SlopeDefinitions, thresholds: EventThresholds
) -> Iterator[tuple[EventKey, bool]]:
    """Yield every event and whether it happens, by definition."""
    first = {
        "largest score": _largest_score(truth) > thresholds.largest_score,
        "sum of scores": _mean_score(truth) > thresholds.mean_score,
        "sum of squared scores": _mean_square(truth) > thresholds.mean_square,
        "overlap": truth.overlap > thresholds.overlap,
    }
    yield from (((name, None), happens) for name, happens in first.items())
    free = not any(first.values())
    slice_ = _slice(truth, thresholds)
    bounds, signal = thresholds.bounds[slice_], _signal(truth, thresholds)
    is_small = slice_ == 0 and signal < thresholds.support_slope
    yield ("small lean", None), free and is_small
    for name, head in zip(HEADS, (truth.theta, truth.theta_tilde), strict=True):
        is_short = signal + head.noise < thresholds.support_slope
        yield ("near margin", name), free and slice_ == 0 and not is_small and is_short
        yield ("far margin", name), free and slice_ > 0 and is_short
        for event, happens in (
            ("ambient alignment", max(head.pulls) > _least(truth) - bounds.disturbance),
            ("noise along the support", head.support_noise > bounds.support_noise),
            ("noise along an ambient position", -min(head.ambient_noises) > bounds.ambient_noise),
        ):
            yield (event, name), free and happens


def _largest_score(truth: SlopeDefinitions) -> mpf:
    return max(map(abs, truth.scores))


def _mean_score(truth: SlopeDefinitions) -> mpf:
    return abs(reduce(add, (truth.scores[j] for j in truth.ambient)) / len(truth.scores))


def _mean_square(truth: SlopeDefinitions) -> mpf:
    return reduce(add, (truth.scores[j] ** 2 for j in truth.ambient)) / len(truth.scores)


def _slice(truth: SlopeDefinitions, thresholds: EventThresholds) -> int:
    return sum(truth.lean >= end * truth.distance for end in thresholds.slices)


def _signal(truth: SlopeDefinitions, thresholds: EventThresholds) -> mpf:
    """Return |A| g(rho) y."""
    bounds = thresholds.bounds[_slice(truth, thresholds)]
    return 2 * (bounds.alpha * (1 - truth.overlap) - bounds.beta) * truth.lean


def _least(truth: SlopeDefinitions) -> mpf:
    return truth.growth + truth.overlap / truth.growth


def _with(
    thresholds: EventThresholds, truth: SlopeDefinitions, name: str, value: float
) -> EventThresholds:
    """Put a threshold, of all slices or of the one that the lean is on, to a value."""
    changed: dict[str, Any] = {name: value}
    if hasattr(thresholds, name):
        return replace(thresholds, **changed)
    bounds, slice_ = list(thresholds.bounds), _slice(truth, thresholds)
    bounds[slice_] = replace(bounds[slice_], **changed)
    return replace(thresholds, bounds=tuple(bounds))


def _beyond(value: mpf, side: int) -> float:
    """Return the first number in binary64 on one side of a value."""
    near = float(value)
    return near if side * (value - near) < 0 else math.nextafter(near, side * math.inf)
