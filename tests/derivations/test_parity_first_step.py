from dataclasses import replace

import mpmath
import pytest
import sympy as sp

from derivations import parity, parity_first_step
from derivations.catalogue import load
from derivations.notation import d
from derivations.parities import rest as parity_rest
from derivations.parities.notation import (
    attention,
    exponential,
    lean,
    normaliser,
    relevant,
    score,
)
from derivations.parities.rest import own_gain, rest_factor, shared_gain


@pytest.fixture
def afresh():
    cached = (
        parity.square_moment,
        parity.gradient_along,
        parity_rest.rest_factor,
        parity_rest._rest,
        parity_rest._rest_to_first_order,
        parity_first_step._two_orders,
    )
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


def failing(*numbers: int) -> set[int]:
    """Return which of the steps with these numbers fail, each checked by itself."""
    derivation = load("parity_first_step")
    steps = {number: derivation.steps[number - 1] for number in numbers}
    return {
        number
        for number, step in steps.items()
        if replace(derivation, steps=(step,)).check()[0].failed
    }


def test_the_factors_of_the_rest():
    assert sp.expand(rest_factor(2) * d**4 - (d - 2)) == 0
    assert sp.expand(rest_factor(3) * d**6 - (d - 2) * (3 * d - 8)) == 0
    assert sp.expand(rest_factor(4) * d**8 - (d - 2) * (15 * d**2 - 90 * d + 136)) == 0


@pytest.mark.parametrize("k", [2, 3])
def test_the_first_step_to_first_order_in_numbers(k):
    # -grad/2 by finite differences of the enumerated loss at tiny scores, against the formula.
    context = mpmath.MPContext()
    context.dps = 90
    positions, size = k + 2, context.mpf(10) ** -20
    sigma = [
        [context.mpf((7 * h + 3 * j * j) % 11 - 5) for j in range(positions)] for h in range(k)
    ]

    def attention(scores):
        weights = [context.exp(score) for score in scores]
        return [weight / context.fsum(weights) for weight in weights]

    others = [attention([size * each for each in row]) for row in sigma[1:]]

    def loss(scores):
        return parity._enumerated_loss([attention(scores), *others])

    centred = [[x - context.fsum(row) / positions for x in row] for row in sigma]
    factor = rest_factor(k).subs(d, positions)
    signal = context.mpf(sp.factorial(k - 1)) / positions**k
    at = [size * each for each in sigma[0]]
    for j in range(positions):
        step = context.mpf(10) ** -35
        ahead, behind = (
            loss([x + sign * step * (i == j) for i, x in enumerate(at)]) for sign in (1, -1)
        )
        found = -(ahead - behind) / (4 * step)
        expected = signal * first_order_weight(j, k, centred, positions, context, size)
        rest = centred[0][j] + 2 * context.fsum(row[j] for row in centred[1:])
        expected -= context.mpf(factor.p) / factor.q * size * rest
        assert abs(found - expected) < 1e3 * size**2


def first_order_weight(j, k, centred, positions, context, size):
    """Return the weight of v_j in sum_s w_1s (v_s - vbar_1), over (k-1)! / d^k."""

    def bracket(s):
        others = context.fsum(row[p] for row in centred[1:] for p in range(k) if p != s) / (k - 1)
        return 1 + size * (centred[0][s] + others)

    mean = context.fsum(bracket(s) for s in range(k)) * (1 + size * centred[0][j]) / positions
    return (bracket(j) if j < k else 0) - mean


@pytest.mark.parametrize("wrong", [1, sp.Rational(1, 2)])
def test_a_wrong_coefficient_of_the_lean(monkeypatch, wrong):
    right = parity_first_step._lean
    monkeypatch.setattr(
        parity_first_step,
        "_lean",
        lambda k, h, r: wrong * right(k, h, r) + wrong * parity_first_step._score(h, r),
    )
    assert failing(5, 6) == {5, 6}


def test_a_common_term_that_is_not_symmetric(monkeypatch):
    monkeypatch.setattr(
        parity_first_step, "_product", lambda r, p: sp.Symbol(f"tau_{r}_{p}", real=True)
    )
    assert failing(8) == {8}


def test_a_common_term_that_never_cancels(monkeypatch):
    right = parity_first_step._common_term
    monkeypatch.setattr(
        parity_first_step, "_common_term", lambda k, r: right(k, r) + sp.Symbol(f"own_{r}")
    )
    assert failing(6, 8) == {6, 8}


@pytest.mark.usefixtures("afresh")
def test_a_wrong_pull(monkeypatch):
    right = parity_first_step.pull
    for module in (parity_first_step, parity_rest):
        monkeypatch.setattr(module, "pull", lambda k, h, r: right(k, h, r % k + 1))
    assert failing(4, 9) == {4, 9}


@pytest.mark.usefixtures("afresh")
def test_a_wrong_moment(monkeypatch):
    right = parity_rest.square_moment
    monkeypatch.setattr(parity_rest, "square_moment", lambda k: 2 * right(k))
    assert failing(9, 11, 12) == {9, 11, 12}


def test_a_wrong_gradient(monkeypatch):
    right = parity_first_step.gradient_along
    for module in (parity_first_step, parity_rest):
        monkeypatch.setattr(module, "gradient_along", lambda k: -right(k))
    assert failing(3, 9, 12) == {3, 9, 12}


@pytest.mark.parametrize("name", ["own_gain", "shared_gain"])
def test_a_lean_without_its_share_in_the_mean(monkeypatch, name):
    right = getattr(parity_rest, name)
    sign = 1 if name == "own_gain" else -1
    monkeypatch.setattr(parity_rest, name, lambda k: right(k) + sign * k / d)
    assert failing(12) == {12}


def test_the_gains_at_two_heads():
    assert sp.expand(own_gain(2) - (2 - 2 / d + (d - 2) / d**2)) == 0
    assert sp.expand(shared_gain(2) - (2 / d + 3 * (d - 2) / d**2)) == 0


def test_weights_that_are_not_normalised(monkeypatch):
    monkeypatch.setattr(parity_first_step, "normaliser", exponential)
    assert failing(2) == {2}


def test_the_symbols_of_the_heads_have_names_of_their_own():
    # One name has one meaning in all derivations, and those of Theorem 2 have an E_3.
    load("converse")
    for h in range(1, 6):
        for symbol in (attention, exponential, lean, normaliser, score, relevant):
            assert symbol(h) is symbol(h)
