from dataclasses import replace

import pytest
import sympy as sp

from derivations import permanents
from derivations.calculus.power_sums import Entry
from derivations.catalogue import load
from derivations.notation import a, b, gamma, gamma_tilde
from derivations.parities.notation import attention, relevant
from derivations.permanents import bijections, cross_moment, permanent, pull
from derivations.population import cross_moment as cross_moment_of_two


def failing(*numbers: int) -> set[int]:
    """Return which of the steps with these numbers fail, each checked by itself."""
    derivation = load("permanents")
    steps = {number: derivation.steps[number - 1] for number in numbers}
    return {
        number
        for number, step in steps.items()
        if replace(derivation, steps=(step,)).check()[0].failed
    }


def test_two_heads_are_those_of_the_population_loss():
    names = {
        attention(1): gamma,
        attention(2): gamma_tilde,
        relevant(1): a,
        relevant(2): b,
    }
    assert cross_moment(2).xreplace(names) == cross_moment_of_two()


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_permanent_is_that_of_sympy_up_to_signs(k):
    # The determinant has the same terms, half of them with the other sign.
    matrix = sp.Matrix(k, k, lambda h, r: Entry(attention(h + 1), relevant(r + 1)))
    terms = {abs(term.as_coeff_Mul()[0]) * term.as_coeff_Mul()[1] for term in matrix.det().args}
    assert terms == set(permanent(k).args)


def test_a_forgotten_bijection(monkeypatch):
    monkeypatch.setattr(permanents, "bijections", lambda k: bijections(k)[:-1])
    assert failing(2, 3, 4) == {2, 3, 4}


@pytest.mark.parametrize("sign", [-1, 2])
def test_a_wrong_term(monkeypatch, sign):
    right = permanents._product
    monkeypatch.setattr(
        permanents,
        "_product",
        lambda sigma: right(sigma) * (sign if sigma[0] == 1 else 1),
    )
    assert failing(2, 3, 4) == {2, 3, 4}


def test_a_pull_of_another_position(monkeypatch):
    monkeypatch.setattr(permanents, "pull", lambda k, h, r: pull(k, h, r % k + 1))
    assert failing(6) == {6}


def test_a_block_that_counts_twice(monkeypatch):
    right = permanents.even_partitions
    monkeypatch.setattr(permanents, "even_partitions", lambda n: 2 * right(n))
    assert failing(1) == {1}


def test_a_wrong_enumeration(monkeypatch):
    right = permanents.expectation
    monkeypatch.setattr(permanents, "expectation", lambda value, d: -right(value, d))
    assert failing(5) == {5}
