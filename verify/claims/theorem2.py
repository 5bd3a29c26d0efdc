"""Theorem 2 by simulation: one population step brings the loss of every input near zero.

The paper says "with high probability" and "a suitable step size". What is claimed here, at the
sizes and step sizes of the cells and no others, is sharper and can fail: with eta = C d^2, the
probability that the loss of some input stays above 0.01 is at most 2/sqrt(d). The order
1/sqrt(d) is the truth, not a convenience: the two heads compete for a through
theta^0 . (v_a - v_b) ~ 1/sqrt(m), against a sum over the other positions that is smaller only by
a factor of order sqrt(d), whatever m is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from numerics.population import antisymmetric_gradient
from verify.claim import Cell, Claim, Profile
from verify.evidence.assumptions import SETTING
from verify.evidence.simulation import Event, simulation_cell
from verify.instances.instance import Instance, draw_instance
from verify.trials.one_step import measure

if TYPE_CHECKING:
    from numerics.balls.certificate import StepCertificate

__all__ = ["CLAIMS"]

PAPER = "arXiv:2502.07553v2, Theorem 2"
TOLERANCE = Fraction(1, 100)

# The scores after the step err by up to 16 (m + 8) C units of 2^-53 (claim kernel-accuracy): below
# 2e-7 for m <= 1024 and C <= 10^5. Attention then errs relatively by twice that, and the loss,
# of degree four in it, by eight times: a verdict this near to the tolerance is left to the balls.
_ROUNDING = Fraction(1, 10**5)

# Probabilities are stated as multiples of 1/sqrt(d).
_CONSTANT = 2.0


@dataclass(frozen=True)
class _Setting:
    """Where Theorem 2 is simulated: sizes, step size eta = scale d^2, trials, rough seconds."""

    d: int
    m: int
    scale: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"d={self.d}, m={self.m}, eta={self.scale} d^2"


# Failures happen at about 0.6/sqrt(d) for large steps, up to 1.3/sqrt(d) at eta = 1000 d^2. The
# numbers of trials put the end of the interval below 2/sqrt(d) for all but unlucky seeds.
_SETTINGS: dict[Profile, tuple[_Setting, ...]] = {
    "quick": (
        _Setting(256, 128, 10_000, 400, 1),
        _Setting(512, 128, 10_000, 400, 2),
    ),
    "standard": (
        _Setting(256, 128, 1000, 800, 3),
        _Setting(1024, 256, 1000, 800, 10),
        _Setting(1024, 256, 100_000, 800, 10),
        _Setting(1024, 1024, 10_000, 500, 20),
        _Setting(2048, 256, 1000, 1600, 40),
    ),
    "full": (
        _Setting(256, 128, 1000, 20_000, 40),
        _Setting(1024, 256, 1000, 20_000, 100),
        _Setting(1024, 256, 100_000, 20_000, 100),
        _Setting(1024, 1024, 1000, 10_000, 140),
        _Setting(4096, 384, 1000, 20_000, 350),
        _Setting(4096, 384, 100_000, 20_000, 350),
        _Setting(16_384, 512, 1000, 10_000, 1000),
    ),
}


# Fewer draws decide about the heads, which fail at about 0.6/sqrt(d) whatever the step size.
_HEADS_SETTINGS: dict[Profile, tuple[_Setting, ...]] = {
    "quick": _SETTINGS["quick"],
    "standard": (
        _Setting(256, 128, 1000, 500, 2),
        _Setting(1024, 256, 1000, 600, 8),
        _Setting(1024, 1024, 10_000, 600, 20),
        _Setting(2048, 256, 1000, 1000, 20),
    ),
    "full": _SETTINGS["full"],
}


@dataclass(frozen=True)
class _StartSetting:
    """Where the first gradient is looked at; it does not depend on the step size."""

    d: int
    m: int
    trials: int
    cost: float

    @property
    def name(self) -> str:
        return f"d={self.d}, m={self.m}"


_START_SETTINGS: dict[Profile, tuple[_StartSetting, ...]] = {
    "quick": (_StartSetting(256, 128, 200, 0.5), _StartSetting(512, 128, 200, 1)),
    "standard": (
        _StartSetting(256, 128, 400, 1),
        _StartSetting(1024, 256, 400, 5),
        _StartSetting(2048, 256, 400, 8),
    ),
    "full": (
        _StartSetting(256, 128, 10_000, 20),
        _StartSetting(1024, 256, 10_000, 100),
        _StartSetting(4096, 384, 10_000, 400),
    ),
}


def _bound(d: int) -> float:
    return _CONSTANT / math.sqrt(d)


def _loss_cells(profile: Profile) -> tuple[Cell, ...]:
    return _step_cells(
        _SETTINGS[profile],
        lambda eta: Event(
            "sup loss > 0.01",
            partial(_some_loss_stays, float(eta)),
            partial(_some_loss_provably_stays, eta),
        ),
    )


def _heads_cells(profile: Profile) -> tuple[Cell, ...]:
    return _step_cells(
        _HEADS_SETTINGS[profile],
        lambda eta: Event(
            "heads not one-to-one on the support",
            partial(_heads_elsewhere, float(eta)),
            partial(_heads_provably_elsewhere, eta),
        ),
    )


def _step_cells(
    settings: tuple[_Setting, ...], event: Callable[[Fraction], Event]
) -> tuple[Cell, ...]:
    return tuple(
        simulation_cell(
            name=setting.name,
            draw=partial(draw_instance, d=setting.d, m=setting.m),
            event=event(Fraction(setting.scale * setting.d**2)),
            bound=_bound(setting.d),
            trials=setting.trials,
            cells=len(settings),
            assumptions=SETTING,
            cost=setting.cost,
        )
        for setting in settings
    )


def _alignment_cells(profile: Profile) -> tuple[Cell, ...]:
    settings = _START_SETTINGS[profile]
    return tuple(
        simulation_cell(
            name=setting.name,
            draw=partial(draw_instance, d=setting.d, m=setting.m),
            event=Event("an ambient position pushed as hard", _not_aligned, _provably_not_aligned),
            bound=_bound(setting.d),
            trials=setting.trials,
            cells=len(settings),
            assumptions=SETTING,
            cost=setting.cost,
        )
        for setting in settings
    )


def _some_loss_stays(eta: float, instance: Instance) -> bool | None:
    outcome = measure(instance, eta=eta)
    if outcome.succeeds(TOLERANCE * (1 - _ROUNDING)):
        return False
    return True if Fraction(outcome.lower) > TOLERANCE * (1 + _ROUNDING) else None


def _certificate(eta: Fraction, instance: Instance) -> StepCertificate:
    from numerics.balls.certificate import certify_step

    return certify_step(
        *instance.arguments,
        eta=eta,
        tolerance=TOLERANCE,
    )


def _some_loss_provably_stays(eta: Fraction, instance: Instance) -> bool | None:
    verdict = _certificate(eta, instance).verdict
    return {"certified": False, "refuted": True}.get(verdict)


def _heads_elsewhere(eta: float, instance: Instance) -> bool:
    return not measure(instance, eta=eta).one_to_one


def _heads_provably_elsewhere(eta: Fraction, instance: Instance) -> bool | None:
    heads = _certificate(eta, instance).heads
    return None if None in heads else set(heads) != set(instance.support)


def _not_aligned(instance: Instance) -> bool:
    """Whether, for some head, an ambient position is pushed as hard as one of the support."""
    start = antisymmetric_gradient(instance.V, instance.theta, instance.support)
    pushes = instance.V @ -np.stack([start.theta, start.theta_tilde], axis=1)
    relevant = list(instance.support)
    # On the support the step must raise the score; elsewhere any large push is too much.
    weakest = pushes[relevant].min(axis=0)
    strongest = np.abs(np.delete(pushes, relevant, axis=0)).max(axis=0)
    # Asked so that a push that is not a number counts as not aligned.
    return not np.all(weakest > strongest)


def _provably_not_aligned(instance: Instance) -> bool | None:
    from numerics.balls.pushes import enclose_pushes

    aligned = []
    for lowers, uppers in enclose_pushes(*instance.arguments):
        ambient = [i for i in range(instance.d) if i not in instance.support]
        weakest_low = min(lowers[i] for i in instance.support)
        weakest_high = min(uppers[i] for i in instance.support)
        strongest_low = max(max(lowers[i], -uppers[i]) for i in ambient)
        strongest_high = max(max(uppers[i], -lowers[i]) for i in ambient)
        if weakest_high <= strongest_low:
            return True
        aligned.append(weakest_low > strongest_high)
    return False if all(aligned) else None


CLAIMS = (
    Claim(
        id="theorem2-loss",
        title="one population step brings the loss of every input below 0.01",
        statement=(
            r"At every $(d, m, C)$ of the cells, after one population step with $\eta = C d^2$ from"
            r" $\tilde\theta^0 = -\theta^0$, $\Pr\bigl(\sup_{x \in \{-1,+1\}^d} (f(x) - y)^2 >"
            r" 0.01\bigr) \le 2/\sqrt{d}$ over $V$ and $\theta^0$."
        ),
        source=f"{PAPER}; the rate is ours",
        cells=_loss_cells,
        assumptions=SETTING,
        dependencies=("population-gradient", "antisymmetric-start", "worst-case-loss"),
    ),
    Claim(
        id="theorem2-heads",
        title="the heads specialise, one on each relevant position",
        statement=(
            r"At every $(d, m, C)$ of the cells, after one population step with $\eta = C d^2$ the"
            r" two heads attend most to $a$ and $b$, one each: $\Pr(\{\arg\max_i \gamma_i,"
            r" \arg\max_i \tilde\gamma_i\} \ne \{a, b\}) \le 2/\sqrt{d}$."
        ),
        source=f"{PAPER} and its discussion of interpretability; the rate is ours",
        cells=_heads_cells,
        assumptions=SETTING,
        dependencies=("population-gradient", "antisymmetric-start"),
    ),
    Claim(
        id="theorem2-alignment",
        title="the first gradient points to the two relevant positions, not to any other",
        statement=(
            r"At every $(d, m)$ of the cells, at the start and for both heads, $\min_{i \in S}"
            r" (-\nabla L \cdot v_i) > \max_{k \notin S} |\nabla L \cdot v_k|$ except with"
            r" probability $2/\sqrt{d}$."
        ),
        source=f"{PAPER}, proof; the rate is ours",
        cells=_alignment_cells,
        assumptions=SETTING,
        dependencies=("population-gradient", "antisymmetric-start"),
    ),
)
