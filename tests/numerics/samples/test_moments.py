from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.population import loss
from numerics.samples.moments import slope_moments
from verify.testing.strategies import instance_at, rational_attention, supports

UNIT = 2.0**-53
CUMULANTS = {2: 1, 4: -2, 6: 16, 8: -272}


def matrix(form):
    """The form as one matrix of both heads' slopes."""
    blocks = [
        [
            np.diag(form.diagonals[g, h]) + form.vectors.T @ form.cores[g, h] @ form.vectors
            for h in range(2)
        ]
        for g in range(2)
    ]
    return np.block(blocks)


def enumerated(gamma, gamma_tilde, support):
    """Mean and second moments of the slopes over all inputs, in rational arithmetic."""
    d = len(gamma)
    a, b = support
    total, total_tilde = (
        np.lcm.reduce([w.denominator for w in head]) for head in (gamma, gamma_tilde)
    )
    x = np.array(list(itertools.product((1, -1), repeat=d)), dtype=object)
    p = x @ [int(w * total) for w in gamma]
    q = x @ [int(w * total_tilde) for w in gamma_tilde]
    e = p * q - int(total) * int(total_tilde) * x[:, a] * x[:, b]
    slopes = 2 * np.hstack(
        [(e * q)[:, None] * x * int(total), (e * p)[:, None] * x * int(total_tilde)]
    )
    unit = Fraction(1, int(total) ** 2 * int(total_tilde) ** 2)
    return slopes.sum(axis=0) * unit / 2**d, slopes.T @ slopes * unit**2 / 2**d


def partitions(elements):
    """All partitions into blocks of even size."""
    if not elements:
        yield []
        return
    first, rest = elements[0], elements[1:]
    for size in range(1, len(elements), 2):
        for others in itertools.combinations(range(len(rest)), size):
            left = [element for k, element in enumerate(rest) if k not in others]
            for blocks in partitions(left):
                yield [(first, *(rest[k] for k in others)), *blocks]


class Rule:
    """The moment rule read literally, for sums of products of forms, without conditioning."""

    def __init__(self, gamma, gamma_tilde, r, r_tilde, support):
        # Binary64 numbers as integers of one unit for each form.
        forms = {"p": gamma, "q": gamma_tilde, "r": r, "t": r_tilde}
        self.unit, self.forms = {}, {}
        for name, values in forms.items():
            exact = [Fraction(float(value)) for value in values]
            unit = max(value.denominator for value in exact)
            self.unit[name] = unit
            self.forms[name] = np.array([int(value * unit) for value in exact], dtype=object)
        for name, position in zip("ab", support, strict=True):
            self.unit[name] = 1
            self.forms[name] = np.array(
                [int(i == position) for i in range(len(gamma))], dtype=object
            )
        self.power_sum = cache(self.power_sum)

    def power_sum(self, names):
        return int(sum(prod(self.forms[name] for name in names)))

    def moment(self, names):
        # Partitions that differ in equal forms only are counted together.
        kinds = Counter(
            tuple(sorted("".join(sorted(block)) for block in blocks))
            for blocks in partitions(names)
        )
        total = sum(
            ways * prod(CUMULANTS[len(block)] * self.power_sum(block) for block in blocks)
            for blocks, ways in kinds.items()
        )
        return Fraction(total, prod(self.unit[name] for name in names))

    def mean(self):
        return 2 * sum(
            self.moment("pq" + slope) - self.moment("ab" + slope) for slope in ("qr", "pt")
        )

    def second(self):
        total = Fraction(0)
        for slopes, ways in (("qrqr", 1), ("qrpt", 2), ("ptpt", 1)):
            square = self.moment("pqpq" + slopes) - 2 * self.moment("abpq" + slopes)
            total += 4 * ways * (square + self.moment(slopes))
        return total


def rational_heads(d):
    head = rational_attention(d, largest=50) | rational_attention(d, largest=1)
    return st.tuples(head, head, supports(d))


