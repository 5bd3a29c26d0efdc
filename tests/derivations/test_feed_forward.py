"""The derivation on feed-forward nets, and that a wrong rule in it makes a step fail."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from derivations import feed_forward
from derivations.catalogue import load
from derivations.parities import orthonormal as orthonormal_parities
from derivations.proof.ledger import Status


def failing():
    """Numbers of the steps that fail."""
    try:
        derivation = load("feed_forward")
    except Exception:  # a broken rule may also stop the derivation
        return {0}
    singles = (replace(derivation, steps=(step,)).check() for step in derivation.steps)
    return {number for number, (result,) in enumerate(singles, start=1) if result.failed}


def test_all_steps_but_the_enumeration_are_proofs():
    assert failing() == set()
    statuses = [result.status for result in load("feed_forward").check()]
    assert statuses == [Status.PROVED] * 10 + [Status.AGREES]


@pytest.mark.parametrize(
    ("module", "name", "wrong", "expected"),
    [
        (orthonormal_parities, "sign_moment", lambda _n: sp.Integer(1), {1, 2, 4, 6}),
        (
            orthonormal_parities,
            "sign_moment",
            lambda n: sp.Rational(1 - (-1) ** n, 2),
            {1, 2, 4, 6},
        ),
        (orthonormal_parities, "sign_moment", lambda n: sp.Rational(1 + (-1) ** n, 3), {1}),
        (feed_forward, "mean_outside", lambda _number: sp.S.One, {2, 4, 6}),
        (feed_forward, "mean_outside", lambda number: 2 * 0**number, {2, 4, 6}),
        (feed_forward, "conditional_loss", lambda e, g: (1 - e * g) ** 2, {3}),
        (feed_forward, "conditional_loss", lambda e, g: 1 - e * g + g**2, {3}),
        (feed_forward, "conditional_loss", lambda e, g: 2 - 2 * e * g + g**2, {3, 4}),
        (feed_forward, "best_loss", lambda missed: 1 - 0**missed / 2, {4, 6}),
        (feed_forward, "share_of_supports", lambda r, d, k: (r / d) ** k, {5, 6}),
        (
            feed_forward,
            "share_of_supports",
            lambda r, d, k: sp.binomial(r - 1, k) / sp.binomial(d, k),
            {5, 6},
        ),
        (
            feed_forward,
            "average_loss",
            lambda r, k: sp.binomial(r, k) / sp.binomial(feed_forward.d, k),
            {6},
        ),
        (feed_forward, "two_units", lambda x_a, x_b: 1 - abs(x_a - x_b), {9}),
        (feed_forward, "relu", lambda value: value, {9, 10}),
        (feed_forward, "relu", abs, {9, 10}),
        (feed_forward, "_TARGET", sp.Rational(3, 4), {10}),
        (feed_forward, "_TARGET", sp.Rational(1, 2), {10}),
        (feed_forward, "parity", lambda x, support: x[support[0]], {11}),
    ],
)
def test_a_wrong_rule_fails_where_it_is_used(monkeypatch, module, name, wrong, expected):
    monkeypatch.setattr(module, name, wrong)
    assert failing() == expected


def test_no_monotone_values_are_closer_to_the_label_than_two_thirds():
    # All values on a grid of thirds; the best largest value is 1, or the least that is allowed.
    grid = [Fraction(h, 3) for h in range(-6, 7)]
    least = min(
        (low - 1) ** 2 + (first + 1) ** 2 + (second + 1) ** 2 + (high - 1) ** 2
        for low, first, second in itertools.product(grid, repeat=3)
        for high in (Fraction(1), max(first, second))
        if low <= min(first, second) and high >= max(first, second)
    )
    assert least / 4 == Fraction(2, 3)
