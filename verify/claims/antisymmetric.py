"""The antisymmetric start: identities, closed loss, signal and rest of the first step."""

from __future__ import annotations

import numpy as np
from flint import arb

from numerics.multiprecision.differences import numeric_gradient
from numerics.population import antisymmetric_gradient, gradient
from verify.claim import Cell, Claim, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.derivation import derivation_cell
from verify.evidence.three_ways import (
    InBalls,
    enumerated_loss,
    enumerated_slopes,
    three_way_cell,
)
from verify.instances.instance import draw_instance
from verify.ledgers.symbolic_to_ball import evaluate_in_balls

__all__ = ["CLAIMS"]

_UNIT = 2.0**-53
_TRIALS: dict[Profile, int] = {"quick": 500, "standard": 2000, "full": 20_000}
_SLOW_TRIALS: dict[Profile, int] = {"quick": 500, "standard": 1000, "full": 10_000}


def _error_against_differentiation(rng: np.random.Generator) -> float:
    """Largest absolute error of a component, against 50-digit differentiation over all inputs."""
    d, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    instance = draw_instance(rng, d, m)
    found = antisymmetric_gradient(instance.V, instance.theta, instance.support)
    expected, expected_tilde = numeric_gradient(*instance.arguments, enumerated=True)
    exact = np.array([float(value) for value in (*expected, *expected_tilde)])
    # np.max, unlike max, hands on an entry that is not a number.
    return float(np.max(np.abs(np.concatenate([found.theta, found.theta_tilde]) - exact)))


def _error_against_general_kernel(rng: np.random.Generator) -> float:
    """Relative difference of the two kernels, gradients in the norm and loss near 1, over m."""
    d, m = int(rng.integers(50, 500)), int(rng.integers(8, 64))
    instance = draw_instance(rng, d, m)
    one = antisymmetric_gradient(instance.V, instance.theta, instance.support)
    other = gradient(*instance.arguments)
    difference = np.concatenate([one.theta - other.theta, one.theta_tilde - other.theta_tilde])
    scale = np.concatenate([other.theta, other.theta_tilde])
    relative = float(np.linalg.norm(difference) / np.linalg.norm(scale))
    return float(np.max([relative, abs(one.loss - other.loss)]) / m)


def _symbolic(at: InBalls) -> list[arb]:
    """Enclose the derived loss and gradients along A, from sums of powers of E = e^s."""
    a, b = at.instance.support
    sums = {
        "Z": sum(at.E, arb(0)),
        "Z_tilde": sum((1 / x for x in at.E), arb(0)),
        "Z_2": sum((x**2 for x in at.E), arb(0)),
        "Z_tilde_2": sum((1 / x**2 for x in at.E), arb(0)),
    }
    omega = 1 / (sums["Z"] * sums["Z_tilde"])
    scalars = sums | {"omega": omega}
    growth = {"Delta": at.E[a] / at.E[b]}

    def value(formula: str) -> arb:
        return evaluate_in_balls(
            "antisymmetric",
            formula,
            sequences={"E": at.E, "t": at.t},
            positions=at.positions,
            scalars=scalars,
            exponentials=growth,
        )

    scalars["kappa"] = value("kappa")
    pushes = [-2 * omega * value(name) for name in ("push", "push_tilde")]
    return [value("loss"), *pushes]


def _kernel(at: InBalls) -> list[float]:
    given = at.instance
    found = antisymmetric_gradient(given.V, given.theta, given.support)
    return [found.loss, float(found.theta @ at.A), float(found.theta_tilde @ at.A)]


def _cells(profile: Profile) -> tuple[Cell, ...]:
    trials, slow_trials = _TRIALS[profile], _SLOW_TRIALS[profile]
    return (
        derivation_cell("antisymmetric", cost=2),
        agreement_cell(
            "first gradient at random instances, d = 2..5, m = 1..3",
            method="50-digit differentiation of the mean over all inputs",
            error=_error_against_differentiation,
            # As for the general gradient: (8 + r) u sum_i |w_i|, r < 4, sum_i |w_i| <= 4.
            bound=48 * _UNIT,
            trials=slow_trials,
            cells=3,
            cost=slow_trials * 5e-3,
        ),
        agreement_cell(
            "first gradient at random instances, d = 50..499, m = 8..63",
            method="the general kernel, written from other formulas; difference / m",
            error=_error_against_general_kernel,
            # Both kernels document a relative error of about 1e-15 m.
            bound=2e-15,
            trials=trials,
            cells=3,
            cost=trials * 1e-3,
        ),
        three_way_cell(
            "loss and both pushes three ways, d = 2..6",
            symbolic=_symbolic,
            enumerated=lambda at: [enumerated_loss(at), *enumerated_slopes(at)],
            kernel=_kernel,
            start="antisymmetric",
            trials=slow_trials,
            cells=3,
            cost=slow_trials * 5e-3,
        ),
    )


CLAIMS = (
    Claim(
        id="antisymmetric-start",
        title="the antisymmetric start: constant products, closed loss, signal and rest",
        statement=(
            r"At $\tilde\theta = -\theta$, with $\omega = 1/(Z \tilde Z)$ and $\Delta = s_a - s_b$:"
            r" $\gamma_i \tilde\gamma_i = \omega$ for every $i$, $L = 1 - 4 \omega \cosh \Delta +"
            r" \omega^2 (Z_2 \tilde Z_2 + 2 d^2 - 2 d)$, and $-\nabla_\theta L / (2 \omega) ="
            r" e^\Delta v_a + e^{-\Delta} v_b - \sum_j c_j v_j$ with $c_j = \frac{\kappa}{Z}"
            r" e^{s_j} + \omega \tilde Z_2 e^{2 s_j} + 2 (d - 1) \omega$ and $\sum_j c_j = 2 \cosh"
            r" \Delta$."
        ),
        source="ours; the start of arXiv:2502.07553v2, Theorem 2",
        cells=_cells,
        dependencies=("population-loss", "population-gradient"),
    ),
)
