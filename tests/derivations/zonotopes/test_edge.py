from fractions import Fraction

import pytest
import sympy as sp

from derivations.notation import R_2, R_e, R_s
from derivations.proof.evaluation import evaluate
from derivations.zonotopes.edge import edge_peak, edge_product, r, stationary_point


def test_peak_of_an_edge():
    assert sp.expand(edge_peak() - R_s - (R_e - R_s + R_2) ** 2 / (4 * R_2)) == 0
    values = {"R_s": 1, "R_e": 2, "R_2": 3}
    assert evaluate(edge_peak(), sequences={}, scalars=values) == 1 + Fraction(16, 12)


@pytest.mark.parametrize(
    ("start", "generator"), [((-3, 1), (1, 2)), ((1, -3), (2, 1)), ((-2, 1), (1, 1))]
)
def test_the_largest_gap_is_the_product_of_the_weights_at_most(start, generator):
    product = edge_product(start, generator)
    ends = min(product.subs(r, 0), product.subs(r, 1))
    inside = product.subs(r, stationary_point(product))
    assert 0 < ends - inside <= generator[0] * generator[1]
    assert all(product.subs(r, sp.Rational(n, 12)) >= inside for n in range(13))


def test_the_gap_is_attained_between_equal_ends():
    product = edge_product((-1, -1), (1, 1))
    assert product.subs(r, 0) == product.subs(r, 1) == product.subs(r, sp.Rational(1, 2)) + 1
