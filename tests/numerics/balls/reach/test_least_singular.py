"""The least singular value and the leverages: enclosures, against known matrices and LAPACK."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import UnresolvedError, lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.arithmetic.ternary import Ternary
from numerics.balls.reach.least_singular import (
    least_singular_square,
    positive_definite,
    singular_square_exceeds,
)
from numerics.balls.reach.leverage import leverages
from numerics.embeddings import sample_embeddings

# Singular values 5 and 2 - three rows, so that the leverages are not all 1.
KNOWN = np.array([[3.0, 0.0], [0.0, 2.0], [4.0, 0.0]])


def test_a_known_matrix():
    found = least_singular_square(KNOWN)
    assert found.lower <= 4 <= found.upper
    assert found.upper - found.lower < Fraction(1, 2**36)
    assert [round(float(h), 12) for h in leverages(KNOWN)] == [0.36, 1.0, 0.64]


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        (Fraction(4) - Fraction(1, 2**80), Ternary.TRUE),
        (Fraction(4), Ternary.FALSE),
        (Fraction(4) + Fraction(1, 2**80), Ternary.FALSE),
        (Fraction(26), Ternary.FALSE),
    ],
)
def test_the_threshold_is_decided_next_to_the_value(c, expected):
    assert singular_square_exceeds(KNOWN, c) is expected


def test_what_few_bits_cannot_decide_stays_unknown():
    V = sample_embeddings(np.random.default_rng(0), 20, 3)
    found = least_singular_square(V)
    above = found.upper + Fraction(1, 2**60)
    below = found.lower - Fraction(1, 2**60)
    for c in (above, below):
        assert singular_square_exceeds(V, c, bits=10) is Ternary.UNKNOWN
    assert singular_square_exceeds(V, above) is Ternary.FALSE
    assert singular_square_exceeds(V, below) is Ternary.TRUE


@given(seed=st.integers(0, 10**6), d=st.integers(2, 12), m=st.integers(1, 5))
def test_the_enclosures_hold_what_lapack_finds(seed, d, m):
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((d, m)) * np.exp(3 * rng.standard_normal((d, 1)))
    values = np.linalg.svd(V, compute_uv=False)
    square = values[-1] ** 2 if d >= m else 0.0
    # LAPACK errs by some units of 2^-53 of the largest singular value.
    allowance = 1e-13 * values[0] ** 2
    found = least_singular_square(V)
    assert found.lower - allowance <= square <= found.upper + allowance
    if d < m:
        assert found.lower == 0
        return
    hat = V @ np.linalg.pinv(V)
    balls = leverages(V)
    with working_precision(128):
        total = sum(balls, arb(0))
    assert lower_end(total) <= m <= upper_end(total)
    condition = values[0] / values[-1]
    for ball, h in zip(balls, np.diag(hat), strict=True):
        assert abs(float(ball) - h) <= 1e-14 * condition**2 + 1e-14


@pytest.mark.parametrize("seed", range(8))
def test_the_upper_end_is_no_less_however_close(seed):
    # The quotient errs by the square of the vector's error: 128 bits see it, binary64 does not.
    V = sample_embeddings(np.random.default_rng(seed), 9, 3)
    found = least_singular_square(V)
    assert singular_square_exceeds(V, found.upper) is Ternary.FALSE
    assert singular_square_exceeds(V, found.lower) is Ternary.TRUE
    assert found.upper - found.lower <= found.upper / 2**40


def test_the_leverages_depend_on_the_range_alone():
    rng = np.random.default_rng(3)
    V = rng.integers(-9, 10, (9, 3)).astype(float)
    changed = V @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -3.0], [0.0, 0.0, 4.0]])
    for left, right in zip(leverages(V), leverages(changed), strict=True):
        assert left.overlaps(right)


@pytest.mark.parametrize("scale", [2.0**600, 2.0**-600])
def test_rows_of_any_size(scale):
    found = least_singular_square(KNOWN * scale)
    assert found.lower <= 4 * Fraction(scale) ** 2 <= found.upper
    assert float(found.lower / Fraction(scale) ** 2) == pytest.approx(4)


def test_dependent_columns_have_no_leverages_and_no_bound():
    V = np.array([[1.0, 2.0], [3.0, 6.0], [-1.0, -2.0]])
    with pytest.raises(UnresolvedError, match="independent"):
        leverages(V)
    found = least_singular_square(V)
    assert found.lower == 0
    assert singular_square_exceeds(V, Fraction(0)) is not Ternary.TRUE


def test_positive_definite_reads_every_entry_on_and_below_the_diagonal():
    rng = np.random.default_rng(4)
    for _ in range(50):
        A = rng.integers(-4, 5, (4, 4))
        A = A + A.T + int(rng.integers(0, 12)) * np.eye(4, dtype=int)
        least = np.linalg.eigvalsh(A)[0]
        with working_precision(64):
            found = positive_definite(arb_mat(A.tolist()))
        if abs(least) > 1e-9:
            assert found is (Ternary.TRUE if least > 0 else Ternary.FALSE)


def test_bad_arguments_are_refused():
    for call in (least_singular_square, leverages):
        with pytest.raises(InvalidArgumentError, match=r"V\[0, 0\]=nan"):
            call([[np.nan], [1.0]])
        with pytest.raises(InvalidArgumentError, match="bits=1"):
            call(KNOWN, bits=1)
