"""The two derivations of the Transformer: what they say, and that a wrong rule is found."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import softmax, transformer
from derivations.calculus.power_sums import PowerSum
from derivations.catalogue import load
from derivations.notation import d, eta, gamma, gamma_tilde
from derivations.proof.ledger import Method
from derivations.proof.refusal import CheckError
from derivations.transformer import (
    CONDITIONS,
    GRADIENT,
    ISOMETRY,
    NORM,
    W_K,
    W_Q,
    K,
    cls_square,
    matched_step,
    query,
    query_gradient,
    scale,
    step,
    z,
)
from derivations.transformers import explicit_training, layer_conditions, training_conditions
from derivations.transformers.layer_conditions import r, r_tilde, residual_excess
from derivations.transformers.linear_maps import identity, require_same


def failing(name):
    """Return the numbers of the steps that fail, or "all" if nothing can be derived."""
    try:
        derivation = load(name)
    except Exception:  # a broken rule may also stop the derivation
        return "all"
    # The explicit Transformer knows of no rule, and takes longer than all else.
    proofs = tuple(each for each in derivation.steps if each.method is Method.PROOF)
    return [result.number for result in replace(derivation, steps=proofs).check() if result.failed]


def test_the_gradient_and_the_step():
    require_same(query_gradient(), (K @ GRADIENT @ z.T).times(scale), "the gradient")
    after = query(step(matched_step())).under(ISOMETRY, NORM)
    require_same(after, query(W_Q) - GRADIENT.times(eta), "the step")
    assert matched_step() == eta / (scale**2 * cls_square)


def test_a_step_that_is_not_matched_is_another():
    after = query(step(eta)).under(ISOMETRY, NORM)
    with pytest.raises(CheckError):
        require_same(after, query(W_Q) - GRADIENT.times(eta), "the step")


def test_every_condition_is_used_and_every_step_says_which():
    reasons = [each.reason for each in load("transformer").steps[:-1]]
    assert all("Uses (" in reason for reason in reasons)
    for number in range(1, len(CONDITIONS) + 1):
        assert any(f"({number})" in reason for reason in reasons)


def test_every_condition_is_left_out_somewhere():
    reasons = " ".join(each.reason for each in load("transformer_conditions").steps)
    for number in range(1, 7):
        assert f"Without ({number})" in reasons or f"or ({number})" in reasons
    assert "Of the start, (7)" in reasons


def test_everything_but_the_induction_is_proved():
    methods = [each.method for each in load("transformer").steps]
    assert methods == [Method.PROOF] * 10 + [Method.INSTANCES]
    assert {each.method for each in load("transformer_conditions").steps} == {Method.PROOF}


@pytest.mark.parametrize(
    ("attribute", "wrong", "expected"),
    [
        ("ISOMETRY", ((K.T @ K, identity("R^m", 2)),), [7, 8, 9]),
        ("ISOMETRY", (), [7, 8, 9]),
        ("NORM", ((z.T @ z, identity("R", cls_square**2)),), [7, 8, 9]),
        ("_KEYS", ((W_K @ transformer.U, K),), [1, 2, 5]),
        ("matched_step", lambda: eta / scale**2, [8, 9, 10]),
        ("matched_step", lambda: eta / cls_square, [8, 9, 10]),
        ("attention_with_cls", lambda mass: softmax.ATTENTION + mass + 1, [3]),
        ("attention_velocity", lambda speed: gamma * speed**2, [5]),
    ],
)
def test_a_wrong_rule_of_the_equivalence(monkeypatch, attribute, wrong, expected):
    monkeypatch.setattr(transformer, attribute, wrong)
    assert failing("transformer") == expected


def test_readouts_that_see_the_other_head(monkeypatch):
    own, other = transformer._VALUES[:2], transformer._VALUES[2:]
    mixed = (*own, (other[1][0], identity("R")), other[0])
    monkeypatch.setattr(transformer, "_VALUES", mixed)
    assert failing("transformer") == [4]


def test_a_score_with_another_factor(monkeypatch):
    right = query
    for module in (transformer, training_conditions, layer_conditions):
        monkeypatch.setattr(module, "query", lambda W: right(W).times(2))
    assert set(failing("transformer")) >= {2, 5, 6, 7, 8, 9}
    assert set(failing("transformer_conditions")) >= {1, 9, 11}


def test_a_gradient_with_another_sign(monkeypatch):
    for module in (transformer, training_conditions):
        monkeypatch.setattr(module, "query_gradient", lambda: query_gradient().times(-1))
    assert set(failing("transformer")) >= {6, 7, 8, 9}
    assert set(failing("transformer_conditions")) >= {9, 11, 16, 17, 18}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_COLUMNS", (((1, -2), (2, -1), (2, 1)), ((2, 1), (-1, -2), (2, -2)))),
        ("_Z", (1, 0, 2, 3)),
    ],
)
def test_explicit_training_that_breaks_a_condition(monkeypatch, name, wrong):
    """Keys that are not orthonormal, and a W_Q that does more to z than it should."""
    monkeypatch.setattr(explicit_training, name, wrong)
    monkeypatch.setattr(explicit_training, "_STEPS", 1)
    with pytest.raises(CheckError, match="a mapped query and a query"):
        explicit_training.check_training()


@pytest.mark.parametrize("factor", [-1, 1.0001])
def test_explicit_training_with_another_step(monkeypatch, factor):
    right = explicit_training._descended
    monkeypatch.setattr(explicit_training, "_STEPS", 1)
    monkeypatch.setattr(
        explicit_training,
        "_descended",
        lambda context, model, size: right(context, model, size * factor),
    )
    with pytest.raises(CheckError, match="a mapped query and a query"):
        explicit_training.check_training()


def test_the_residual_in_closed_form():
    overlap = PowerSum(gamma * gamma_tilde)
    expected = (
        r_tilde**2 * PowerSum(gamma**2)
        + r**2 * PowerSum(gamma_tilde**2)
        + 4 * r * r_tilde * overlap
        + (r * r_tilde) ** 2
    )
    assert sp.expand(residual_excess() - expected) == 0


@pytest.mark.parametrize(
    ("module", "attribute", "wrong", "expected"),
    [
        ("layer", "attention_with_cls", lambda mass: softmax.ATTENTION * mass, 2),
        ("layer", "_gain_excess", lambda: layer_conditions.gain - 1, 3),
        ("layer", "residual_excess", lambda: r**2, 4),
        ("layer", "_TOKEN", (), 6),
        ("layer", "_dropped_loss", lambda: sp.Integer(1), 7),
        ("layer", "_loss_of_mean", lambda: sp.Integer(1), 8),
        ("training", "NORM", (), 9),
        ("training", "ISOMETRY", (), 11),
        ("training", "at_zero", lambda expr: 0 * expr, 10),
        ("training", "attention_velocity", lambda speed: gamma * speed, 12),
        ("training", "residual_excess", lambda: r * r_tilde + r, 13),
        ("training", "_loss_at_offset", lambda: training_conditions.offset**2, 14),
        ("training", "_slope_in_gain", lambda: sp.Integer(2) / d**2, 15),
        ("training", "_velocity", lambda expr: 2 * expr, 15),
    ],
)
def test_a_wrong_rule_of_a_condition(monkeypatch, module, attribute, wrong, expected):
    where = layer_conditions if module == "layer" else training_conditions
    monkeypatch.setattr(where, attribute, wrong)
    found = failing("transformer_conditions")
    assert found == "all" or expected in found


@pytest.mark.parametrize(
    ("function", "number"),
    [("_with_cls_trained", 16), ("_with_keys_trained", 17), ("_with_momentum", 18)],
)
def test_a_step_without_what_else_is_trained(monkeypatch, function, number):
    """The plain step in its place is not what the step derives."""
    plain = query(step(matched_step())).under(ISOMETRY, NORM)
    monkeypatch.setattr(training_conditions, function, lambda: plain)
    assert number in failing("transformer_conditions")
