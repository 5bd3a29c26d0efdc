"""The rules by which samples are graded, applied where the right grade is known.

All other claims are true as far as anybody knows, so none of them would notice a rule that is too
lenient. Here proportions are drawn on every side of a bound, and kernels are rigged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from verify.claim import Cell, Grade
from verify.evidence.agreement import agreement_cell
from verify.evidence.band import grade_between
from verify.evidence.faults import Faults, fault_cell
from verify.evidence.sampling import LEVEL, Proportion, bonferroni_level, grade_at_most
from verify.evidence.simulation import Event, simulation_cell
from verify.instances.instance import Instance, draw_instance
from verify.seeds import Streams

__all__ = ["grades_cell", "rigged_kernels_cell", "rigged_simulations_cell"]

Told = TypeVar("Told")

_CLAIMED = "sampled only inside the inequality, refuted only outside, else undecided"


def grades_cell() -> Cell:
    """Return the cell on the grades of proportions."""
    return fault_cell(
        "grades of proportions",
        _grade_faults,
        method="binomial tails in rational arithmetic",
        claimed=_CLAIMED,
        grade=Grade.EXACT,
        precision="exact",
        trials=40,
        cost=0.05,
    )


def rigged_kernels_cell() -> Cell:
    """Return the cell on the grades of kernels that err as often as they are told."""
    return fault_cell(
        "grades of rigged kernels",
        _kernel_faults,
        method="kernels with a known number of errors",
        claimed=_CLAIMED,
        grade=Grade.EXACT,
        precision="exact",
        trials=1,
        cost=0.05,
    )


def rigged_simulations_cell() -> Cell:
    """Return the cell on the grades of simulations whose draws are decided as they are told."""
    return fault_cell(
        "grades of rigged simulations",
        _simulation_faults,
        method="events decided as told, in binary64 and by proof",
        claimed=f"{_CLAIMED}; a proof that contradicts binary64 is an error",
        grade=Grade.EXACT,
        precision="exact",
        trials=1,
        cost=0.1,
    )


def _grade_faults(rng: np.random.Generator) -> Faults:
    cells = int(rng.integers(1, 8))
    level = bonferroni_level(cells)
    if not abs((1 - level) * cells - (1 - LEVEL)) <= 1e-12:
        yield f"level {level} for {cells} cells"
    trials = int(rng.integers(1, 80))
    proportion = Proportion(int(rng.integers(trials + 1)), trials, level)
    # Powers of two and of their sums: binary64 has them, and twice or half of them, exactly.
    low, high = (Fraction(int(k), 64) for k in np.sort(rng.choice(np.arange(1, 64), 2, False)))
    found, truth = grade_at_most(proportion, float(high)), _at_most(proportion, high)
    if found is not truth:
        yield f"{proportion} at most {high}: {found}, not {truth}"
    always = Proportion(trials, trials, level)
    if grade_at_most(always, 1.0) is not Grade.SAMPLED:
        yield f"{always} at most 1: not sampled, though no proportion is above 1"
    slack = Fraction(int(rng.integers(1, 3)))
    found = grade_between(proportion, float(low), float(high), slack=float(slack))
    truth = _between(proportion, low, high, slack)
    if found is not truth:
        yield f"{proportion} between {low} and {high}, slack {slack}: {found}, not {truth}"


def _proved_at_most(proportion: Proportion, bound: Fraction) -> bool:
    """Whether the upper end of the interval is at most the bound: so few successes are too rare."""
    if bound >= 1:
        return True
    return _tail(proportion, bound, range(proportion.count + 1)) <= _rare(proportion)


def _proved_at_least(proportion: Proportion, bound: Fraction) -> bool:
    """Whether the lower end of the interval is at least the bound: so many are too rare."""
    successes = range(proportion.count, proportion.trials + 1)
    return _tail(proportion, bound, successes) <= _rare(proportion)


def _tail(proportion: Proportion, probability: Fraction, counts: range) -> Fraction:
    n = proportion.trials
    return sum(
        (math.comb(n, k) * probability**k * (1 - probability) ** (n - k) for k in counts),
        Fraction(0),
    )


def _rare(proportion: Proportion) -> Fraction:
    return (1 - Fraction(proportion.level)) / 2


def _at_most(proportion: Proportion, bound: Fraction) -> Grade:
    if _proved_at_most(proportion, bound):
        return Grade.SAMPLED
    return Grade.REFUTED if _proved_at_least(proportion, bound) else Grade.UNDECIDED


def _between(proportion: Proportion, low: Fraction, high: Fraction, slack: Fraction) -> Grade:
    if _proved_at_least(proportion, high) or _proved_at_most(proportion, low):
        return Grade.REFUTED
    inside = _proved_at_least(proportion, low / slack) and _proved_at_most(proportion, high * slack)
    return Grade.SAMPLED if inside else Grade.UNDECIDED


def _kernel_faults(_: np.random.Generator) -> Faults:
    """Grade kernels that err beyond their bound a known number of times in 400."""
    for errors, truth in (
        ([1.0] * 400, Grade.SAMPLED),
        ([1.5] * 400, Grade.REFUTED),
        ([math.nan] * 400, Grade.REFUTED),
        # Four of 400: neither surely fewer than one in a hundred, nor surely more.
        ([2.0] * 4 + [0.5] * 396, Grade.UNDECIDED),
    ):
        cell = agreement_cell(
            "rigged",
            method="a list",
            error=_one_by_one(errors),
            bound=1.0,
            trials=len(errors),
            cost=0,
        )
        found = cell.check(Streams(0)).grade
        if found is not truth:
            yield f"a kernel that errs {errors[0]:g} at first is {found}, not {truth}"


def _simulation_faults(rng: np.random.Generator) -> Faults:
    """Grade simulations whose draws are decided by a list: in binary64, and by proof."""
    instance = draw_instance(rng, 2, 1)
    for decided, proved, truth in (
        ([False] * 400, False, Grade.SAMPLED),
        ([True] * 400, True, Grade.REFUTED),
        ([True] * 4 + [False] * 396, None, Grade.UNDECIDED),
        ([None] * 400, None, Grade.UNDECIDED),
        ([None] * 400, False, Grade.SAMPLED),
        ([None] * 400, True, Grade.REFUTED),
        ([True] * 400, False, Grade.ERROR),
        ([False] * 400, True, Grade.ERROR),
    ):
        event = Event("as told", _one_by_one(decided), partial(_told, proved))
        cell = simulation_cell(
            name="rigged",
            draw=lambda _: instance,
            event=event,
            bound=1 / 100,
            trials=400,
            cells=1,
            assumptions=(),
            cost=0,
        )
        try:
            found = cell.check(Streams(0)).grade
        except ArithmeticError:
            found = Grade.ERROR
        if found is not truth:
            yield f"{decided[0]} at first, {proved} by proof: {found}, not {truth}"


def _told(verdict: bool | None, _: Instance) -> bool | None:
    return verdict


def _one_by_one(told: Sequence[Told]) -> Callable[[object], Told]:
    left = iter(told)
    return lambda _: next(left)
