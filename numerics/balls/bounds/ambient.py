"""Positions off the support: how likely one of them is to be pushed as hard as a head's own.

The lean y = theta . (v_a - v_b)/|v_a - v_b| is cut into slices and the overlap rho = v_a . v_b into
cells; on each, the alignment that an ambient embedding would need has a least value, and the chance
of it is that of a coordinate on the sphere (docs/theorem2.md, section 6; ours).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from flint import arb

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.bounds.events import capped
from numerics.balls.bounds.grids import check_increasing
from numerics.balls.bounds.slope_bounds import ScoreBounds, SlopeBounds, UnmetConditionError
from numerics.balls.bounds.tails import coordinate_mass, coordinate_tail, sub_gaussian_threshold

__all__ = ["AmbientBudget", "Cell", "Slice", "alignment", "disturbance", "slices_between"]


class AmbientBudget(Protocol):
    """The thresholds off the support, as in `numerics.balls.bounds.theorem2.Budget`."""

    @property
    def overlap(self) -> float:
        """Bound of the overlap."""

    @property
    def cells(self) -> tuple[float, ...]:
        """Ends of the cells of the overlap."""

    @property
    def support_level(self) -> float:
        """Exponent of the bound for the noise along the support."""

    @property
    def ambient_level(self) -> float:
        """Exponent of the bound for the noise along one ambient position."""


@dataclass(frozen=True)
class Slice:
    """Leans y with low <= |y| < high: how likely, on both sides, and what holds there."""

    low: arb
    high: arb
    probability: arb
    bounds: SlopeBounds


@dataclass(frozen=True)
class Cell:
    """Overlaps with low <= rho <= high, and how likely they are."""

    low: arb
    high: arb
    probability: arb


def slices_between(ends: Sequence[float], m: int, scores: ScoreBounds) -> Iterator[Slice]:
    """Yield the slices between ends that increase from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If the ends do not increase.
    UnmetConditionError
        If some lean is left out.
    """
    check_increasing("slices", ends)
    if not ends or ends[0] > 0 or ends[-1] < 1:
        raise UnmetConditionError("far margin", f"slices={ends}: must lead from 0 to 1")
    for low, high in pairwise(map(from_float, ends)):
        # Delta = |v_a - v_b| y is at most 2 y, and at most twice the largest score.
        lean = (2 * high).min(2 * scores.sigma)
        yield Slice(low, high, capped(2 * coordinate_mass(low, high, m)), scores.slopes(lean))


def _cells_between(ends: Sequence[float], m: int, rho_0: float) -> tuple[Cell, ...]:
    """Return the cells between ends that increase from -1 to the largest overlap.

    Raises
    ------
    InvalidArgumentError
        If the ends do not increase.
    UnmetConditionError
        If some overlap is left out.
    """
    check_increasing("cells", ends)
    if not ends or ends[0] > -1 or ends[-1] < rho_0:
        raise UnmetConditionError(
            "ambient alignment", f"cells={ends}: must lead from -1 to rho_0={rho_0}"
        )
    return tuple(
        Cell(low, high, coordinate_mass(low, high, m))
        for low, high in pairwise(map(from_float, ends))
    )


def alignment(
    d: int,
    m: int,
    budget: AmbientBudget,
    scores: ScoreBounds,
    slices: Sequence[Slice],
    *,
    needed: arb,
) -> arb:
    """Bound the chance that an ambient position is aligned with one head's push as its own is.

    Parameters
    ----------
    d, m : int
        Number of positions and embedding dimension.
    budget : AmbientBudget
        Thresholds.
    scores : ScoreBounds
        What holds for the scores.
    slices : sequence of Slice
        The slices of the lean.
    needed : arb
        tau_a: the slope against an ambient position that is asked for.

    Raises
    ------
    InvalidArgumentError
        If the ends of the cells do not increase.
    UnmetConditionError
        If the cells of the budget leave some overlap out.
    """
    cells = _cells_between(budget.cells, m, budget.overlap)
    levels = {"support_level": budget.support_level, "ambient_level": budget.ambient_level}
    chance = arb(0)
    for part in slices:
        # nu: what a slope against an ambient position can lose there.
        loss = needed + disturbance(m, scores, part.bounds, **levels)
        within = arb(0)
        for cell in cells:
            lean = (2 - 2 * cell.high).sqrt() * part.low
            least = _least_alignment(lean, cell.low, cell.high, loss)
            within += cell.probability * capped((d - 2) * coordinate_tail(least, m))
        chance += part.probability * capped(within)
    return capped(chance)


def disturbance(
    m: int, scores: ScoreBounds, bounds: SlopeBounds, *, support_level: float, ambient_level: float
) -> arb:
    """Bound what the weights take from a slope against an ambient position: nu less tau_a.

    Parameters
    ----------
    m : int
        Embedding dimension.
    scores, bounds : ScoreBounds, SlopeBounds
        What holds on the slice.
    support_level, ambient_level : float
        Exponents of the two noise events.
    """
    structured = 2 * bounds.lean.cosh() * (scores.h + scores.sigma / scores.d)
    structured += bounds.norm * (scores.q * scores.d).sqrt()
    variance = bounds.noise**2 / (m - 1)
    noise = sub_gaussian_threshold(variance, from_float(support_level))
    noise += sub_gaussian_threshold(variance, from_float(ambient_level))
    weights = 4 * bounds.amplitude + 3 * bounds.weight + 2 * scores.sigma * structured
    return weights + noise


def _least_alignment(lean: arb, low: arb, high: arb, loss: arb) -> arb:
    """Enclose the least (e^D + rho e^-D - loss)/sqrt(2 cosh 2D + 2 rho) for low <= rho <= high.

    It decreases in rho up to a turning point and increases beyond.
    """
    growth = lean.exp()
    turn = (-(growth**-2) - loss * growth).max(low).min(high)
    square = 2 * (2 * lean).cosh() + 2 * turn
    if not square > 0:
        # v_a = -v_b without lean: nothing is known, and it counts as the worst.
        return arb(-1)
    return (growth + turn / growth - loss) / square.sqrt()
