"""Three ways to one number: derived formula in balls, mean over all inputs in balls, kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.model import attention, powers, starts
from verify.claim import Cell
from verify.evidence.agreement import agreement_cell
from verify.instances.instance import Instance, draw_instance

__all__ = ["InBalls", "enumerated_loss", "enumerated_slopes", "three_way_cell"]

_BITS = 128

Form = Sequence[arb]
Start = Literal["antisymmetric", "independent", "zero"]


@dataclass(frozen=True)
class InBalls:
    """A small instance in balls, with the exponentials of the scores and a direction.

    Parameters
    ----------
    instance : Instance
        The binary64 numbers, taken exactly.
    A : ndarray of shape (m,)
        A direction.
    E : sequence of arb
        ``exp(s_i)`` up to a common factor, for the first head.
    gamma, gamma_tilde : sequence of arb
        The attention of either head.
    t : sequence of arb
        ``v_i . A``.
    """

    instance: Instance
    A: NDArray[np.float64]
    E: Form
    gamma: Form
    gamma_tilde: Form
    t: Form

    @classmethod
    def of(cls, instance: Instance, A: NDArray[np.float64]) -> InBalls:
        """Enclose an instance, at the working precision."""
        matrix = IntegerMatrix(instance.V)
        first, second = (
            powers(head.scores.integers, head.scores.unit)
            for head in starts(matrix, instance.theta, instance.theta_tilde)
        )
        entries = [from_float(entry) for entry in A.tolist()]
        t = [
            sum((from_float(v) * x for v, x in zip(row, entries, strict=True)), arb(0))
            for row in instance.V.tolist()
        ]
        return cls(instance, A, first, attention(first), attention(second), t)

    @property
    def positions(self) -> dict[str, int]:
        """The support, by the names of the derivations."""
        return dict(zip("ab", self.instance.support, strict=True))


def _inputs(at: InBalls) -> Iterator[tuple[arb, arb, arb, arb, int]]:
    """Yield p, q, their derivatives along A, and x_a x_b, for every input."""
    a, b = at.instance.support
    forms = (
        at.gamma,
        at.gamma_tilde,
        _velocity(at.gamma, at.t),
        _velocity(at.gamma_tilde, at.t),
    )
    for x in product((1, -1), repeat=at.instance.d):
        p, q, p_slope, q_slope = (
            sum((c * sign for c, sign in zip(form, x, strict=True)), arb(0)) for form in forms
        )
        yield p, q, p_slope, q_slope, x[a] * x[b]


def _velocity(gamma: Form, t: Form) -> list[arb]:
    mean = sum((g * rate for g, rate in zip(gamma, t, strict=True)), arb(0))
    return [g * (rate - mean) for g, rate in zip(gamma, t, strict=True)]


def enumerated_loss(at: InBalls) -> arb:
    """Enclose the mean of (f - y)^2 over all inputs."""
    total = arb(0)
    for p, q, _, _, tau in _inputs(at):
        total += (tau - p * q) * (tau - p * q)
    return total / (1 << at.instance.d)


def enumerated_slopes(at: InBalls) -> tuple[arb, arb]:
    """Enclose the derivatives of that mean along A, by theta and by theta_tilde."""
    slope = slope_tilde = arb(0)
    for p, q, p_slope, q_slope, tau in _inputs(at):
        slope += 2 * (p * q - tau) * p_slope * q
        slope_tilde += 2 * (p * q - tau) * p * q_slope
    return slope / (1 << at.instance.d), slope_tilde / (1 << at.instance.d)


def three_way_cell(
    name: str,
    *,
    symbolic: Callable[[InBalls], Sequence[arb]],
    enumerated: Callable[[InBalls], Sequence[arb]],
    kernel: Callable[[InBalls], Sequence[float]],
    start: Start,
    trials: int,
    cells: int,
    cost: float,
) -> Cell:
    """Return the cell that holds the three against each other at random small instances.

    Parameters
    ----------
    name : str
        The cell's name.
    symbolic, enumerated, kernel : callable
        The same numbers in three ways: the derived formula in balls, the mean over all inputs
        in balls, and binary64.
    start : {"antisymmetric", "independent", "zero"}
        Whether ``theta_tilde`` is ``-theta`` or drawn, or both queries vanish.
    trials, cells, cost
        As for `agreement_cell`.
    """

    def error(rng: np.random.Generator) -> float:
        d, m = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        instance = draw_instance(rng, d, m)
        if start == "independent":
            instance = replace(instance, theta_tilde=rng.uniform(-1, 1, size=m))
        elif start == "zero":
            instance = replace(instance, theta=np.zeros(m), theta_tilde=np.zeros(m))
        with working_precision(_BITS):
            at = InBalls.of(instance, rng.uniform(-1, 1, size=m))
            errors = [
                # The upper end, so that a wide ball counts as an error and not as agreement.
                float((abs(from_float(float(value)) - formula) + mean.rad()).upper())
                if formula.overlaps(mean)
                else np.inf
                for formula, mean, value in zip(
                    symbolic(at), enumerated(at), kernel(at), strict=True
                )
            ]
        # np.max, unlike max, hands on an entry that is not a number.
        return float(np.max(errors))

    return agreement_cell(
        name,
        method=f"derived formula and enumeration in {_BITS}-bit balls, which must overlap",
        error=error,
        # The kernels err by (8 + r) u sum_i |w_i| |v_i|, r < 4, sum_i |w_i| <= 4, along |A| <= 2.
        bound=96 * 2.0**-53,
        trials=trials,
        cells=cells,
        cost=cost,
    )
