"""The explicit Theorem 2 beside random draws: never contradicted, the law seen, each event counted.

The bounds lie so near to the truth that no affordable number of draws could separate the two. So
each claim states beforehand a slack by which the interval may reach beyond a certified bound; an
interval that misses the bound itself altogether refutes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.claims.explicit_theorem2 import (
    TOLERANCE,
    certified_lower,
    certified_upper,
    step_scale,
)
from verify.evidence.band import grade_between
from verify.evidence.event_kernels import events_cell
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most
from verify.evidence.slope_kernels import slopes_cell
from verify.instances.instance import draw_instance
from verify.seeds import Streams
from verify.trials.one_step import measure, step_size

if TYPE_CHECKING:
    from numerics.balls.bounds.theorem2 import Budget
    from numerics.theorem2.slopes import HeadSlopes

__all__ = ["CLAIMS"]

_Key = tuple[str, str | None]
"""An event's name, and its head if it has one."""

# Positions of one batch of draws that holds no V.
_BATCH = 1 << 18


@dataclass(frozen=True)
class _Setting:
    """Sizes, number of draws, rough seconds."""

    d: int
    m: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"d={self.d}, m={self.m}"


@dataclass(frozen=True)
class _Plan:
    """What one claim looks at: settings, and how far an interval may reach beyond a bound."""

    slack: float
    settings: tuple[_Setting, ...]


_STEP_PLANS: Mapping[Profile, _Plan] = {
    "quick": _Plan(1.5, (_Setting(128, 96, 400, 1),)),
    "standard": _Plan(
        1.5,
        (
            _Setting(64, 128, 800, 2),
            _Setting(128, 96, 1000, 2),
            _Setting(256, 96, 1400, 3),
            _Setting(512, 96, 1800, 4),
        ),
    ),
    "full": _Plan(
        1.1,
        (
            _Setting(64, 128, 20_000, 30),
            _Setting(128, 96, 20_000, 30),
            _Setting(256, 96, 20_000, 40),
            _Setting(512, 96, 30_000, 60),
            _Setting(1024, 256, 30_000, 300),
        ),
    ),
}

_LAW_PLANS: Mapping[Profile, _Plan] = {
    "quick": _Plan(2.5, (_Setting(256, 256, 2000, 0.3), _Setting(256, 1024, 2000, 0.3))),
    "standard": _Plan(1.3, (_Setting(1000, 256, 20_000, 3), _Setting(1000, 1024, 20_000, 3))),
    "full": _Plan(
        1.05,
        (
            _Setting(1000, 256, 400_000, 50),
            _Setting(1000, 1024, 400_000, 50),
            _Setting(10_000, 256, 100_000, 120),
            _Setting(10_000, 1024, 100_000, 120),
        ),
    ),
}
# Draws of V in full, to see where the heads of a failing draw go; the least share of them that
# may put both heads on the same position of the support.
_HEADS_SETTINGS: Mapping[Profile, _Setting] = {
    "quick": _Setting(64, 96, 600, 0.5),
    "standard": _Setting(256, 96, 4000, 4),
    "full": _Setting(256, 96, 100_000, 80),
}
_SAME_POSITION = 0.8

_PROFILE_SETTINGS: Mapping[Profile, tuple[_Setting, ...]] = {
    "quick": (_Setting(64, 96, 1000, 1),),
    "standard": (_Setting(64, 96, 3000, 3), _Setting(128, 64, 3000, 3)),
    "full": (_Setting(64, 96, 50_000, 40), _Setting(128, 64, 50_000, 40)),
}


def _check_step(setting: _Setting, slack: float, level: float, streams: Streams) -> Evidence:
    """Take the step with the certified step size, and look at the loss of every input."""
    scale = step_scale(setting.d, setting.m)
    _, proved = certified_upper(setting.d, setting.m, Fraction(scale))
    eta, upper = step_size(scale, setting.d), float(proved)
    failures = sum(
        not measure(draw_instance(streams.trial(i), setting.d, setting.m), eta=eta).succeeds(
            TOLERANCE
        )
        for i in range(setting.trials)
    )
    found = Proportion(failures, setting.trials, level)
    return Evidence(
        cell=setting.name,
        subject="statement",
        method="simulation at the certified step size, Clopper-Pearson interval",
        grade=grade_between(found, 0.0, upper, slack=slack),
        computed=f"{found}, eta = {scale} d^2",
        claimed=f"P(some loss > 0.01) <= {upper:.4g}, the interval within {slack:g} times it",
        margin=1 - found.interval[1] / (slack * upper),
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=setting.trials,
    )


