"""What a certificate says at the edges: rational suprema, low precision, bad arguments."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
import pytest
from flint import arb

from numerics.arguments import InvalidArgumentError
from numerics.balls import certificate
from numerics.balls.certificate import certify_step, reevaluate_witness
from numerics.balls.worst_case import Bracket
from verify.testing.strategies import instance_at


@dataclass(frozen=True)
class Instance:
    V: np.ndarray
    theta: np.ndarray
    theta_tilde: np.ndarray
    support: tuple[int, int]
    eta: Fraction

    def certify(self, tolerance, **options):
        return certify_step(
            self.V,
            self.theta,
            self.theta_tilde,
            self.support,
            eta=self.eta,
            tolerance=tolerance,
            **options,
        )

    def reevaluate(self, witness, **options):
        return reevaluate_witness(
            self.V,
            self.theta,
            self.theta_tilde,
            self.support,
            np.array(witness),
            eta=self.eta,
            **options,
        )


def random_instance(seed, d, m, eta):
    drawn = instance_at(d=d, m=m, seed=seed, support=(0, 1))
    return Instance(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support, eta)


def test_a_step_far_beyond_the_scale_of_theorem_2_does_not_blow_up():
    instance = random_instance(3, 30, 20, Fraction(10) ** 40)
    found = instance.certify(Fraction(1, 100))
    assert found.verdict == "certified"
    assert found.bits <= 512
    assert found.margin_bits > 60
    # exp(-10^37) has no fraction worth writing out: an outer bound takes its place.
    assert found.sup_loss[0] == 0
    assert 0 < found.sup_loss[1] <= Fraction(2, 2**65536)


@pytest.mark.parametrize("exponent", [20, 400, 1000])
def test_a_margin_without_end_is_cut_off(exponent):
    # The tolerance is dyadic, the loss exp(-10^exponent): no radius is left that is worth counting.
    theta = np.array([1.0, 0.0, -1.0])
    instance = Instance(np.eye(3), theta, -theta, (0, 2), Fraction(10) ** exponent)
    found = instance.certify(Fraction(1, 2))
    assert found.verdict == "certified"
    assert found.margin_bits == 1 << 20


def test_rational_suprema_are_decided_exactly():
    # All rows equal: attention stays 1/d, and the supremum is (1 + ((d-2)/d)^2)^2.
    V = np.tile([0.25, -3.0], (5, 1))
    instance = Instance(V, np.array([1.0, 2.0]), np.array([-1.0, 0.5]), (3, 1), Fraction(7, 3))
    supremum = Fraction(34, 25) ** 2
    equal = instance.certify(supremum)
    assert equal.verdict == "certified"
    assert equal.sup_loss == (supremum, supremum)
    assert equal.bits == 0
    below = instance.certify(supremum - Fraction(1, 10**100))
    assert below.verdict == "refuted"
    low, high = instance.reevaluate(below.witness)
    assert low <= supremum <= high


def test_two_equal_rows_at_their_supremum_of_one():
    V = np.array([[0.1, 0.7], [0.1, 0.7]])
    instance = Instance(V, np.zeros(2), np.zeros(2), (0, 1), Fraction(100))
    assert instance.certify(Fraction(1)).verdict == "certified"
    assert instance.certify(1 - Fraction(1, 10**30)).verdict == "refuted"


def test_a_tolerance_equal_to_an_irrational_neighbour_stays_undecided():
    # The supremum is 1 + exp(-s)-like terms far below 2^-64: neither verdict at 64 bits.
    V = np.array([[1.0, 0.0], [1.0, 0.0], [-200.0, 0.0]])
    instance = Instance(V, np.array([1.0, 0.0]), np.array([1.0, 0.0]), (0, 1), Fraction(1, 100))
    found = instance.certify(Fraction(1), max_bits=64)
    assert found.verdict == "undecided"
    assert found.witness is None
    assert found.margin_bits is None
    assert "64 bits" in found.reason
    assert found.sup_loss[0] <= 1 <= found.sup_loss[1]
    assert instance.certify(Fraction(1)).verdict == "refuted"


def test_the_callers_precision_and_arguments_are_left_alone():
    before = flint.ctx.prec
    instance = random_instance(0, 4, 2, Fraction(10))
    kept = instance.V.copy(), instance.theta.copy()
    instance.certify(Fraction(1, 100))
    assert flint.ctx.prec == before
    assert np.array_equal(instance.V, kept[0])
    assert np.array_equal(instance.theta, kept[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": Fraction(0)}, "eta=0"),
        ({"eta": Fraction(-1, 3)}, "eta=-1/3"),
        ({"tolerance": Fraction(0)}, "tolerance=0"),
        ({"max_bits": 1}, "max_bits=1"),
    ],
)
def test_bad_numbers_are_refused(change, message):
    options = {"eta": Fraction(1), "tolerance": Fraction(1), **change}
    with pytest.raises(InvalidArgumentError, match=message):
        certify_step(np.eye(2), [1.0, 0.0], [0.0, 1.0], (0, 1), **options)


def test_infinite_entries_are_refused():
    V = np.array([[1.0, np.inf], [0.0, 1.0]])
    with pytest.raises(InvalidArgumentError, match=r"V\[0, 1\]=inf"):
        certify_step(V, [1.0, 0.0], [0.0, 1.0], (0, 1), eta=Fraction(1), tolerance=Fraction(1))


def test_a_witness_must_be_signs():
    instance = random_instance(0, 3, 2, Fraction(1))
    for witness in ([1, 1], [1, 0, 1], [[1, 1, 1]]):
        with pytest.raises(InvalidArgumentError, match="witness"):
            instance.reevaluate(witness)


def test_memory_is_that_of_a_block():
    d, m = 4000, 250
    instance = random_instance(0, d, m, Fraction(1000 * d * d))
    tracemalloc.start()
    found = instance.certify(Fraction(1, 100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.verdict in {"certified", "refuted"}
    # V has 8 MB; a Python integer for each entry would be 40 MB and more.
    assert peak < 40e6


def test_a_refutation_rests_on_the_witness_evaluated_afresh(monkeypatch):
    # Were the bracket wrong about its witness, the second evaluation would withhold the verdict.
    instance = random_instance(1, 5, 3, Fraction(10))
    assert instance.certify(Fraction(1, 10**6), max_bits=128).verdict == "refuted"
    monkeypatch.setattr(certificate, "_input_loss", lambda *_: arb(0))
    found = instance.certify(Fraction(1, 10**6), max_bits=128)
    assert found.verdict == "undecided"
    assert found.witness is None


def test_a_verdict_needs_the_whole_ball_on_one_side():
    bracket = Bracket(arb(1, arb((1, -10))), arb(1, arb((1, -10))), frozenset(), closed=True)
    exact = arb(1)
    for limit, verdict in (
        (0.9, "refuted"),
        (1.0, "undecided"),
        (1.001, "undecided"),
        (1.1, "certified"),
    ):
        assert certificate._verdict(bracket, exact, arb(limit)) == verdict
    # A slack that reaches across the limit takes either verdict back.
    for limit in (0.9, 1.1):
        assert certificate._verdict(bracket, arb(1, 0.25), arb(limit)) == "undecided"
    assert certificate._verdict(bracket, arb.nan(), arb(1.1)) == "undecided"
