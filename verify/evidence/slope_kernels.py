"""The slopes of the first step, held against its gradient, and their parts read literally.

The events of Theorem 2 are counted in these numbers: a slope that comes out too large would make
every one of them rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from numerics.population import antisymmetric_gradient
from numerics.theorem2.slopes import HeadSlopes, OneStepSlopes, one_step_slopes
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.instance import Instance, draw_instance

__all__ = ["slopes_cell"]

# Sums of some d + m < 60 products whose absolute values add up to less than 20, by 2^-53 each.
_ACCURACY = 1e-12

Parts = Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]


def slopes_cell() -> Cell:
    """Return the cell on the slopes of the first step and their parts."""
    return fault_cell(
        "slopes of the first step and their parts",
        _slope_faults,
        method="the gradient of the first step; the definitions, product by product",
        claimed=f"the same numbers, within {_ACCURACY:g}",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=20,
        cost=0.05,
    )


def _slope_faults(rng: np.random.Generator) -> Faults:
    instance = draw_instance(rng, int(rng.integers(3, 30)), int(rng.integers(2, 12)))
    found = one_step_slopes(instance.V, instance.theta, instance.support)
    s = instance.V @ instance.theta
    gradient = antisymmetric_gradient(instance.V, instance.theta, instance.support)
    for name, values, truth in (
        *_start(instance, found, s),
        *_head("theta", instance, found, found.theta, s, gradient.theta),
        *_head("theta_tilde", instance, found, found.theta_tilde, -s, gradient.theta_tilde),
    ):
        # "not <=" rather than ">": what is not a number is a fault.
        if not np.all(np.abs(values - truth) <= _ACCURACY):
            yield f"{name} = {values}; {truth} by definition"


def _start(instance: Instance, found: OneStepSlopes, s: NDArray[np.float64]) -> Parts:
    a, b = instance.support
    v_a, v_b = instance.V[a], instance.V[b]
    for name, value, truth in (
        ("omega", found.omega, 1 / (np.exp(s).sum() * np.exp(-s).sum())),
        ("Delta", found.lean, abs(s[a] - s[b])),
        ("rho", found.overlap, v_a @ v_b),
        ("|A|", found.distance, np.linalg.norm(v_a - v_b)),
    ):
        yield name, np.array(value), np.array(truth)


def _head(
    name: str,
    instance: Instance,
    found: OneStepSlopes,
    head: HeadSlopes,
    s: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> Parts:
    """Yield the slopes of a head beside those of its gradient, and its parts beside their sums.

    `s` are the scores of this head.
    """
    V, theta, ambient, Delta = instance.V, instance.theta, found.ambient, found.lean
    own, other = max(instance.support, key=s.__getitem__), min(instance.support, key=s.__getitem__)
    v_own, v_other = V[own], V[other]
    push = -gradient / (2 * found.omega)
    d, omega = len(V), found.omega
    square, square_tilde = np.exp(2 * s).sum(), np.exp(-2 * s).sum()
    kappa = 2 * math.cosh(Delta) - omega * square * square_tilde - 2 * d * (d - 1) * omega
    c = kappa * np.exp(s) / np.exp(s).sum() + omega * square_tilde * np.exp(2 * s)
    c += 2 * (d - 1) * omega
    off_start = V - np.outer(V @ theta, theta)
    W = c[ambient] @ off_start[ambient]
    room = 1 - v_own @ v_other
    for what, value, truth in (
        ("slope on the support", head.support_slope, push @ (v_own - v_other)),
        ("slopes off the support", head.ambient_slopes, (v_own - V[ambient]) @ push),
        ("weights", head.weights, c),
        ("signal", head.signal, 2 * math.sinh(Delta) * room),
        ("weights on the support", head.support_weights, -(c[own] - c[other]) * room),
        ("structured part", head.structured, -Delta * (c[ambient] @ s[ambient])),
        ("noise", head.noise, -W @ (v_own - v_other)),
        ("noise along the own position", head.support_noise, W @ v_own),
        ("pulls", head.pulls, V[ambient] @ (math.exp(Delta) * v_own + math.exp(-Delta) * v_other)),
        (
            "noises off the support",
            head.ambient_noises,
            V[ambient] @ W - c[ambient] * (off_start * V).sum(axis=1)[ambient],
        ),
    ):
        yield f"{what} ({name})", np.asarray(value), np.asarray(truth)
