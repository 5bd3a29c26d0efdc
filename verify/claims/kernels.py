"""How far the binary64 kernels are from the truth, and that printed digits are right."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from numerics.attention import complement, softmax
from numerics.balls.arithmetic.exact import dyadic, from_float
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.gradient_digits import population_gradient_digits as proved_digits
from numerics.balls.model import attention, starts, step
from numerics.multiprecision.gradient_digits import population_gradient_digits as settled_digits
from numerics.one_step import one_step
from numerics.population import PopulationGradient, antisymmetric_gradient, gradient
from verify.claim import Cell, Claim, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.digit_kernels import uniform_digits_cell
from verify.evidence.exact_kernels import (
    ends_cell,
    products_cell,
    rank_cell,
    zero_cell,
)
from verify.evidence.probability_kernels import interval_cell, tail_cell
from verify.evidence.rigged_grades import (
    grades_cell,
    rigged_kernels_cell,
    rigged_simulations_cell,
)
from verify.evidence.tail_kernels import binomial_tails_cell
from verify.evidence.witness_kernels import enumeration_cell, norms_cell
from verify.instances.instance import Instance, draw_instance

__all__ = ["CLAIMS"]

_UNIT = 2.0**-53
_BITS = 128
# Without a failure, 506 instances put the share of failures below 1% for four cells at the joint
# 95% level, and 368 for one.
_TRIALS: dict[Profile, int] = {"quick": 510, "standard": 600, "full": 10_000}
_DIGITS_TRIALS: dict[Profile, int] = {"quick": 370, "standard": 600, "full": 10_000}


def _instance(rng: np.random.Generator) -> Instance:
    d, m = int(rng.integers(2, 60)), int(rng.integers(1, 20))
    return draw_instance(rng, d, m)


def _attention_error(rng: np.random.Generator) -> float:
    """Largest relative error of an attention weight or complement, of exactly given scores."""
    scores = rng.uniform(-1, 1, size=int(rng.integers(2, 60))) * 10.0 ** rng.integers(0, 4)
    position = int(rng.integers(len(scores)))
    with working_precision(_BITS):
        exact = [from_float(score) for score in scores.tolist()]
        top = exact[int(np.argmax(scores))]
        weights = attention([(score - top).exp() for score in exact])
        rest = sum(weights[:position] + weights[position + 1 :], from_float(0.0))
        found = [*softmax(scores).tolist(), complement(scores, position)]
        errors = [
            float(abs(from_float(value) / truth - 1).mid())
            for value, truth in zip(found, [*weights, rest], strict=True)
            # Below the normal range binary64 has fewer digits to be right in.
            if truth > 1e-300
        ]
    return float(np.max(errors)) / _UNIT


def _gradient_error(
    kernel: Callable[[Instance], PopulationGradient], rng: np.random.Generator
) -> float:
    """Error of the loss, and of both gradients in the norm relative to it, over m + 8."""
    instance = _instance(rng)
    found = kernel(instance)
    truth = proved_digits(*instance.arguments, digits=20)
    pairs = ((found.theta, truth.theta), (found.theta_tilde, truth.theta_tilde))
    # sum_i |w_i| is of order 1/d^2 at these starts, also where the gradient itself vanishes.
    errors = [abs(found.loss - float(truth.loss or "nan"))]
    errors += [
        float(np.linalg.norm(values - _numbers(exact))) * instance.d**2 for values, exact in pairs
    ]
    return float(np.max(errors)) / (instance.m + 8) / _UNIT


def _numbers(digits: tuple[str | None, ...]) -> NDArray[np.float64]:
    return np.array([float(text or "nan") for text in digits])


def _general(instance: Instance) -> PopulationGradient:
    return gradient(*instance.arguments)


def _antisymmetric(instance: Instance) -> PopulationGradient:
    return antisymmetric_gradient(instance.V, instance.theta, instance.support)


def _step_error(rng: np.random.Generator) -> float:
    """Largest error of a score after a step with eta = 1000 d^2, over 1000 (m + 8)."""
    instance = _instance(rng)
    eta = Fraction(1000 * instance.d**2)
    found = one_step(instance.V, instance.theta, instance.support, float(eta))
    matrix = IntegerMatrix(instance.V)
    with working_precision(_BITS):
        before = starts(matrix, instance.theta, instance.theta_tilde)
        after = step(matrix, before, instance.support, eta=eta, bits=_BITS)
        errors = [
            float(abs(from_float(score) - dyadic(n, head.unit)).mid())
            for scores, head in zip((found.scores, found.scores_tilde), after, strict=True)
            for score, n in zip(scores.tolist(), head.integers, strict=True)
        ]
    return float(np.max(errors)) / 1000 / (instance.m + 8) / _UNIT


def _digits_error(rng: np.random.Generator) -> float:
    """Zero if the proved digits are those that two precisions of mpmath agree on, else infinite."""
    instance = _instance(rng)
    given = instance.arguments
    digits = int(rng.integers(1, 60))
    proved, settled = proved_digits(*given, digits=digits), settled_digits(*given, digits=digits)
    same = (proved.loss, proved.theta, proved.theta_tilde) == (
        settled.loss,
        settled.theta,
        settled.theta_tilde,
    )
    given_up = None in {proved.loss, *proved.theta, *proved.theta_tilde}
    return 0.0 if same and not given_up else np.inf


def _accuracy_cells(profile: Profile) -> tuple[Cell, ...]:
    trials = _TRIALS[profile]
    measured = (
        ("attention and complement, relative", _attention_error, 16.0),
        ("gradient at any queries", partial(_gradient_error, _general), 16.0),
        ("gradient at the antisymmetric start", partial(_gradient_error, _antisymmetric), 16.0),
        ("scores after one step", _step_error, 16.0),
    )
    return (
        *(
            agreement_cell(
                name,
                subject="statement",
                method="128-bit balls, or digits proved by them",
                error=error,
                bound=bound,
                trials=trials,
                cells=len(measured),
                cost=trials * 3e-3,
            )
            for name, error, bound in measured
        ),
        interval_cell(),
        tail_cell(),
        binomial_tails_cell(),
        grades_cell(),
        rigged_kernels_cell(),
        rigged_simulations_cell(),
        enumeration_cell(),
        norms_cell(),
    )


def _digits_cells(profile: Profile) -> tuple[Cell, ...]:
    trials = _DIGITS_TRIALS[profile]
    return (
        agreement_cell(
            "1 to 59 digits at random instances",
            subject="statement",
            method="mpmath at two precisions, without balls",
            error=_digits_error,
            bound=0.0,
            trials=trials,
            cost=trials * 1e-2,
        ),
        zero_cell(),
        uniform_digits_cell(),
        ends_cell(),
        products_cell(),
        rank_cell(),
    )


CLAIMS = (
    Claim(
        id="kernel-accuracy",
        title="the binary64 kernels are as accurate as they say",
        statement=(
            r"At random instances with $d < 60$, $m < 20$, in units of $u = 2^{-53}$ and except"
            r" with probability $1/100$: attention and its complement err by at most $16$"
            r" relatively, the gradients by $16 (m + 8) / d^2$ in the norm, the scores after one"
            r" step with $\eta = 1000 d^2$ by $16 (m + 8) \eta / d^2$."
        ),
        source="ours",
        cells=_accuracy_cells,
        dependencies=("population-gradient", "antisymmetric-start"),
    ),
    Claim(
        id="gradient-digits",
        title="the digits that are proved are those that another arithmetic finds",
        statement=(
            r"Except with probability $1/100$ over random instances, the decimal digits of loss and"
            r" gradients, proved by enclosure in ball arithmetic, are those on which mpmath settles"
            r" when its precision is doubled."
        ),
        source="ours",
        cells=_digits_cells,
        dependencies=("population-gradient",),
    ),
)
