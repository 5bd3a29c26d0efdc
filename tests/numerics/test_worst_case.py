from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.enumeration import enumerate_loss
from numerics.worst_case import Closure, _row_sums, worst_case_loss
from verify.testing.strategies import attention_pairs

UNIT = 2.0**-53
# The upper end exceeds R by its rounding error and by the allowance for it, (4 k + 32) u each; the
# square doubles both. Here d <= 9 and k <= 3; the lower end adds 16 u.
NARROW = 2 * (2 * (4 * 3 + 32) + 16) * 2.0**-53


def exact_vector(weights):
    """The probability vector a bracket is about: the given binary64 entries over their sum."""
    entries = [Fraction(float(w)) for w in weights]
    return [entry / sum(entries) for entry in entries]


def exact_loss(x, gamma, gamma_tilde, support):
    p = sum(g * int(s) for g, s in zip(gamma, x, strict=True))
    q = sum(t * int(s) for t, s in zip(gamma_tilde, x, strict=True))
    return (int(x[support[0]]) * int(x[support[1]]) - p * q) ** 2


def supremum_over_segments(gamma, gamma_tilde, support):
    """The largest 1 - tau p q over the segments between inputs that differ outside the support.

    They lie in the zonotope and its edges are among them, so this is its supremum, exactly.
    """
    a, b = support
    d = len(gamma)
    largest = Fraction(0)
    for x in itertools.product((-1, 1), repeat=d):
        for i in set(range(d)) - {a, b}:
            if x[a] < 0 or x[i] > 0:
                continue
            p = sum(g * s for g, s in zip(gamma, x, strict=True))
            q = sum(t * s for t, s in zip(gamma_tilde, x, strict=True))
            u, t = 2 * gamma[i], 2 * gamma_tilde[i]
            places = [Fraction(0), Fraction(1)]
            if u * t:
                # Where the derivative of (p + z u)(q + z t) is zero.
                peak = -(p * t + q * u) / (2 * u * t)
                places.append(min(max(peak, Fraction(0)), Fraction(1)))
            largest = max(largest, *(1 - x[b] * (p + z * u) * (q + z * t) for z in places))
    return largest


def check_against_enumeration(weights, weights_tilde, support):
    found = worst_case_loss(weights, weights_tilde, support)
    gamma, gamma_tilde = exact_vector(weights), exact_vector(weights_tilde)
    supremum = enumerate_loss(gamma, gamma_tilde, support).supremum
    assert 0 <= found.lower <= supremum <= found.upper <= 4
    assert found.witness.dtype == np.int8
    assert set(found.witness.tolist()) <= {-1, 1}
    attained = exact_loss(found.witness, gamma, gamma_tilde, support)
    # Attained, and not by a lucky distance: the lower end is the witness's own loss, rounded.
    assert found.lower <= attained <= found.lower * (1 + NARROW) + 2.0**-1060
    if found.proved is not Closure.OPEN:
        assert found.upper <= found.lower * (1 + NARROW) + 2.0**-1060
    else:
        # An open bracket ends at the supremum over the zonotope, to rounding.
        relaxed = supremum_over_segments(gamma, gamma_tilde, support) ** 2
        assert relaxed <= found.upper <= relaxed * (1 + Fraction(NARROW))
        gap = max(g * t for g, t in zip(gamma, gamma_tilde, strict=True))
        assert math.sqrt(found.upper) <= math.sqrt(found.lower) + float(gap) + NARROW
    return found


