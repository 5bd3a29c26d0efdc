"""Every variant does what its name says, and what it says it does to the equivalence."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.transformer.descent import compare, descend, descend_queries
from numerics.transformer.gradient import complex_step_gradient
from numerics.transformer.layer import Architecture
from numerics.transformer.start import equivalent_start
from numerics.transformer.variants import BROKEN, EQUIVALENT, _Setting, compare_variant

D, M, H = 5, 3, 5
S = (3, 1)


def drawn(seed):
    rng = np.random.default_rng(seed)
    return rng, sample_embeddings(rng, D, M), uniform_direction(rng, M)


def compared(variant, seed, *, steps):
    rng, V, theta = drawn(seed)
    return compare_variant(variant, rng, V, theta, S, width=H, eta=D**2 / 4, steps=steps)


def run_of(name, seed=0):
    rng, V, theta = drawn(seed)
    setting = _Setting(rng=rng, V=V, theta=theta, support=S, width=H, eta=D**2 / 4)
    return next(each for each in (*BROKEN, *EQUIVALENT) if each.name == name).run(setting)


@pytest.mark.parametrize("variant", EQUIVALENT, ids=lambda variant: variant.name)
def test_an_equivalent_variant_stays_on_the_path(variant):
    assert variant.since is None
    assert compared(variant, 0, steps=6).largest() < 1e-12


@pytest.mark.parametrize("variant", BROKEN, ids=lambda variant: variant.name)
def test_a_broken_condition_shows_itself_when_it_says(variant):
    found = compared(variant, 0, steps=3).queries
    assert np.max(found[: variant.since], initial=0.0) < 1e-12
    assert found[variant.since] > 0.01


def test_queries_need_room_beside_the_keys():
    rng, V, theta = drawn(0)
    with pytest.raises(InvalidArgumentError, match=f"width={M}: must be an integer >= {M + 1}"):
        compare_variant(EQUIVALENT[0], rng, V, theta, S, width=M, eta=1.0, steps=1)


def test_names_are_names():
    names = [each.name for each in (*BROKEN, *EQUIVALENT)]
    assert len(set(names)) == len(names)


def test_a_value_bias_that_is_trained_stays_zero_where_zero_is_stable():
    """With eta = 1/2 a step multiplies it by 1 - |gamma~|^2, rounding included."""
    rng, V, theta = drawn(1)
    start = equivalent_start(rng, V, theta, -theta, width=H)
    gradient = complex_step_gradient(V, S, Architecture(), by=["W_Q", "b_V"])
    path = descend(gradient, start, eta=0.5, steps=6)
    queries = descend_queries(V, theta, -theta, S, eta=0.5, steps=6)
    assert compare(path, Architecture(), V, queries).largest() < 1e-13
    assert np.max(np.abs(path[-1]["b_V"])) < 1e-15


def test_the_stretched_keys():
    K = run_of("stretched keys, K^T K = diag(4, 1, ..., 1)").parameters["W_K"][:, :, :M]
    for own in K:
        np.testing.assert_allclose(own.T @ own, np.diag([4.0, 1.0, 1.0]), atol=1e-14)


def test_the_doubled_keys():
    K = run_of("K^T K = 4, query over 2, step over 4").parameters["W_K"][:, :, :M]
    np.testing.assert_allclose(K[0].T @ K[0], 4 * np.eye(M), atol=1e-14)


def test_the_shared_query():
    run = run_of("the heads share W_Q")
    assert run.tied
    np.testing.assert_array_equal(run.parameters["W_Q"][0], run.parameters["W_Q"][1])
    np.testing.assert_array_equal(run.parameters["W_K"][0], -run.parameters["W_K"][1])


def test_the_start_off_the_keys():
    run, stated = run_of("a start off the range of the keys"), run_of("as stated")
    z = run.parameters["z_CLS"]
    beside = (run.parameters["W_Q"] - stated.parameters["W_Q"]) @ z
    np.testing.assert_allclose(np.linalg.norm(beside, axis=1), 1.0, rtol=1e-12)
    for own, part in zip(run.parameters["W_K"][:, :, :M], beside, strict=True):
        np.testing.assert_allclose(own.T @ part, 0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "overlap"), [("a residual that is read", 0.5**0.5), ("a residual that is not read", 0)]
)
def test_the_overlap_of_readouts_and_residual(name, overlap):
    run = run_of(name)
    assert run.architecture.residual
    found = run.parameters["readout"] @ run.parameters["z_CLS"]
    np.testing.assert_allclose(found, overlap, atol=1e-14)


@pytest.mark.parametrize("of_what", ["W_K", "W_V", "W_O", "readout", "z_CLS"])
def test_what_is_trained(of_what):
    name = {"readout": "the readout is trained"}.get(of_what, f"{of_what} is trained")
    assert run_of(name).trained == ("W_Q", of_what)


def test_gains():
    run, stated = run_of("the values' gains are 3 and 1/3"), run_of("as stated")
    np.testing.assert_allclose(run.parameters["W_V"][0], 3 * stated.parameters["W_V"][0])
    np.testing.assert_allclose(3 * run.parameters["W_V"][1], stated.parameters["W_V"][1])
