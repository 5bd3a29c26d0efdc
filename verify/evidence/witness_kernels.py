"""The kernels behind witnesses, held against rational arithmetic or each other.

Other claims lean on them where they are compared with something else, or not at all: the loss by
visiting every input in binary64, how far rows are from unit vectors, and the covariance from which
gradients of many samples are drawn.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb

from numerics.balls.arithmetic.exact import from_fraction
from numerics.balls.arithmetic.precision import working_precision
from numerics.enumeration import enumerate_loss
from numerics.exact.norms import unit_norm_deviation
from numerics.population import loss as population_loss
from numerics.worst_case import worst_case_loss
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.instance import draw_instance
from verify.instances.rational_attention import draw_rational_attention

__all__ = ["covariance_cell", "enumeration_cell", "norms_cell"]

# Means and maxima of losses, at most 4, by a few roundings of p and q each.
_ENUMERATION_ACCURACY = 1e-14
# The same where sums have some twenty terms, and means 2^18.
_WIDE_ACCURACY = 1e-13
# Relative to the trace: sums of some d m < 100 products.
_COVARIANCE_ACCURACY = 1e-12
_ROOT_BITS = 256


def enumeration_cell() -> Cell:
    """Return the cell on the enumeration of all inputs in binary64."""
    return fault_cell(
        "enumeration in binary64",
        _enumeration_faults,
        method="enumeration in rational arithmetic; from 2^16 inputs on the closed forms",
        claimed=f"mean and largest loss within {_ENUMERATION_ACCURACY:g}, and who attains it",
        grade=Grade.SAMPLED,
        precision="exact",
        trials=20,
        cost=0.2,
    )


def _enumeration_faults(rng: np.random.Generator) -> Faults:
    d = int(rng.integers(2, 9))
    heads = [draw_rational_attention(rng, d) for _ in range(2)]
    a, b = (int(position) for position in rng.permutation(d)[:2])
    exact = enumerate_loss(heads[0], heads[1], (a, b))
    first, second = (np.array([float(weight) for weight in head]) for head in heads)
    found = enumerate_loss(first, second, (a, b))
    p, q = (
        sum((w * sign for w, sign in zip(head, found.witness, strict=True)), Fraction(0))
        for head in heads
    )
    at_witness = (found.witness[a] * found.witness[b] - p * q) ** 2
    yield from _wide_faults(rng)
    for what, value, truth in (
        ("mean", found.mean, exact.mean),
        ("largest", found.supremum, exact.supremum),
        ("at its witness", found.supremum, at_witness),
    ):
        if not abs(Fraction(value) - truth) <= Fraction(_ENUMERATION_ACCURACY):
            yield f"{what}: {value}, exactly {truth}; heads {heads}, support {(a, b)}"


def _wide_faults(rng: np.random.Generator) -> Faults:
    """Enumerate more inputs than fit into a block, beside the closed form and the bracket."""
    d = int(rng.integers(17, 19))
    gamma, gamma_tilde = (rng.dirichlet(np.full(d, 0.5)) for _ in range(2))
    a, b = (int(position) for position in rng.permutation(d)[:2])
    found = enumerate_loss(gamma, gamma_tilde, (a, b))
    mean = population_loss(gamma, gamma_tilde, (a, b))
    bracket = worst_case_loss(gamma, gamma_tilde, (a, b))
    if (
        not abs(found.mean - mean) <= _WIDE_ACCURACY
        or not bracket.lower - _WIDE_ACCURACY <= found.supremum <= bracket.upper + _WIDE_ACCURACY
    ):
        yield f"mean {found.mean}, not {mean}; largest {found.supremum}, not in {bracket}"


def norms_cell() -> Cell:
    """Return the cell on the enclosure of how far rows are from unit vectors."""
    return fault_cell(
        "distance of rows from unit vectors",
        _norm_faults,
        method=f"square roots in {_ROOT_BITS}-bit balls",
        claimed="an enclosure, at most 2^-127 wide",
        grade=Grade.CERTIFIED,
        precision=f"{_ROOT_BITS} bits",
        trials=20,
        cost=0.02,
    )


def _norm_faults(rng: np.random.Generator) -> Faults:
    d, m = (int(size) for size in rng.integers(1, 6, size=2))
    V = rng.standard_normal((d, m)) * 10.0 ** rng.integers(-3, 2)
    if rng.integers(2):  # so near to unit vectors that only exact arithmetic tells them apart
        V /= np.linalg.norm(V, axis=1)[:, np.newaxis]
    if rng.integers(4) == 0:
        V[0] = np.eye(m)[0]
    lower, upper = unit_norm_deviation(V)
    with working_precision(_ROOT_BITS):
        squares = [sum((Fraction(x) ** 2 for x in row), Fraction(0)) for row in V.tolist()]
        truth = arb(0)
        for square in squares:
            truth = truth.max(abs(from_fraction(square).sqrt() - 1))
        encloses = from_fraction(lower) <= truth.upper() and truth.lower() <= from_fraction(upper)
    if not encloses or not 0 <= upper - lower <= Fraction(1, 1 << 127):
        yield f"[{lower}, {upper}] for {V.tolist()}"


def covariance_cell() -> Cell:
    """Return the cell on the covariance of one sample's gradient, both heads together."""
    return fault_cell(
        "covariance at random instances",
        _covariance_faults,
        method="variances along random directions, by the kernel that needs no matrix",
        claimed=f"the same variances, within {_COVARIANCE_ACCURACY:g} of the trace",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=20,
        cost=0.05,
    )


def _covariance_faults(rng: np.random.Generator) -> Faults:
    from numerics.samples.covariance import sample_covariance, sample_variance

    d, m = int(rng.integers(2, 20)), int(rng.integers(1, 6))
    instance = replace(draw_instance(rng, d, m), theta_tilde=rng.uniform(-1, 1, size=m))
    covariance = sample_covariance(*instance.arguments)
    trace = float(np.trace(covariance))
    for direction, direction_tilde in (
        rng.uniform(-1, 1, size=(2, m)),
        (rng.uniform(-1, 1, size=m), np.zeros(m)),
        (np.zeros(m), rng.uniform(-1, 1, size=m)),
    ):
        along = np.concatenate([direction, direction_tilde])
        found = float(along @ covariance @ along)
        truth = sample_variance(*instance.arguments, direction, direction_tilde)
        if not abs(found - truth) <= _COVARIANCE_ACCURACY * trace:
            yield f"{found}, not {truth}, at d = {d}, m = {m}, support {instance.support}"
