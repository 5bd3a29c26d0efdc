"""A wrong rule anywhere must make a check fail: each test breaks one rule and looks for that."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import (
    antisymmetric,
    converse,
    gradient,
    moments,
    one_step,
    population,
    score_bounds,
    softmax,
    worst_case,
    zero,
)
from derivations.calculus import variation
from derivations.calculus.power_sums import Entry, PowerSum, Unit
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
from derivations.population_step import (
    freezing,
    frozen_sums,
    growth_signs,
    noise_moments,
    score_events,
    wedge,
    weight_bounds,
)
from derivations.zonotopes import edge as zonotope_edge
from derivations.zonotopes import walk as zonotope_walk
from derivations.zonotopes import zonotope


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


@pytest.mark.parametrize(
    ("name", "module", "attribute", "wrong"),
    [
        ("one_step", one_step, "MIRROR", lambda right: {**right, E: E}),
        ("one_step", one_step, "rest_weights", lambda right: lambda: 2 * right()),
        ("one_step", one_step, "push", lambda right: lambda: -right()),
        ("one_step", one_step, "push_tilde", lambda right: lambda: -right()),
        ("one_step", one_step, "kappa_value", lambda right: lambda: right() + 1),
        ("score_bounds", score_bounds, "kappa_value", lambda right: lambda: right() + 1),
        ("score_bounds", score_bounds, "growth_rate", lambda right: lambda u: right(u) / 2),
        ("score_bounds", score_bounds, "OFF_SUPPORT", lambda _right: 1 - Unit(antisymmetric.a)),
        ("score_bounds", weight_bounds, "growth_rate", lambda right: lambda u: right(-u)),
        ("score_bounds", growth_signs, "growth_rate", lambda right: lambda u: right(u) * u),
        ("score_bounds", freezing, "kappa_value", lambda right: lambda: right() * 2),
        ("score_bounds", frozen_sums, "_product_change", lambda right: lambda *p: right(*p[::-1])),
        ("score_bounds", frozen_sums, "OFF_SUPPORT", lambda right: right + Unit(antisymmetric.b)),
        ("theorem2", score_events, "even_moment", lambda right: lambda k, n: right(k, n + 1)),
        ("theorem2", score_events, "divided_derivative", lambda right: lambda *y: -right(*y)),
        ("theorem2", wedge, "negative_moment", lambda right: lambda k: 2 * right(k)),
        ("theorem2", wedge, "_SIGNS", lambda _right: 1),
        ("converse", converse, "_SIGNS", lambda _right: 1),
        ("converse", converse, "_HEADS", lambda _right: 1),
        ("converse", converse, "_gain", lambda right: lambda: 2 * right()),
        ("converse", converse, "_left_out", lambda right: lambda: right() / 2),
        ("converse", noise_moments, "even_moment", lambda right: lambda k, n: 2 * right(k, n)),
        ("converse", noise_moments, "_fourth_moment_factor", lambda _right: lambda: sp.S.One),
    ],
)
def test_a_wrong_rule_of_the_explicit_theorem(monkeypatch, name, module, attribute, wrong):
    monkeypatch.setattr(module, attribute, wrong(getattr(module, attribute)))
    assert _fails(name)


@pytest.mark.parametrize("number", range(6))
def test_a_wrong_obligation(monkeypatch, number):
    name = list(growth_signs.OBLIGATIONS)[number]
    right = growth_signs.OBLIGATIONS[name]
    wrong = (
        replace(right, expression=2 * right.expression),
        replace(right, expression=-right.expression),
        replace(right, order=right.order + 1),
        replace(right, zero=sp.S.One),
        replace(right, zero=None),
    )
    derivation = load("score_bounds")
    for each in wrong:
        monkeypatch.setitem(growth_signs.OBLIGATIONS, name, each)
        (result,) = replace(derivation, steps=(growth_signs.steps()[number],)).check()
        assert result.failed