@given(st.integers(2, 6).flatmap(rational_heads))
def test_moments_are_the_enumerated_ones(heads):
    gamma, gamma_tilde, support = heads
    mean, second = enumerated(gamma, gamma_tilde, support)
    found = slope_moments([float(w) for w in gamma], [float(w) for w in gamma_tilde], support)
    # The partitions of 8 factors number 1385 with |kappa| as weights, of p^2 q^4 x_i x_j as of
    # 2 x_a x_b p q^3 x_i x_j twice: each entry is a sum of products of total 4 (3 * 1385 + 5) at
    # most, and ten roundings go into each.
    tolerance = 10 * 4 * (3 * 1385 + 5) * UNIT
    assert np.abs(matrix(found.second) - second.astype(float)).max() <= tolerance
    covariance = second - np.outer(mean, mean)
    assert np.abs(matrix(found.covariance) - covariance.astype(float)).max() <= tolerance
    # Likewise 2 (5 + 1) for the means.
    assert np.abs(found.mean.ravel() - mean.astype(float)).max() <= 10 * 12 * UNIT


@pytest.mark.parametrize("start", ["antisymmetric", "independent"])
@pytest.mark.parametrize(("d", "m"), [(30, 5), (300, 20), (2000, 32)])
def test_relative_accuracy_where_the_heads_spread(d, m, start):
    instance = instance_at(d=d, m=m, seed=1, support=(2, 1), start=start)
    V = instance.V
    gamma, gamma_tilde = softmax(V @ instance.theta), softmax(V @ instance.theta_tilde)
    moments = slope_moments(gamma, gamma_tilde, (2, 1))
    none = np.zeros(d)
    for direction, direction_tilde in ((V[2] - V[1], V[1] - V[2]), (V[4], 0 * V[4]), (V[3], V[2])):
        r = gamma * (V @ direction - gamma @ V @ direction)
        r_tilde = gamma_tilde * (V @ direction_tilde - gamma_tilde @ V @ direction_tilde)
        exact = Rule(gamma, gamma_tilde, r, r_tilde, (2, 1))
        mean, second = exact.mean(), exact.second()
        # As the heads' noises are nearly equal or opposite, a sum of both may cancel.
        scale = moments.second.quadratic(r, none) + moments.second.quadratic(none, r_tilde)
        # Sums of d terms by halves and a few operations for each.
        allowed = 20 * UNIT * scale
        assert abs(moments.second.quadratic(r, r_tilde) - second) <= allowed
        assert abs(moments.covariance.quadratic(r, r_tilde) - (second - mean**2)) <= allowed
        coefficients = np.concatenate([r, r_tilde])
        means = moments.mean.ravel()
        assert abs(means @ coefficients - mean) <= 20 * UNIT * (abs(means) @ abs(coefficients))


@pytest.mark.parametrize("rest", [Fraction(1, 10**3), Fraction(1, 10**12), Fraction(1, 10**40)])
@pytest.mark.parametrize("positions", [(1, 4), (1, 1), (2, 4), (2, 3), (2, 2)])
def test_relative_accuracy_where_the_heads_concentrate(rest, positions):
    # On their positions of the support, both on one, one or both elsewhere.
    heads = [[rest * (k + 1) for k in range(6)] for _ in positions]
    for head, top in zip(heads, positions, strict=True):
        head[top] += 1 - sum(head)
    mean, second = enumerated(*heads, (1, 4))
    found = slope_moments(*([float(w) for w in head] for head in heads), (1, 4))
    sizes = np.sqrt(np.diag(second).astype(float))
    # With all attention on one sign off the support, the partitions of its eight factors, which add
    # up to 1, have 1385 as the sum of their absolute values. Otherwise, a few operations.
    units = 1385 if positions == (2, 2) else 40
    allowed = units * UNIT * np.outer(sizes, sizes)
    assert np.all(np.abs(matrix(found.second) - second.astype(float)) <= allowed)
    covariance = (second - np.outer(mean, mean)).astype(float)
    assert np.all(np.abs(matrix(found.covariance) - covariance) <= allowed)


