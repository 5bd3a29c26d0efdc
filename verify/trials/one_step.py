"""A trial of Theorem 2: draw an instance, take one population step, bound every input's loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from numerics.arguments import InvalidArgumentError
from numerics.one_step import OneStep, one_step
from numerics.worst_case import worst_case_loss
from verify.decimals import ExactDecimal
from verify.instances.instance import Instance, draw_instance
from verify.seeds import Streams

__all__ = ["OneStepTrial", "measure", "outcome_of", "run_trials", "step_size"]


@dataclass(frozen=True)
class OneStepTrial:
    """What one trial found.

    Parameters
    ----------
    support : pair of int
        The drawn support ``(a, b)``.
    heads : pair of int
        Position of the largest attention of either head after the step.
    attention : pair of float
        That attention.
    lower, upper : float
        Bracket of ``sup_x (f - y)^2`` after the step.
    """

    support: tuple[int, int]
    heads: tuple[int, int]
    attention: tuple[float, float]
    lower: float
    upper: float

    def succeeds(self, tolerance: Fraction) -> bool:
        """Whether the loss of every input is at most `tolerance`; compared exactly."""
        return Fraction(self.upper) <= tolerance

    @property
    def same_position(self) -> bool:
        """Whether both heads attend to the same position."""
        return self.heads[0] == self.heads[1]

    @property
    def both_in_support(self) -> bool:
        """Whether both heads attend to positions of the support, be it the same one."""
        return set(self.heads) <= set(self.support)

    @property
    def one_to_one(self) -> bool:
        """Whether the heads attend to the two support positions, one each."""
        return set(self.heads) == set(self.support)


def step_size(scale: ExactDecimal | int, d: int) -> float:
    """Return ``eta = scale * d^2`` rounded to binary64.

    Raises
    ------
    InvalidArgumentError
        If that overflows or vanishes.
    """
    exact = scale if isinstance(scale, int) else scale.value
    try:
        eta = float(exact * d**2)
    except OverflowError:
        eta = 0.0
    if not eta > 0:
        raise InvalidArgumentError(
            "eta_scale", scale, "eta = C d^2 must be a positive binary64 number"
        )
    return eta


def run_trials(
    streams: Streams, trials: range, d: int, m: int, *, eta: float, law: str = "sphere"
) -> list[OneStepTrial]:
    """Run some of a Monte Carlo's trials, in order.

    Parameters
    ----------
    streams : Streams
        Source of each trial's randomness.
    trials : range
        Which trials to run.
    d, m : int
        Number of positions, embedding dimension.
    eta : float
        Step size.
    law : str
        Law of the embeddings, a key of `numerics.embeddings.LAWS`.
    """
    return [measure(draw_instance(streams.trial(i), d, m, law=law), eta=eta) for i in trials]


def measure(instance: Instance, *, eta: float) -> OneStepTrial:
    """Take the step from a drawn instance and bound the loss of every input after it."""
    step = one_step(instance.V, instance.theta, instance.support, eta)
    return outcome_of(step, instance.support)


def outcome_of(step: OneStep, support: tuple[int, int]) -> OneStepTrial:
    """Bound the loss of every input after a step."""
    bracket = worst_case_loss(step.gamma, step.gamma_tilde, support)
    head, head_tilde = step.heads
    return OneStepTrial(
        support=support,
        heads=step.heads,
        attention=(float(step.gamma[head]), float(step.gamma_tilde[head_tilde])),
        lower=bracket.lower,
        upper=bracket.upper,
    )
