"""Dense ReLU nets trained on the sparse XOR task, with SciPy or with scikit-learn.

Both minimise the mean square error on n samples by L-BFGS, over all parameters at once. A start
that ends in a local minimum shows in the training loss, and is thrown away as anyone who trains
would: the support is never looked at.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, integer_at_least
from numerics.baselines.dense_nets import DenseNet
from numerics.model import label, signs_from_bits

__all__ = [
    "TrainedNet",
    "XorSample",
    "draw_sample",
    "has_scikit_learn",
    "train",
    "train_with_scikit_learn",
]

_ITERATIONS = 1000
# L-BFGS stops where an iteration gains less, or no slope is larger; losses start at about 1.
_GAIN = 1e-15
_SLOPE = 1e-8
# A training loss at which no further start is tried.
_FITTED = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class XorSample:
    """Samples of the task.

    Attributes
    ----------
    support : pair of int
        The positions (a, b).
    inputs : ndarray, shape (n, d)
        Signs, as binary64.
    labels : ndarray, shape (n,)
        -x_a x_b.
    """

    support: tuple[int, int]
    inputs: NDArray[np.float64]
    labels: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNet:
    """A net and how it came about.

    Attributes
    ----------
    net : DenseNet
        The net of the start with the least training loss.
    training_loss : float
        The mean square error on the samples.
    starts : int
        How many random starts were tried.
    """

    net: DenseNet
    training_loss: float
    starts: int


def draw_sample(rng: np.random.Generator, d: SupportsIndex, n: SupportsIndex) -> XorSample:
    """Draw a support, uniform over ordered pairs, and n samples.

    Raises
    ------
    InvalidArgumentError
        If d < 2 or n < 1.
    """
    positions, samples = integer_at_least("d", d, 2), integer_at_least("n", n, 1)
    a, b = rng.permutation(positions)[:2].tolist()
    inputs = signs_from_bits(rng.integers(0, 2, size=(samples, positions)))
    labels = label(inputs, (a, b))
    return XorSample((a, b), inputs.astype(np.float64), labels.astype(np.float64))


def train(
    rng: np.random.Generator,
    sample: XorSample,
    *,
    width: SupportsIndex,
    starts: SupportsIndex = 8,
) -> TrainedNet:
    """Train a net from random starts with SciPy until one fits the samples.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the starts: Gaussian weights of variance 1/d, biases of 1/100, outer weights of 1.
    sample : XorSample
        What is fitted.
    width : int
        The number of hidden units.
    starts : int
        The most starts that are tried.

    Raises
    ------
    InvalidArgumentError
        If width or starts is no integer >= 1.
    """
    from scipy.optimize import minimize

    units, most = integer_at_least("width", width, 1), integer_at_least("starts", starts, 1)
    objective = _Objective(sample, units)

    def fit() -> tuple[float, DenseNet]:
        found = minimize(
            objective,
            objective.random_start(rng),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _ITERATIONS, "ftol": _GAIN, "gtol": _SLOPE},
        )
        return float(found.fun), objective.net(found.x)

    return _best_of(fit, most)


def train_with_scikit_learn(
    rng: np.random.Generator,
    sample: XorSample,
    *,
    width: SupportsIndex,
    starts: SupportsIndex = 8,
) -> TrainedNet:
    """Train as `train` does, with scikit-learn's `MLPRegressor` and its own random starts.

    Raises
    ------
    InvalidArgumentError
        As `train`; or if scikit-learn is not installed.
    """
    if not has_scikit_learn():
        raise InvalidArgumentError(
            "library", "scikit-learn", "needs scikit-learn; pip install 'xorverify[rivals]'"
        )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    units, most = integer_at_least("width", width, 1), integer_at_least("starts", starts, 1)

    def fit() -> tuple[float, DenseNet]:
        regressor = MLPRegressor(
            hidden_layer_sizes=(units,),
            solver="lbfgs",
            alpha=0.0,
            max_iter=_ITERATIONS,
            tol=_SLOPE,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            # A start that stops at the limit is judged by its loss, as any other.
            warnings.simplefilter("ignore", ConvergenceWarning)
            regressor.fit(sample.inputs, sample.labels)
        (inner, outer), (biases, constant) = regressor.coefs_, regressor.intercepts_
        net = DenseNet.of(inner.T, biases, outer[:, 0], float(constant[0]))
        errors = net.predict(sample.inputs) - sample.labels
        return float(np.mean(np.square(errors))), net

    return _best_of(fit, most)


def has_scikit_learn() -> bool:
    """Tell whether scikit-learn is installed; it is not imported for that."""
    return importlib.util.find_spec("sklearn") is not None


def _best_of(fit: Callable[[], tuple[float, DenseNet]], most: int) -> TrainedNet:
    loss, net = fit()
    starts = 1
    while loss > _FITTED and starts < most:
        next_loss, next_net = fit()
        starts += 1
        if next_loss < loss:
            loss, net = next_loss, next_net
    return TrainedNet(net, loss, starts)


class _Objective:
    """The mean square error and its gradient, as a function of all parameters in one vector."""

    def __init__(self, sample: XorSample, units: int) -> None:
        self._x, self._y = sample.inputs, sample.labels
        d = self._x.shape[1]
        self._shape = (units, d)
        self._cuts = np.cumsum([units * d, units, units])

    def random_start(self, rng: np.random.Generator) -> NDArray[np.float64]:
        units, d = self._shape
        weights = rng.standard_normal(units * d) / np.sqrt(d)
        biases, outer = 0.1 * rng.standard_normal(units), rng.standard_normal(units)
        return np.concatenate([weights, biases, outer, [0.0]])

    def net(self, parameters: NDArray[np.float64]) -> DenseNet:
        weights, biases, outer, constant = np.split(parameters, self._cuts)
        return DenseNet.of(weights.reshape(self._shape), biases, outer, float(constant[0]))

    def __call__(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        net = self.net(parameters)
        arguments = self._x @ net.weights.T + net.biases
        hidden = np.maximum(arguments, 0)
        errors = hidden @ net.outer + net.constant - self._y
        scaled = 2 / errors.shape[0] * errors
        back = scaled[:, np.newaxis] * net.outer * (arguments > 0)
        slopes = [(back.T @ self._x).ravel(), back.sum(axis=0), hidden.T @ scaled, [scaled.sum()]]
        return float(np.mean(np.square(errors))), np.concatenate(slopes)
