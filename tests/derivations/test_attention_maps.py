from dataclasses import replace

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations import attention_maps
from derivations.attention import pointwise_maps
from derivations.attention.pointwise_attention import weight, weight_tilde
from derivations.attention.pointwise_maps import (
    ERF,
    LINEAR,
    PointwiseMap,
    derive_map,
    general_loss,
    map_steps,
    pointwise_along,
    score,
    slope,
    slopes,
)
from derivations.attention_maps import pull_back_of_softmax
from derivations.calculus.power_sums import Entry, PowerSum, Unit
from derivations.catalogue import load
from derivations.notation import a, b, gamma, gamma_tilde, i, t
from derivations.printing.latex import latex
from derivations.proof.enumeration import enumerated_loss
from derivations.proof.evaluation import evaluate
from derivations.proof.identities import residue
from derivations.proof.ledger import Status

WEIGHTS = st.lists(st.integers(-9, 9), min_size=5, max_size=5)


@given(WEIGHTS, WEIGHTS)
@settings(max_examples=settings().max_examples * 30 // 100)
def test_the_loss_of_any_weights_is_the_enumerated_mean(weights, weights_tilde):
    found = evaluate(
        general_loss(),
        sequences={"weight": weights, "weight_tilde": weights_tilde},
        positions={"a": 0, "b": 1},
    )
    exact = [[sp.Integer(each) for each in head] for head in (weights, weights_tilde)]
    assert found == enumerated_loss(*exact)


def test_nothing_is_assumed_of_the_weights():
    for symbol in (weight, weight_tilde):
        assert symbol in general_loss().atoms(sp.Symbol)
        assert symbol.is_positive is None
    assert not general_loss().has(gamma, gamma_tilde)
    assert not pointwise_along().has(gamma, gamma_tilde)


def test_the_pull_backs():
    expected = (
        -2 * Unit(a) * Entry(weight_tilde, b)
        - 2 * Unit(b) * Entry(weight_tilde, a)
        + 2 * weight * PowerSum(weight_tilde**2)
        + 4 * weight_tilde * PowerSum(weight * weight_tilde)
        - 4 * weight * weight_tilde**2
    )
    assert residue(Entry(slopes(), i), Entry(expected, i)) == 0
    # A common shift of the scores changes no weight, and their sum is 1.
    total = PowerSum(pull_back_of_softmax()).xreplace({PowerSum(gamma): sp.S.One})
    assert residue(total, sp.S.Zero) == 0
    linear = pointwise_along().xreplace({slope: sp.S.One})
    assert residue(sp.expand(linear), PowerSum(expected * t)) == 0


def test_linear_attention_that_is_right_on_every_input_has_no_gradient():
    # (2, 1) and (-1/3, 2/3): mu = 1, and the products cancel.
    found = evaluate(
        pointwise_along(),
        sequences={
            "weight": [0, 2, 0, 1],
            "weight_tilde": [0, sp.Rational(-1, 3), 0, sp.Rational(2, 3)],
            "slope": [1] * 4,
            "t": [5, -2, 7, 3],
        },
        positions={"a": 1, "b": 3},
    )
    assert found == 0


def test_derivatives_are_derived():
    assert LINEAR.derivative == 1
    assert residue(ERF.derivative / sp.exp(-(score**2)), 2 / sp.sqrt(sp.pi)) == 0
    tanh = PointwiseMap("tanh", sp.tanh(score))
    assert tanh.derivative == 1 - sp.tanh(score) ** 2
    assert tanh.at(sp.Integer(0)) == 0
    assert tanh.derivative_at(sp.Integer(0)) == 1


@pytest.mark.parametrize(
    "value",
    [
        sp.tanh(score),
        score / (1 + score**2),
        1 / (1 + sp.exp(-score)),
        sp.Max(score, 0),
        score**3 - sp.sqrt(2) * score,
        sp.Integer(2),
    ],
)
def test_a_map_of_ones_own(value):
    derivation = derive_map(PointwiseMap("own", value))
    assert [result.detail for result in derivation.check() if result.failed] == []
    assert len(derivation.steps) == 2 + bool(value.is_polynomial(score))
    assert r"\phi(s) = " + latex(value) in derivation.steps[0].statement


def test_a_map_with_no_real_value_fails():
    results = derive_map(PointwiseMap("log", sp.log(score))).check()
    assert {result.status for result in results} == {Status.FAILED}


def test_a_map_of_more_than_the_score_is_refused():
    with pytest.raises(ValueError, match=r"^value=c\*s: may depend on the score alone, not on {c}"):
        PointwiseMap("scaled", sp.Symbol("c") * score)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: -right,
        lambda right: 2 * right,
        lambda right: right + score,
        lambda right: right * (1 + score),
    ],
)
@pytest.mark.parametrize("attention", [ERF, LINEAR, PointwiseMap("cube", score**3)])
def test_a_wrong_derivative_fails(monkeypatch, attention, wrong):
    right = attention.derivative
    monkeypatch.setattr(PointwiseMap, "derivative", property(lambda _: wrong(right)))
    results = replace(load("attention_maps"), steps=map_steps(attention)).check()
    assert all(result.failed for result in results)


def _failed(number):
    derivation = load("attention_maps")
    (result,) = replace(derivation, steps=derivation.steps[number - 1 : number]).check()
    return result.failed


def test_every_step_holds():
    assert not any(map(_failed, range(1, len(load("attention_maps").steps) + 1)))


@pytest.mark.parametrize(
    ("attribute", "wrong", "steps"),
    [
        ("general_loss", lambda right: right + PowerSum(weight) - 1, (1, 2, 3)),
        ("general_loss", lambda right: right + PowerSum(weight**2 * weight_tilde**2), (1, 2, 3)),
        ("slopes", lambda right: 2 * right, (3, 5, 6)),
        ("slopes", lambda right: right - 2 * weight * weight_tilde**2, (3, 5, 6)),
        ("pointwise_along", lambda right: -right, (5, 6, 8, 9, 11)),
        (
            "pointwise_along",
            lambda right: right.xreplace({slope: sp.S.One}),
            (5, 6, 11),
        ),
        ("pull_back_of_softmax", lambda right: right + gamma * PowerSum(gamma), (4,)),
        ("pull_back_of_softmax", lambda right: right / gamma, (4,)),
    ],
)
def test_a_wrong_rule_fails(monkeypatch, attribute, wrong, steps):
    value = sp.expand(wrong(getattr(attention_maps, attribute)()))
    for module in (attention_maps, pointwise_maps):
        monkeypatch.setattr(module, attribute, lambda: value, raising=False)
    assert [number for number in steps if not _failed(number)] == []


def test_a_wrong_derivative_of_softmax_fails(monkeypatch):
    monkeypatch.setattr(attention_maps, "attention_velocity", lambda direction: gamma * direction)
    assert _failed(4)


def test_a_mirror_image_that_does_not_exchange_the_heads(monkeypatch):
    for module in (attention_maps, pointwise_maps):
        monkeypatch.setattr(module, "SWAP", {})
    assert _failed(5)
    assert _failed(6)
    assert _failed(11)
