from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.baselines import trained_nets
from numerics.baselines.dense_nets import DenseNet, enumerated_loss, loss_bracket
from numerics.baselines.trained_nets import (
    XorSample,
    draw_sample,
    has_scikit_learn,
    train,
    train_with_scikit_learn,
)

TRAINERS = [train, train_with_scikit_learn]


def test_a_sample_has_the_labels_of_its_support():
    sample = draw_sample(np.random.default_rng(0), 7, 500)
    a, b = sample.support
    assert a != b
    assert sample.inputs.shape == (500, 7)
    assert set(np.unique(sample.inputs)) == {-1, 1}
    assert (sample.labels == -sample.inputs[:, a] * sample.inputs[:, b]).all()
    supports = {draw_sample(np.random.default_rng(seed), 3, 1).support for seed in range(60)}
    assert len(supports) == 6


def test_the_gradient_is_that_of_the_mean_square():
    rng = np.random.default_rng(1)
    objective = trained_nets._Objective(draw_sample(rng, 4, 9), 3)
    point = rng.standard_normal(3 * (4 + 2) + 1)
    loss, slopes = objective(point)
    net = objective.net(point)
    assert net.parameters == point.shape[0] == slopes.shape[0]
    errors = net.predict(objective._x) - objective._y
    assert loss == pytest.approx(np.mean(errors**2), rel=1e-13)
    h = 1e-6
    for i, slope in enumerate(slopes):
        step = h * np.eye(point.shape[0])[i]
        difference = (objective(point + step)[0] - objective(point - step)[0]) / (2 * h)
        # Central differences of numbers of size 10: h^2 and 1e-15/h.
        assert slope == pytest.approx(difference, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("width", [2, 4])
def test_trained_nets_generalise_as_their_bracket_says(trainer, width):
    rng = np.random.default_rng(5)
    sample = draw_sample(rng, 10, 640)
    found = trainer(rng, sample, width=width)
    assert found.net.parameters == width * 12 + 1
    assert 1 <= found.starts <= 8
    errors = found.net.predict(sample.inputs) - sample.labels
    assert found.training_loss == pytest.approx(np.mean(errors**2), rel=1e-6, abs=1e-15)
    # No noise, and no penalty on the weights: zero up to where L-BFGS stops, slopes of 1e-8.
    assert found.training_loss <= 1e-7
    lower, upper = loss_bracket(found.net, sample.support)
    assert lower <= enumerated_loss(found.net, sample.support) + 1e-15
    assert enumerated_loss(found.net, sample.support) <= upper + 1e-15
    assert upper <= 0.01
    fresh = draw_sample(np.random.default_rng(6), 10, 20_000).inputs
    a, b = sample.support
    measured = np.mean(np.square(found.net.predict(fresh) + fresh[:, a] * fresh[:, b]))
    assert measured <= 0.01


@pytest.mark.parametrize("trainer", TRAINERS)
def test_the_same_seed_gives_the_same_net(trainer):
    sample = draw_sample(np.random.default_rng(2), 6, 200)
    nets = [trainer(np.random.default_rng(3), sample, width=2, starts=2).net for _ in range(2)]
    assert (nets[0].weights == nets[1].weights).all()


def _fit_of(losses):
    remaining = iter(losses)

    def fit():
        loss = next(remaining)
        return loss, DenseNet.of([[loss, 0.0]], [0.0], [0.0], 0.0)

    return fit


@pytest.mark.parametrize(
    ("losses", "most", "kept", "starts"),
    [
        ([0.5, 0.7, 1e-4, 0.1], 8, 1e-4, 3),
        ([0.5, 0.7, 0.6], 3, 0.5, 3),
        ([1e-3], 8, 1e-3, 1),
        ([0.9], 1, 0.9, 1),
    ],
)
def test_starts_go_on_until_one_fits(losses, most, kept, starts):
    found = trained_nets._best_of(_fit_of(losses), most)
    assert (found.training_loss, found.starts) == (kept, starts)
    assert found.net.weights[0, 0] == kept


@pytest.mark.parametrize("trainer", TRAINERS)
def test_one_unit_does_not_learn(trainer):
    rng = np.random.default_rng(4)
    sample = draw_sample(rng, 6, 400)
    found = trainer(rng, sample, width=1, starts=3)
    assert found.starts == 3
    # 2/3 is the least population loss; on 400 samples chance may take a tenth of it.
    assert found.training_loss > 0.6
    assert loss_bracket(found.net, sample.support)[1] > 0.6


def test_neither_library_is_loaded_before_it_trains():
    code = (
        "import sys, numerics.baselines.trained_nets; "
        "sys.exit(bool({'scipy', 'sklearn'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_scikit_learn_it_is_refused(monkeypatch):
    monkeypatch.setattr(trained_nets.importlib.util, "find_spec", lambda _: None)
    assert not has_scikit_learn()
    sample = XorSample((0, 1), np.ones((1, 2)), -np.ones(1))
    with pytest.raises(InvalidArgumentError) as caught:
        train_with_scikit_learn(np.random.default_rng(0), sample, width=2)
    assert str(caught.value) == (
        "library=scikit-learn: needs scikit-learn; pip install 'xorverify[rivals]'"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: draw_sample(rng, 1, 5), "d=1: must be an integer >= 2"),
        (lambda rng: draw_sample(rng, 3, 0), "n=0: must be an integer >= 1"),
        (
            lambda rng: train(rng, draw_sample(rng, 3, 5), width=0),
            "width=0: must be an integer >= 1",
        ),
        (
            lambda rng: train(rng, draw_sample(rng, 3, 5), width=1, starts=0),
            "starts=0: must be an integer >= 1",
        ),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(InvalidArgumentError) as caught:
        call(np.random.default_rng(0))
    assert str(caught.value) == message