def _check_law(setting: _Setting, slack: float, level: float, streams: Streams) -> Evidence:
    """Count the draws in which exactly one head is pushed to the wrong position of the support."""
    from numerics.theorem2.support_slopes import draw_support_slopes

    _, limit = certified_upper(setting.d, setting.m, None)
    low, high = float(certified_lower(setting.d, setting.m)), float(limit)
    batch = max(1, _BATCH // setting.d)
    failures = 0
    for i, start in enumerate(range(0, setting.trials, batch)):
        draws = min(batch, setting.trials - start)
        wrong = draw_support_slopes(streams.trial(i), setting.d, setting.m, draws=draws) < 0
        failures += int((wrong[:, 0] != wrong[:, 1]).sum())
    found = Proportion(failures, setting.trials, level)
    lower, upper = found.interval
    return Evidence(
        cell=setting.name,
        subject="statement",
        method="signs of the slopes, drawn in O(d), Clopper-Pearson interval",
        grade=grade_between(found, low, high, slack=slack),
        computed=str(found),
        claimed=f"P(both heads on the same position) in [{low:.4g}, {high:.4g}] as eta grows, the "
        f"interval within a factor {slack:g}",
        margin=min(1 - upper / (slack * high), 1 - low / (slack * lower) if lower > 0 else -1.0),
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=setting.trials,
    )


def _check_heads(setting: _Setting, level: float, streams: Streams) -> Evidence:
    """Look where the heads of the failing draws go as the step grows."""
    from numerics.theorem2.slopes import one_step_slopes

    failing = same = 0
    for i in range(setting.trials):
        instance = draw_instance(streams.trial(i), setting.d, setting.m)
        slopes = one_step_slopes(instance.V, instance.theta, instance.support)
        heads = [_preferred(head) for head in (slopes.theta, slopes.theta_tilde)]
        fails = None in heads or heads[0] == heads[1]
        failing += fails
        same += fails and None not in heads
    if failing == 0:
        grade, computed, margin = Grade.VACUOUS, "nothing", None
    else:
        found = Proportion(same, failing, level)
        lower, upper = found.interval
        grade = Grade.SAMPLED if lower >= _SAME_POSITION else Grade.UNDECIDED
        if upper < _SAME_POSITION:
            grade = Grade.REFUTED
        computed, margin = str(found), lower / _SAME_POSITION - 1
    return Evidence(
        cell=_heads_name(setting),
        subject="statement",
        method="signs of all slopes, Clopper-Pearson interval",
        grade=grade,
        computed=computed,
        claimed=f"both heads on the same position of the support in >= {_SAME_POSITION:g} of the "
        "failing draws",
        margin=margin,
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=failing,
        reason="no draw failed" if failing == 0 else None,
    )


def _preferred(head: HeadSlopes) -> int | None:
    """Return the position of the support that the head prefers for large steps; None if neither."""
    ambient = float(head.ambient_slopes.min())
    # The slope of the other position against an ambient one is the difference of the two.
    if head.support_slope > 0:
        return head.own if ambient > 0 else None
    return head.other if ambient > head.support_slope else None


def _heads_name(setting: _Setting) -> str:
    return f"heads of failing draws at {setting.name}"


def _loose_budget(d: int, m: int) -> Budget:
    """Return thresholds so loose that the events happen in plain sight."""
    from numerics.balls.bounds.theorem2 import Budget

    sigma, rho_0 = _threshold(d / 1.6, m), _threshold(2, m)
    first = 2 / math.sqrt(d * m)
    return Budget(
        largest_score=sigma,
        sum_level=math.log(2 / 0.4),
        squares_level=math.log(1 / 0.4),
        overlap=rho_0,
        slices=(0.0, first, 2 * first, 4 * first, 1.0),
        cells=(-1.0, -0.3, -0.2, -0.1, 0.0, rho_0),
        support_level=math.log(1 / 0.3),
        ambient_level=math.log((d - 2) / 0.3),
        share=0.5,
    )


def _threshold(factor: float, m: int) -> float:
    """Return t with (1 - t^2)^((m-1)/2) = 1/factor, which P(|y| > t) is at most."""
    return math.sqrt(-math.expm1(-2 * math.log(factor) / (m - 1)))


_LOOSE_SCALE = Fraction(40)


def _check_events(setting: _Setting, level: float, streams: Streams) -> Evidence:
    """Count every event at a loose budget, each beside its bound."""
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.theorem2 import failure_events
    from numerics.theorem2.events import event_thresholds, events_of_draw
    from numerics.theorem2.slopes import one_step_slopes

    d, m = setting.d, setting.m
    budget = _loose_budget(d, m)
    with working_precision(64):
        events = failure_events(d, m, budget, scale=_LOOSE_SCALE, tolerance=TOLERANCE)
    bounds: dict[_Key, float] = {
        (event.name, event.head): float(event.probability) for event in events
    }
    thresholds = event_thresholds(d, m, budget, scale=_LOOSE_SCALE, tolerance=TOLERANCE)
    counts: Counter[_Key] = Counter()
    for i in range(setting.trials):
        instance = draw_instance(streams.trial(i), d, m)
        slopes = one_step_slopes(instance.V, instance.theta, instance.support)
        counts.update(key for key, happens in events_of_draw(slopes, thresholds).items() if happens)
    # Jointly for all events of the cell.
    joint = 1 - (1 - level) / len(bounds)
    found = {key: Proportion(counts[key], setting.trials, joint) for key in bounds}
    grades = {grade_at_most(found[key], bound) for key, bound in bounds.items()}
    unknown = set(counts) - set(bounds)
    worst = next(g for g in (Grade.REFUTED, Grade.UNDECIDED, Grade.SAMPLED) if g in grades)
    return Evidence(
        cell=setting.name,
        subject="statement",
        method="events of random draws at a loose budget, Clopper-Pearson intervals",
        grade=Grade.ERROR if unknown else worst,
        computed=_beside_bounds(found, bounds),
        claimed="the frequency of every event is at most its bound",
        margin=min(1 - found[key].interval[1] / bound for key, bound in bounds.items()),
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=setting.trials,
        reason=f"events without a bound: {sorted(map(str, unknown))}" if unknown else None,
    )


def _beside_bounds(found: Mapping[_Key, Proportion], bounds: Mapping[_Key, float]) -> str:
    """Return how often each event happened and its bound, which both heads have in common."""
    frequencies: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (name, head), each in found.items():
        bound = f"{bounds[name, head]:.4f}"
        frequencies[name, bound].append(f"{each.count / each.trials:.4f}")
    listed = (
        f"{name} {' and '.join(shares)} (bound {bound})"
        for (name, bound), shares in frequencies.items()
    )
    return f"frequencies, one for each head where there are two: {'; '.join(listed)}"


def _step_cells(profile: Profile) -> tuple[Cell, ...]:
    plan = _STEP_PLANS[profile]
    level = bonferroni_level(len(plan.settings))
    return tuple(
        Cell(
            name=setting.name,
            check=partial(_check_step, setting, plan.slack, level),
            cost=setting.cost,
        )
        for setting in plan.settings
    )


def _law_cells(profile: Profile) -> tuple[Cell, ...]:
    plan, heads = _LAW_PLANS[profile], _HEADS_SETTINGS[profile]
    level = bonferroni_level(len(plan.settings) + 1)
    return (
        *(
            Cell(
                name=setting.name,
                check=partial(_check_law, setting, plan.slack, level),
                cost=setting.cost,
            )
            for setting in plan.settings
        ),
        Cell(
            name=_heads_name(heads),
            check=partial(_check_heads, heads, level),
            cost=heads.cost,
        ),
    )


def _event_cells(profile: Profile) -> tuple[Cell, ...]:
    settings = _PROFILE_SETTINGS[profile]
    level = bonferroni_level(len(settings))
    return (
        *(
            Cell(name=each.name, check=partial(_check_events, each, level), cost=each.cost)
            for each in settings
        ),
        slopes_cell(),
        events_cell(),
    )


CLAIMS = (
    Claim(
        id="theorem2-bound-not-contradicted",
        title="at the certified step size, simulated failures stay within the certified bound",
        statement=(
            r"At every $(d, m)$ of the cells and $\eta = \lceil 2 \sqrt{d m} \rceil d^2$, the"
            r" probability that $\sup_x (f(x) - y)^2 > 0.01$ after one step is at most the"
            r" certified bound: a simulated interval reaches beyond it by the factor of the cell at"
            r" most, and never lies beyond it."
        ),
        source="ours",
        cells=_step_cells,
        dependencies=("theorem2-explicit",),
    ),
    Claim(
        id="theorem2-law",
        title="a large step fails with probability (2/pi) arctan(1/sqrt d) if m is large for log d",
        statement=(
            r"With $V$ and $\theta^0$ uniform on spheres, $\tilde\theta^0 = -\theta^0$ and a fixed"
            r" support, at every $(d, m)$ of the cells, as the size $\eta$ of the population step"
            r" tends to infinity, both heads prefer the same position of the support with a"
            r" probability between the two certified bounds, which enclose $\frac{2}{\pi}"
            r" \arctan(1 / \sqrt{d})$ for every such $m$; and in at least $0.8$ of the draws that"
            r" fail, this is how."
        ),
        source="ours",
        cells=_law_cells,
        dependencies=("theorem2-explicit", "theorem2-converse"),
    ),
    Claim(
        id="theorem2-assumption-profile",
        title="how often each event of the explicit Theorem 2 happens, beside its bound",
        statement=(
            r"At every $(d, m)$ of the cells and a budget of loose thresholds, each event of the"
            r" explicit Theorem 2 happens at most as often as its bound says."
        ),
        source="ours",
        cells=_event_cells,
        dependencies=("theorem2-explicit",),
    ),
)
