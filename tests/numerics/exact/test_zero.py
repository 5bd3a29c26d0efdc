from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.exact.zero import PositionGroups, balanced, numerator, vanishes
from numerics.multiprecision.differences import numeric_gradient


def derivatives(scores, scores_tilde, support, columns):
    """dL/dtheta along integer columns, by differences: V = (scores, scores~, columns)."""
    V = np.column_stack([scores, scores_tilde, *columns]).astype(float)
    m = V.shape[1]
    theta, theta_tilde = np.eye(m)[0], np.eye(m)[1]
    return numeric_gradient(V, theta, theta_tilde, support, digits=20)


@settings(max_examples=settings().max_examples * 60 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 6))
def test_numerator_is_the_derivative_and_decides_when_it_is_zero(seed, d):
    # Small integers, so that equal scores, symmetric columns and true zeros are frequent.
    rng = np.random.default_rng(seed)
    scores, scores_tilde = rng.integers(-1, 2, (2, d)).tolist()
    columns = rng.integers(-1, 2, (4, d)).tolist()
    a, b = rng.permutation(d)[:2].tolist()
    groups = PositionGroups.of(scores, scores_tilde, (a, b))
    heads = derivatives(scores, scores_tilde, (a, b), columns)
    totals = [sum(math.exp(s) for s in part) for part in (scores, scores_tilde)]
    for head, side in enumerate((groups, groups.swapped())):
        scale = totals[head] ** 3 * totals[1 - head] ** 2
        for column, derivative in zip(columns, heads[head][2:], strict=True):
            terms = numerator(side, column)
            assert all(terms.values())
            value = sum(coefficient * math.exp(s) for s, coefficient in terms.items()) / scale
            # Some d^5 terms of size 10 cancel in the numerator, less than scale in all.
            assert abs(value - float(derivative)) < 1e-12
            assert vanishes(side, column) == (not terms)
            # Nonzero sums of a few exponentials with small coefficients stay far above 1e-15.
            assert vanishes(side, column) == (abs(float(derivative)) < 1e-15)
            assert not balanced(side, column) or vanishes(side, column)


def test_a_zero_that_no_symmetry_of_the_column_explains():
    # At d = 2 and gamma~ = (1/2, 1/2), g_a = g_b = 0 for every gamma: the label is noise to head 2.
    groups = PositionGroups.of([1, -1], [0, 0], (0, 1))
    assert not balanced(groups, [1, 0])
    assert vanishes(groups, [1, 0])
    assert not vanishes(groups.swapped(), [1, 0])


def test_a_constant_column_is_a_zero():
    groups = PositionGroups.of([0, 0], [1, -1], (0, 1))
    assert balanced(groups, [3, 3])
    assert vanishes(groups, [3, 3])
    # At gamma = (1/2, 1/2) the slopes of head 1 differ by 2 (gamma~_a - gamma~_b).
    assert not balanced(groups, [1, 0])
    assert not vanishes(groups, [1, 0])


def test_supports_that_share_their_scores_share_their_weight():
    groups = PositionGroups.of([2, 2, 0, 0], [1, 1, 5, 5], (0, 1))
    assert balanced(groups, [1, -1, 3, -3])
    assert vanishes(groups, [1, -1, 3, -3])
    # With different scores they do not.
    groups = PositionGroups.of([2, 1, 0, 0], [1, 1, 5, 5], (0, 1))
    assert not balanced(groups, [1, -1, 3, -3])
    assert not vanishes(groups, [1, -1, 3, -3])


def test_coefficients_of_any_size_are_exact():
    # The scores only matter through which are equal; coefficients beyond 2^64 must not round.
    big = 10**40
    groups = PositionGroups.of([1, 1, 0, 0], [0, 0, 2, 2], (0, 1))
    assert vanishes(groups, [big, -big, big, -big])
    assert not vanishes(groups, [big + 1, -big, big, -big])
