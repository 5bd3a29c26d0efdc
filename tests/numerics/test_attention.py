from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, workdps

from numerics.arguments import InvalidArgumentError
from numerics.attention import complement, log_softmax, softmax

UNIT = 2.0**-53


def exact_softmax(scores):
    """The weights at the current precision; binary64 scores are exact as mpf."""
    powers = [mp.exp(mpf(float(s))) for s in scores]
    total = mp.fsum(powers)
    return [power / total for power in powers]


def test_known_values():
    gamma = softmax([710, 0])
    assert gamma[0] == 1
    assert gamma[1] == pytest.approx(4.476286225675130e-309, rel=1e-14)
    assert softmax([-800.0, -800.0, -800.0]).tolist() == [1 / 3, 1 / 3, 1 / 3]
    assert complement([710, 0], 0) == gamma[1]
    assert complement([710, 0], 1) == 1


def test_any_spread_is_silent_under_strict_floating_point_errors():
    with np.errstate(all="raise"):
        assert softmax([1.7e308, -1.7e308]).tolist() == [1, 0]
        assert complement([1.7e308, -1.7e308], 0) == 0
        assert complement([1.7e308, -1.7e308], 1) == 1
        assert log_softmax([1.7e308, -1.7e308]).tolist() == [0, -np.inf]
        assert softmax([0.0]).tolist() == [1]
        assert complement([3.0], 0) == 0


@settings(max_examples=settings().max_examples * 60 // 100)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(2, 40),
    spread=st.sampled_from([0, 1, 40, 690]),
)
def test_weights_complement_and_logarithms_have_full_relative_accuracy(seed, d, spread):
    scores = np.random.default_rng(seed).uniform(-spread / 2, spread / 2, d)
    scores[0], scores[-1] = spread / 2, -spread / 2
    gamma, logarithms = softmax(scores), log_softmax(scores)
    # A few u for exp, quotient and correction, and d u at most for the sum; without the
    # correction the difference of the scores alone would cost 690 u.
    tolerance = (d + 10) * UNIT
    with workdps(360):  # log gamma of a weight 1 - 1e-300 needs 300 digits of the weight
        exact = exact_softmax(scores)
        for i in range(d):
            assert abs(gamma[i] - exact[i]) <= tolerance * exact[i]
            rest = mp.fsum(exact[:i] + exact[i + 1 :])
            assert abs(complement(scores, i) - rest) <= tolerance * rest
            # log1p turns a relative error of the mass into one of the same size, and the
            # difference of scores rounds to its own half unit.
            error = abs(logarithms[i] - mp.log(exact[i]))
            assert error <= tolerance * abs(mp.log(exact[i]))


def test_complement_is_right_down_to_1e_300_over_many_positions():
    # 1 - gamma_0 = r e / (1 + r e) with r = 10^5 and e = exp(-702.3): about 1e-300.
    scores = np.zeros(100_001)
    scores[0] = 702.3
    with workdps(40):
        tail = 100_000 * mp.exp(-mpf(702.3))
        exact = tail / (1 + tail)
        assert mpf("0.9e-300") < exact < mpf("1.1e-300")
        assert abs(complement(scores, 0) - exact) <= 10 * UNIT * exact


def test_every_block_of_a_long_vector_is_filled():
    # Longer than two blocks, the last one short; the weights are known without a sum over blocks.
    d = 2 * 8192 + 5
    scores = np.log(1.0 + np.arange(d))
    expected = (1.0 + np.arange(d)) / (d * (d + 1) / 2)
    # log errs by u log d, up to 10 u, softmax by (log d + 10) u more.
    np.testing.assert_allclose(softmax(scores), expected, rtol=40 * UNIT)


@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]], [np.nan, 0.0], ["a"]])
def test_refusals(scores):
    with pytest.raises(InvalidArgumentError, match=r"^scores"):
        softmax(scores)


@pytest.mark.parametrize("position", [-1, 2, True])
def test_complement_refuses_a_position_outside(position):
    with pytest.raises(InvalidArgumentError, match=f"^position={position}"):
        complement([0.0, 1.0], position)
