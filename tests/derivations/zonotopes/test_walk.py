from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.calculus.power_sums import Entry, Unit
from derivations.notation import a, b, gamma, gamma_tilde, x
from derivations.proof.enumeration import dot, inputs
from derivations.proof.evaluation import evaluate
from derivations.proof.refusal import CheckError
from derivations.zonotopes.walk import flip_gain, lean, require_terms_nonnegative, turn
from derivations.zonotopes.zonotope import boundary
from verify.testing.strategies import rational_attention


def _heads(d):
    # Weights of similar sizes, and of very different ones.
    head = rational_attention(d, smallest=1) | rational_attention(d, smallest=1, largest=256)
    return st.tuples(head, head)


def _heads_with_an_input(d):
    signs = st.lists(st.sampled_from((-1, 1)), min_size=d, max_size=d)
    return st.tuples(_heads(d), signs, st.integers(2, d - 1))


@given(st.integers(3, 6).flatmap(_heads_with_an_input))
@settings(max_examples=settings().max_examples // 4)
def test_the_gain_of_a_flip(drawn):
    heads, signs, position = drawn
    flipped = [-sign if j == position else sign for j, sign in enumerate(signs)]
    products = [dot(heads[0], z) * dot(heads[1], z) for z in (signs, flipped)]
    found = evaluate(
        flip_gain(),
        sequences={"gamma": heads[0], "gamma_tilde": heads[1], "x": signs},
        positions={"i": position},
    )
    assert found == products[1] - products[0]


@given(st.integers(3, 7).flatmap(_heads))
@settings(max_examples=settings().max_examples // 4)
def test_signs_at_the_greatest_product(heads):
    d = len(heads[0])
    on_branch = [z for z in inputs(d) if z[0] == 1 and z[1] == -1]
    best = max(on_branch, key=lambda z: dot(heads[0], z) * dot(heads[1], z))
    sequences = {"gamma": heads[0], "gamma_tilde": heads[1], "x": best}
    p = dot(heads[0], best)
    for j in range(2, d):
        wanted = evaluate(lean(b), sequences=sequences, positions={"b": j})
        assert best[j] * wanted >= 2 * heads[0][j] * heads[1][j]
        for l in range(2, d):
            steeper = evaluate(turn(), sequences=sequences, positions={"i": j, "k": l})
            if steeper >= 0:
                assert (best[l] - best[j]) * p >= 0


@given(st.integers(3, 7).flatmap(_heads))
@settings(max_examples=settings().max_examples // 4)
def test_an_edge_is_below_every_input(heads):
    d = len(heads[0])
    edges = list(boundary(*heads, (0, 1), 1))
    for z in inputs(d):
        if z[0] == z[1] == 1:
            p, q = (dot(head, z) for head in heads)
            chain = edges[: d - 2] if p >= q else edges[d - 2 :]
            assert min(_at_level(*edge, p + q) for edge in chain) <= p * q


def _at_level(start, end, level):
    """P Q where P + Q = level, or more than any product can be."""
    fraction = Fraction(level - sum(start)) / (sum(end) - sum(start))
    if not 0 <= fraction <= 1:
        return 2
    P, Q = (s + fraction * (e - s) for s, e in zip(start, end, strict=True))
    return P * Q


@pytest.mark.parametrize(
    "summand",
    [
        gamma * (x - 1 + (1 - Entry(x, a)) * Unit(a) + (1 - Entry(x, b)) * Unit(b)),
        (gamma - gamma_tilde) * (x + 1 - (1 + Entry(x, a)) * Unit(a) - (1 + Entry(x, b)) * Unit(b)),
        gamma * (x + 1 - (1 + Entry(x, a)) * Unit(a)),
        gamma * (x + 1),
        -gamma * sp.Integer(1) + gamma * (Unit(a) + Unit(b)),
    ],
)
def test_terms_that_may_be_negative_or_are_on_the_support(summand):
    with pytest.raises(CheckError, match="terms: the term"):
        require_terms_nonnegative(summand, "terms")
