"""Theorem 2 with its constants: how likely one population step is to fail, from above.

For a budget of thresholds fixed before the draw, every way in which the step can fail lies in one
of the events below, and each has a bound on its probability over V and theta^0; the bound of the
theorem is their sum (docs/theorem2.md, sections 3 to 8; ours). Nothing here has to be trusted about
how the budget was found: any budget whose ends increase gives a true bound, at worst a useless one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from numerics.balls.arithmetic.exact import from_float, from_fraction
from numerics.balls.bounds.ambient import Slice, alignment, slices_between
from numerics.balls.bounds.events import HEADS, Event, bounded, capped
from numerics.balls.bounds.score_events import score_bounds, score_events
from numerics.balls.bounds.slope_bounds import ScoreBounds
from numerics.balls.bounds.tails import (
    coordinate_tail,
    reciprocal_square_moment,
    sphere_peak,
    sub_gaussian_tail,
)

__all__ = ["Budget", "failure_events"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The thresholds of the theorem, fixed before the draw.

    Attributes
    ----------
    largest_score : float
        sigma, in (0, 1].
    sum_level, squares_level : float
        Exponents of the bounds for the sum of the scores and for that of their squares, > 0.
    overlap : float
        rho_0, in (0, 1).
    slices : tuple of float
        Ends of the slices of y = theta . (v_a - v_b)/|v_a - v_b|, from 0 to 1, increasing.
    cells : tuple of float
        Ends of the cells of the overlap rho, from -1 to rho_0, increasing.
    support_level, ambient_level : float
        Exponents of the bounds for the noise along the support and along one ambient position.
    share : float
        What the other position of the support may take of the attention that is to spare.
    """

    largest_score: float
    sum_level: float
    squares_level: float
    overlap: float
    slices: tuple[float, ...]
    cells: tuple[float, ...]
    support_level: float
    ambient_level: float
    share: float


def failure_events(
    d: int, m: int, budget: Budget, *, scale: Fraction | None, tolerance: Fraction
) -> tuple[Event, ...]:
    """Return the events of the theorem with their bounds, at the working precision.

    With probability at least 1 minus the sum of all, one population step with any eta >= scale d^2
    brings the loss of every input to at most `tolerance`, the heads on different positions of the
    support.

    Parameters
    ----------
    d, m : int
        Number of positions and embedding dimension.
    budget : Budget
        Thresholds.
    scale : Fraction or None
        C > 0 in eta >= C d^2; None for the limit of large eta.
    tolerance : Fraction
        T > 0.

    Returns
    -------
    tuple of Event
        All of them if every condition of the theorem holds; else one event with probability 1,
        the one that cannot be excluded, and the condition that fails.

    Raises
    ------
    InvalidArgumentError
        If the ends of the slices or of the cells do not increase.
    """
    return bounded(d, m, _events(d, m, budget, scale=scale, tolerance=tolerance))


def _events(
    d: int, m: int, budget: Budget, *, scale: Fraction | None, tolerance: Fraction
) -> Iterator[Event]:
    sigma, rho_0 = from_float(budget.largest_score), from_float(budget.overlap)
    scores = score_bounds(d, m, budget, sigma=sigma)
    needed = _NeededSlopes.of(scores, budget, scale=scale, tolerance=tolerance)
    yield from score_events(d, m, budget)
    yield Event(name="overlap", head=None, probability=coordinate_tail(rho_0, m))
    slices = tuple(slices_between(budget.slices, m, scores))
    near, *far = slices
    near_margin, small_lean = _near(d, m, near, rho_0, needed.support)
    yield Event(name="small lean", head=None, probability=small_lean)
    far_margin = capped(sum((_far(m, each, rho_0, needed.support) for each in far), arb(0)))
    aligned = alignment(d, m, budget, scores, slices, needed=needed.ambient)
    support_noise = capped((-from_float(budget.support_level)).exp())
    ambient_noise = capped((d - 2) * (-from_float(budget.ambient_level)).exp())
    for head in HEADS:
        yield Event(name="near margin", head=head, probability=near_margin)
        yield Event(name="far margin", head=head, probability=far_margin)
        yield Event(name="ambient alignment", head=head, probability=aligned)
        yield Event(name="noise along the support", head=head, probability=support_noise)
        yield Event(name="noise along an ambient position", head=head, probability=ambient_noise)


@dataclass(frozen=True)
class _NeededSlopes:
    """Slopes from which a step size at least C d^2 brings the loss below the tolerance.

    Against the other position of the support (tau_0) and against ambient ones (tau_a).
    """

    support: arb
    ambient: arb

    @classmethod
    def of(
        cls, scores: ScoreBounds, budget: Budget, *, scale: Fraction | None, tolerance: Fraction
    ) -> _NeededSlopes:
        if scale is None:
            return cls(arb(0), arb(0))
        # x = (1 - sqrt(r))/(1 + sqrt(r)) with r = 1 - sqrt(T), in a form in which nothing cancels;
        # a tolerance of 1 or more asks for r = 0, which is not sharp.
        root = arb(1) if tolerance >= 1 else from_fraction(tolerance).sqrt()
        spare = root / (1 + (1 - root).sqrt()) ** 2
        share = from_float(budget.share)
        growth = 2 * from_fraction(scale) * scores.omega_least
        support = (-(share * spare).log()) / growth
        ambient = ((scores.d / ((1 - share) * spare)).log() + 2 * scores.sigma) / growth
        return cls(support.max(arb(0)), ambient.max(arb(0)))


def _near(d: int, m: int, near: Slice, rho_0: arb, needed: arb) -> tuple[arb, arb]:
    """Bound the wedge of either head and the small lean, on the first slice."""
    bounds = near.bounds
    _, stretch = bounds.stretch(rho_0)
    inverse = bounds.mean_inverse_rate(m, rho_0)
    wedge = (bounds.frozen_noise(d) * inverse).atan() / arb.pi()
    # By Hoelder the mean of (1 - rho)^(-3/2) is at most this power of that of (1 - rho)^-2.
    second = from_fraction(reciprocal_square_moment(m)) ** arb(0.75)
    lean = sphere_peak(m) * needed * second * stretch / (arb(2).sqrt() * bounds.alpha)
    return wedge, capped(lean)


def _far(m: int, part: Slice, rho_0: arb, needed: arb) -> arb:
    """Bound the chance of one head to miss its margin on a later slice."""
    margin = part.bounds.least_rate(rho_0) * part.low - needed / (2 - 2 * rho_0).sqrt()
    return part.probability * sub_gaussian_tail(margin, part.bounds.noise**2 / (m - 1))
