from __future__ import annotations

import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.attention import softmax
from numerics.attention_maps import MAPS, SOFTMAX, AttentionMap, find_map, pointwise, weights_at

UNIT = 2.0**-53

SOURCE = """
import numpy as np
from numerics.attention_maps import AttentionMap, pointwise
from numerics.attention import softmax

TANH = pointwise("tanh", "tanh", np.tanh, lambda s: 1 - np.tanh(s) ** 2, odd=True)
STEEP = pointwise("steep", "tanh(50 s)", lambda s: np.tanh(50 * s),
                  lambda s: 50 / np.cosh(50 * s) ** 2)
RECTIFIED = pointwise("relu", "max(s, 0)", lambda s: np.maximum(s, 0), lambda s: (s > 0) * 1.0)
CONSTANT = pointwise("constant", "1/d", lambda s: np.full(len(s), 1 / len(s)), np.zeros_like)
COLD = AttentionMap("cold", "softmax of 2 s", lambda s: softmax(2 * s),
                    lambda s, gamma, g: 2 * gamma * (g - gamma @ g))

FACTOR = pointwise("f", "f", np.tanh, lambda s: 0.999 * (1 - np.tanh(s) ** 2))
SIGN = pointwise("f", "f", np.cos, np.sin)
UNCOUPLED = AttentionMap("f", "f", softmax, lambda s, gamma, g: gamma * (1 - gamma) * g)
JACOBIAN = AttentionMap("f", "f", lambda s: np.cumsum(s), lambda s, gamma, g: np.cumsum(g))
FORGETFUL = AttentionMap("f", "f", np.sin, lambda s, gamma, g: np.cos(s))
NOISY = pointwise("f", "f", lambda s: s + 1e-9 * np.random.default_rng().random(len(s)),
                  np.ones_like)

SHORT = pointwise("f", "f", lambda s: s[1:], lambda s: np.ones(len(s) - 1))
SCALAR = pointwise("f", "f", np.sum, np.ones_like)
COLUMN = pointwise("f", "f", lambda s: s[:, None], np.ones_like)
LONG_SLOPES = AttentionMap("f", "f", np.sin, lambda s, gamma, g: np.append(np.cos(s) * g, 0))
LOGARITHM = pointwise("f", "f", lambda s: np.where(s > 0, np.nan, s), np.ones_like)
INFINITE_SLOPE = pointwise("f", "f", np.sin, lambda s: np.cos(s) / 0.0)
COMPLEX = pointwise("f", "f", lambda s: s * 1j, np.ones_like)
LISTED = pointwise("f", "f", lambda s: ["a"] * len(s), np.ones_like)
NOTHING = pointwise("f", "f", lambda s: None, np.ones_like)
RAISING = pointwise("f", "f", lambda s: 1 / 0, np.ones_like)
LEAVING = pointwise("f", "f", lambda s: exit(3), np.ones_like)
ONE_ARGUMENT = AttentionMap("f", "f", np.sin, np.cos)
WRITING = pointwise("f", "f", lambda s: np.multiply(s, 2, out=s), lambda s: np.full(len(s), 2.0))
WRITING_WEIGHTS = AttentionMap("f", "f", np.sin,
                               lambda s, gamma, g: np.multiply(gamma, g, out=gamma))
EVEN = pointwise("f", "f", np.cos, lambda s: -np.sin(s), odd=True)
FUNCTION = np.tanh
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch) -> str:
    """A module of a user's own in the working directory, which Python does not search yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    name = f"own_maps_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    yield name
    sys.modules.pop(name, None)


def drawn(seed, d):
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, d), rng.standard_normal(d)


@pytest.mark.parametrize("name", MAPS)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 9))
def test_pull_back_is_the_transposed_derivative(name, seed, d):
    attention = MAPS[name]
    scores, slopes = drawn(seed, d)
    direction = np.random.default_rng(seed + 1).standard_normal(d)
    pulled = attention.pull_back(scores, attention.weights(scores), slopes)
    # A central difference of step h errs by h^2/6 times a third derivative, below 20 for the sum
    # over nine positions in directions of normal size, and by rounding of weights up to 3.
    h = 2.0**-17
    moved = attention.weights(scores + h * direction) - attention.weights(scores - h * direction)
    size = np.abs(slopes).sum() * (1 + np.abs(direction).max() ** 3)
    tolerance = size * (20 * h**2 + 8 * UNIT / h)
    assert abs(pulled @ direction - slopes @ moved / (2 * h)) <= tolerance


def test_what_the_maps_of_the_toolkit_are():
    scores = np.array([0.5, -2.0, 0.0, 30.0])
    assert list(MAPS) == ["softmax", "linear", "erf"]
    assert MAPS["softmax"] is SOFTMAX
    assert MAPS["softmax"].weights(scores).tolist() == softmax(scores).tolist()
    assert MAPS["linear"].weights(scores).tolist() == scores.tolist()
    erf = [math.erf(score) for score in scores]
    np.testing.assert_allclose(MAPS["erf"].weights(scores), erf, rtol=4 * UNIT)
    slope = MAPS["erf"].pull_back(scores, np.zeros(4), np.ones(4))
    expected = [2 / math.sqrt(math.pi) * math.exp(-(score**2)) for score in scores]
    np.testing.assert_allclose(slope, expected, rtol=8 * UNIT)
    assert slope[3] < 1e-300
    assert [attention.odd for attention in MAPS.values()] == [False, True, True]
    for name, attention in MAPS.items():
        assert attention.name == name
        assert find_map(name) is attention


