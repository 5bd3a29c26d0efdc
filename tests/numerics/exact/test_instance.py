from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import MPContext

from numerics.arguments import InvalidArgumentError, row_blocks
from numerics.exact.instance import ExactInstance
from numerics.multiprecision.model import exact_scores


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(2, 5),
    m=st.integers(1, 4),
    exponent=st.sampled_from([0, -1074, 1000]),
)
def test_scores_and_columns_are_exact(seed, d, m, exponent):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((d, m))
    V[0] = np.ldexp(V[0], exponent)  # subnormal and huge rows beside ordinary ones
    theta, theta_tilde = rng.standard_normal((2, m))
    theta[0] = 0
    found = ExactInstance.exactly(V, theta, theta_tilde, (0, 1))
    rows = [[Fraction(v) for v in row] for row in V.tolist()]
    for query, scores in ((theta, found.scores), (theta_tilde, found.scores_tilde)):
        for row, score in zip(rows, scores, strict=True):
            exact = sum(v * Fraction(t) for v, t in zip(row, query.tolist(), strict=True))
            assert score * Fraction(2) ** found.unit == exact
    for k in range(m):
        column = [entry * Fraction(2) ** found.unit_of_entries for entry in found.column(k)]
        assert column == [row[k] for row in rows]
    context = MPContext()
    context.prec = 30
    for score, value in zip(found.scores, exact_scores(found, context)[0], strict=True):
        assert int(context.ldexp(value, -found.unit)) == score
    assert context.prec == 30


def test_the_unit_is_that_of_all_rows_however_they_are_read(monkeypatch):
    V = np.array([[1.0, 0.5], [0.75, 1.0], [2.0**-1000, 0.5], [1.0, 1.0]])
    at_once = ExactInstance.exactly(V, [1.0, 0.25], [0.5, 1.0], (0, 1))
    monkeypatch.setattr("numerics.exact.instance.row_blocks", partial(row_blocks, entries=2))
    in_blocks = ExactInstance.exactly(V, [1.0, 0.25], [0.5, 1.0], (0, 1))
    # 2^-1000 has 53 bits, and is half a power of two as NumPy writes it.
    assert at_once.unit_of_entries == in_blocks.unit_of_entries == -999 - 53
    assert at_once.scores == in_blocks.scores


def test_refusals():
    with pytest.raises(InvalidArgumentError, match=r"^theta_tilde=array of shape \(1,\)"):
        ExactInstance.exactly(np.eye(2), [1.0, 0.0], [1.0], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^theta\[1\]=nan"):
        ExactInstance.exactly(np.eye(2), [1.0, np.nan], [1.0, 0.0], (0, 1))
