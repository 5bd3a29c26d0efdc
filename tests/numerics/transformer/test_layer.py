"""The layer against loops over inputs, heads, tokens and coordinates."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.enumeration import enumerate_loss
from numerics.model import predict as predict_by_attention
from numerics.transformer.layer import (
    Architecture,
    all_inputs,
    mapped_queries,
    population_loss,
    predict,
)
from numerics.transformer.start import equivalent_start

D, M, H, N = 3, 2, 4, 5
ARCHITECTURES = {
    "plain": Architecture(),
    "scaled": Architecture(scale=0.3),
    "unmasked": Architecture(masked=False),
    "layer norm": Architecture(norm="layer"),
    "rms norm": Architecture(norm="rms", scale=0.5),
    "residual": Architecture(residual=True, norm="layer"),
    "mean": Architecture(readout="mean"),
    "dropout": Architecture(dropout=np.array([[0, 2, 1.5], [1, 0.5, 0]]), masked=False),
}


def drawn_parameters(rng):
    shapes = {
        "W_Q": (2, H, N),
        "W_K": (2, H, N),
        "W_V": (2, H, N),
        "W_O": (2, N, H),
        "b_Q": (2, H),
        "b_K": (2, H),
        "b_V": (2, H),
        "readout": (2, N),
        "offset": (),
        "z_CLS": (N,),
    }
    return {name: np.asarray(rng.normal(size=shape)) for name, shape in shapes.items()}


def normed(token, norm):
    if norm == "none":
        return token
    mean = sum(token) / len(token) if norm == "layer" else 0.0
    centred = [entry - mean for entry in token]
    root = math.sqrt(sum(entry**2 for entry in centred) / len(centred))
    return [entry / root for entry in centred]


def affine(matrix, vector, bias):
    return [
        sum(a * b for a, b in zip(row, vector, strict=True)) + c
        for row, c in zip(matrix, bias, strict=True)
    ]


def by_loops(p, V, x, to):
    tokens = [list(p["z_CLS"])]
    tokens += [[*row, bit] + [0.0] * (N - M - 1) for row, bit in zip(V, x, strict=True)]
    seen = [normed(token, to.norm) for token in tokens]
    y = list(p["z_CLS"]) if to.residual else [0.0] * N
    for g in range(2):
        query = affine(p["W_Q"][g], seen[0], p["b_Q"][g])
        keys = [affine(p["W_K"][g], token, p["b_K"][g]) for token in seen]
        values = [affine(p["W_V"][g], token, p["b_V"][g]) for token in seen]
        masses = [
            math.exp(to.scale * sum(a * b for a, b in zip(query, key, strict=True))) for key in keys
        ]
        if to.masked:
            masses[0] = 0.0
        weights = [mass / sum(masses) for mass in masses]
        if to.dropout is not None:
            weights = [weights[0]] + [
                weight * kept for weight, kept in zip(weights[1:], to.dropout[g], strict=True)
            ]
        head = [sum(w * v[c] for w, v in zip(weights, values, strict=True)) for c in range(H)]
        y = [
            old + sum(a * b for a, b in zip(row, head, strict=True))
            for old, row in zip(y, p["W_O"][g], strict=True)
        ]
    first, second = (sum(a * b for a, b in zip(row, y, strict=True)) for row in p["readout"])
    joint = first * second if to.readout == "product" else (first + second) / 2
    return p["offset"] - joint


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_forward_pass(name):
    rng = np.random.default_rng(3)
    p, V, to = drawn_parameters(rng), rng.normal(size=(D, M)), ARCHITECTURES[name]
    found = predict(p, V, all_inputs(D), to)
    expected = [by_loops(p, V, x, to) for x in product((-1.0, 1.0), repeat=D)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_loss_is_the_mean_over_all_inputs():
    rng = np.random.default_rng(4)
    p, V, to = drawn_parameters(rng), rng.normal(size=(D, M)), Architecture()
    losses = [(by_loops(p, V, x, to) + x[0] * x[2]) ** 2 for x in product((-1.0, 1.0), repeat=D)]
    assert population_loss(p, V, (0, 2), to) == pytest.approx(np.mean(losses), rel=1e-12)


def test_parameters_with_leading_axes():
    rng = np.random.default_rng(5)
    V, to = rng.normal(size=(D, M)), ARCHITECTURES["residual"]
    several = [drawn_parameters(rng) for _ in range(3)]
    for name in several[0]:
        moved = {**several[0], name: np.stack([each[name] for each in several])}
        expected = [
            population_loss({**several[0], name: each[name]}, V, (0, 1), to) for each in several
        ]
        np.testing.assert_allclose(population_loss(moved, V, (0, 1), to), expected, rtol=1e-13)


def test_scores_of_any_size_do_not_overflow():
    rng = np.random.default_rng(6)
    p, V = drawn_parameters(rng), rng.normal(size=(D, M))
    assert np.isfinite(predict(p, V, all_inputs(D), Architecture(scale=1e4))).all()


@pytest.mark.parametrize(("scale", "cls_norm", "h"), [(1.0, 1.0, 3), (0.5, 3.0, 3), (2.0, 0.1, 6)])
def test_the_equivalent_start_is_the_model_of_two_queries(scale, cls_norm, h):
    rng = np.random.default_rng(7)
    d, m, S = 5, 3, (4, 1)
    V, theta, theta_tilde = rng.normal(size=(d, m)), rng.normal(size=m), rng.normal(size=m)
    to = Architecture(scale=scale)
    p = equivalent_start(rng, V, theta, theta_tilde, width=h, scale=scale, cls_norm=cls_norm)
    gamma, gamma_tilde = softmax(V @ theta), softmax(V @ theta_tilde)
    x = all_inputs(d)
    expected = predict_by_attention(x.astype(int), gamma, gamma_tilde)
    # Values have entries up to 5 or so beside the bit, which cancel in the readout.
    np.testing.assert_allclose(predict(p, V, x, to), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mapped_queries(p, m, to), [theta, theta_tilde], atol=1e-13)
    exact = enumerate_loss(gamma, gamma_tilde, S).mean
    assert population_loss(p, V, S, to) == pytest.approx(exact, rel=1e-12)


def test_the_start_meets_the_conditions_and_is_generic_elsewhere():
    rng = np.random.default_rng(8)
    m, h = 3, 5
    p = equivalent_start(rng, rng.normal(size=(4, m)), np.ones(m), -np.ones(m), width=h, cls_norm=2)
    W_K, z = p["W_K"], p["z_CLS"]
    assert np.linalg.norm(z) == pytest.approx(2, rel=1e-14)
    for g in range(2):
        K = W_K[g, :, :m]
        np.testing.assert_allclose(K.T @ K, np.eye(m), atol=1e-14)
        assert not W_K[g, :, m].any()
        assert np.linalg.norm(W_K[g, :, m + 1]) > 0.1
        for other in range(2):
            seen = p["readout"][other] @ p["W_O"][g] @ p["W_V"][g]
            np.testing.assert_allclose(seen[: m + 1], [0] * m + [g == other], atol=1e-14)
        assert np.linalg.norm(p["W_V"][g][:, :m]) > 0.1
        across = rng.normal(size=m + 2)
        across -= across @ z / (z @ z) * z
        assert np.linalg.norm(p["W_Q"][g] @ across) > 0.1
    assert not np.allclose(W_K[0], W_K[1])
    assert not any(p[name].any() for name in ("b_Q", "b_K", "b_V", "offset"))


def test_the_query_bias_counts_as_query():
    rng = np.random.default_rng(9)
    p = drawn_parameters(rng)
    to = Architecture(scale=0.5)
    query = p["W_Q"][1] @ p["z_CLS"] + p["b_Q"][1]
    expected = 0.5 * p["W_K"][1][:, :M].T @ query
    np.testing.assert_allclose(mapped_queries(p, M, to)[1], expected, rtol=1e-13)


def test_all_inputs():
    x = all_inputs(4)
    assert x.shape == (16, 4)
    assert len({tuple(row) for row in x}) == 16
    assert set(x.ravel()) == {-1.0, 1.0}


@pytest.mark.parametrize("d", [0, 13])
def test_too_many_inputs(d):
    with pytest.raises(InvalidArgumentError, match=rf"^d={d}: must be in 1..12 to visit all 2"):
        all_inputs(d)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 2}, r"width=2: must be at least m = 3: K\^T K = 1 needs h >= m"),
        ({"scale": 0.0}, r"scale=0.0: must be positive"),
        ({"cls_norm": -1.0}, r"cls_norm=-1.0: must be positive"),
        ({"theta": np.ones(2)}, r"theta=array of shape \(2,\): must have 3 entries"),
        ({"theta_tilde": np.ones(4)}, r"theta_tilde=array of shape \(4,\): must have 3 entries"),
    ],
)
def test_bad_starts(changes, message):
    given = {"theta": np.ones(3), "theta_tilde": np.ones(3), "width": 3, **changes}
    with pytest.raises(InvalidArgumentError, match=message):
        equivalent_start(np.random.default_rng(0), np.ones((4, 3)), **given)


@pytest.mark.parametrize("module", ["variants", "gradient", "start"])
def test_the_modules_import_numpy_alone(module):
    code = (
        f"import sys, numerics.transformer.{module}; "
        "print(*({'jax', 'equinox', 'scipy', 'mpmath', 'sympy', 'verify'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