def test_two_positions_only():
    # p = q = (x_a + x_b) / 2: a sample has e = p q - x_a x_b = 0 or 1, and then p = q = 0.
    found = slope_moments([0.5, 0.5], [0.5, 0.5], (0, 1))
    assert not matrix(found.second).any()
    # gamma = (1, 0), gamma~ = (1/2, 1/2): p = x_a, and for x_a = -x_b, q = 0 and e = 1, so that
    # head 2 has slopes 2 p x = (2, -2); for x_a = x_b, e = 0.
    found = slope_moments([1.0, 0.0], [0.5, 0.5], (0, 1))
    assert found.mean.tolist() == [[0, 0], [1, -1]]
    assert matrix(found.covariance)[2:, 2:].tolist() == [[1, -1], [-1, 1]]


@pytest.mark.parametrize(("d", "m"), [(40, 30), (1000, 100), (4000, 200)])
def test_scale_at_the_antisymmetric_start(d, m):
    instance = instance_at(d=d, m=m, seed=0, support=(0, 1))
    V = instance.V
    gamma, gamma_tilde = softmax(V @ instance.theta), softmax(-V @ instance.theta)
    direction = (V[0] - V[1]) / np.linalg.norm(V[0] - V[1])
    t = V @ direction
    r = gamma * (t - gamma @ t)
    variance = slope_moments(gamma, gamma_tilde, (0, 1)).covariance.quadratic(r, np.zeros(d))
    second = slope_moments(gamma, gamma_tilde, (0, 1)).second.quadratic(r, np.zeros(d))
    # E G^2 = 4 E (p q^2 <r,x> - chi q <r,x>)^2 by the triangle inequality, with Hoelder's and
    # E <c,x>^8 <= 105 |c|^8 for the first term, and exactly for the second.
    chi_term = gamma_tilde @ gamma_tilde * (r @ r) + 2 * (gamma_tilde @ r) ** 2
    chi_term -= 2 * np.sum((gamma_tilde * r) ** 2)
    other = 105 * (gamma @ gamma) * (gamma_tilde @ gamma_tilde) ** 2 * (r @ r)
    assert abs(np.sqrt(second / 4) - np.sqrt(chi_term)) <= np.sqrt(other)
    assert 0 < second - variance < second / d * m
    # Unit rows: |gamma~|^2 |r|^2 is about (1/d)(1/d^2)(1 + d/m), (v_a.A)^2 + (v_b.A)^2 being
    # about 1. Off by the spread of the attention, some 1/m, of the overlap, some 1/sqrt(m), and of
    # the sum of squares, some sqrt(2/d).
    scale = 4 / d * (1 / d**2 + 1 / (d * m))
    assert abs(variance / scale - 1) < 4 / np.sqrt(m) + 4 / np.sqrt(d)


def test_quadratic_and_project_are_the_matrix_of_the_form():
    rng = np.random.default_rng(5)
    found = slope_moments(*rng.dirichlet(np.ones(9), 2), (4, 7))
    R, R_tilde = rng.standard_normal((2, 9, 3))
    B = np.block([[R, np.zeros((9, 3))], [np.zeros((9, 3)), R_tilde]])
    for form in (found.second, found.covariance):
        whole = matrix(form)
        blocks = [(rows, R[rows], R_tilde[rows]) for rows in (slice(0, 4), slice(4, 9))]
        projected = form.project(iter(blocks), 3)
        # Entries of order 1 and less, a hundred products each.
        np.testing.assert_allclose(projected, B.T @ whole @ B, rtol=0, atol=1e-13)
        assert np.array_equal(projected, projected.T)
        r = np.concatenate([R[:, 0], R_tilde[:, 0]])
        assert form.quadratic(R[:, 0], R_tilde[:, 0]) == pytest.approx(r @ whole @ r, abs=1e-13)