def test_linear_weights_are_a_copy():
    scores = np.array([1.0, 2.0])
    MAPS["linear"].weights(scores)[0] = 5.0
    assert scores[0] == 1.0


@pytest.mark.parametrize("scores", [[1e200, -1e200], [0.0, 40.0]])
def test_far_scores_raise_no_floating_point_error(scores):
    scores = np.array(scores)
    with np.errstate(all="raise"):
        for attention in MAPS.values():
            gamma = attention.weights(scores)
            assert np.isfinite(attention.pull_back(scores, gamma, np.ones(2))).all()


def test_softmax_pulls_back_by_its_jacobian():
    # Rational weights and slopes: sum_j g_j gamma_j (delta_ij - gamma_i), exactly.
    weights = [Fraction(1, 8), Fraction(5, 8), Fraction(1, 4)]
    slopes = [Fraction(3), Fraction(-2), Fraction(7, 2)]
    mean = sum(w * g for w, g in zip(weights, slopes, strict=True))
    exact = [float(w * (g - mean)) for w, g in zip(weights, slopes, strict=True)]
    found = SOFTMAX.pull_back(
        np.zeros(3), np.array(weights, dtype=float), np.array(slopes, dtype=float)
    )
    assert found.tolist() == exact


def test_pointwise_needs_no_more_than_a_function_and_its_derivative():
    cube = pointwise("cube", "s^3", lambda s: s**3, lambda s: 3 * s**2, odd=True)
    assert isinstance(cube, AttentionMap)
    assert cube.weights(np.array([2.0])).tolist() == [8.0]
    assert cube.pull_back(np.array([2.0]), np.array([8.0]), np.array([0.5])).tolist() == [6.0]


@pytest.mark.parametrize("attribute", ["TANH", "STEEP", "RECTIFIED", "CONSTANT", "COLD"])
def test_a_map_of_ones_own_is_found(module: str, attribute: str) -> None:
    found = find_map(f"{module}:{attribute}")
    assert found is vars(sys.modules[module])[attribute]


WRONG_DERIVATIVE = r"the derivative is wrong: at scores \(.*\), differences of weights \(.*\)$"


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("FACTOR", WRONG_DERIVATIVE),
        ("SIGN", WRONG_DERIVATIVE),
        ("UNCOUPLED", WRONG_DERIVATIVE),
        ("JACOBIAN", WRONG_DERIVATIVE),
        ("FORGETFUL", WRONG_DERIVATIVE),
        ("NOISY", WRONG_DERIVATIVE),
        ("SHORT", r"weights at \(0, 0\)=array of shape \(1,\): must have 2 entries$"),
        ("SCALAR", r"weights at \(0, 0\)=array of shape \(\): must have 1 axes$"),
        ("COLUMN", r"weights at \(0, 0\)=array of shape \(2, 1\): must have 1 axes$"),
        ("LONG_SLOPES", r"pull_back at \(.*\)=array of shape \(3,\): must have 2 entries$"),
        ("LOGARITHM", r"weights at \(.*\)\[1\]=nan: must be finite$"),
        ("INFINITE_SLOPE", r"pull_back at \(.*\)\[0\]=-inf: must be finite$"),
        ("COMPLEX", r"weights at \(0, 0\)=array of complex128: must be real numbers"),
        ("LISTED", r"weights at \(0, 0\)=array of <U1: must be real numbers"),
        ("NOTHING", r"weights at \(0, 0\)=array of object: must be real numbers"),
        ("RAISING", r"weights at \(0, 0\) failed: ZeroDivisionError: division by zero$"),
        ("LEAVING", r"weights at \(0, 0\) failed: SystemExit: 3$"),
        ("ONE_ARGUMENT", r"pull_back at \(.*\) failed: TypeError: "),
        ("WRITING", r"weights at \(0, 0\) failed: ValueError: output array is read-only$"),
        ("WRITING_WEIGHTS", r"pull_back at \(.*\) failed: ValueError: output array is read-only$"),
        ("EVEN", r"is not odd at scores \(.*\)$"),
        ("FUNCTION", r"is a ufunc; must be a numerics\.attention_maps\.AttentionMap$"),
        ("ABSENT", r"own_maps_\w+ \(.*\.py\) has no ABSENT$"),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(module: str, attribute: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        find_map(f"{module}:{attribute}")
    assert refused.match(rf"^attention={module}:{attribute}: {message}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tanh", "must be softmax, linear, erf or module:ATTRIBUTE"),
        ("", "must be softmax, linear, erf or module:ATTRIBUTE"),
        ("no_such_module:MAP", "no module no_such_module, "),
        ("not a name:MAP", "must be module:ATTRIBUTE"),
    ],
)
def test_other_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^attention={name}: {message}"):
        find_map(name)


def test_weights_at_scores_that_overflow() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^theta=query with score nan at position 1: "):
        weights_at("theta", np.array([1.0, np.nan, np.inf]), SOFTMAX)
    growing = pointwise("exp", "exp", np.exp, np.exp)
    with pytest.raises(InvalidArgumentError, match=r"^exp weights of theta\[1\]=inf: must be fin"):
        weights_at("theta", np.array([0.0, 1000.0]), growing)
    short = pointwise("short", "short", lambda s: s[:1], np.ones_like)
    with pytest.raises(InvalidArgumentError, match=r"^short weights of theta=array of shape"):
        weights_at("theta", np.zeros(3), short)