@settings(max_examples=settings().max_examples * 150 // 100)
@given(attention_pairs(max_d=9))
def test_bracket_holds_the_supremum_of_every_instance(pair):
    check_against_enumeration(pair.gamma, pair.gamma_tilde, pair.support)


def test_the_smallest_open_case():
    gamma, gamma_tilde = np.array([1, 1, 14, 4]) / 20, np.array([7, 7, 2, 4]) / 20
    found = check_against_enumeration(gamma, gamma_tilde, (0, 1))
    assert found.proved is Closure.OPEN
    assert found.lower == pytest.approx((1 + 8 / 25) ** 2, rel=NARROW)
    assert found.upper == pytest.approx((1 + 9 / 25) ** 2, rel=NARROW)


def test_a_bracket_that_rounding_does_not_explain_is_open():
    # The edge exceeds the vertices by 3.6e-4 of R: little, and twelve orders above rounding.
    gamma, gamma_tilde = [0.06575, 0.06575, 0.6685, 0.2], [0.33425, 0.33425, 0.1315, 0.2]
    found = check_against_enumeration(gamma, gamma_tilde, (0, 1))
    assert found.proved is Closure.OPEN
    assert found.lower == pytest.approx(1.28790775**2, rel=NARROW)
    assert found.upper == pytest.approx(1.288369**2, rel=NARROW)


def test_open_brackets_end_at_the_supremum_over_the_zonotope():
    rng = np.random.default_rng(8)
    found = []
    while len(found) < 12:
        weights = rng.dirichlet(np.full(5, 0.7), 2)
        if worst_case_loss(weights[0], weights[1], (1, 3)).proved is Closure.OPEN:
            found.append(check_against_enumeration(weights[0], weights[1], (1, 3)))
    assert any(case.upper > 1.05 * case.lower for case in found)


def test_total_mass_may_miss_one_by_rounding():
    # The bracket is about the normalised vectors; 4e-10 is far beyond its own rounding.
    rng = np.random.default_rng(9)
    for _ in range(20):
        weights = rng.dirichlet(np.full(6, 0.5), 2) * (1 + 4e-10)
        check_against_enumeration(weights[0], weights[1], (0, 5))


@pytest.mark.parametrize("d", [2, 3])
def test_few_positions_are_always_closed(d):
    rng = np.random.default_rng(d)
    for _ in range(50):
        weights = rng.dirichlet(np.ones(d), 2)
        a, b = rng.permutation(d)[:2].tolist()
        found = check_against_enumeration(weights[0], weights[1], (a, b))
        assert found.proved is Closure.FEW_GENERATORS


def test_two_positions_by_hand():
    # p = gamma_a +- gamma_b: the losses are (1 - 1)^2 at tau = 1 and (1 + p q)^2 at tau = -1.
    found = worst_case_loss([0.75, 0.25], [0.125, 0.875], (0, 1))
    assert found.lower <= (1 - 0.375) ** 2 <= found.upper
    found = worst_case_loss([0.75, 0.25], [0.75, 0.25], (0, 1))
    assert found.lower <= 1.25**2 <= found.upper


@given(seed=st.integers(0, 10**6), d=st.integers(4, 9))
def test_concentrated_attention_is_closed_with_the_value_in_closed_form(seed, d):
    rng = np.random.default_rng(seed)
    a, b = rng.permutation(d)[:2].tolist()
    weights = rng.dirichlet(np.full(d, 0.5), 2) / 2
    # Half of each head's mass is added to one position of the support.
    weights[0, a] += 0.5
    weights[1, b] += 0.5
    found = check_against_enumeration(weights[0], weights[1], (a, b))
    assert found.proved is Closure.CONCENTRATED
    p, q = (2 * (w[a] + w[b]) - 1 for w in weights)
    assert found.upper >= (1 - p * q) ** 2 * (1 - 1e-14)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("missing", "concentrated"), [(0, True), (2.0**-55, False), (2.0**-53, False), (0.01, False)]
)
def test_attention_is_concentrated_from_exactly_half_of_the_mass(missing, concentrated, swap):
    # Half of the mass on the support, or as little less than half as binary64 can split: at 2^-55
    # the two weights already add up to 0.5 in binary64.
    heads = [0.25, 0.25 - missing, 0.25, 0.25 - missing, 2 * missing], [0.5, 0.25, 0.125, 0.125, 0]
    found = check_against_enumeration(*(heads[::-1] if swap else heads), (0, 1))
    assert (found.proved is Closure.CONCENTRATED) is concentrated


@pytest.mark.parametrize("rest", [1e-20, 1e-80, 1e-150, 1e-300, 5e-324])
def test_the_bracket_is_relative_however_small_the_loss(rest):
    found = check_against_enumeration([1.0, 0.0, rest, rest], [rest, 1.0, 0.0, rest], (0, 1))
    assert found.proved is Closure.CONCENTRATED
    if rest >= 1e-150:
        assert found.upper < 1e3 * rest**2
        assert found.lower > 0


@example(swap=False, flip=False)
@example(swap=True, flip=True)
@given(swap=st.booleans(), flip=st.booleans())
def test_both_chains_and_both_branches_supply_the_optimum(swap, flip):
    # Head 1 watches position 2 and head 2 position 3: p q = x_2 x_3 nearly, and the worst inputs
    # are the vertices of mixed signs on one branch, of equal signs on the other.
    gamma, gamma_tilde = np.array([0.05, 0.05, 0.8, 0.1]), np.array([0.05, 0.05, 0.1, 0.8])
    if swap:
        gamma, gamma_tilde = gamma_tilde, gamma
    if flip:
        gamma, gamma_tilde = gamma[::-1], gamma_tilde[::-1]
    check_against_enumeration(gamma, gamma_tilde, (2, 3) if flip else (0, 1))


def test_each_of_the_four_families_of_vertices_is_needed():
    # Families (tau, sign of the first turned generator), read off the exact optimum: each of the
    # four must be the only one that attains it somewhere.
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        weights = rng.dirichlet(np.full(5, 0.4), 2)
        found = worst_case_loss(weights[0], weights[1], (0, 1))
        x = found.witness
        slopes = weights[1, 2:] / weights[0, 2:]
        order = np.argsort(slopes)
        signs = x[2:][order]
        if len(set(signs.tolist())) == 2:
            seen.add((int(x[1]), int(signs[0])))
    assert seen == {(1, 1), (1, -1), (-1, 1), (-1, -1)}


