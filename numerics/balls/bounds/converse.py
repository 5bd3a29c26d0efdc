"""How likely one population step is to fail at least, however large the step.

With the probability bounded here, exactly one of the two heads is pushed to the wrong position of
the support, so that both prefer the same one and the largest loss has a lower limit of at least 1
as eta grows (docs/theorem2.md, section 9; ours). With the upper bound it proves that the chance of
failure is (2/pi) arctan(1/sqrt(d)) to leading order, whatever m is once it is large against log d.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.bounds.events import undersized
from numerics.balls.bounds.slope_bounds import ScoreBounds, UnmetConditionError, require_positive
from numerics.balls.bounds.tails import (
    coordinate_tail,
    sphere_peak,
    squares_threshold,
    sub_gaussian_tail,
    sub_gaussian_threshold,
)

__all__ = ["ConverseBudget", "failure_lower"]


@dataclass(frozen=True, kw_only=True)
class ConverseBudget:
    """The thresholds of the lower bound.

    Attributes
    ----------
    largest_score, sum_level, squares_level, overlap : float
        As in `numerics.balls.bounds.theorem2.Budget`; here the overlap counts in both directions.
    reach : float
        y_1, in (0, 1): leans beyond it are left out.
    freezing_level : float
        Exponent of the bound for what freezing the weights changes, > 0.
    """

    largest_score: float
    sum_level: float
    squares_level: float
    overlap: float
    reach: float
    freezing_level: float


def failure_lower(d: int, m: int, budget: ConverseBudget) -> arb:
    """Return a lower bound of the probability that one step fails for all large enough eta.

    Parameters
    ----------
    d, m : int
        Number of positions and embedding dimension.
    budget : ConverseBudget
        Thresholds; any give a true bound.

    Returns
    -------
    arb
        Every member is a lower bound; 0 where nothing can be said.
    """
    if undersized(d, m) is not None:
        return arb(0)
    try:
        bound = _bound(d, m, budget)
    except UnmetConditionError:
        return arb(0)
    return bound if bound > 0 else arb(0)


def _bound(d: int, m: int, budget: ConverseBudget) -> arb:
    sigma, rho_0 = from_float(budget.largest_score), from_float(budget.overlap)
    sum_level, squares_level = from_float(budget.sum_level), from_float(budget.squares_level)
    freezing_level, reach = from_float(budget.freezing_level), from_float(budget.reach)
    scores = ScoreBounds(
        d=d,
        sigma=sigma,
        h=sub_gaussian_threshold(arb(d - 2) / m, sum_level) / d,
        q=squares_threshold(d - 2, m, squares_level) / d,
    )
    bounds = scores.slopes(2 * reach)
    # Means of 1/g and 1/g+ over the overlap: the first from above, the second, by Jensen, below.
    slow = bounds.mean_inverse_rate(m, rho_0)
    fast = 1 / bounds.largest_rate(arb(0))
    within = 1 - 2 * coordinate_tail(rho_0, m)
    peak = sphere_peak(m)
    moment = 1 + arb(2) / (m - 1)

    # The wedge of the mean of the two heads' noises, E|W| from its second and fourth moment.
    left = 2 - 2 * bounds.weight
    square = left**2 / (d - 2) - bounds.weight**2 * scores.q * d
    require_positive(left, "near margin", "2 - 2 c-bar > 0")
    require_positive(square, "near margin", "the mean noise does not vanish")
    rare = 2 * d * coordinate_tail(sigma, m) + 2 * (-sum_level).exp() + (-squares_level).exp()
    kept = 1 - rare - 2 * coordinate_tail(rho_0, m)
    wedge = kept * (square / moment).sqrt() * fast / arb.pi()
    require_positive(kept, "overlap", "the rare events do not fill everything")

    change = sub_gaussian_threshold(bounds.moves**2 / (arb(d) * (m - 1)), freezing_level)
    change /= (1 - reach**2).sqrt()
    frozen = peak * change * (fast + slow)
    both = bounds.norm / (2 * arb.pi()) * (slow - within * fast)
    third = bounds.noise**3 * (moment * 3 / (arb(m - 1) * (m + 1))) ** arb(0.75)
    cubic = peak * m / 6 * third / bounds.largest_rate(rho_0) ** 3

    outside = 4 * coordinate_tail(sigma, m)
    miss = sub_gaussian_tail(bounds.largest_rate(rho_0) * reach, bounds.noise**2 / (m - 1))
    far = 4 * coordinate_tail(reach, m) * miss
    thawed = 8 * peak * reach * (-freezing_level).exp()
    return 2 * (wedge - frozen - both - cubic) - outside - far - thawed