@given(st.integers(0, 10**6), st.integers(3, 9))
def test_other_orders_of_heads_support_and_positions(seed, d):
    rng = np.random.default_rng(seed)
    gamma, gamma_tilde = rng.dirichlet(np.full(d, 0.3), 2)
    found = matrix(slope_moments(gamma, gamma_tilde, (0, 2)).second)
    # Equal numbers but for the order of sums; 1385 units as above.
    tolerance = 4 * 1385 * UNIT
    turned = matrix(slope_moments(gamma, gamma_tilde, (2, 0)).second)
    np.testing.assert_allclose(turned, found, rtol=0, atol=tolerance)
    swapped = matrix(slope_moments(gamma_tilde, gamma, (0, 2)).second)
    heads = np.roll(np.arange(2 * d), d)
    np.testing.assert_allclose(swapped[np.ix_(heads, heads)], found, rtol=0, atol=tolerance)
    order = rng.permutation(d)
    place = np.argsort(order)
    support = int(place[0]), int(place[2])
    moved = matrix(slope_moments(gamma[order], gamma_tilde[order], support).second)
    both = np.concatenate([order, d + order])
    np.testing.assert_allclose(moved, found[np.ix_(both, both)], rtol=0, atol=tolerance)


def test_slopes_are_the_derivatives_of_the_loss():
    gamma, gamma_tilde = np.random.default_rng(3).dirichlet(np.ones(12), 2)
    found = slope_moments(gamma, gamma_tilde, (3, 5))
    # Along differences of two positions the mass stays 1; the loss is a polynomial of degree 2 in
    # one head, so a central difference errs by rounding only.
    step = 2.0**-6 * min(gamma[0], gamma[3])
    moved = step * (np.eye(12)[3] - np.eye(12)[0])
    up, down = (loss(gamma + sign * moved, gamma_tilde, (3, 5)) for sign in (1, -1))
    slope = found.mean[0, 3] - found.mean[0, 0]
    assert slope == pytest.approx((up - down) / (2 * step), rel=0, abs=20 * UNIT / step)


@pytest.mark.parametrize("d", [5, 12, 60])
def test_one_combination_of_slopes_vanishes_and_no_other(d):
    # sum gamma_i 2 e q x_i = 2 e p q = sum gamma~_i 2 e p x_i for every sample.
    gamma, gamma_tilde = np.random.default_rng(3).dirichlet(np.ones(d), 2)
    found = slope_moments(gamma, gamma_tilde, (1, 2))
    for form in (found.second, found.covariance):
        whole = matrix(form)
        size = np.sqrt(np.diag(whole)) @ np.concatenate([gamma, gamma_tilde])
        assert abs(form.quadratic(gamma, -gamma_tilde)) <= 20 * UNIT * size**2
        eigenvalues = np.linalg.eigvalsh(whole)
        assert abs(eigenvalues[0]) <= 10 * d * UNIT * eigenvalues[-1]
        assert eigenvalues[1] > 1e-3 / d * eigenvalues[-1]


def test_silent_under_strict_floating_point_errors():
    gamma = np.array([1e-200, 1.0, 1e-300, 1e-310])
    with np.errstate(all="raise"):
        found = slope_moments(gamma, gamma[::-1], (0, 1))
        value = found.covariance.quadratic(gamma, gamma)
        columns = gamma[:, np.newaxis]
        projected = found.covariance.project([(slice(0, 4), columns, columns)], 1)
        assert np.isfinite(found.mean).all()
    assert value > 0
    assert projected.sum() == pytest.approx(value, rel=40 * UNIT)


def test_refusals():
    third = [1 / 3] * 3
    for arguments, message in (
        (([0.5, 0.6], [0.5, 0.5], (0, 1)), r"^gamma=array of total 1\.1"),
        (([0.5, 0.5], third, (0, 1)), r"^gamma_tilde=array of shape \(3,\): must have 2"),
        ((third, [1.5, -0.5, 0], (0, 1)), r"^gamma_tilde\[1\]=-0\.5"),
        ((third, third, (1, 1)), r"^support=\(1, 1\)"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            slope_moments(*arguments)
    form = slope_moments(third, third, (0, 1)).second
    with pytest.raises(InvalidArgumentError, match=r"^r=array of shape \(2,\): must have 3"):
        form.quadratic([1, 2], third)
    with pytest.raises(InvalidArgumentError, match=r"^r_tilde\[0\]=nan"):
        form.quadratic(third, [np.nan, 0, 0])
