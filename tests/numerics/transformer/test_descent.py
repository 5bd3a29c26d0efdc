from __future__ import annotations

import numpy as np
import pytest

from numerics.one_step import one_step
from numerics.population import gradient
from numerics.transformer.descent import Comparison, compare, descend, descend_queries
from numerics.transformer.gradient import complex_step_gradient
from numerics.transformer.layer import Architecture
from numerics.transformer.start import equivalent_start


def bowl(parameters):
    """Half the square of W_Q and twice that of b_Q."""
    slopes = {"W_Q": parameters["W_Q"], "b_Q": 4 * parameters["b_Q"]}
    return 0.0, slopes


START = {"W_Q": np.array([[[1.0]], [[-3.0]]]), "b_Q": np.array([[2.0], [0.5]]), "z_CLS": np.ones(1)}


def test_plain_descent_and_what_is_frozen():
    path = descend(bowl, START, eta=0.1, steps=2)
    assert len(path) == 3
    np.testing.assert_allclose(path[2]["W_Q"], 0.9**2 * START["W_Q"], rtol=1e-15)
    np.testing.assert_allclose(path[2]["b_Q"], 0.6**2 * START["b_Q"], rtol=1e-15)
    assert path[2]["z_CLS"] is START["z_CLS"]
    assert START["W_Q"][0, 0, 0] == 1


def test_momentum():
    """W' = W - eta v', v' = .9 v + W: two steps by hand."""
    path = descend(bowl, START, eta=0.1, steps=2, rule="momentum")
    np.testing.assert_allclose(path[1]["W_Q"], 0.9 * START["W_Q"], rtol=1e-15)
    np.testing.assert_allclose(path[2]["W_Q"], (0.9 - 0.1 * (0.9 + 0.9)) * START["W_Q"], rtol=1e-14)


def test_adam():
    """The first step is eta against the sign; the second by hand, from Adam's own formulas."""
    path = descend(bowl, START, eta=0.1, steps=2, rule="adam")
    np.testing.assert_allclose(path[1]["W_Q"].ravel(), [0.9, -2.9], rtol=1e-7)
    np.testing.assert_allclose(path[1]["b_Q"].ravel(), [1.9, 0.4], rtol=1e-7)
    w, slopes = path[1]["W_Q"][0, 0, 0], (1.0, path[1]["W_Q"][0, 0, 0])
    first = (0.1 * (0.9 * slopes[0] + slopes[1])) / (1 - 0.9**2)
    second = 0.001 * (0.999 * slopes[0] ** 2 + slopes[1] ** 2) / (1 - 0.999**2)
    expected = w - 0.1 * first / (np.sqrt(second) + 1e-8)
    assert path[2]["W_Q"][0, 0, 0] == pytest.approx(expected, rel=1e-12)


def test_tied_heads_step_by_the_sum():
    tied = {**START, "W_Q": np.array([[[1.0]], [[1.0]]])}
    path = descend(bowl, tied, eta=0.1, steps=1, tied=True)
    np.testing.assert_allclose(path[1]["W_Q"].ravel(), [0.8, 0.8], rtol=1e-15)


def setting():
    rng = np.random.default_rng(1)
    return rng, rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=3), (3, 1)


def test_the_path_of_the_queries():
    _, V, theta, theta_tilde, S = setting()
    path = descend_queries(V, theta, theta_tilde, S, eta=2.0, steps=2)
    assert path.shape == (3, 2, 3)
    first = one_step(V, theta, S, 2.0, theta_tilde=theta_tilde)
    second = one_step(V, first.theta, S, 2.0, theta_tilde=first.theta_tilde)
    np.testing.assert_array_equal(path[0], [theta, theta_tilde])
    np.testing.assert_allclose(path[1], [first.theta, first.theta_tilde], rtol=1e-14)
    np.testing.assert_allclose(path[2], [second.theta, second.theta_tilde], rtol=1e-14)


def test_the_path_with_momentum():
    _, V, theta, theta_tilde, S = setting()
    path = descend_queries(V, theta, theta_tilde, S, eta=2.0, steps=2, rule="momentum")
    slopes = [gradient(V, *pair, S).theta for pair in path[:2]]
    expected = path[1][0] - 2.0 * (slopes[1] + 0.9 * slopes[0])
    np.testing.assert_allclose(path[2][0], expected, rtol=1e-13)


def test_the_comparison_sees_queries_and_predictions():
    rng, V, theta, theta_tilde, S = setting()
    to = Architecture(scale=0.5)
    start = equivalent_start(rng, V, theta, theta_tilde, width=4, scale=0.5)
    gradient_by_queries = complex_step_gradient(V, S, to, by=["W_Q"])
    path = descend(gradient_by_queries, start, eta=2.0 / 0.25, steps=2)
    queries = descend_queries(V, theta, theta_tilde, S, eta=2.0, steps=2)
    same = compare(path, to, V, queries)
    assert same.queries.shape == same.predictions.shape == (3,)
    assert same.largest() < 1e-13
    way = np.linalg.norm(queries[-1] - queries[0], axis=1).max()
    shifted = queries.copy()
    shifted[1, 1, 0] += 0.25
    apart = compare(path, to, V, shifted)
    np.testing.assert_allclose(apart.queries, [0, 0.25 / way, 0], atol=1e-13)
    assert apart.predictions[1] > 1e-3
    louder = [{**each, "offset": np.array(0.125 * (k == 2))} for k, each in enumerate(path)]
    np.testing.assert_allclose(
        compare(louder, to, V, queries).predictions, [0, 0, 0.125], atol=1e-13
    )


def test_the_largest_difference_is_not_lost():
    assert Comparison(np.array([0.0, 0.5]), np.array([0.25, 0.0])).largest() == 0.5
    assert Comparison(np.array([0.0, 0.5]), np.array([0.75, 0.0])).largest() == 0.75
    assert np.isnan(Comparison(np.array([0.0, np.nan]), np.array([1.0, 0.0])).largest())
