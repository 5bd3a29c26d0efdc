"""The brute force of the soundness campaign: other routes to its numbers, and its stated errors."""

from __future__ import annotations

import decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from campaigns.soundness.after_step import AfterStep, Estimate, after_step
from campaigns.soundness.before_step import ERROR_BITS, Scored, population, vanishing
from campaigns.soundness.cases import Case, Near
from campaigns.soundness.kinds import KINDS, case_at
from campaigns.soundness.rounding import read_back, rounded, rounds_to
from campaigns.soundness.truth import Truth, UnresolvedError
from numerics.enumeration import enumerate_loss
from numerics.multiprecision.differences import numeric_gradient
from verify.testing.hard_instances import instance_at

ATTENTION_BITS = 300


def moderate(count, seed=0):
    """Cases whose numbers are neither huge nor tiny."""
    kinds = ("sphere", "integers", "duplicates", "equal support", "free queries", "three positions")
    for turn in range(count):
        case = case_at(seed, turn, kind=kinds[turn % len(kinds)])
        if max(abs(case.theta).max(), abs(case.theta_tilde).max()) < 20:
            yield case


def scored_of(case):
    return Scored.of(case.V, case.theta, case.theta_tilde, case.support)


def fractions(values, bits=ATTENTION_BITS):
    return [Fraction(int(mpmath.ldexp(x, bits)), 1 << bits) for x in values]


def softmax(scores):
    powers = [mpmath.exp(s - max(scores)) for s in scores]
    return [x / mpmath.fsum(powers) for x in powers]


def dot(row, query):
    return mpmath.fdot([mpmath.mpf(x) for x in row.tolist()], [mpmath.mpf(x) for x in query])


def test_the_loss_is_the_mean_over_the_inputs():
    for case in moderate(40):
        with mpmath.workprec(ATTENTION_BITS + 50):
            heads = [
                fractions(softmax([dot(row, query.tolist()) for row in case.V]))
                for query in (case.theta, case.theta_tilde)
            ]
        mean = enumerate_loss(heads[0], heads[1], case.support).mean
        found = population(scored_of(case), 200).loss
        assert abs(found - mean) <= Fraction(1, 1 << (200 - ERROR_BITS - 1))


def test_the_gradient_is_the_derivative_of_that_mean():
    for case in moderate(18):
        if len(case.V) > 5:
            continue
        gradients = population(scored_of(case), 200).gradients
        differences = numeric_gradient(
            case.V, case.theta, case.theta_tilde, case.support, digits=30, enumerated=True
        )
        for gradient, components in zip(gradients, differences, strict=True):
            for k, component in enumerate(components):
                sign, n, e, _ = component._mpf_
                value = (-1) ** sign * n * Fraction(2) ** e
                assert abs(gradient.fraction(k) - value) <= Fraction(1, 10**28)


def test_the_largest_loss_is_that_of_the_definition():
    """(x_a x_b - p q)^2 in rational arithmetic, where brute force adds up masses."""
    for case in moderate(40):
        if "e-" not in case.eta:
            continue
        eta = Fraction(case.eta)
        scored = scored_of(case)
        step = after_step(scored, eta, 200)
        with mpmath.workprec(ATTENTION_BITS + 200):
            gradients = population(scored, 600).gradients
            heads = []
            for query, gradient in zip((case.theta, case.theta_tilde), gradients, strict=True):
                moved = [
                    Fraction(x) - eta * gradient.fraction(k) for k, x in enumerate(query.tolist())
                ]
                moved = [mpmath.mpf(x.numerator) / x.denominator for x in moved]
                heads.append(fractions(softmax([dot(row, moved) for row in case.V])))
        found = enumerate_loss(heads[0], heads[1], case.support)
        assert abs(step.supremum().near(10**4) - found.supremum) <= Fraction(1, 1 << 190)
        x = found.witness
        p, q = (sum(g * s for g, s in zip(head, x, strict=True)) for head in heads)
        loss = (x[case.support[0]] * x[case.support[1]] - p * q) ** 2
        assert abs(step.loss(x).near(10**4) - loss) <= Fraction(1, 1 << 190)
        assert step.loss([-s for s in x]) == step.loss(x)
        for head, attention in enumerate(heads):
            for i, share in enumerate(attention):
                assert abs(step.attention(head, i).near(10**4) - share) <= Fraction(1, 1 << 190)


