"""The model in balls: exponentials of scores, attention, loss, gradient weights and the step.

Scores enter as exact integers times a power of two. Exponentials are taken of exact differences
from the largest score, so they neither overflow nor carry a radius from the scores.

One step is theta^1 = theta - eta grad. The gradient V^T w is a ball vector, because its weights w
are; its midpoint is rounded to integers n_j 2^unit, and all that was lost, radii and rounding, is
added up to a single number: for every position,

    |v_i . theta^1 - v_i . n 2^unit|  <=  max |v_ij| sum_j |theta^1_j - n_j 2^unit|  <=  slack.

The scores of the midpoint query are exact again. So a step ends in exact scores and a slack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from numerics.balls.arithmetic.exact import (
    block_integers,
    dyadic,
    from_fraction,
    scaled_integers,
    symmetric,
)
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix

__all__ = [
    "HeadScores",
    "Start",
    "attention",
    "dot",
    "gradient_weights",
    "population_loss",
    "powers",
    "starts",
    "step",
]


@dataclass(frozen=True, slots=True)
class HeadScores:
    """The scores of one head: integers in a common unit, all true scores within a slack of them.

    Attributes
    ----------
    integers : list of int, length d
        Midpoints of the scores, in units of 2^unit.
    unit : int
        Exponent of the unit.
    slack : arb
        Bounds ``|s_i - integers[i] 2^unit|`` for every i; zero before a step.
    """

    integers: list[int]
    unit: int
    slack: arb


@dataclass(frozen=True, slots=True)
class Start:
    """One head before the step, exactly.

    Attributes
    ----------
    integers : list of int, length m
        The query, in units of 2^unit.
    unit : int
        Exponent of the unit.
    scores : HeadScores
        The scores, with slack zero.
    """

    integers: list[int]
    unit: int
    scores: HeadScores


def starts(
    matrix: IntegerMatrix, theta: NDArray[np.float64], theta_tilde: NDArray[np.float64]
) -> tuple[Start, Start]:
    """Take the two queries as exact numbers and form their scores, in one pass over V."""
    queries = [_integer_vector(theta), _integer_vector(theta_tilde)]
    products, unit_V = matrix.times([integers for integers, _ in queries])
    first, second = (
        Start(integers, unit, HeadScores(product, unit_V + unit, arb(0)))
        for (integers, unit), product in zip(queries, products, strict=True)
    )
    return first, second


def _integer_vector(vector: NDArray[np.float64]) -> tuple[list[int], int]:
    """Return a finite binary64 vector as integers times a power of two, and its exponent."""
    mantissas, exponents = np.frexp(vector)
    unit = int(exponents.min()) - 53
    whole = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifts = (exponents - 53 - unit).tolist()
    return [n << shift for n, shift in zip(whole, shifts, strict=True)], unit


def powers(integers: Sequence[int], unit: int) -> list[arb]:
    """Return ``exp(s_i - max s)`` of exact scores: in (0, 1], one of them 1."""
    top = max(integers)
    return [x.exp() for x in scaled_integers([n - top for n in integers], unit)]


def attention(weights: Sequence[arb]) -> list[arb]:
    """Return positive weights divided by their sum."""
    share = 1 / sum(weights, arb(0))
    return [weight * share for weight in weights]


def dot(x: Sequence[arb], y: Sequence[arb]) -> arb:
    """Return ``sum_i x_i y_i``, rounded once."""
    (product,) = (arb_mat(1, len(x), x) * arb_mat(len(y), 1, y)).entries()
    return product


def population_loss(
    gamma: Sequence[arb], gamma_tilde: Sequence[arb], support: tuple[int, int]
) -> arb:
    """L = 1 - 2 mu + |gamma|^2 |gamma~|^2 + 2 <gamma, gamma~>^2 - 2 sum gamma_i^2 gamma~_i^2."""
    a, b = support
    mu = gamma[a] * gamma_tilde[b] + gamma[b] * gamma_tilde[a]
    products = [g * t for g, t in zip(gamma, gamma_tilde, strict=True)]
    square, square_tilde = dot(gamma, gamma), dot(gamma_tilde, gamma_tilde)
    overlap = sum(products, arb(0))
    return 1 - 2 * mu + square * square_tilde + 2 * (overlap * overlap - dot(products, products))


def gradient_weights(
    gamma: Sequence[arb], gamma_tilde: Sequence[arb], support: tuple[int, int]
) -> list[arb]:
    """Return w_i = gamma_i (g_i - sum_j gamma_j g_j), g = dL/dgamma: grad_theta L = sum w_i v_i.

    g_i / 2 = gamma_i |gamma~|^2 + 2 gamma~_i (<gamma, gamma~> - gamma_i gamma~_i)
              - delta_ia gamma~_b - delta_ib gamma~_a.
    """
    a, b = support
    square_tilde = dot(gamma_tilde, gamma_tilde)
    overlap = dot(gamma, gamma_tilde)
    halves = [
        g * square_tilde + 2 * t * (overlap - g * t)
        for g, t in zip(gamma, gamma_tilde, strict=True)
    ]
    halves[a] -= gamma_tilde[b]
    halves[b] -= gamma_tilde[a]
    mean = dot(gamma, halves)
    return [2 * g * (half - mean) for g, half in zip(gamma, halves, strict=True)]


def step(
    matrix: IntegerMatrix,
    before: tuple[Start, Start],
    support: tuple[int, int],
    *,
    eta: Fraction,
    bits: int,
) -> tuple[HeadScores, HeadScores]:
    """Return the scores of both heads after one step of population gradient descent.

    Parameters
    ----------
    matrix : IntegerMatrix
        The embeddings V.
    before : pair of Start
        The two heads before the step.
    support : pair of int
        The positions (a, b), 0-based.
    eta : Fraction
        Step size, for the loss without the factor 1/2.
    bits : int
        The working precision, already set.

    Raises
    ------
    UnresolvedError
        If the precision is too low for the gradient to be enclosed.
    """
    gamma, gamma_tilde = (
        attention(powers(head.scores.integers, head.scores.unit)) for head in before
    )
    weights = [
        block_integers(gradient_weights(*heads, support), bits)
        for heads in ((gamma, gamma_tilde), (gamma_tilde, gamma))
    ]
    sums, unit_V = matrix.transposed_times([integers for integers, _, _ in weights])
    size = dyadic(1, matrix.exponent)  # no entry of V is larger
    rate = from_fraction(eta)
    after = []
    for head, total, (_, unit, lost) in zip(before, sums, weights, strict=True):
        error = symmetric(size * lost)
        gradient = [component + error for component in scaled_integers(total, unit_V + unit)]
        query = scaled_integers(head.integers, head.unit)
        moved = [x - rate * g for x, g in zip(query, gradient, strict=True)]
        after.append(block_integers(moved, bits))
    scores, unit_V = matrix.times([integers for integers, _, _ in after])
    first, second = (
        HeadScores(integers, unit_V + unit, (size * lost).upper())
        for integers, (_, unit, lost) in zip(scores, after, strict=True)
    )
    return first, second
