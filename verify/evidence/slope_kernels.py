"""The slopes of the first step, held against its gradient, and their parts against definitions.

The events of Theorem 2 are counted in these numbers: a slope that comes out too large would make
every one of them rare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.population import antisymmetric_gradient
from numerics.theorem2.slopes import HeadSlopes, OneStepSlopes, one_step_slopes
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.evidence.slope_definitions import HeadDefinition, define_slopes
from verify.instances.instance import Instance, draw_instance

__all__ = ["slopes_cell"]

# Sums of some d + m <= 40 products whose absolute values add up to less than 20, by 2^-53 each; the
# gradient, of order omega, is divided by it.
_ACCURACY = 1e-12

Parts = Iterator[tuple[str, ArrayLike, ArrayLike]]


def slopes_cell() -> Cell:
    """Return the cell on the slopes of the first step and their parts."""
    return fault_cell(
        "slopes of the first step and their parts",
        _slope_faults,
        method="the gradient of the first step; the definitions, product by product",
        claimed=f"the same numbers, within {_ACCURACY:g}",
        grade=Grade.SAMPLED,
        precision="60 digits; the gradient in binary64",
        trials=20,
        cost=0.3,
    )


def _slope_faults(rng: np.random.Generator) -> Faults:
    instance = draw_instance(rng, int(rng.integers(3, 30)), int(rng.integers(2, 12)))
    found = one_step_slopes(instance.V, instance.theta, instance.support)
    truth = define_slopes(instance)
    gradient = antisymmetric_gradient(instance.V, instance.theta, instance.support)
    start = ("scores", "ambient", "lean", "overlap", "distance", "omega")
    for name, value, expected in (
        *((name, getattr(found, name), getattr(truth, name)) for name in start),
        *_parts("theta", found.theta, truth.theta),
        *_parts("theta_tilde", found.theta_tilde, truth.theta_tilde),
        *_slopes("theta", instance, found, found.theta, gradient.theta),
        *_slopes("theta_tilde", instance, found, found.theta_tilde, gradient.theta_tilde),
    ):
        # "not <=" rather than ">": what is not a number is a fault.
        if not np.all(np.abs(np.asarray(value) - np.array(expected, dtype=float)) <= _ACCURACY):
            yield f"{name} = {value}; {expected} by definition"


def _parts(head: str, found: HeadSlopes, truth: HeadDefinition) -> Parts:
    for name in (field.name for field in fields(HeadDefinition)):
        yield f"{name} ({head})", getattr(found, name), getattr(truth, name)


def _slopes(
    name: str,
    instance: Instance,
    found: OneStepSlopes,
    head: HeadSlopes,
    gradient: NDArray[np.float64],
) -> Parts:
    """Yield the slopes of a head beside those of its gradient, and what it leans to."""
    V, s = instance.V, instance.V @ getattr(instance, name)
    own, other = sorted(instance.support, key=s.__getitem__, reverse=True)
    push = -gradient / (2 * found.omega)
    yield f"positions ({name})", np.array([head.own, head.other]), np.array([own, other])
    yield f"slope on the support ({name})", head.support_slope, push @ (V[own] - V[other])
    yield f"slopes off it ({name})", head.ambient_slopes, (V[own] - V[found.ambient]) @ push
