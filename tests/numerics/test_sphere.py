from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings
from numerics.sphere import coherence, coherence_bound, coordinate_tail


@given(st.floats(0, 1))
def test_tails_known_in_closed_form(t):
    # S^1: arc length; S^2: Archimedes; S^4: density (3/4)(1 - y^2).
    assert coordinate_tail(t, 2) == pytest.approx(2 / math.pi * math.acos(t), abs=1e-14)
    assert coordinate_tail(t, 3) == pytest.approx(1 - t, abs=1e-14)
    assert coordinate_tail(t, 5) == pytest.approx(1 - 1.5 * t + 0.5 * t**3, abs=1e-14)


def test_tail_ends():
    assert coordinate_tail(0.5, 1) == 1
    assert coordinate_tail(1, 1) == 0
    assert coordinate_tail(-0.1, 7) == 1
    assert coordinate_tail(1, 7) == 0


@given(t=st.floats(0, 1), m=st.integers(2, 500))
def test_elementary_bound_holds_from_the_circle_on(t, m):
    # 1e-13: the incomplete beta function is computed to about 1e-14.
    assert coordinate_tail(t, m) <= ((1 - t) * (1 + t)) ** ((m - 1) / 2) * (1 + 1e-13)


@given(d=st.integers(2, 10**12), m=st.integers(2, 10**4), exponent=st.integers(1, 12))
def test_bound_solves_its_equation(d, m, exponent):
    failure = 10.0**-exponent
    t = coherence_bound(d, m, failure)
    assert 0 < t <= 1
    # (m-1)/2 log(1 - t^2) = log(failure / C(d,2)); a half unit of t is worth u m / (1 - t^2).
    if t < 0.999:
        left = (m - 1) / 2 * math.log1p(-t * t)
        assert left == pytest.approx(math.log(failure) - math.log(math.comb(d, 2)), rel=1e-11)


def test_bound_on_two_points_is_vacuous():
    assert coherence_bound(5, 1, 0.1) == 1


@pytest.mark.parametrize("d", [2, 50, 255, 256, 257, 1025, 2500])
def test_coherence_is_the_largest_off_diagonal_entry(d):
    V = sample_embeddings(np.random.default_rng(d), d, 6)
    gram = np.abs(V @ V.T)
    np.fill_diagonal(gram, 0)
    # Inner products of six terms in another order.
    assert coherence(V) == pytest.approx(gram.max(), abs=1e-15)
    # A planted pair across tiles.
    V[0] = V[-1]
    assert coherence(V) == pytest.approx(1, abs=1e-15)


def test_random_rows_stay_below_the_bound():
    # Fixed seed; a bound at failure 1e-3 is exceeded once in a thousand seeds at most.
    V = sample_embeddings(np.random.default_rng(7), 400, 64)
    assert coherence(V) <= coherence_bound(400, 64, 1e-3)


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^V=array of large rows"):
        coherence([[1e200, -1e200], [1e200, 1e200]])
    with pytest.raises(InvalidArgumentError, match=r"^failure=1\.0"):
        coherence_bound(3, 3, 1.0)
    with pytest.raises(InvalidArgumentError, match=r"^t=nan"):
        coordinate_tail(float("nan"), 3)
