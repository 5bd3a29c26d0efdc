"""Nothing next to the largest loss is left open: certificates at both sides of it, to 17 digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from campaigns.soundness.cases import Case
from campaigns.soundness.checks.statements import Statements, excludes
from campaigns.soundness.kinds import case_at
from campaigns.soundness.rounding import rounded
from campaigns.soundness.truth import Truth
from numerics.balls.certificate import certify_step, reevaluate_witness
from numerics.embeddings import sample_embeddings
from verify.testing.hard_instances import instance_at

KINDS = ("sphere", "integers", "parallel", "open bracket", "offset", "scattered", "equal support")
NEAR_TIE = Fraction(1, 1 << 60)


def arguments(case):
    return case.V, case.theta, case.theta_tilde, case.support


def certify(case, tolerance, **options):
    return certify_step(*arguments(case), eta=Fraction(case.eta), tolerance=tolerance, **options)


def beside(x, digits=17):
    """The numbers of so many digits next to x, not above and not below."""
    n, e = rounded(x, digits)
    unit = Fraction(10) ** e
    nearest = n * unit
    return (nearest, nearest + unit) if nearest <= x else (nearest - unit, nearest)


def check(case):
    truth = Truth(case)
    largest = truth.step().supremum().near(1 << 15)
    assert largest is not None
    below, above = beside(largest)
    certificates = []
    if truth.step().supremum().side(below) == 1:
        refuted = certify(case, below)
        assert refuted.verdict == "refuted"
        ends = reevaluate_witness(
            *arguments(case),
            np.array(refuted.witness),
            eta=Fraction(case.eta),
            bits=max(refuted.bits, 128),
        )
        assert not excludes(lambda x: truth.loss_side(refuted.witness, x), ends)
        certificates.append((below, refuted))
    if truth.step().supremum().side(above) == -1:
        certified = certify(case, above)
        assert certified.verdict == "certified"
        assert certified.witness is None
        certificates.append((above, certified))
    else:
        # Equal to the tolerance as far as 60 digits can tell: proved, or left open.
        assert certify(case, above, max_bits=128).verdict in {"certified", "undecided"}
    for tolerance, found in certificates:
        assert not list(Statements.of(tolerance, found).wrong(truth))
        for head, position in enumerate(found.heads):
            if position is None:
                assert found.attention[head] is None
                # A tie to within what decided the verdict; a tolerance of 4 decides at once.
                shares = sorted(
                    truth.step().attention(head, i).near(1 << 15) or 0 for i in range(len(case.V))
                )
                assert shares[-1] - shares[-2] <= NEAR_TIE or tolerance >= 4


@pytest.mark.parametrize("chunk", range(6))
def test_both_sides_of_the_largest_loss_are_decided(chunk):
    for turn in range(100 * chunk, 100 * (chunk + 1)):
        check(case_at(20, turn, kind=KINDS[turn % len(KINDS)]))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_so_they_are_in_ten_thousand(chunk):
    for turn in range(100 * chunk, 100 * (chunk + 1)):
        check(case_at(21, turn, kind=KINDS[turn % len(KINDS)]))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("bits", [8, 14, 24])
def test_low_precision_is_undecided_rather_than_wrong(seed, bits):
    # Here the radii are as large as the numbers: whatever is dropped or rounded inwards shows.
    drawn = instance_at(d=5, m=3, seed=seed, support=(0, 1))
    case = Case(drawn.V, drawn.theta, drawn.theta_tilde, (0, 1), str(40 + seed), "1")
    truth = Truth(case)
    largest = truth.step().supremum().near(1 << 15)
    for nearness in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**5), Fraction(1, 10**9)):
        for tolerance, verdict in (
            (largest * (1 - nearness), "refuted"),
            (largest * (1 + nearness), "certified"),
        ):
            found = certify(case, tolerance, max_bits=bits)
            assert found.verdict in {verdict, "undecided"}
            assert not list(Statements.of(tolerance, found).wrong(truth))
    for x in ((1, 1, 1, 1, 1), (1, -1, 1, 1, 1), (1, 1, -1, -1, 1), (1, -1, -1, 1, -1)):
        ends = reevaluate_witness(*arguments(case), np.array(x), eta=Fraction(case.eta), bits=bits)
        assert ends is None or not excludes(lambda y, x=x: truth.loss_side(x, y), ends)


def test_the_reference_instance_learns():
    V = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    case = Case(V, np.array([1.0, 0.0]), np.array([-1.0, 0.0]), (0, 1), "1000", "1")
    truth = Truth(case)
    found = certify(case, truth.step().supremum().near(1 << 15) * 2)
    assert found.verdict == "certified"
    assert all(truth.leads(head, position) for head, position in enumerate(found.heads))


def test_heads_within_the_slack_of_each_other_are_not_told_apart():
    # Two rows that differ by 2^-40: a step at 20 bits cannot know which score is larger.
    V = sample_embeddings(np.random.default_rng(5), 5, 3)
    V[3] = V[2] + 2.0**-40
    theta = 3 * V[2]
    case = Case(V, theta, -theta, (0, 1), "1e-1", "1")
    assert certify(case, Fraction(1, 100), max_bits=20).heads[0] is None
    found = certify(case, Fraction(1, 100), max_bits=256)
    assert found.heads[0] is not None
    assert Truth(case).leads(0, found.heads[0])
