from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from derivations import parity_chance
from derivations.catalogue import load
from derivations.parities.rest import own_gain, shared_gain
from derivations.proof.evaluation import evaluate_real
from derivations.proof.ledger import Status
from numerics.parity.prediction import common_shock


def failing(*numbers: int) -> set[int]:
    """Return which of the steps with these numbers fail, each checked by itself."""
    derivation = load("parity_chance")
    steps = {number: derivation.steps[number - 1] for number in numbers}
    return {
        number
        for number, step in steps.items()
        if replace(derivation, steps=(step,)).check()[0].failed
    }


def exact(gain: sp.Expr, positions: int) -> Fraction:
    value = gain.subs(parity_chance.d, positions)
    return Fraction(value.p, value.q)


@pytest.mark.parametrize("start", ["simplex", "independent"])
@pytest.mark.parametrize(("k", "d", "norm"), [(2, 64, 1.0), (3, 5, 0.5), (4, 100, 3.0)])
def test_the_shared_part_is_that_of_the_other_wing(start, k, d, norm):
    found = evaluate_real(
        load("parity_chance").formula(f"shock_{start}").right,
        rational=Fraction,
        scalars={
            "k_heads": Fraction(k),
            "d": Fraction(d),
            "norm": Fraction(norm),
            "own_gain": exact(own_gain(k), d),
            "shared_gain": exact(shared_gain(k), d),
        },
        functions={},
    )
    expected = common_shock(k, d=d, start=start, norm=norm)
    # A difference of two numbers of the size of 1/k.
    assert abs(float(found) - expected) <= 1e-15 + 1e-14 * abs(expected)


def test_three_steps_rest_on_lemmas():
    results = load("parity_chance").check()
    by_lemma = [result for result in results if result.status is Status.BY_LEMMA]
    assert [result.number for result in by_lemma] == [1, 2, 4]


@pytest.mark.parametrize("power", [0, 2])
def test_a_wrong_power_of_the_lean(monkeypatch, power):
    correlation, right, mean = parity_chance._STARTS["simplex"]
    monkeypatch.setitem(parity_chance._STARTS, "simplex", (correlation, right**power, mean))
    assert failing(1, 7) == {1, 7}


@pytest.mark.parametrize("start", ["simplex", "independent"])
def test_a_wrong_variance_of_the_mean(monkeypatch, start):
    correlation, lean, mean = parity_chance._STARTS[start]
    monkeypatch.setitem(parity_chance._STARTS, start, (correlation, lean, mean + 1))
    assert failing(1) == {1}


def test_a_wrong_angle(monkeypatch):
    _, lean, mean = parity_chance._STARTS["simplex"]
    wrong = parity_chance._Exchangeable(sp.S.One, -1 / parity_chance.k)
    monkeypatch.setitem(parity_chance._STARTS, "simplex", (wrong, lean, mean))
    assert failing(1) == {1}


def test_gains_without_their_limit(monkeypatch):
    right = parity_chance.own_gain
    monkeypatch.setattr(parity_chance, "own_gain", lambda k: right(k) + 1)
    assert failing(7) == {7}


@pytest.mark.parametrize("shift", [1, -1, 1 / parity_chance.d])
def test_a_wrong_shared_variance(monkeypatch, shift):
    right = parity_chance.product_variance
    monkeypatch.setattr(parity_chance, "product_variance", lambda: right() + shift)
    assert failing(2, 7) == {2, 7}


def test_a_wrong_shock(monkeypatch):
    right = parity_chance.shock
    monkeypatch.setattr(parity_chance, "shock", lambda start: right(start) + 1 / parity_chance.k)
    assert failing(3, 8) == {3, 8}


def test_a_wrong_form_of_the_common_term(monkeypatch):
    right = parity_chance._common_form

    def wrong(s, heads, positions):
        form = right(s, heads, positions)
        return {pair: value + (pair == (0, 1)) for pair, value in form.items()}

    monkeypatch.setattr(parity_chance, "_common_form", wrong)
    assert failing(2) == {2}
