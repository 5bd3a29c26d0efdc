"""The kernels that settle by exact arithmetic, held against another way.

Digits are printed as an exact zero where a numerator of exponentials has no term, and an enclosure
is shown by the ends of its ball as rational numbers: neither is seen by comparing digits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from numerics.balls.arithmetic.exact import lower_end, upper_end
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.gradient_digits import population_gradient_digits
from numerics.exact.rank import exact_rank
from numerics.exact.zero import PositionGroups, balanced, numerator, vanishes
from numerics.population import gradient
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["ends_cell", "products_cell", "rank_cell", "zero_cell"]

# Some d^5 terms of size 10 cancel in the numerator, which is less than its denominator in all.
_ACCURACY = 1e-12
# Sums of few exponentials with small coefficients that are not zero stay far above this.
_ZERO = 1e-14

# Below this power of two, ends are rounded outwards.
_FINEST = -(1 << 16)
_LEAST = Fraction(1, 1 << -_FINEST)


def zero_cell() -> Cell:
    """Return the cell on the components of the gradient that are proved to be zero."""
    return fault_cell(
        "zero components of the gradient",
        _zero_faults,
        method="the gradient in binary64, at scores and columns of -1, 0 and 1",
        claimed="the numerator's value, and zero, in print too, where the component is zero",
        grade=Grade.SAMPLED,
        precision="exact",
        trials=60,
        cost=0.1,
    )


def _zero_faults(rng: np.random.Generator) -> Faults:
    d = int(rng.integers(2, 7))
    columns = rng.integers(-1, 2, size=(5, d))
    a, b = (int(position) for position in rng.permutation(d)[:2])
    scores, scores_tilde = columns[0].tolist(), columns[1].tolist()
    # The first two columns of V are the scores: the queries pick one each.
    theta, theta_tilde = np.eye(5)[0], np.eye(5)[1]
    found = gradient(columns.T.astype(np.float64), theta, theta_tilde, (a, b))
    printed = population_gradient_digits(
        columns.T.astype(np.float64), theta, theta_tilde, (a, b), digits=6
    )
    groups = PositionGroups.of(scores, scores_tilde, (a, b))
    Z, Z_tilde = (sum(map(math.exp, each)) for each in (scores, scores_tilde))
    for side, truth, texts, scale in (
        (groups, found.theta, printed.theta, Z**3 * Z_tilde**2),
        (groups.swapped(), found.theta_tilde, printed.theta_tilde, Z_tilde**3 * Z**2),
    ):
        for column, component, text in zip(columns.tolist(), truth.tolist(), texts, strict=True):
            terms = numerator(side, column)
            value = sum(each * math.exp(exponent) for exponent, each in terms.items()) / scale
            zero = vanishes(side, column)
            if (
                not abs(value - component) <= _ACCURACY
                or zero != (abs(component) <= _ZERO)
                or (balanced(side, column) and not zero)
                or (text == "0") != zero
            ):
                yield f"scores {scores}, {scores_tilde}, support {(a, b)}, column {column}"


def ends_cell() -> Cell:
    """Return the cell on the ends of balls as rational numbers."""
    return fault_cell(
        "ends of balls",
        _end_faults,
        method="midpoints and radii made from integers",
        claimed="the ends; rounded outwards, by at most 2^-65536, where they have finer bits",
        grade=Grade.EXACT,
        precision="exact",
        trials=20,
        cost=0.05,
    )


def _end_faults(rng: np.random.Generator) -> Faults:
    sign = int(rng.integers(2)) * 2 - 1
    mantissa = sign * int(rng.integers(0, 1 << 40))
    radius = int(rng.integers(2)) * int(rng.integers(0, 1 << 30))
    exponents = [
        int(rng.choice([0, _FINEST])) + int(rng.integers(-60, 20)) for _ in (mantissa, radius)
    ]
    middle, spread = (
        integer * Fraction(2) ** exponent
        for integer, exponent in zip((mantissa, radius), exponents, strict=True)
    )
    with working_precision(64):
        two = arb(2)
        ball = arb(arb(mantissa) * two ** exponents[0], arb(radius) * two ** exponents[1])
    # Balls keep some 30 bits of a radius, rounded up; midpoint and radius are rounded outwards.
    most = spread / (1 << 28) + (2 * _LEAST if min(exponents) < _FINEST else 0)
    for found, truth, side in (
        (lower_end(ball), middle - spread, -1),
        (upper_end(ball), middle + spread, 1),
    ):
        outwards = None if found is None else side * (found - truth)
        if outwards is None or not 0 <= outwards <= most:
            yield f"{mantissa} 2^{exponents[0]} +- {radius} 2^{exponents[1]}, end {side}"


def products_cell() -> Cell:
    """Return the cell on exact products of a binary64 matrix with long integers."""
    return fault_cell(
        "products with long integers",
        _product_faults,
        method="integers of Python, entry by entry",
        claimed="the same integers, also where vectors and entries differ much in size",
        grade=Grade.EXACT,
        precision="exact",
        trials=20,
        cost=0.05,
    )


def _product_faults(rng: np.random.Generator) -> Faults:
    d, m = (int(size) for size in rng.integers(1, 8, size=2))
    V = rng.standard_normal((d, m)) * 2.0 ** rng.integers(-200, 200, size=(d, m))
    rows = [[Fraction(entry) for entry in row] for row in V.tolist()]
    for name, table, product in (
        ("V x", rows, IntegerMatrix(V).times),
        ("V^T x", [list(column) for column in zip(*rows, strict=True)],
         IntegerMatrix(V).transposed_times),
    ):  # fmt: skip
        vectors = [[_long_integer(rng, 1 + 400 * k) for _ in table[0]] for k in range(2)]
        found, exponent = product(vectors)
        for vector, values in zip(vectors, found, strict=True):
            for row, value in zip(table, values, strict=True):
                truth = sum((x * n for x, n in zip(row, vector, strict=True)), Fraction(0))
                if value * Fraction(2) ** exponent != truth:
                    yield f"{name} for V = {V.tolist()}, x = {vector}"


def _long_integer(rng: np.random.Generator, bits: int) -> int:
    """Draw an integer of about that many bits, of either sign."""
    size = int.from_bytes(rng.bytes(bits // 8 + 1))
    return size if rng.integers(2) else -size


def rank_cell() -> Cell:
    """Return the cell on the exact rank of a binary64 matrix."""
    return fault_cell(
        "rank of binary64 matrices",
        _rank_faults,
        method="products of matrices of known rank",
        claimed="the rank that the matrix was made with",
        grade=Grade.EXACT,
        precision="exact",
        trials=40,
        cost=0.02,
    )


def _rank_faults(rng: np.random.Generator) -> Faults:
    rank = int(rng.integers(1, 4))
    d, m = rank + int(rng.integers(1, 4)), rank + int(rng.integers(0, 4))
    # Triangular factors with ones have full rank; entries stay so short that nothing is rounded.
    tall = np.tril(rng.integers(-3, 4, size=(d, rank)), -1) + np.eye(d, rank)
    wide = np.triu(rng.integers(-3, 4, size=(rank, m)), 1) + np.eye(rank, m)
    V = (tall @ wide) * 2.0 ** rng.integers(-30, 30, size=m)
    found = exact_rank(rng.permutation(V, axis=0))
    if found != rank:
        yield f"{found}, not {rank}, for {V.tolist()}"
