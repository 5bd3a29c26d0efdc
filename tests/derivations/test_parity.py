from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations import parity
from derivations.calculus.power_sums import PowerSum
from derivations.catalogue import load
from derivations.notation import gamma
from derivations.parities.notation import attention
from derivations.parity import loss, square_moment
from derivations.proof.evaluation import evaluate
from numerics.parity.enumeration import enumerate_parity_loss
from verify.testing.strategies import rational_attention


@pytest.fixture
def afresh():
    """Forget what was derived before and after a test that breaks a rule."""
    cached = (
        parity.square_moment,
        parity.loss,
        parity.attention_gradient,
        parity.gradient_along,
        parity.moment_in_cumulants,
    )
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


def failing(*numbers: int) -> set[int]:
    """Return which of the steps with these numbers fail, each checked by itself."""
    derivation = load("parity")
    steps = {number: derivation.steps[number - 1] for number in numbers}
    return {
        number
        for number, step in steps.items()
        if replace(derivation, steps=(step,)).check()[0].failed
    }


def _heads(size):
    k, more = size
    return st.tuples(*(rational_attention(k + more) for _ in range(k)))


@given(st.tuples(st.integers(2, 4), st.integers(0, 3)).flatmap(_heads))
@settings(max_examples=settings().max_examples // 4)
def test_the_loss_beside_the_enumeration_of_the_other_wing(heads):
    k, d = len(heads), len(heads[0])
    support = range(d - 1, d - 1 - k, -1)
    found = evaluate(
        loss(k),
        sequences={f"gamma_{h}": head for h, head in enumerate(heads, start=1)},
        positions={f"s_{r}": position for r, position in enumerate(support, start=1)},
    )
    assert found == enumerate_parity_loss(heads, support)


def test_equal_heads_give_the_powers_of_one_form():
    equal = {attention(h): gamma for h in range(1, 5)}
    square = PowerSum(gamma**2)
    fourth = PowerSum(gamma**4)
    assert square_moment(2).xreplace(equal) == sp.expand(3 * square**2 - 2 * fourth)
    at = {"gamma": [Fraction(1), Fraction(1), Fraction(1)]}
    # x_1 + x_2 + x_3 is 3 with probability 1/4 and 1 otherwise, up to its sign.
    for k, power in ((2, 4), (3, 6), (4, 8)):
        found = evaluate(square_moment(k).xreplace(equal), sequences=at)
        assert found == Fraction(3**power + 3, 4)


def test_one_head_on_each_position_has_no_loss():
    positions = {"s_1": 2, "s_2": 0, "s_3": 3}
    heads = {f"gamma_{h}": [int(j == at) for j in range(5)] for h, at in ((1, 3), (2, 2), (3, 0))}
    assert evaluate(loss(3), sequences=heads, positions=positions) == 0


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize(("order", "value"), [(2, 2), (4, 2), (6, -16), (8, 0)])
def test_a_wrong_cumulant(monkeypatch, order, value):
    from derivations import moments

    right = moments.rademacher_cumulant

    def wrong(n):
        return sp.Integer(value) if n == order else right(n)

    monkeypatch.setattr(moments, "rademacher_cumulant", wrong)
    assert failing(3) == {3}


@pytest.mark.usefixtures("afresh")
def test_a_forgotten_partition(monkeypatch):
    right = parity.even_partitions
    monkeypatch.setattr(parity, "even_partitions", lambda n: right(n)[:-1])
    assert failing(2) == {2}


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("factor", [-1, 1, -4])
def test_a_wrong_cross_term(monkeypatch, factor):
    right = parity.cross_moment
    monkeypatch.setattr(parity, "cross_moment", lambda k: -sp.Rational(factor, 2) * right(k))
    assert failing(5, 6, 7, 9) == {5, 6, 7, 9}


@pytest.mark.usefixtures("afresh")
def test_a_wrong_multiplicity(monkeypatch):
    monkeypatch.setattr(parity, "multiplicity", lambda f: 2 ** sum(f))
    assert failing(4, 7) == {4, 7}


@pytest.mark.usefixtures("afresh")
def test_a_wrong_velocity(monkeypatch):
    monkeypatch.setattr(parity, "attention_velocity", lambda direction: gamma * direction)
    assert failing(8, 10, 11) == {8, 10, 11}


@pytest.mark.usefixtures("afresh")
def test_a_wrong_gradient(monkeypatch):
    right = parity.density
    monkeypatch.setattr(parity, "density", lambda expr, u: right(expr, u) + attention(1))
    assert failing(7, 8, 10, 11) == {7, 8, 10, 11}
