"""The bracket in balls against exact enumeration, and the places where it could be unsound."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.balls import open_branch
from numerics.balls.arithmetic.exact import lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.model import HeadScores
from numerics.balls.open_branch import enumerate_branch, search_branch
from numerics.balls.worst_case import (
    Generators,
    angle_order,
    branches,
    joined,
    slack_factor,
)
from numerics.enumeration import enumerate_loss

REFERENCE_BITS = 400
NEGLIGIBLE = Fraction(1, 10**90)


def heads(integers, unit, slacks=(Fraction(0), Fraction(0))):
    return tuple(
        HeadScores(part, unit, arb(s.numerator) / s.denominator)
        for part, s in zip(integers, slacks, strict=True)
    )


def exact_attention(integers, unit):
    with mpmath.workprec(REFERENCE_BITS):
        top = max(integers)
        terms = [mpmath.exp(mpmath.ldexp(n - top, unit)) for n in integers]
        total = mpmath.fsum(terms)
        return [
            Fraction(int(mpmath.ldexp(t / total, REFERENCE_BITS)), 1 << REFERENCE_BITS)
            for t in terms
        ]


def supremum_of(integers, unit, support):
    """Enumerate, and return the largest R = sqrt of the loss, to 100 digits."""
    gamma, gamma_tilde = (exact_attention(part, unit) for part in integers)
    largest = enumerate_loss(gamma, gamma_tilde, support).supremum
    with mpmath.workprec(REFERENCE_BITS):
        root = mpmath.sqrt(mpmath.mpf(largest.numerator) / largest.denominator)
        return Fraction(int(mpmath.ldexp(root, REFERENCE_BITS)), 1 << REFERENCE_BITS)


def spread(rng, d):
    """Scores in units of 2^-10 whose heads lean to and away from the support."""
    integers = rng.integers(-2500, 2501, (2, d))
    integers[0, :2] -= 2500 * rng.integers(0, 2)
    integers[1, :2] += 1500 * rng.integers(0, 2)
    return [[int(n) for n in part] for part in integers]


@settings(max_examples=settings().max_examples * 120 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 9), bits=st.sampled_from([10, 24, 128]))
def test_the_bracket_holds_the_supremum_at_any_precision(seed, d, bits):
    integers = spread(np.random.default_rng(seed), d)
    supremum = supremum_of(integers, -10, (0, 1))
    with working_precision(bits):
        generators = Generators.of(*heads(integers, -10), (0, 1))
        opposite, equal = branches(generators)
        found = joined(opposite, equal)
    assert lower_end(found.attained) <= supremum + NEGLIGIBLE
    assert supremum - NEGLIGIBLE <= upper_end(found.bound)
    # The witness attains what is claimed, to within its ball.
    gamma, gamma_tilde = (exact_attention(part, -10) for part in integers)
    x = [-1 if i in found.witness else 1 for i in range(d)]
    p = sum(g * s for g, s in zip(gamma, x, strict=True))
    q = sum(t * s for t, s in zip(gamma_tilde, x, strict=True))
    R = 1 - x[0] * x[1] * p * q
    if not found.closed:
        assert lower_end(found.attained) - NEGLIGIBLE <= R <= upper_end(found.attained) + NEGLIGIBLE
    elif bits == 128:
        assert abs(R - supremum) <= Fraction(1, 10**30)
        assert upper_end(found.bound) - lower_end(found.attained) <= Fraction(1, 10**30)


@settings(max_examples=settings().max_examples * 60 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), exponent=st.integers(-6, 0))
def test_the_slack_covers_every_instance_within_it(seed, d, exponent):
    # The true scores are anywhere within the slack of the midpoints; corners are the worst of it.
    rng = np.random.default_rng(seed)
    integers = spread(rng, d)
    slacks = [Fraction(int(rng.integers(0, 1025))) * 2 ** Fraction(exponent) / 1024 for _ in (0, 1)]
    with working_precision(64):
        first, second = heads(integers, -10, slacks)
        opposite, equal = branches(Generators.of(first, second, (0, 1)))
        found = joined(opposite, equal)
        factor = slack_factor(first, second)
        low, high = lower_end(found.attained * factor), upper_end(found.bound * factor)
    for _ in range(4):
        moved = []
        for part, slack in zip(integers, slacks, strict=True):
            signs = rng.integers(0, 2, d) * 2 - 1
            reach = int(slack * 2**30)
            moved.append([(n << 20) + int(s) * reach for n, s in zip(part, signs, strict=True)])
        supremum = supremum_of(moved, -30, (0, 1))
        assert low <= supremum + NEGLIGIBLE
        assert supremum - NEGLIGIBLE <= high


def test_the_slack_is_needed_nearly_whole():
    # Head 1 as 1 : e^s, head 2 all on a, R = 2 / (1 + e^s) on x_a x_b = -1 ... with both masses
    # tiny the factor e^{2 (rho + rho~)} is attained to first order.
    integers = [[-40 << 10, 0, -40 << 10], [0, -40 << 10, -40 << 10]]
    slack = Fraction(1, 8)
    with working_precision(64):
        first, second = heads(integers, -10, (slack, slack))
        opposite, equal = branches(Generators.of(first, second, (0, 1)))
        found = joined(opposite, equal)
        high = upper_end(found.bound * slack_factor(first, second))
        plain = upper_end(found.bound)
    moved = [list(part) for part in integers]
    for part in moved:
        top = part.index(0)
        for i in range(3):
            part[i] += -(1 << 7) if i == top else 1 << 7
    supremum = supremum_of(moved, -10, (0, 1))
    assert plain < supremum <= high
    # e^(1/4) of the e^(1/2) is used: without the slack of either head the bound would fail.
    assert supremum > plain * Fraction(128, 100)


def test_the_order_is_that_of_exact_differences():
    # In binary64 all four differences are 2^60: a float sort would leave them as they are.
    first = HeadScores([0, 0, 0, 0], 0, arb(0))
    second = HeadScores([(1 << 60) + n for n in (3, 1, 2, 0)], 0, arb(0))
    assert angle_order(first, second) == [3, 1, 2, 0]
    # Heads in different units, and a difference that cancels all but the last bit.
    coarse = HeadScores([1 << 60, 1 << 60, 1 << 60], 2, arb(0))
    fine = HeadScores([(1 << 62) + n for n in (1, -1, 0)], 0, arb(0))
    assert angle_order(coarse, fine) == [1, 2, 0]
    assert angle_order(fine, coarse) == [0, 2, 1]


@settings(max_examples=settings().max_examples * 60 // 100)
@given(seed=st.integers(0, 10**6), d=st.integers(5, 8))
def test_bounds_hold_where_binary64_cannot_sort(seed, d):
    # A common score of 2^62 in one head: rounded, no two differences s~ - s could be told apart.
    rng = np.random.default_rng(seed)
    integers = spread(rng, d)
    supremum = supremum_of(integers, -10, (0, 1))
    far = [integers[0], [n + (1 << 72) for n in integers[1]]]
    with working_precision(128):
        opposite, equal = branches(Generators.of(*heads(far, -10), (0, 1)))
        found = joined(opposite, equal)
    assert lower_end(found.attained) <= supremum + NEGLIGIBLE
    assert supremum - NEGLIGIBLE <= upper_end(found.bound)


def test_edges_that_are_shorter_than_the_radii_hardly_widen_the_bracket():
    # Curvatures of e^-8000 between vertices that are known to 2^-128.
    scores = [0, -4000, 0, 0, -4001, 0]
    with working_precision(128):
        generators = Generators.of(*heads([scores, scores], 0), (0, 2))
        for found in branches(generators):
            assert upper_end(found.bound) <= lower_end(found.attained) * (1 + Fraction(1, 1 << 110))


def logarithms(weights, bits=60):
    """Scores whose exponentials are proportional to the weights, to about 18 digits."""
    with mpmath.workprec(200):
        return [int(mpmath.nint(mpmath.ldexp(mpmath.log(w), bits))) for w in weights]


def test_smallest_open_instance():
    # Vertices reach p q = -8/25 and edges -9/25, so the bracket of R is [33/25, 34/25].
    first, second = heads([logarithms([1, 1, 14, 4]), logarithms([7, 7, 2, 4])], -60)
    with working_precision(128):
        generators = Generators.of(first, second, (0, 1))
        found = joined(*branches(generators))
        settled = enumerate_branch(generators, first, second)
    assert not found.closed
    assert abs(float(found.attained.mid()) - 33 / 25) < 1e-15
    assert abs(float(found.bound.mid()) - 34 / 25) < 1e-15
    assert settled.closed
    assert abs(float(settled.bound.mid()) - 33 / 25) < 1e-15


def leaning(rng, d):
    """One head on the support and one off it: in one draw of nine the bracket is open."""
    weights = np.stack([rng.integers(1, 16, d), rng.integers(1, 5, d)])
    rest = int(weights[1, 2:].sum())
    weights[0, :2] = 1
    weights[1, :2] = 1 + rng.integers(rest // 2, 2 * rest + 1, 2)
    return [logarithms(part.tolist()) for part in weights]


def open_instances(count, d_most):
    seed = 0
    while count:
        seed += 1
        rng = np.random.default_rng([seed, 7])
        integers = leaning(rng, int(rng.integers(4, d_most + 1)))
        first, second = heads(integers, -60)
        with working_precision(128):
            generators = Generators.of(first, second, (0, 1))
            opposite, equal = branches(generators)
            if joined(opposite, equal).closed:
                continue
        count -= 1
        yield integers, first, second, generators, opposite


def test_enumeration_and_search_settle_open_brackets():
    for integers, first, second, generators, opposite in open_instances(25, 10):
        supremum = supremum_of(integers, -60, (0, 1))
        with working_precision(128):
            found = joined(opposite, enumerate_branch(generators, first, second))
            assert lower_end(found.attained) <= supremum + NEGLIGIBLE
            assert supremum - NEGLIGIBLE <= upper_end(found.bound)
            assert upper_end(found.bound) - lower_end(found.attained) < Fraction(1, 10**30)
            for side in (-1, 1):
                shifted = supremum + side * Fraction(1, 10**20)
                target = arb((int(shifted * 2**120), -120))
                searched, finished = search_branch(generators, target)
                both = joined(opposite, searched)
                assert finished
                assert lower_end(both.attained) <= supremum + NEGLIGIBLE
                assert supremum - NEGLIGIBLE <= upper_end(both.bound)
                assert (both.attained > target) == (side < 0)
                assert (both.bound <= target) == (side > 0)


def test_a_search_that_is_cut_off_still_brackets(monkeypatch):
    monkeypatch.setattr(open_branch, "_MAX_VERTICES", 8)
    cut = 0
    for integers, _, _, generators, opposite in open_instances(10, 10):
        supremum = supremum_of(integers, -60, (0, 1))
        with working_precision(128):
            target = arb((int((supremum + Fraction(1, 10**20)) * 2**120), -120))
            searched, finished = search_branch(generators, target)
            cut += not finished
            assert supremum - NEGLIGIBLE <= upper_end(joined(opposite, searched).bound)
    assert cut


def test_what_a_search_has_not_visited_stays_in_its_bound(monkeypatch):
    monkeypatch.setattr(open_branch, "_MAX_VERTICES", 0)
    for *_, generators, _ in open_instances(3, 10):
        with working_precision(128):
            _, equal = branches(generators)
            searched, finished = search_branch(generators, equal.attained)
        assert not finished
        assert not equal.closed
        assert upper_end(searched.bound) >= upper_end(equal.bound)


def test_enumeration_counts_exchangeable_positions_once():
    # 40 positions, two kinds besides the support: 20 times 20 patterns instead of 2^38.
    first, second = heads(
        [logarithms([1, 1] + [14] * 19 + [4] * 19), logarithms([140, 140] + [2] * 19 + [4] * 19)],
        -60,
    )
    with working_precision(128):
        generators = Generators.of(first, second, (0, 1))
        _, equal = branches(generators)
        settled = enumerate_branch(generators, first, second)
    p0, q0 = Fraction(2, 344), Fraction(280, 394)
    largest = max(
        1 - (p0 + Fraction(14 * k + 4 * n, 344)) * (q0 + Fraction(2 * k + 4 * n, 394))
        for k in range(-19, 20, 2)
        for n in range(-19, 20, 2)
    )
    assert abs(float(settled.bound.mid()) - float(largest)) < 1e-14
    assert len(settled.witness & set(range(2, 21))) <= 19
    assert settled.bound <= equal.bound.upper() + arb((1, -100))


def test_enumeration_declines_what_it_cannot_do(monkeypatch):
    first, second = heads([logarithms([1, 1, 14, 4]), logarithms([7, 7, 2, 4])], -60)
    with working_precision(20):
        assert enumerate_branch(Generators.of(first, second, (0, 1)), first, second) is None
    with working_precision(128):
        generators = Generators.of(first, second, (0, 1))
        monkeypatch.setattr(open_branch, "MAX_ENUMERATED", 3)
        assert enumerate_branch(generators, first, second) is None
