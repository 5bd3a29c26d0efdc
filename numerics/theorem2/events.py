"""Which events of the explicit Theorem 2 happen for one draw of V and theta^0.

The theorem is deterministic off its events: if none of them happens, both heads have the slopes
that the step size needs, and every step of size eta >= C d^2 brings the loss of every input to at
most the tolerance (docs/theorem2.md; ours). The events are those of
`numerics.balls.bounds.theorem2`, by the same names; here they are decided in binary64, on the safe
side: what is within the rounding of a threshold counts as an event.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex, TypeAlias

import numpy as np
from flint import arb

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.ambient import disturbance, slices_between
from numerics.balls.bounds.events import HEADS, LEAST_D, LEAST_M, Head
from numerics.balls.bounds.slope_bounds import ScoreBounds, SlopeBounds
from numerics.balls.bounds.tails import squares_threshold, sub_gaussian_threshold
from numerics.balls.bounds.theorem2 import Budget
from numerics.theorem2.slopes import OneStepSlopes

__all__ = ["EventKey", "EventThresholds", "SliceThresholds", "event_thresholds", "events_of_draw"]

EventKey: TypeAlias = tuple[str, Head | None]
"""Name and head of an event, as in `numerics.balls.bounds.events.Event`."""

_UNIT = 2.0**-53
_BITS = 64  # the thresholds lose nothing beyond the size of d, and are rounded to binary64


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceThresholds:
    """What holds on one slice of y = theta^0 . (v_a - v_b)/|v_a - v_b|.

    Attributes
    ----------
    alpha, beta : float
        Of the least slope |A| (2 (alpha (1 - rho) - beta) y - Y).
    support_noise, ambient_noise : float
        Largest noise of a head along its own position, and along an ambient one.
    disturbance : float
        nu: what the weights and the noises can take from a slope against an ambient position,
        and the slope that is needed there.
    """

    alpha: float
    beta: float
    support_noise: float
    ambient_noise: float
    disturbance: float

    def least_rate(self, rho: float) -> float:
        """Return g(rho), the least growth of the slope with y."""
        return 2 * (self.alpha * (1 - rho) - self.beta)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventThresholds:
    """What the events compare a draw with.

    Attributes
    ----------
    d, m : int
        Number of positions and embedding dimension.
    largest_score, overlap : float
        sigma and rho_0.
    mean_score, mean_square : float
        h and q: for the sums over the positions off the support, divided by d.
    support_slope, ambient_slope : float
        tau_0 and tau_a: the slopes that the step size needs.
    slices : tuple of float
        Ends of the slices of y, without the first one, 0, and the last one, 1.
    bounds : tuple of SliceThresholds
        One more than `slices`.
    """

    d: int
    m: int
    largest_score: float
    overlap: float
    mean_score: float
    mean_square: float
    support_slope: float
    ambient_slope: float
    slices: tuple[float, ...]
    bounds: tuple[SliceThresholds, ...]


def event_thresholds(
    d: SupportsIndex,
    m: SupportsIndex,
    budget: Budget,
    *,
    scale: Fraction | None,
    tolerance: Fraction,
) -> EventThresholds:
    """Return the thresholds of all events for one budget.

    Parameters
    ----------
    d, m : int
        Number of positions (>= 3) and embedding dimension (>= 6).
    budget : Budget
        As for `numerics.balls.bounds.theorem2.failure_events`.
    scale : Fraction or None
        C in eta >= C d^2; None for the limit of large eta.
    tolerance : Fraction
        T > 0.

    Raises
    ------
    InvalidArgumentError
        If `d` or `m` is too small, or the ends of the slices do not increase.
    UnmetConditionError
        If the theorem says nothing for this budget.
    """
    d, m = integer_at_least("d", d, LEAST_D), integer_at_least("m", m, LEAST_M)
    with working_precision(_BITS):
        scores = ScoreBounds(
            d=d,
            sigma=from_float(budget.largest_score),
            h=sub_gaussian_threshold(arb(d - 2) / m, from_float(budget.sum_level)) / d,
            q=squares_threshold(d - 2, m, from_float(budget.squares_level)) / d,
        )
        support_slope, ambient_slope = _needed_slopes(scores, budget, scale, tolerance)
        slices = tuple(slices_between(budget.slices, m, scores))
        slices[0].bounds.stretch(from_float(budget.overlap))
        return EventThresholds(
            d=d,
            m=m,
            largest_score=budget.largest_score,
            overlap=budget.overlap,
            mean_score=float(scores.h),
            mean_square=float(scores.q),
            support_slope=support_slope,
            ambient_slope=ambient_slope,
            slices=budget.slices[1:-1],
            bounds=tuple(
                _slice_thresholds(m, scores, each.bounds, budget, ambient_slope) for each in slices
            ),
        )


def _needed_slopes(
    scores: ScoreBounds, budget: Budget, scale: Fraction | None, tolerance: Fraction
) -> tuple[float, float]:
    """Return tau_0 and tau_a (section 7)."""
    if scale is None:
        return 0.0, 0.0
    # With r = 1 - sqrt T, (1 - sqrt r)/(1 + sqrt r) = sqrt T/(1 + sqrt r)^2: nothing cancels, and
    # by its logarithm no T is too small.
    log_root = (math.log(tolerance.numerator) - math.log(tolerance.denominator)) / 2
    r = max(0.0, -math.expm1(log_root))
    log_spare = min(0.0, log_root) - 2 * math.log1p(math.sqrt(r))
    growth = 2 * float(scale) * float(scores.omega_least)
    support = -math.log(budget.share) - log_spare
    ambient = math.log(scores.d / (1 - budget.share)) - log_spare + 2 * budget.largest_score
    return max(0.0, support) / growth, max(0.0, ambient) / growth


def _slice_thresholds(
    m: int, scores: ScoreBounds, bounds: SlopeBounds, budget: Budget, ambient_slope: float
) -> SliceThresholds:
    levels = budget.support_level, budget.ambient_level
    variance = bounds.noise**2 / (m - 1)
    support_noise, ambient_noise = (
        float(sub_gaussian_threshold(variance, from_float(level))) for level in levels
    )
    lost = disturbance(m, scores, bounds, support_level=levels[0], ambient_level=levels[1])
    return SliceThresholds(
        alpha=float(bounds.alpha),
        beta=float(bounds.beta),
        support_noise=support_noise,
        ambient_noise=ambient_noise,
        disturbance=float(lost) + ambient_slope,
    )


def events_of_draw(slopes: OneStepSlopes, thresholds: EventThresholds) -> Mapping[EventKey, bool]:
    """Return, for every event of the theorem, whether it happens for this draw.

    The first four events come before the others, whose bounds rest on them: where one of the four
    happens the others count as not happening. So the bound of each event bounds how often it is
    true here, and a draw without any event satisfies the theorem.

    Parameters
    ----------
    slopes : OneStepSlopes
        Of a draw of the sizes of the thresholds.
    thresholds : EventThresholds
        From `event_thresholds`.

    Returns
    -------
    mapping
        In the order of `numerics.balls.bounds.theorem2.failure_events`.

    Raises
    ------
    InvalidArgumentError
        If the draw has another number of positions.
    """
    d = slopes.scores.shape[0]
    if d != thresholds.d:
        raise InvalidArgumentError("slopes", f"draw of {d} positions", f"must be {thresholds.d}")
    # Every quantity below is of order 1 or less and a sum of products over d or m terms, whose
    # absolute values add up to a few units: to first order it errs by less than this.
    slack = 8 * (d + thresholds.m) * _UNIT
    events = dict(_score_events(slopes, thresholds, slack))
    excluded = any(events.values())
    events.update(
        (key, happens and not excluded) for key, happens in _slope_events(slopes, thresholds, slack)
    )
    return events


def _score_events(
    slopes: OneStepSlopes, thresholds: EventThresholds, slack: float
) -> Iterator[tuple[EventKey, bool]]:
    d, off = thresholds.d, slopes.scores[slopes.ambient]
    largest = float(np.abs(slopes.scores).max())
    yield ("largest score", None), largest > thresholds.largest_score - slack
    yield ("sum of scores", None), abs(float(off.sum())) / d > thresholds.mean_score - slack
    yield ("sum of squared scores", None), float(off @ off) / d > thresholds.mean_square - slack
    yield ("overlap", None), slopes.overlap > thresholds.overlap - slack


def _slope_events(
    slopes: OneStepSlopes, thresholds: EventThresholds, slack: float
) -> Iterator[tuple[EventKey, bool]]:
    slice_ = bisect_right(thresholds.slices, slopes.lean / slopes.distance)
    bounds = thresholds.bounds[slice_]
    # All times |A|: where that is small, a quotient would err by more than the slack.
    signal = bounds.least_rate(slopes.overlap) * slopes.lean
    needed = thresholds.support_slope
    small_lean = slice_ == 0 and signal < needed + slack
    yield ("small lean", None), small_lean
    least = math.exp(slopes.lean) + slopes.overlap * math.exp(-slopes.lean) - bounds.disturbance
    for name, head in zip(HEADS, (slopes.theta, slopes.theta_tilde), strict=True):
        # head.noise is -|A| Y, on the side of the slope.
        missed = -head.noise > signal - needed - slack
        yield ("near margin", name), slice_ == 0 and not small_lean and missed
        yield ("far margin", name), slice_ > 0 and missed
        yield ("ambient alignment", name), float(head.pulls.max()) > least - slack
        yield (
            ("noise along the support", name),
            head.support_noise > bounds.support_noise - slack,
        )
        yield (
            ("noise along an ambient position", name),
            float(-head.ambient_noises.min()) > bounds.ambient_noise - slack,
        )