def relative_distance(x, y):
    x, y = x.near(10**6), y.near(10**6)
    if x is None or y is None or not y:
        return Fraction(0) if x == y else None
    return abs(x / y - 1)


def test_errors_are_as_stated_for_every_kind():
    for number in range(3 * len(KINDS)):
        case = case_at(5, number)
        scored = scored_of(case)
        coarse, fine = population(scored, 120), population(scored, 400)
        unit = Fraction(1, 1 << (120 - ERROR_BITS))
        assert abs(coarse.loss - fine.loss) <= unit
        scale = Fraction(2) ** scored.largest_exponent
        for left, right in zip(coarse.gradients, fine.gradients, strict=True):
            for k in range(len(left.numerators)):
                assert abs(left.fraction(k) - right.fraction(k)) <= unit * scale
        eta = Fraction(case.eta)
        rough, sharp = after_step(scored, eta, 60), after_step(scored, eta, 200)
        bound = Fraction(1, 1 << 59)
        pairs = [(rough.supremum(), sharp.supremum())]
        pairs += [
            (rough.attention(head, i), sharp.attention(head, i))
            for head in (0, 1)
            for i in range(len(case.V))
        ]
        for left, right in pairs:
            distance = relative_distance(left, right)
            assert distance is None or distance <= bound


def test_the_error_is_not_overstated_by_much():
    """Were the bound of the loss a thousand times smaller, instances would exceed it."""
    worst = 0.0
    for seed in range(60):
        drawn = instance_at(d=8, m=3, seed=seed, support=(0, 1))
        scored = Scored.of(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support)
        coarse, fine = population(scored, 60), population(scored, 200)
        worst = max(worst, float(abs(coarse.loss - fine.loss) * 2**60))
    assert worst > 2.0**ERROR_BITS / 2**16


def test_uniform_attention_is_exact():
    case = Case(np.tile([0.25, -3.0], (5, 1)), np.ones(2), np.ones(2), (3, 1), "7", "1")
    step = Truth(case).step()
    assert step.exact
    largest = (1 + Fraction(9, 25)) ** 2
    assert step.supremum().side(largest) == 0
    assert step.supremum().side(largest - Fraction(1, 10**3000)) == 1
    assert step.supremum().side(largest + Fraction(1, 10**3000)) == -1
    assert not step.leads(0, 0)


def test_what_cannot_be_told_apart_is_not_decided():
    # Equal rows, but the scores move: a tie that no accuracy resolves.
    case = Case(
        np.array([[1.0], [1.0], [-1.0]]), np.array([1.0]), np.array([1.0]), (0, 1), "1", "1"
    )
    with pytest.raises(UnresolvedError, match="12800 bits"):
        Truth(case).leads(0, 0)
    assert not Truth(case).leads(0, 2)


def test_sides_of_a_number_that_is_known_roughly():
    step = Truth(case_at(0, 0)).step()
    largest = step.supremum()
    value = largest.near(10**4)
    assert largest.accuracy == 200
    for power, known in ((190, True), (201, False)):
        shift = value * Fraction(1, 1 << power)
        assert largest.side(value + shift) == (-1 if known else None)
        assert largest.side(value - shift) == (1 if known else None)


def test_no_loss_is_as_large_as_four_and_none_is_negative():
    truth = Truth(case_at(0, 0))
    assert truth.supremum_side(Fraction(4)) == -1
    assert truth.supremum_side(Fraction(-1)) == 1
    signs = [1] * len(case_at(0, 0).V)
    # With all signs alike p q = 1 = x_a x_b.
    assert truth.loss_side(signs, Fraction(0)) == 0
    assert truth.loss_side(signs, Fraction(1, 10**4000)) == -1


