"""A wrong rule anywhere must make a check fail: each test breaks one rule and looks for that."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import (
    antisymmetric,
    gradient,
    moments,
    population,
    softmax,
    variation,
    worst_case,
    zero,
    zonotope,
    zonotope_edge,
    zonotope_walk,
)
from derivations.catalogue import load
from derivations.notation import (
    R_2,
    Z_2,
    Delta,
    E,
    Z,
    Z_tilde,
    Z_tilde_2,
    d,
    gamma,
    gamma_tilde,
    i,
    x,
)
from derivations.power_sums import Entry, PowerSum, Unit


def _fails(name):
    try:
        derivation = load(name)
    except Exception:  # a broken rule may also stop the derivation
        return True
    one_by_one = (replace(derivation, steps=(step,)) for step in derivation.steps)
    return any(result.failed for single in one_by_one for result in single.check())


@pytest.mark.parametrize(("order", "value"), [(2, 2), (4, 2), (4, -3), (6, -16), (8, 272), (8, 0)])
def test_a_wrong_cumulant(monkeypatch, order, value):
    right = moments.rademacher_cumulant
    monkeypatch.setattr(
        moments, "rademacher_cumulant", lambda n: sp.Integer(value) if n == order else right(n)
    )
    assert _fails("moments")
    if order <= 4:
        assert _fails("population")


def test_a_forgotten_partition(monkeypatch):
    right = moments.even_partitions
    monkeypatch.setattr(moments, "even_partitions", lambda n: right(n)[:-1])
    assert _fails("moments")
    assert _fails("population")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda direction: gamma * (direction + PowerSum(gamma * direction)),
        lambda direction: gamma * direction,
        lambda direction: 2 * gamma * (direction - PowerSum(gamma * direction)),
        lambda direction: direction - PowerSum(gamma * direction),
    ],
)
def test_a_wrong_derivative_of_softmax(monkeypatch, wrong):
    for module in (softmax, gradient):
        monkeypatch.setattr(module, "attention_velocity", wrong)
    assert _fails("softmax")
    assert _fails("gradient")


def test_scores_that_move_at_another_speed(monkeypatch):
    for module in (softmax, gradient):
        monkeypatch.setattr(
            module, "score_motion", lambda direction: variation.Variation({E: 2 * E * direction})
        )
    assert _fails("softmax")
    assert _fails("gradient")


def test_a_wrong_power_rule(monkeypatch):
    right = variation.Variation.__call__

    def wrong(self, expr):
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
            return expr.base ** (expr.exp - 1) * self(expr.base)
        return right(self, expr)

    monkeypatch.setattr(variation.Variation, "__call__", wrong)
    assert _fails("softmax")
    assert _fails("gradient")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: right + 4 * population.cross_moment(),
        lambda right: right + 2 * PowerSum(gamma**2 * gamma_tilde**2),
        lambda right: right - PowerSum(gamma * gamma_tilde) ** 2,
        lambda right: right - 1,
        lambda right: right / 2,
    ],
)
def test_a_wrong_loss(monkeypatch, wrong):
    right = population.loss()
    for module in (population, gradient, antisymmetric, zero):
        monkeypatch.setattr(module, "loss", lambda: wrong(right))
    assert _fails("population")
    if (wrong(right) - right).free_symbols:
        assert _fails("gradient")
    assert _fails("antisymmetric")
    assert _fails("zero")


@pytest.mark.parametrize("factor", [-1, 2])
def test_a_wrong_gradient_by_the_attention(monkeypatch, factor):
    right = gradient.attention_gradient()
    monkeypatch.setattr(gradient, "attention_gradient", lambda: sp.expand(factor * right))
    assert _fails("gradient")
    assert not _fails("population")


def test_a_mirror_image_that_does_not_exchange_the_heads(monkeypatch):
    monkeypatch.setattr(gradient, "SWAP", {})
    assert _fails("gradient")


@pytest.mark.parametrize(
    "wrong",
    [
        {Entry(E, antisymmetric.a): sp.exp(-Delta) * Entry(E, antisymmetric.b)},
        {PowerSum(E**2): Z_tilde_2},
        {PowerSum(E): Z_tilde},
        {PowerSum(E**-1): Z},
    ],
)
def test_a_wrong_name_for_a_sum(monkeypatch, wrong):
    monkeypatch.setattr(antisymmetric, "SUMS", {**antisymmetric.SUMS, **wrong})
    assert _fails("antisymmetric")


@pytest.mark.parametrize("wrong", [{Delta: Delta}, {E: E}, {Z_2: Z_2}, {Z: Z}])
def test_a_wrong_reflection(monkeypatch, wrong):
    monkeypatch.setattr(antisymmetric, "MIRROR", {**antisymmetric.MIRROR, **wrong})
    assert _fails("antisymmetric")


@pytest.mark.parametrize(
    "function", ["closed_loss", "kappa_value", "push", "push_tilde", "signal", "rest_weights"]
)
def test_a_wrong_closed_form(monkeypatch, function):
    right = getattr(antisymmetric, function)()
    monkeypatch.setattr(antisymmetric, function, lambda: sp.expand(2 * right))
    assert _fails("antisymmetric")


def test_attention_at_zero_that_is_not_uniform(monkeypatch):
    monkeypatch.setattr(zero, "_UNIFORM", {gamma: 1 / d, gamma_tilde: 2 / d})
    assert _fails("zero")


@pytest.mark.parametrize(
    ("module", "function", "wrong"),
    [
        (worst_case, "residual_in_masses", lambda right: lambda tau: right(-tau)),
        (worst_case, "residual_in_masses", lambda right: lambda tau: right(tau) / 2),
        (worst_case, "success_value", lambda right: lambda: -right()),
        (worst_case, "success_value", lambda right: lambda: 4 * right()),
        (worst_case, "worst_signs", lambda right: lambda: -right()),
        (worst_case, "worst_signs", lambda right: lambda: right() + Unit(i)),
        (worst_case, "branch_bracket", lambda right: lambda *given: right(*given)[::-1]),
        (worst_case, "branch_minimum", lambda right: lambda *given: right(*given[:3], -given[3])),
        (zonotope_edge, "edge_peak", lambda right: lambda: right().xreplace({R_2: 2 * R_2})),
        (zonotope_edge, "edge_residual", lambda right: lambda: 2 - right()),
        (zonotope_edge, "edge_product", lambda right: lambda *given: -right(*given)),
        (zonotope_edge, "stationary_point", lambda right: lambda expr: right(expr) / 2),
        (zonotope_walk, "flip_gain", lambda right: lambda: -right()),
        (zonotope_walk, "flip_gain", lambda right: lambda: right() / 2),
        (zonotope_walk, "lean", lambda right: lambda position: -right(position)),
        (zonotope_walk, "turn", lambda right: lambda: -right()),
        (zonotope_walk, "chain_lead", lambda right: lambda: -right()),
        (zonotope_walk, "chain_lead", lambda right: lambda: right().xreplace({x: -x})),
        (zonotope_walk, "OFF_SUPPORT", lambda _right: {}),
    ],
)
def test_a_wrong_fact_about_the_worst_input(monkeypatch, module, function, wrong):
    monkeypatch.setattr(module, function, wrong(getattr(module, function)))
    assert _fails("worst_case")


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("_compare_slopes", lambda _left, _right: 0),
        ("_least_inside", lambda start, _end: start[0] * start[1]),
    ],
)
def test_a_wrong_walk_along_the_zonotope(monkeypatch, function, wrong):
    monkeypatch.setattr(zonotope, function, wrong)
    assert _fails("worst_case")
