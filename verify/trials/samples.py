"""A trial of Corollary 3: one step along the gradients of n samples, then the loss of every input.

The samples enter the step only. What is judged after it is the largest loss over all inputs, as for
the population's step.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from numerics.arguments import InvalidArgumentError
from numerics.one_step import Gradients, step_along
from verify.instances.instance import Instance, draw_instance
from verify.running.memory import WORKER_BYTES, embedding_bytes
from verify.seeds import Streams
from verify.trials.one_step import OneStepTrial, outcome_of

__all__ = [
    "METHODS",
    "Method",
    "choose_method",
    "measure_on_samples",
    "run_sample_trials",
    "worker_bytes",
]

Method = Literal["exact", "gaussian-surrogate"]
METHODS: tuple[Method, ...] = get_args(Method)
"""``exact`` draws every sample; ``gaussian-surrogate`` draws Gaussian gradients that have the exact
mean and covariance of those of n samples."""

_AFFORDABLE_BITS = 4 * 10**12
"""Bits of a simulation, trials n d, up to which samples are drawn: some 15 minutes on one core."""

_MOST_BITS = 10**15
"""Bits beyond which samples are not drawn even on request: some days on one core."""

# Beyond the embeddings: the samples' kernels once compiled, and their tables and bins.
_KERNEL_BYTES = 120 << 20
_BYTES_PER_POSITION = 2 << 10
# A covariance of 2m x 2m numbers, its scaled copies, its factor and products of them.
_MATRICES = 6


def choose_method(d: int, n: int, trials: int, *, asked: Method | None = None) -> Method:
    """Return how the gradients of `n` samples are drawn: exactly, if that takes some minutes.

    Parameters
    ----------
    d, n, trials : int
        Number of positions, of samples in a trial and of trials.
    asked : {"exact", "gaussian-surrogate"}, optional
        The method to use whatever it takes.

    Raises
    ------
    InvalidArgumentError
        If samples are asked for that would take weeks to draw.
    """
    bits = trials * n * d
    if asked is None:
        return "exact" if bits <= _AFFORDABLE_BITS else "gaussian-surrogate"
    if asked == "exact" and bits > _MOST_BITS:
        raise InvalidArgumentError(
            "method",
            asked,
            f"would draw {bits:.2g} bits, and at most {_MOST_BITS:.0e} can be; "
            "use gaussian-surrogate",
        )
    return asked


def worker_bytes(d: int, m: int, method: Method) -> int:
    """Return the bytes that a worker needs for trials at ``(d, m)``."""
    needed = WORKER_BYTES + embedding_bytes(d, m)
    if method == "exact":
        return needed + _KERNEL_BYTES + _BYTES_PER_POSITION * d
    return needed + _MATRICES * 8 * (2 * m) ** 2


def run_sample_trials(
    streams: Streams, trials: range, d: int, m: int, n: int, *, eta: float, method: Method
) -> list[OneStepTrial]:
    """Run some of a Monte Carlo's trials, in order.

    A trial draws support, V and theta as a trial of Theorem 2 does, and the samples after them.

    Parameters
    ----------
    streams : Streams
        Source of each trial's randomness.
    trials : range
        Which trials to run.
    d, m, n : int
        Number of positions, embedding dimension, number of samples.
    eta : float
        Step size.
    method : {"exact", "gaussian-surrogate"}
        How the gradients are drawn.
    """
    outcomes = []
    for i in trials:
        rng = streams.trial(i)
        instance = draw_instance(rng, d, m)
        outcomes.append(measure_on_samples(rng, instance, n, eta=eta, method=method))
    return outcomes


def measure_on_samples(
    rng: np.random.Generator, instance: Instance, n: int, *, eta: float, method: Method
) -> OneStepTrial:
    """Draw the gradients of `n` samples, take the step and bound the loss of every input."""
    V, theta, theta_tilde = instance.V, instance.theta, instance.theta_tilde
    start = _gradients(rng, instance, n, method)
    return outcome_of(step_along(V, theta, theta_tilde, start, eta), instance.support)


def _gradients(rng: np.random.Generator, instance: Instance, n: int, method: Method) -> Gradients:
    at = instance.arguments
    if method == "exact":
        from numerics.samples.empirical import empirical_gradient

        return empirical_gradient(rng, *at, n=n)
    from numerics.samples.gaussian_surrogate import GaussianSurrogate

    return GaussianSurrogate.at(*at).draw(rng, n)