@settings(max_examples=settings().max_examples // 2)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 7), steps=st.integers(1, 3))
def test_generators_whose_quotients_round_alike(seed, n, steps):
    # Angles that differ by a few units in the last place, or not at all, in both octants.
    rng = np.random.default_rng(seed)
    u = rng.uniform(0.5, 1, n)
    t = u * rng.choice([0.3, 1.0, 3.0], n) * (1 + rng.integers(-steps, steps + 1, n) * 2.0**-52)
    weights = np.concatenate([[0.01, 0.02], u]), np.concatenate([[0.02, 0.01], t])
    gamma, gamma_tilde = (w / w.sum() for w in weights)
    check_against_enumeration(gamma, gamma_tilde, (0, 1))


def test_symmetries():
    rng = np.random.default_rng(4)
    for _ in range(20):
        gamma, gamma_tilde = rng.dirichlet(np.full(30, 0.3), 2)
        found = worst_case_loss(gamma, gamma_tilde, (3, 7))
        swapped = worst_case_loss(gamma_tilde, gamma, (7, 3))
        order = rng.permutation(30)
        place = np.argsort(order)
        moved = worst_case_loss(gamma[order], gamma_tilde[order], (int(place[3]), int(place[7])))
        for other in (swapped, moved):
            assert other.lower == pytest.approx(found.lower, rel=1e-13)
            assert other.upper == pytest.approx(found.upper, rel=1e-13)
            assert other.proved is found.proved


@pytest.mark.parametrize("d", [3, 129, 1000])
@pytest.mark.parametrize("spread", [1, 300])
def test_the_lower_end_is_the_loss_of_the_witness_to_a_few_units(d, spread):
    # However many positions: the masses are summed to a unit each. R errs by 10 u and is lowered
    # by 16 u, the square doubles that and is lowered by 4 u.
    rng = np.random.default_rng(d)
    heads = [softmax(rng.uniform(0, spread, d)) for _ in range(2)]
    found = worst_case_loss(*heads, (0, 1))
    x = found.witness.tolist()
    p, q = (
        sum(g * s for g, s in zip(map(Fraction, gamma.tolist()), x, strict=True))
        / sum(map(Fraction, gamma.tolist()))
        for gamma in heads
    )
    exact = (x[0] * x[1] - p * q) ** 2
    assert found.lower <= exact <= found.lower * (1 + (2 * (10 + 16) + 5) * Fraction(UNIT))


@pytest.mark.parametrize("n", [1, 127, 128, 129, 1000, 4099])
def test_masses_are_sums_rounded_once(n):
    rng = np.random.default_rng(n)
    terms = rng.uniform(size=(40, n)) * 10.0 ** rng.integers(-20, 1, (40, n))
    for row, found in zip(terms, _row_sums(terms), strict=True):
        exact = sum(map(Fraction, row.tolist()))
        assert abs(Fraction(found) - exact) <= (1 + n * Fraction(UNIT)) * Fraction(UNIT) * exact


def test_half_of_the_mass_is_decided_exactly_where_binary64_sums_are_not_exact():
    # The signed sum is 2^-60, which numpy's partial sums of size 1/4 absorb: it adds up every
    # eighth term first.
    gamma = np.zeros(24)
    gamma[[0, 1, 18, 19]] = 0.25
    assert worst_case_loss(gamma, gamma, (0, 1)).proved is Closure.CONCENTRATED
    gamma[8] = 2.0**-60
    assert worst_case_loss(gamma, gamma, (0, 1)).proved is not Closure.CONCENTRATED


def test_a_hundred_thousand_positions():
    rng = np.random.default_rng(6)
    d = 100_000
    gamma, gamma_tilde = softmax(rng.normal(0, 3, d)), softmax(rng.normal(0, 3, d))
    found = worst_case_loss(gamma, gamma_tilde, (5, 77_777))
    # As NARROW, with k = 317.
    assert found.upper <= found.lower * (1 + 2 * (2 * (4 * 317 + 32) + 16) * 2.0**-53)
    # Two random sums of many small terms: the extremes of p q are near +-1, R near 2.
    assert found.lower > 3.9


def test_strict_floating_point_errors_stay_silent():
    with np.errstate(all="raise"):
        worst_case_loss([1.0, 1e-310, 1e-200, 0.0], [1e-300, 1.0, 1e-320, 1e-200], (0, 1))
        worst_case_loss([1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0], (0, 1))


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^gamma\[1\]=-0.5: must be nonnegative$"):
        worst_case_loss([1.5, -0.5], [0.5, 0.5], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^gamma_tilde=array of total 1\.1"):
        worst_case_loss([0.5, 0.5], [0.5, 0.6], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^support="):
        worst_case_loss([0.5, 0.5], [0.5, 0.5], (0, 2))