def test_zeros_by_symmetry_and_none_beside_them():
    V = np.array([[1.0, 3.0], [2.0, 3.0], [0.5, 3.0]])
    scored = Scored.of(V, np.array([1.0, 0.0]), np.array([0.5, 1.0]), (0, 2))
    assert vanishing(scored) == ([False, True], [False, True])
    V[1, 1] = np.nextafter(3.0, 4.0)
    scored = Scored.of(V, np.array([1.0, 0.0]), np.array([0.5, 1.0]), (0, 2))
    assert vanishing(scored) == ([False, False], [False, False])
    for number in range(40):
        case = case_at(1, number, kind="zero gradient")
        scored = scored_of(case)
        zeros = vanishing(scored)
        assert any(zeros[0]) or any(zeros[1])
        gradients = population(scored, 300).gradients
        limit = Fraction(2) ** scored.largest_exponent / (1 << (300 - ERROR_BITS))
        for head, gradient in enumerate(gradients):
            for k, zero in enumerate(zeros[head]):
                assert zero is (abs(gradient.fraction(k)) <= limit)


def test_a_tolerance_beside_the_largest_loss():
    base = case_at(0, 0)
    for digits, ulps in ((1, 0), (2, 1), (17, -1), (30, 0)):
        case = Case(
            base.V, base.theta, base.theta_tilde, base.support, base.eta, Near(digits, ulps)
        )
        truth = Truth(case)
        n, e = rounded(truth.step().supremum().near(1 << 15), digits)
        assert truth.tolerance == max(n + ulps, 1) * Fraction(10) ** e


@pytest.mark.parametrize("digits", [1, 2, 5, 17, 40])
def test_rounding_is_that_of_decimal(digits):
    rng = np.random.default_rng(digits)
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN)
    for _ in range(300):
        x = Fraction(int(rng.integers(1, 10**9)), int(rng.integers(1, 10**6)))
        x *= Fraction(10) ** int(rng.integers(-40, 40)) * int(rng.choice((-1, 1)))
        if rng.random() < 0.3:
            # A tie, and 9.99...95.
            x = Fraction(int(rng.integers(10 ** min(digits, 17))) * 10 + 5) * Fraction(10) ** -30
        n, e = rounded(x, digits)
        assert 10 ** (digits - 1) <= abs(n) < 10**digits
        expected = context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))
        assert n * Fraction(10) ** e == Fraction(expected)


def test_printed_numbers_are_read_back_to_the_digit():
    assert read_back("-0.0518517666402136", 15) == (-518517666402136, -16)
    assert read_back("0.90625", 5) == (90625, -5)
    assert read_back("1.2e-7", 2) == (12, -8)
    assert read_back("5e324", 1) == (5, 324)
    assert read_back("12000", 2) == (12, 3)
    for text, digits in (("0.9062", 5), ("12300", 2), ("0", 3), ("nan", 3), ("1.200", 2)):
        assert read_back(text, digits) is None


def test_a_number_rounds_to_a_string_only_if_both_ends_do():
    x, error = Fraction(12345, 1000), Fraction(1, 10**9)
    assert rounds_to("12.3", x - error, x + error, 3)
    assert rounds_to("12.4", x - error, x + error, 3) is False
    tie = Fraction(1235, 100)
    assert rounds_to("12.4", tie, tie, 3)
    assert rounds_to("12.4", tie - error, tie + error, 3) is None
    assert rounds_to("0", -error, error, 3) is None


def test_far_numbers_compare_without_being_written_out():
    tiny = Estimate((0, 1, -(10**30), 1), (0, 1, 0, 1), 200)
    assert tiny.near(10**6) is None
    assert tiny.side(Fraction(1, 10**9999)) == -1
    assert tiny.side(Fraction(0)) == 1
    step = Truth(case_at(0, 3, kind="huge step")).step()
    assert isinstance(step, AfterStep)
    assert step.supremum().side(Fraction(4)) == -1
