"""Derivatives by complex steps, by differences, by JAX, and by the closed form."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError, row_blocks
from numerics.population import gradient
from numerics.transformer import gradient as transformer_gradient
from numerics.transformer.gradient import (
    complex_step_gradient,
    has_jax,
    has_library_attention,
    jax_gradient,
    library_attention,
)
from numerics.transformer.layer import Architecture, all_inputs, population_loss, predict
from numerics.transformer.start import equivalent_start

D, M, H = 4, 2, 3
S = (2, 0)
ARCHITECTURES = {
    "plain": Architecture(scale=0.7),
    "unmasked": Architecture(masked=False),
    "layer norm and residual": Architecture(norm="layer", residual=True),
    "rms norm": Architecture(norm="rms"),
    "mean": Architecture(readout="mean"),
    "dropout": Architecture(dropout=np.array([[0, 2, 1.5, 1], [1, 0.5, 0, 2]])),
}


def setting(seed=0):
    """Return V and parameters that are nowhere special."""
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(D, M))
    start = equivalent_start(rng, V, rng.normal(size=M), rng.normal(size=M), width=H)
    noise = {name: array + 0.3 * rng.normal(size=array.shape) for name, array in start.items()}
    return V, noise


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_complex_steps_are_derivatives(name):
    V, p = setting()
    to = ARCHITECTURES[name]
    value, slopes = complex_step_gradient(V, S, to, by=p)(p)
    assert value == pytest.approx(population_loss(p, V, S, to), rel=1e-14)
    assert set(slopes) == set(p)
    rng, h = np.random.default_rng(1), 3e-6
    for parameter, slope in slopes.items():
        assert slope.shape == p[parameter].shape
        way = rng.normal(size=slope.shape)
        ahead, behind = (
            population_loss({**p, parameter: p[parameter] + sign * h * way}, V, S, to)
            for sign in (1, -1)
        )
        # A central difference errs by h^2 times a third derivative and by u L / h.
        difference = (ahead - behind) / (2 * h)
        assert np.sum(slope * way) == pytest.approx(difference, rel=1e-7, abs=1e-7)
        assert np.any(slope)


def test_the_gradient_by_the_queries_is_that_of_theta():
    """grad by W_Q = scale K grad_theta L z^T."""
    rng = np.random.default_rng(2)
    V, theta, theta_tilde = rng.normal(size=(D, M)), rng.normal(size=M), rng.normal(size=M)
    to = Architecture(scale=0.6)
    p = equivalent_start(rng, V, theta, theta_tilde, width=H, scale=to.scale, cls_norm=1.5)
    value, slopes = complex_step_gradient(V, S, to, by=["W_Q"])(p)
    closed = gradient(V, theta, theta_tilde, S)
    assert value == pytest.approx(closed.loss, rel=1e-13)
    for g, by_query in enumerate((closed.theta, closed.theta_tilde)):
        expected = to.scale * np.outer(p["W_K"][g][:, :M] @ by_query, p["z_CLS"])
        np.testing.assert_allclose(slopes["W_Q"][g], expected, rtol=0, atol=1e-15)


def test_blocks_of_perturbations_do_not_change_the_gradient(monkeypatch):
    V, p = setting()
    whole = complex_step_gradient(V, S, Architecture(), by=p)(p)[1]
    monkeypatch.setattr(
        transformer_gradient,
        "row_blocks",
        lambda rows, columns: row_blocks(rows, columns, entries=5 * columns),
    )
    parts = complex_step_gradient(V, S, Architecture(), by=p)(p)[1]
    for name, slope in whole.items():
        np.testing.assert_allclose(parts[name], slope, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["plain", "layer norm and residual", "dropout"])
def test_jax_finds_the_same(name):
    V, p = setting()
    to = ARCHITECTURES[name]
    value, slopes = complex_step_gradient(V, S, to, by=p)(p)
    value_by_jax, slopes_by_jax = jax_gradient(V, S, to, by=p)(p)
    assert value_by_jax == pytest.approx(value, rel=1e-14)
    # Means of terms of the size of the largest slope of all, some 50 roundings deep.
    bound = 1e-14 * max(np.max(np.abs(slope)) for slope in slopes.values())
    for parameter, slope in slopes.items():
        assert slopes_by_jax[parameter].dtype == np.float64
        np.testing.assert_allclose(slopes_by_jax[parameter], slope, rtol=0, atol=bound)


def test_one_compilation_serves_all_instances():
    to = Architecture(scale=0.9)
    for seed, support in ((3, (0, 1)), (4, (3, 2))):
        V, p = setting(seed)
        found = jax_gradient(V, support, to, by=["W_Q"])(p)[1]["W_Q"]
        expected = complex_step_gradient(V, support, to, by=["W_Q"])(p)[1]["W_Q"]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    assert transformer_gradient._compiled(to, None)._cache_size() == 1


def test_binary64_ends_with_the_call():
    import jax

    V, p = setting()
    jax_gradient(V, S, Architecture(), by=["W_Q"])(p)
    assert jax.numpy.ones(1).dtype == np.float32
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("name", ["plain", "unmasked", "layer norm and residual"])
def test_the_library_layer(name):
    """Loss and all gradients, to rounding; of one scale and mask, or heads swapped, to no digit."""
    V, p = setting()
    to = ARCHITECTURES[name]
    value, slopes = complex_step_gradient(V, S, to, by=p)(p)
    value_by_library, found = jax_gradient(V, S, to, by=p, attend=library_attention)(p)
    assert value_by_library == pytest.approx(value, rel=1e-14)
    # As of JAX and the layer written out: the same terms, in another order.
    bound = 1e-14 * max(np.max(np.abs(slope)) for slope in slopes.values())
    for parameter, slope in slopes.items():
        assert found[parameter].dtype == np.float64
        np.testing.assert_allclose(found[parameter], slope, rtol=0, atol=bound)
    swapped = {**p, "W_O": p["W_O"][::-1]}
    others = (
        (replace(to, masked=not to.masked), p),
        (replace(to, scale=1.1 * to.scale), p),
        (to, swapped),
    )
    for other, at in others:
        wrong = complex_step_gradient(V, S, other, by=p)(at)[1]
        assert max(np.max(np.abs(found[name] - wrong[name])) for name in wrong) > 1e-3


def test_the_library_layer_predicts_the_same_of_every_input():
    import jax

    V, p = setting()
    to, x = ARCHITECTURES["plain"], all_inputs(D)

    @jax.jit
    def by_library(parameters):
        return predict(parameters, V, x, to, xp=jax.numpy, attend=library_attention)

    with transformer_gradient._binary64(jax):
        found = np.array(by_library(p))
    np.testing.assert_allclose(found, predict(p, V, x, to), rtol=0, atol=1e-13)


def test_the_library_layer_drops_nothing():
    V, p = setting()
    with pytest.raises(InvalidArgumentError, match="dropout=given: the library's layer draws its"):
        predict(p, V, all_inputs(D), ARCHITECTURES["dropout"], attend=library_attention)


def test_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert not has_jax()
    assert not has_library_attention()
    V, p = setting()
    with pytest.raises(InvalidArgumentError) as refused:
        jax_gradient(V, S, Architecture(), by=["W_Q"])
    assert str(refused.value) == ("differentiation=jax: needs JAX; pip install 'xorverify[rivals]'")
    assert complex_step_gradient(V, S, Architecture(), by=["W_Q"])(p)[1]["W_Q"].any()


def test_without_equinox(monkeypatch):
    monkeypatch.setitem(sys.modules, "equinox", None)
    assert has_jax()
    assert not has_library_attention()
    V, p = setting()
    assert jax_gradient(V, S, ARCHITECTURES["plain"], by=["W_Q"])(p)[1]["W_Q"].any()
    with pytest.raises(InvalidArgumentError) as refused:
        jax_gradient(V, S, Architecture(), by=["W_Q"], attend=library_attention)
    assert str(refused.value) == (
        "attend=library_attention: needs Equinox; pip install 'xorverify[rivals]'"
    )


def test_binary64_of_an_older_jax(monkeypatch):
    asked = []
    older = SimpleNamespace(enable_x64=asked.append)
    monkeypatch.setattr(
        transformer_gradient, "import_module", lambda name: {"jax.experimental": older}[name]
    )
    transformer_gradient._binary64(SimpleNamespace())
    newer = SimpleNamespace(enable_x64=asked.append)
    transformer_gradient._binary64(newer)
    assert asked == [True, True]
