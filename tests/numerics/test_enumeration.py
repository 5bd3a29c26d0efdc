from __future__ import annotations

import itertools
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import enumeration
from numerics.arguments import InvalidArgumentError
from numerics.enumeration import enumerate_loss
from verify.testing.strategies import rational_attention, supports


def literal_losses(gamma, gamma_tilde, support):
    """(f - y)^2 of every input, from the definition, without the flip symmetry."""
    a, b = support
    losses = {}
    for x in itertools.product((-1, 1), repeat=len(gamma)):
        p = sum(g * sign for g, sign in zip(gamma, x, strict=True))
        q = sum(t * sign for t, sign in zip(gamma_tilde, x, strict=True))
        losses[x] = (-p * q + x[a] * x[b]) ** 2
    return losses


def weights(d):
    """Any weights, of either sign: enumeration assumes no probability vector."""
    factors = st.lists(st.integers(-29, 29).filter(bool), min_size=d, max_size=d)
    return st.tuples(rational_attention(d), factors).map(lambda pair: list(map(mul, *pair)))


@settings(max_examples=settings().max_examples // 2)
@given(st.integers(2, 8).flatmap(lambda d: st.tuples(weights(d), weights(d), supports(d))))
def test_exact_and_binary64_agree_with_the_definition(heads):
    gamma, gamma_tilde, (a, b) = heads
    losses = literal_losses(gamma, gamma_tilde, (a, b))
    found = enumerate_loss(gamma, gamma_tilde, (a, b))
    assert found.mean == sum(losses.values()) / Fraction(len(losses))
    assert found.supremum == max(losses.values())
    assert losses[found.witness] == found.supremum
    assert found.witness[a] == 1
    floats = enumerate_loss([float(g) for g in gamma], [float(t) for t in gamma_tilde], (a, b))
    # A sum of d rounded terms, multiplied and squared.
    assert abs(floats.mean - found.mean) <= 1e-14 * found.supremum
    assert abs(floats.supremum - found.supremum) <= 1e-14 * found.supremum
    assert abs(losses[floats.witness] - found.supremum) <= 1e-14 * found.supremum


def test_blocks_of_inputs_join(monkeypatch):
    rng = np.random.default_rng(0)
    instances = [rng.dirichlet(np.full(11, 0.5), 2) for _ in range(10)]
    wholes = [enumerate_loss(gamma, gamma_tilde, (4, 2)) for gamma, gamma_tilde in instances]
    monkeypatch.setattr(enumeration, "_BLOCK_BITS", 3)
    for whole, (gamma, gamma_tilde) in zip(wholes, instances, strict=True):
        blocks = enumerate_loss(gamma, gamma_tilde, (4, 2))
        # Sums of eleven weights in another order.
        assert blocks.mean == pytest.approx(whole.mean, rel=1e-14)
        assert blocks.supremum == pytest.approx(whole.supremum, rel=1e-14)
        assert blocks.witness == whole.witness


def test_uniform_attention():
    for d in (2, 3, 10):
        weights = [Fraction(1, d)] * d
        found = enumerate_loss(weights, weights, (0, 1))
        assert found.mean == 1 - Fraction(1, d**2) - Fraction(2, d**3)


@pytest.mark.parametrize("kind", [Fraction, float])
def test_what_does_not_fit_is_refused_at_once(kind):
    with pytest.raises(InvalidArgumentError, match=r"^d=200: enumeration visits 2\^199 "):
        enumerate_loss([kind(0)] * 200, [kind(0)] * 200, (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^d=100000: .* about 1e3009[0-9] seconds"):
        enumerate_loss(np.zeros(100_000), np.zeros(100_000), (0, 1))


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^gamma_tilde="):
        enumerate_loss([0.5, 0.5], [1.0], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^gamma=nan"):
        enumerate_loss([float("nan"), 0.5], [0.5, 0.5], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^support="):
        enumerate_loss([0.5, 0.5], [0.5, 0.5], (1, 1))
