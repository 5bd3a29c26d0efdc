"""Printed digits where attention is uniform, which have formulas of their own.

There every number is rational, so that nothing but integers is needed to say what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from numerics.balls.gradient_digits import population_gradient_digits as proved_digits
from numerics.multiprecision.gradient_digits import population_gradient_digits as settled_digits
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["uniform_digits_cell"]


def uniform_digits_cell() -> Cell:
    """Return the cell on printed digits where all scores of a head are equal."""
    return fault_cell(
        "digits at uniform attention",
        _uniform_faults,
        method="the definition over all inputs, in rational arithmetic, rounded by integers",
        claimed="the digits of the rational loss and gradients, proved and settled alike",
        grade=Grade.EXACT,
        precision="exact",
        trials=20,
        cost=0.1,
    )


def _uniform_faults(rng: np.random.Generator) -> Faults:
    d, m, digits = (int(rng.integers(low, high)) for low, high in ((2, 6), (1, 4), (1, 40)))
    V = rng.standard_normal((d, m)) * 2.0 ** rng.integers(-30, 30, size=m)
    V[:, 0] = V[0, 0]
    # The first column is constant, so that scores are equal wherever it alone is asked for.
    theta, theta_tilde = np.zeros((2, m))
    theta[0], theta_tilde[0] = rng.integers(-2, 3, size=2)
    a, b = (int(position) for position in rng.permutation(d)[:2])
    loss, gradient = _at_uniform_attention(V.tolist(), (a, b))
    truth = [loss, *gradient, *gradient]
    for name, digits_of in (("proved", proved_digits), ("settled", settled_digits)):
        found = digits_of(V, theta, theta_tilde, (a, b), digits=digits)
        for text, number in zip((found.loss, *found.theta, *found.theta_tilde), truth, strict=True):
            if text is None or not _is_rounded(Fraction(text), number, digits):
                yield f"{name}: {text}, not {number}, for V = {V.tolist()}, support {(a, b)}"


def _at_uniform_attention(
    V: Sequence[Sequence[float]], support: tuple[int, int]
) -> tuple[Fraction, list[Fraction]]:
    """Return mean and slopes of (p q - x_a x_b)^2 where p and q are the mean of the signs.

    p varies with theta by the covariance of the signs and the rows, and both heads are the same.
    """
    d, a, b = len(V), *support
    loss, slopes = Fraction(0), [Fraction(0) for _ in V[0]]
    columns = [[Fraction(entry) for entry in column] for column in zip(*V, strict=True)]
    for x in product((1, -1), repeat=d):
        p = Fraction(sum(x), d)
        e = p * p - x[a] * x[b]
        loss += e * e / 2**d
        for k, column in enumerate(columns):
            together = sum(
                (sign * entry for sign, entry in zip(x, column, strict=True)), Fraction(0)
            )
            slopes[k] += 2 * e * p * (together / d - p * sum(column) / d) / 2**d
    return loss, slopes


def _is_rounded(found: Fraction, truth: Fraction, digits: int) -> bool:
    """Whether the number is within half a unit of the last of so many digits of the truth."""
    if not truth:
        return not found
    unit = Fraction(1)
    while abs(truth) >= 10 * unit:
        unit *= 10
    while abs(truth) < unit:
        unit /= 10
    return 2 * abs(found - truth) <= unit / Fraction(10) ** (digits - 1)
