"""The floor of odd concave attention: what breaks it, and that no head gets below it."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from derivations import concave_attention
from derivations.attention import pointwise_attention, softmax_reach
from derivations.catalogue import load
from derivations.concave_attention import floor, h, sigma
from derivations.proof.ledger import Method


def failing(*, instances=False):
    """Return the numbers of the proofs that fail; with `instances`, of the other steps too."""
    derivation = load("concave_attention")
    return [
        number
        for number, step in enumerate(derivation.steps, start=1)
        if (instances or step.method is Method.PROOF)
        and replace(derivation, steps=(step,)).check()[0].failed
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        1 - 2 * h**2 / (1 - 2 * h),
        1 - 4 * h**2 / (1 - h),
        1 - 4 * h / (1 - 2 * h),
        1 - 4 * h**2,
    ],
)
def test_a_better_floor_is_not_proved(monkeypatch, wrong):
    monkeypatch.setattr(concave_attention, "floor", lambda: wrong)
    assert 8 in failing()


def test_a_worse_floor_would_be_proved_no_more_either(monkeypatch):
    # The margins are exact: a change of the constant is noticed in both directions.
    monkeypatch.setattr(concave_attention, "floor", lambda: 1 - 8 * h**2 / (1 - 2 * h))
    assert 8 in failing()


@pytest.mark.parametrize("name", ["_M", "_Q"])
def test_a_wrong_moment_is_noticed(monkeypatch, name):
    wrong = getattr(concave_attention, name) / 2
    monkeypatch.setattr(concave_attention, name, wrong)
    assert failing()


def _with_map(monkeypatch, *wrong):
    monkeypatch.setattr(pointwise_attention, "_MAPS", (*pointwise_attention._MAPS, wrong))


def test_a_convex_map_is_refused(monkeypatch):
    cubic = ("cubic", lambda u: u**3 + u, lambda u: 3 * u**2 + 1, lambda u: -6 * u / (3 * u**2 + 1))
    _with_map(monkeypatch, *cubic)
    assert failing() == [3]


def test_a_map_that_is_not_odd_is_refused(monkeypatch):
    shifted = (
        "shifted",
        lambda u: sp.atan(u) + 1,
        lambda u: 1 / (1 + u**2),
        lambda u: 2 * u / (1 + u**2),
    )
    _with_map(monkeypatch, *shifted)
    assert failing() == [3]


def test_a_wrong_derivative_of_a_map_is_refused(monkeypatch):
    steep = ("steep", sp.erf, lambda u: sp.exp(-(u**2)), lambda u: 2 * u)
    _with_map(monkeypatch, *steep)
    assert failing() == [3]


def test_a_better_bound_for_softmax_is_not_proved(monkeypatch):
    right = softmax_reach.sup_bound()
    monkeypatch.setattr(softmax_reach, "sup_bound", lambda: right / 4)
    assert failing() == [13]


def test_the_form_in_sigma_is_weaker_at_any_rows():
    rng = np.random.default_rng(1)
    in_h = sp.lambdify(h, floor())
    in_sigma = sp.lambdify(sigma, floor().subs(h, 1 / sigma**2))
    for d, m in ((20, 2), (50, 3), (100, 5)):
        V = rng.standard_normal((d, m))
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        leverages = np.diag(V @ np.linalg.pinv(V))
        least = np.linalg.svd(V, compute_uv=False)[-1]
        assert in_sigma(least) <= in_h(leverages.max()) < 1


# Bounded queries reach the bends of the maps, long ones their ends.
MAPS = {
    "linear": lambda s: s,
    "tanh": np.tanh,
    "softsign": lambda s: s / (1 + np.abs(s)),
    "clip": lambda s: np.clip(s, -1, 1),
    "sign": np.sign,
    "root": lambda s: np.sign(s) * np.sqrt(np.abs(s)),
}


@pytest.mark.parametrize("name", MAPS)
def test_no_head_has_a_larger_share_than_the_leverage(name):
    """Queries that favour one position, and rows of very different lengths."""
    rng = np.random.default_rng(7)
    for d, m in ((8, 1), (12, 2), (30, 4)):
        V = rng.standard_normal((d, m)) * np.exp(rng.standard_normal((d, 1)))
        dual = np.linalg.pinv(V).T
        leverages = np.einsum("ij,ij->i", V, dual)
        for position in range(d):
            for scale in (0.1, 1.0, 30.0):
                theta = scale * (dual[position] + 0.1 * rng.standard_normal(m))
                gamma = MAPS[name](V @ theta)
                # Rounding aside, as the linear map attains it up to the noise in theta.
                assert np.max(gamma**2) <= leverages.max() * (gamma @ gamma) * (1 + 1e-12)


def test_a_convex_map_has_a_larger_share():
    V = np.array([[1.0], [0.5], [0.5], [0.5], [0.5]])
    gamma = (5 * V[:, 0]) ** 3
    assert np.max(gamma**2) / (gamma @ gamma) > 1 / (V[:, 0] @ V[:, 0])
