"""Corollary 3 with its constants: how likely a step from n samples is to fail, from above.

The events of Theorem 2, those of the sampling noise, and a bound on the chance of each over V,
theta^0 and the samples (docs/corollary3.md; ours). As there, any budget whose ends increase gives a
true bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from flint import arb

from numerics.balls.arithmetic.exact import from_float, from_fraction
from numerics.balls.bounds.ambient import Slice, alignment, slices_between
from numerics.balls.bounds.events import HEADS, Event, bounded, capped
from numerics.balls.bounds.frozen_margin import FrozenMargin
from numerics.balls.bounds.grids import check_increasing
from numerics.balls.bounds.sample_noise import SampleNoise
from numerics.balls.bounds.score_events import score_bounds, score_events
from numerics.balls.bounds.slope_bounds import UnmetConditionError
from numerics.balls.bounds.tails import (
    coordinate_tail,
    reciprocal_square_moment,
    sphere_peak,
    squares_threshold,
)

__all__ = ["SampleBudget", "sample_failure_events"]


@dataclass(frozen=True, kw_only=True)
class SampleBudget:
    """The thresholds of the corollary, fixed before the draw.

    Attributes
    ----------
    largest_score, sum_level, squares_level, overlap, cells, support_level, ambient_level
        As in `numerics.balls.bounds.theorem2.Budget`; the overlap counts in both directions.
    near : tuple of float
        Ends of the slices on which the noise is frozen, from above 0, increasing.
    slices : tuple of float
        Ends of the slices of the lean: 0, the last of `near` or less, and on to 1.
    freezing_level : float
        Exponent of the bound for what freezing changes.
    energy_level, ambient_energy_level : float
        Exponents of the bounds for the energies along the support and along an ambient position.
    sampling : float
        t_a: what the sampling noise may take from a slope against an ambient position.
    """

    largest_score: float
    sum_level: float
    squares_level: float
    overlap: float
    near: tuple[float, ...]
    slices: tuple[float, ...]
    cells: tuple[float, ...]
    support_level: float
    ambient_level: float
    freezing_level: float
    energy_level: float
    ambient_energy_level: float
    sampling: float


def sample_failure_events(
    d: int, m: int, n: int, budget: SampleBudget, *, by_range: bool = False
) -> tuple[Event, ...]:
    """Return the events of the corollary with their bounds, at the working precision.

    With probability at least 1 minus the sum of all, one step on n samples brings the loss of every
    input below any given tolerance, for all large enough eta.

    Parameters
    ----------
    d, m, n : int
        Number of positions, embedding dimension and number of samples.
    budget : SampleBudget
        Thresholds.
    by_range : bool
        Whether of one sample nothing but its range is used (Hoeffding's inequality).

    Returns
    -------
    tuple of Event
        As `numerics.balls.bounds.theorem2.failure_events`.

    Raises
    ------
    InvalidArgumentError
        If the ends of the near slices, of the slices or of the cells do not increase.
    """
    return bounded(d, m, _events(d, m, n, budget, by_range=by_range))


def _events(d: int, m: int, n: int, budget: SampleBudget, *, by_range: bool) -> Iterator[Event]:
    sigma, rho_0 = from_float(budget.largest_score), from_float(budget.overlap)
    inner, outer = budget.near, budget.slices
    check_increasing("near", inner)
    if not (inner and len(outer) > 1 and min(inner) > 0 and outer[1] <= inner[-1] < 1):
        raise UnmetConditionError(
            "near margin", f"near={budget.near}: must lead from above 0 to slices[1] or beyond"
        )
    reach, samples = from_float(budget.near[-1]), arb(n)
    # Frozen support scores can be larger than any score by this factor.
    scores = score_bounds(d, m, budget, sigma=sigma / (1 - reach**2).sqrt())
    noise = SampleNoise(scores, m, by_range=by_range)
    energy_level = from_float(budget.energy_level)
    energy = (squares_threshold(d - 2, m, energy_level).sqrt() + reach * (scores.q * d).sqrt()) ** 2
    energy = energy / (1 - reach**2) + 1 + rho_0
    yield from score_events(d, m, budget)
    yield Event(name="overlap", head=None, probability=capped(2 * coordinate_tail(rho_0, m)))
    yield Event(
        name="energy along the support", head=None, probability=capped((-energy_level).exp())
    )

    margin = FrozenMargin(noise, rho_0, energy)
    near, innermost = _near(d, m, samples, budget, margin)
    frozen = capped(2 * sphere_peak(m) * reach) * (-from_float(budget.freezing_level)).exp()
    slices = tuple(slices_between(budget.slices, m, scores))
    far = capped(sum((_far(m, samples, each, margin) for each in slices[1:]), arb(0)))
    sampling = from_float(budget.sampling)
    aligned = alignment(d, m, budget, scores, slices, needed=sampling)
    ambient_energy_level = from_float(budget.ambient_energy_level)
    ambient_energy = 4 * squares_threshold(d - 3, m, ambient_energy_level) + 12
    sampled = capped((d - 2) * noise.tail(sampling, samples, ambient_energy))
    support_noise = capped((-from_float(budget.support_level)).exp())
    ambient_noise = capped((d - 2) * (-from_float(budget.ambient_level)).exp())
    energies = capped((d - 2) * (-ambient_energy_level).exp())
    for head in HEADS:
        yield Event(name="near margin", head=head, probability=near)
        yield Event(name="innermost slice", head=head, probability=innermost)
        yield Event(name="freezing", head=head, probability=frozen)
        yield Event(name="far margin", head=head, probability=far)
        yield Event(name="ambient alignment", head=head, probability=aligned)
        yield Event(name="noise along the support", head=head, probability=support_noise)
        yield Event(name="noise along an ambient position", head=head, probability=ambient_noise)
        yield Event(name="energy along an ambient position", head=head, probability=energies)
        yield Event(name="sampling noise along an ambient position", head=head, probability=sampled)


def _near(d: int, m: int, n: arb, budget: SampleBudget, margin: FrozenMargin) -> tuple[arb, arb]:
    """Bound the chance of one head to miss its margin on the near slices, and on the innermost."""
    level = from_float(budget.freezing_level)
    ends = tuple(map(from_float, budget.near))
    lost = arb(0)
    for low, high in pairwise(ends):
        lost = lost.max(margin.change(high, n, level) / low)
    innermost = margin.change(ends[0], n, level)
    bounds = margin.noise.scores.slopes(2 * ends[-1])
    _, stretch = bounds.stretch(margin.rho_0, lost)
    inverse = from_fraction(reciprocal_square_moment(m)).sqrt() * stretch / (2 * bounds.alpha)
    peak = sphere_peak(m)
    still = margin.noise.scores.slopes(arb(0))
    weights = (arb(4) / d + still.norm**2).sqrt()
    sampled = (
        margin.noise.square(margin.energy)
        if margin.noise.by_range
        else margin.noise.typical_square()
    ) / n
    joint = peak * inverse * (weights**2 / (m - 1) + sampled).sqrt()
    apart = weights * inverse / arb.pi() + peak * inverse * sampled.sqrt()
    return capped(joint.min(apart)), capped(2 * peak * inverse * innermost)


def _far(m: int, n: arb, part: Slice, margin: FrozenMargin) -> arb:
    """Bound the chance of one head to miss its margin on a later slice."""
    least = part.bounds.least_rate(margin.rho_0) * part.low
    proxy = part.bounds.noise**2 / (m - 1)
    return part.probability * margin.noise.tail(least, n, margin.energy, more=proxy)
