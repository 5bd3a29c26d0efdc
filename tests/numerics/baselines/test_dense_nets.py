from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from numerics.arguments import InvalidArgumentError
from numerics.baselines.dense_nets import (
    DenseNet,
    dense_parameters,
    enumerated_loss,
    loss_bracket,
    xor_net,
)
from numerics.baselines.walsh import all_inputs
from numerics.model import label


def random_net(rng, d, width, support, off_scale):
    """A net with weights on the support of size 1 and others of another size."""
    weights = off_scale * rng.standard_normal((width, d))
    weights[:, list(support)] += rng.integers(-1, 2, size=(width, 2))
    return DenseNet.of(
        weights, rng.integers(-1, 2, size=width) / 2, rng.standard_normal(width), rng.normal()
    )


@given(
    st.integers(2, 8),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e-6, 1e-2, 0.1, 0.5, 3.0]),
    st.integers(0, 2**32),
)
def test_the_bracket_holds_the_mean_over_all_inputs(d, width, off_scale, seed):
    rng = np.random.default_rng(seed)
    support = tuple(rng.permutation(d)[:2].tolist())
    net = random_net(rng, d, width, support, off_scale)
    lower, upper = loss_bracket(net, support)
    loss = enumerated_loss(net, support)
    # Sums of a few dozen numbers of size 100 or less, squared.
    assert lower - 1e-9 <= loss <= upper + 1e-9
    if d == 2 or off_scale == 0:
        assert upper - lower <= 1e-12 * (1 + upper)


def test_the_enumeration_reads_the_definition():
    rng = np.random.default_rng(4)
    net = random_net(rng, 5, 3, (4, 1), 0.7)
    squares = []
    for x in all_inputs(5):
        units = zip(net.weights, net.biases, net.outer, strict=True)
        f = net.constant + sum(v * max(float(row @ x) + bias, 0) for row, bias, v in units)
        squares.append((f - int(label(x, (4, 1)))) ** 2)
    assert enumerated_loss(net, (4, 1)) == pytest.approx(np.mean(squares), rel=1e-13)


def test_units_that_are_linear_in_each_case_leave_no_gap():
    # Arguments of size 3 or more, and weights of .1 and .05 off the support.
    net = DenseNet.of([[2, 1, 0.1, 0.05], [-2, 1, 0.1, 0]], [6.5, -6.5], [1, 5], 0.5)
    lower, upper = loss_bracket(net, (0, 1))
    assert lower == upper
    assert upper == pytest.approx(enumerated_loss(net, (0, 1)), rel=1e-14)

    # An argument of 1, and weights of total .9: of large norm, but they never turn the unit.
    net = DenseNet.of([[0, 0, 0.45, 0.45]], [1], [1], 0)
    lower, upper = loss_bracket(net, (0, 1))
    assert lower == upper
    assert upper == pytest.approx(enumerated_loss(net, (0, 1)), rel=1e-14)


@pytest.mark.parametrize("u", [0.01, 0.3, 1.0, 3.0])
def test_what_a_unit_adds_where_it_may_turn(u):
    d, s, v = 12, 0.5, 3.0
    weights = np.full((1, d), s / np.sqrt(d - 2))
    weights[0, :2] = 0
    net = DenseNet.of(weights, [-u], [v], 0.0)
    lower, upper = loss_bracket(net, (0, 1))
    assert lower <= enumerated_loss(net, (0, 1)) <= upper
    # The linear part is -y, of norm 1. By quadrature: E e^2 from Hoeffding's bound of the tail.
    tail, _ = quad(lambda t: 2 * t * np.exp(-((u + t) ** 2) / (2 * s**2)), 0, 20 * s)
    expected = 0.0 if u >= s * np.sqrt(d - 2) else v * np.sqrt(min(tail, s**2 / 2))
    assert np.sqrt(upper) - 1 == pytest.approx(expected, rel=1e-9)
    assert 1 - np.sqrt(lower) == pytest.approx(min(expected, 1), rel=1e-9)


def test_nothing_is_left_below_where_the_linear_part_is_the_label():
    exact = xor_net(4, (0, 1))
    weights = np.vstack([exact.weights, [0, 0, 1, 1]])
    net = DenseNet.of(weights, [0, 0, -1e-9], [-1, -1, 0.5], 1)
    lower, upper = loss_bracket(net, (0, 1))
    assert lower == 0
    assert upper == pytest.approx(0.25, rel=1e-6)
    assert lower < enumerated_loss(net, (0, 1)) <= upper


@pytest.mark.parametrize(("d", "support"), [(2, (0, 1)), (2, (1, 0)), (9, (7, 3))])
def test_two_units_are_the_label(d, support):
    net = xor_net(d, support)
    assert net.parameters == dense_parameters(d, 2) == 2 * d + 5
    assert loss_bracket(net, support) == (0, 0)
    assert enumerated_loss(net, support) == 0
    other = (support[0], next(i for i in range(d) if i not in support)) if d > 2 else None
    if other:
        assert enumerated_loss(net, other) == 2  # orthogonal signs


def test_one_unit_is_never_closer_than_two_thirds():
    rng = np.random.default_rng(7)
    losses = []
    for _ in range(300):
        net = random_net(rng, 4, 1, (0, 1), rng.choice([0.0, 0.3]))
        hidden = np.maximum(all_inputs(4) @ net.weights[0] + net.biases[0], 0)
        design = np.column_stack([hidden, np.ones(16)])
        target = label(all_inputs(4), (0, 1))
        best, *_ = np.linalg.lstsq(design, target, rcond=None)
        losses.append(np.mean(np.square(design @ best - target)))
    # Least squares over 16 inputs: rounding of a few units.
    assert min(losses) == pytest.approx(2 / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: DenseNet.of(np.zeros((2, 3)), [0], [1, 1], 0),
            "biases=array of shape (1,): must have 2 entries",
        ),
        (
            lambda: DenseNet.of(np.zeros((1, 3)), [0], [np.inf], 0),
            "outer[0]=inf: must be finite",
        ),
        (
            lambda: loss_bracket(xor_net(3, (0, 1)), (0, 3)),
            "support=(0, 3): positions must be in 0..2",
        ),
        (lambda: enumerated_loss(xor_net(17, (0, 1)), (0, 1)), "d=17: must be at most 16"),
        (lambda: xor_net(3, (1, 1)), "support=(1, 1): the two positions must differ"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call()
    assert str(caught.value) == message
