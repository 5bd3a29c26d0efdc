"""The certified floor, and that no query found by a search is below it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.optimize import minimize
from scipy.special import erf

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.reach.concave_floor import concave_floor, floor_at
from numerics.embeddings import sample_embeddings
from numerics.enumeration import enumerate_loss

MAPS = {
    "linear": lambda s: s,
    "erf": erf,
    "tanh": np.tanh,
    "clip": lambda s: np.clip(s, -1.0, 1.0),
}


def test_the_floor_of_known_leverages():
    # Two columns of ones and minus ones, orthogonal: every leverage is 2/8.
    V = np.array([[1.0, 1.0], [1.0, -1.0]] * 4)
    found = concave_floor(V)
    assert abs(found.leverage - Fraction(1, 4)) < Fraction(1, 2**100)
    assert abs(found.loss - Fraction(1, 2)) < Fraction(1, 2**100)
    # sigma^2 = 8 and |v_i|^2 = 2: the same, up to how close sigma is enclosed.
    assert abs(found.loss_by_singular - Fraction(1, 2)) < Fraction(1, 2**30)
    assert found.singular_square <= 8


def test_the_largest_leverage_counts_and_the_longest_row():
    # One column: h_i = V_i^2 / |V|^2, here 4/20 at the one long row and 1/20 at the others.
    V = np.array([[1.0]] * 8 + [[2.0]] + [[-1.0]] * 8)
    found = concave_floor(V)
    exact = 1 - Fraction(4 * 4**2, 20**2) / (1 - Fraction(8, 20))
    assert abs(found.leverage - Fraction(1, 5)) < Fraction(1, 2**100)
    assert abs(found.loss - exact) < Fraction(1, 2**100)
    assert abs(found.loss_by_singular - exact) < Fraction(1, 2**30)


@pytest.mark.parametrize(("h", "expected"), [("0.25", "0.5"), ("0.1", "0.95"), ("0.4", "0")])
def test_the_formula(h, expected):
    with working_precision(100):
        found = floor_at(arb(h))
    allowance = Fraction(1, 2**90)
    assert lower_end(found) - allowance <= Fraction(expected) <= upper_end(found) + allowance


@pytest.mark.parametrize("h", ["0.5", "0.6", "nan", "1 +/- 0.9"])
def test_nothing_is_said_from_a_half_on(h):
    with working_precision(64):
        assert lower_end(floor_at(arb(h))) == 0


def test_the_floor_does_not_depend_on_the_coordinates_and_the_other_form_does():
    V = sample_embeddings(np.random.default_rng(0), 64, 4)
    stretched = V * np.array([1.0, 4.0, 16.0, 64.0])
    found, changed = concave_floor(V), concave_floor(stretched)
    assert abs(found.loss - changed.loss) < Fraction(1, 2**90)
    assert found.loss > found.loss_by_singular > Fraction(9, 10)
    assert changed.loss_by_singular == 0


def test_wide_and_dependent_embeddings_have_no_floor():
    for V in (np.eye(4), np.ones((4, 2))):
        found = concave_floor(V)
        assert found.loss == found.loss_by_singular == 0
    assert concave_floor(np.ones((4, 2)), max_bits=256).bits == 256


def test_more_bits_are_taken_where_they_are_needed():
    V = sample_embeddings(np.random.default_rng(0), 64, 3)
    V[:, 2] = V[:, 0] + 2.0**-40 * V[:, 2]
    assert concave_floor(V, max_bits=40).leverage is None
    assert concave_floor(V).loss > 0


def least_loss(queries, V, phi, support):
    """Return the loss at the best gain."""
    a, b = support
    g, t = (phi(V @ query) for query in np.split(queries, 2))
    M = g[a] * t[b] + g[b] * t[a]
    Q = (g @ g) * (t @ t) + 2 * (g @ t) ** 2 - 2 * (g * g) @ (t * t)
    return 1.0 if Q < 1e-200 else 1 - M * M / Q


def test_the_loss_that_is_attacked_is_the_mean_over_all_inputs():
    rng = np.random.default_rng(1)
    V = rng.standard_normal((7, 2))
    queries = rng.standard_normal(4)
    g, t = (np.tanh(V @ query) for query in np.split(queries, 2))
    grid = [float(enumerate_loss(c * g, t, (0, 3)).mean) for c in np.linspace(-9, 9, 2001)]
    # The grid's best gain is within 0.0045 of the best one, which costs 0.0045^2 Q at most.
    found = least_loss(queries, V, np.tanh, (0, 3))
    assert found <= min(grid) <= found + 1e-3


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(("d", "m", "seed"), [(12, 1, 0), (16, 2, 1), (24, 3, 2)])
def test_a_search_finds_nothing_below_the_floor(name, d, m, seed):
    rng = np.random.default_rng(seed)
    V = sample_embeddings(rng, d, m)
    floor = float(concave_floor(V).loss)
    hat = np.abs(V @ np.linalg.pinv(V)) - np.eye(d)
    support = divmod(int(hat.argmax()), d)  # the pair that helps each other most
    best = 1.0
    for k in range(6):
        start = np.concatenate([V[support[0]], V[support[1]]]) * 10.0 ** (k % 3)
        start += 0.3 * rng.standard_normal(2 * m)
        found = minimize(least_loss, start, args=(V, MAPS[name], support), method="Nelder-Mead")
        best = min(best, found.fun)
    assert floor < best
    # And the floor is no idle one: the search comes within a factor 8 of what it leaves.
    assert 1 - best > (1 - floor) / 8


def test_few_dimensions_alone_leave_room_for_a_perfect_head():
    # Unit rows, m = 3: the support has the leverage 1, and linear attention is always right.
    V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], *[[0.0, 0.0, 1.0]] * 8])
    gamma, gamma_tilde = V[:, 0], V[:, 1]
    assert enumerate_loss(gamma.tolist(), gamma_tilde.tolist(), (0, 1)).supremum == 0
    found = concave_floor(V)
    assert (found.loss, found.leverage) == (0, 1)


def test_bad_arguments_are_refused():
    with pytest.raises(InvalidArgumentError, match="max_bits=1"):
        concave_floor(np.ones((3, 1)), max_bits=1)
    with pytest.raises(InvalidArgumentError, match=r"V\[1, 0\]=inf"):
        concave_floor([[1.0], [np.inf]])
