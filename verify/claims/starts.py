"""What the start decides: independent queries beside the paper's theta~ = -theta.

With an odd attention map the antisymmetric start is a trap: f = p^2 never becomes negative. From
independent starts linear and erf attention do learn where m exceeds d, so "softmax is necessary"
is a statement about m << d. For softmax the antisymmetric start is a convenience. To leading order
head 1 prefers a to b by (theta - theta~).(v_a - v_b), and head 2 by the negative, so the heads part
from either start; independent queries only halve the variance of that difference, beside the same
noise of the other positions. So one large step fails with probability (2/pi) arctan sqrt(2/d) in
place of (2/pi) arctan sqrt(1/d). The second is proved (claim ``theorem2-explicit``); the first is
found to leading order, and its cells look whether it holds. The ranges around
the two laws overlap, so which start fails more often is asked by itself, of the same draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from numerics.training import stopping_loss
from verify.claim import Cell, Claim, Evidence, Profile
from verify.claims.theorem2 import TOLERANCE
from verify.evidence.band import Band, band_evidence, grade_between
from verify.evidence.descent_kernels import search_cell
from verify.evidence.sampling import Proportion, bonferroni_level
from verify.instances.starts import Start, draw_start
from verify.seeds import Streams

__all__ = ["CLAIMS", "same_position_law"]

# Step size and number of steps of each map, at m = 2d.
_DESCENTS: Mapping[str, tuple[float, int]] = {"linear": (0.2, 150), "erf": (0.2, 250)}
_UNLEARNED = 0.1


@dataclass(frozen=True)
class _Learning:
    """Where training from independent starts is looked at; m = 2d."""

    attention: str
    d: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"{self.attention}, d={self.d}, m={2 * self.d}"


_LEARNING: Mapping[Profile, tuple[_Learning, ...]] = {
    "quick": (_Learning("linear", 64, 100, 0.6),),
    "standard": (
        _Learning("linear", 128, 100, 0.8),
        _Learning("erf", 64, 100, 1.5),
    ),
    "full": tuple(
        _Learning(attention, d, 2000, d / 3)
        for attention in ("linear", "erf")
        for d in (64, 128, 256)
    ),
}


def _check_learning(setting: _Learning, level: float, streams: Streams) -> Evidence:
    """Count the starts from which the population loss does not come down to 0.01."""
    from numerics.attention_maps import find_map
    from numerics.training import descend, population_objective

    attention, goal = find_map(setting.attention), stopping_loss(TOLERANCE)
    eta, steps = _DESCENTS[setting.attention]
    failures, slowest = 0, 0
    for i in range(setting.trials):
        instance = draw_start(
            streams.trial(i), setting.d, 2 * setting.d, law="sphere", start="independent"
        )
        objective = population_objective(instance.V, instance.support, attention=attention)
        end = descend(
            objective,
            instance.theta,
            instance.theta_tilde,
            eta=eta,
            steps=steps,
            tolerance=goal,
        )
        learned = end.losses[-1] <= goal
        failures += not learned
        slowest = max(slowest, end.steps if learned else 0)
    found = Proportion(failures, setting.trials, level)
    return band_evidence(
        setting.name,
        Band(f"L > 0.01 after {steps} steps of size {eta:g}", high=_UNLEARNED),
        found,
        method="gradient descent on the population loss",
        seed=streams.seed,
        beside=f"; the others within {slowest} steps",
    )


def _learning_cells(profile: Profile) -> tuple[Cell, ...]:
    settings = _LEARNING[profile]
    level = bonferroni_level(len(settings))
    return (
        *(
            Cell(name=each.name, check=partial(_check_learning, each, level), cost=each.cost)
            for each in settings
        ),
        search_cell(),
    )


@dataclass(frozen=True)
class _OneStep:
    """Where one large step of softmax attention is taken, from one of the starts."""

    start: Start
    d: int
    m: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"{self.start}, d={self.d}, m={self.m}"


def same_position_law(d: int, start: Start) -> float:
    """Return how often a large step puts both heads on one position, to leading order."""
    variance = {"antisymmetric": 1 / d, "independent": 2 / d}[start]
    return 2 / math.pi * math.atan(math.sqrt(variance))


_SCALE = 10**6
# By which factor an interval may leave its law.
_FACTOR: Mapping[Profile, float] = {"quick": 1.6, "standard": 1.4, "full": 1.25}


def _both(d: int, m: int, trials: int, cost: float) -> tuple[_OneStep, ...]:
    starts: tuple[Start, ...] = ("antisymmetric", "independent")
    return tuple(_OneStep(start, d, m, trials, cost) for start in starts)


_ONE_STEP: Mapping[Profile, tuple[_OneStep, ...]] = {
    "quick": _both(32, 64, 800, 0.3),
    "standard": _both(64, 128, 3000, 1),
    "full": (*_both(64, 128, 40_000, 12), *_both(256, 128, 40_000, 40)),
}


def _on_one_position(streams: Streams, trial: int, d: int, m: int, start: Start) -> bool:
    """Whether both heads attend most to one position after the step of a draw."""
    from numerics.one_step import one_step

    drawn = draw_start(streams.trial(trial), d, m, law="sphere", start=start)
    eta = float(_SCALE * d**2)
    step = one_step(drawn.V, drawn.theta, drawn.support, eta, theta_tilde=drawn.theta_tilde)
    return step.heads[0] == step.heads[1]


def _check_one_step(setting: _OneStep, factor: float, level: float, streams: Streams) -> Evidence:
    """Count the draws after whose step both heads attend most to one position."""
    failures = sum(
        _on_one_position(streams, i, setting.d, setting.m, setting.start)
        for i in range(setting.trials)
    )
    found = Proportion(failures, setting.trials, level)
    law = same_position_law(setting.d, setting.start)
    lower, upper = found.interval
    low, high = law / factor, law * factor
    return Evidence(
        cell=setting.name,
        subject="statement",
        method="simulation, Clopper-Pearson interval",
        grade=grade_between(found, low, high, slack=1),
        computed=str(found),
        claimed=f"P(both heads on one position) in [{low:.4g}, {high:.4g}]: {law:.4g} within a "
        f"factor {factor:g}",
        margin=min(1 - upper / high, lower / low - 1),
        precision="binary64",
        seed=streams.seed,
        trials=setting.trials,
        met=setting.trials,
    )


@dataclass(frozen=True)
class _Pairs:
    """Where both starts are taken from the same V, theta and support."""

    d: int
    m: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"both starts of the same draw, d={self.d}, m={self.m}"


_PAIRS: Mapping[Profile, _Pairs] = {
    "quick": _Pairs(32, 64, 800, 0.5),
    "standard": _Pairs(32, 64, 1500, 0.9),
    "full": _Pairs(64, 128, 20_000, 14),
}


def _check_pairs(pairs: _Pairs, level: float, streams: Streams) -> Evidence:
    """Count whose step fails alone: that of the independent start, or of the antisymmetric one."""
    alone = {"antisymmetric": 0, "independent": 0}
    for i in range(pairs.trials):
        first, second = (
            _on_one_position(streams, i, pairs.d, pairs.m, start)
            for start in ("antisymmetric", "independent")
        )
        alone["antisymmetric"] += first and not second
        alone["independent"] += second and not first
    found = Proportion(alone["independent"], sum(alone.values()), level)
    return Evidence(
        cell=pairs.name,
        subject="statement",
        method="simulation, sign test: Clopper-Pearson interval",
        grade=grade_between(found, 0.5, 1.0, slack=1),
        computed=f"of the draws in which one start fails alone, the independent one in {found}",
        claimed="at least 1/2: independent queries fail more often",
        margin=2 * found.interval[0] - 1,
        precision="binary64",
        seed=streams.seed,
        trials=pairs.trials,
        met=pairs.trials,
    )


def _one_step_cells(profile: Profile) -> tuple[Cell, ...]:
    settings, pairs = _ONE_STEP[profile], _PAIRS[profile]
    level = bonferroni_level(len(settings) + 1)
    return (
        *(
            Cell(
                name=each.name,
                check=partial(_check_one_step, each, _FACTOR[profile], level),
                cost=each.cost,
            )
            for each in settings
        ),
        Cell(name=pairs.name, check=partial(_check_pairs, pairs, level), cost=pairs.cost),
    )


CLAIMS = (
    Claim(
        id="independent-starts-learn",
        title="where m = 2d, linear and erf attention learn from independent starts",
        statement=(
            r"At every $d$ of the cells, with $m = 2d$, $V$ uniform on spheres and $\theta^0,"
            r" \tilde\theta^0$ independent and uniform on the sphere: gradient descent on the"
            r" population loss with $\eta = 0.2$ reaches $L \le 0.01$ within $150$ steps with"
            r" linear attention, and within $250$ with $\gamma_i = \operatorname{erf}(v_i \cdot"
            r" \theta)$, each with probability at least $0.9$."
        ),
        source="ours",
        cells=_learning_cells,
        dependencies=("attention-maps",),
    ),
    Claim(
        id="antisymmetric-start-effect",
        title="the antisymmetric start makes one large step fail less often, by about sqrt(2)",
        statement=(
            r"At every $(d, m)$ of the cells, after one population step of softmax attention with"
            r" $\eta = 10^6 d^2$, the probability that both heads attend most to one and the same"
            r" position is within the factor of the cell of $\frac{2}{\pi} \arctan \sqrt{1 / d}$"
            r" where $\tilde\theta^0 = -\theta^0$, and of $\frac{2}{\pi} \arctan \sqrt{2 / d}$"
            r" where $\tilde\theta^0$ is drawn independently. The second is the larger one."
        ),
        source="ours",
        cells=_one_step_cells,
        dependencies=("theorem2-law",),
    ),
)
