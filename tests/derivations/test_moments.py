import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.calculus.power_sums import PowerSum, Unit
from derivations.moments import (
    even_partitions,
    moment,
    moment_by_coincidences,
    rademacher_cumulant,
    set_partitions,
)
from derivations.notation import a, b, coefficient
from derivations.proof.enumeration import dot, expectation, inputs
from derivations.proof.evaluation import evaluate
from derivations.proof.instances import random_fractions, seeded


def test_cumulants_of_a_sign():
    assert [rademacher_cumulant(n) for n in range(1, 9)] == [0, 1, 0, -2, 0, 16, 0, -272]


def test_numbers_of_partitions():
    assert [len(set_partitions(n)) for n in range(9)] == [1, 1, 2, 5, 15, 52, 203, 877, 4140]
    assert [len(even_partitions(2 * r)) for r in range(1, 5)] == [1, 4, 31, 379]


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_a_sign_has_even_moments_one(r):
    assert moment((Unit(a),) * (2 * r)) == 1
    assert moment((Unit(a),) * (2 * r - 1) + (Unit(b),)) == 0


def test_gaussian_moments_are_not_enough():
    c = coefficient(1)
    assert moment((c,) * 4) == 3 * PowerSum(c**2) ** 2 - 2 * PowerSum(c**4)


@given(
    seed=st.integers(0, 999),
    d=st.integers(2, 8),
    pattern=st.lists(st.integers(1, 5), min_size=1, max_size=8),
)
@settings(max_examples=settings().max_examples * 40 // 100)
def test_any_product_of_forms_against_all_inputs(seed, d, pattern):
    # 4 and 5 stand for x_a and x_b; the others are generic forms, repeated as drawn.
    rng = seeded(seed)
    position_a, position_b = rng.sample(range(d), 2)
    values = {h: random_fractions(rng, d) for h in (1, 2, 3)}
    values[4] = [Fraction(int(j == position_a)) for j in range(d)]
    values[5] = [Fraction(int(j == position_b)) for j in range(d)]
    units = {4: Unit(a), 5: Unit(b)}
    forms = tuple(units.get(h) or coefficient(h) for h in pattern)
    found = evaluate(
        moment(forms),
        sequences={f"c_{h}": values[h] for h in (1, 2, 3)},
        positions={"a": position_a, "b": position_b},
    )
    assert found == expectation(lambda x: math.prod(dot(values[h], x) for h in pattern), d)


def test_the_two_routes_do_not_share_the_cumulants(monkeypatch):
    forms = tuple(coefficient(h) for h in range(1, 5))
    right = moment(forms)
    monkeypatch.setattr("derivations.moments.rademacher_cumulant", lambda n: 3 if n == 4 else 1)
    assert moment(forms) != right
    assert moment_by_coincidences(forms) == right


def test_inputs_are_all_sign_vectors():
    assert len(set(inputs(5))) == 32
    assert {sign for x in inputs(3) for sign in x} == {-1, 1}
