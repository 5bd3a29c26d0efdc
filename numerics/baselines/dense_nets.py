"""Dense nets with one hidden layer of ReLU units, and an enclosure of their population loss.

Such a net is f(x) = c + sum_j v_j max(w_j.x + b_j, 0), with n (d + 2) + 1 parameters at width n.
Its loss E (f - y)^2 over uniform inputs, y = -x_a x_b and no factor 1/2, is a mean over 2^d inputs.
Four cases and the norms of the weights enclose it in O(n d). Source: ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.arguments import check_support, finite_array, finite_float, vector_of_length
from numerics.baselines.walsh import all_inputs
from numerics.model import label

__all__ = ["DenseNet", "dense_parameters", "enumerated_loss", "loss_bracket", "xor_net"]


@dataclass(frozen=True, slots=True, eq=False)
class DenseNet:
    """A net with one hidden layer.

    Attributes
    ----------
    weights : ndarray, shape (n, d)
        The rows w_j of the hidden units.
    biases : ndarray, shape (n,)
        Their biases b_j.
    outer : ndarray, shape (n,)
        The weights v_j of the output.
    constant : float
        Its bias c.
    """

    weights: NDArray[np.float64]
    biases: NDArray[np.float64]
    outer: NDArray[np.float64]
    constant: float

    @classmethod
    def of(
        cls, weights: ArrayLike, biases: ArrayLike, outer: ArrayLike, constant: float
    ) -> DenseNet:
        """Build a net from anything that is an array.

        Raises
        ------
        InvalidArgumentError
            If the shapes do not fit or an entry is not finite.
        """
        rows = finite_array("weights", weights, 2)
        return cls(
            rows,
            vector_of_length("biases", biases, rows.shape[0]),
            vector_of_length("outer", outer, rows.shape[0]),
            finite_float("constant", constant),
        )

    @property
    def parameters(self) -> int:
        """The number of parameters, all of them trained."""
        return dense_parameters(self.weights.shape[1], self.weights.shape[0])

    def predict(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return f for inputs of shape (N, d)."""
        hidden = np.maximum(x @ self.weights.T + self.biases, 0)
        return np.asarray(hidden @ self.outer + self.constant)


def dense_parameters(d: int, width: int) -> int:
    """Return n (d + 2) + 1 for a net of width n: all of it grows with d, as the layer is dense."""
    return width * (d + 2) + 1


def xor_net(d: int, support: tuple[SupportsIndex, SupportsIndex]) -> DenseNet:
    """Return the net of width 2 that is the label: 1 - max(x_a + x_b, 0) - max(-x_a - x_b, 0).

    Raises
    ------
    InvalidArgumentError
        If the support does not fit d.
    """
    row = np.zeros(d)
    row[list(check_support(support, d))] = 1
    return DenseNet.of(np.stack([row, -row]), np.zeros(2), -np.ones(2), 1.0)


def loss_bracket(
    net: DenseNet, support: tuple[SupportsIndex, SupportsIndex]
) -> tuple[float, float]:
    """Return bounds of the population loss, proved up to rounding.

    Given x_a and x_b, a unit's argument is a number u plus r, a sum of independent symmetric terms
    of norm s (that of its weights off the support). It is max(u + r, 0) = [u >= 0] (u + r) + e with
    e = max(r' - |u|, 0), where r' is r or -r. What is linear adds up to a constant and a form of
    mean 0, whose mean square is known. As for e: r' is symmetric, so E e^2 <= s^2/2; P(r' > t) is
    at most exp(-t^2/(2 s^2)) (Hoeffding), so with z = |u|/s

        E e^2 = int_0^inf 2 t P(r' > |u| + t) dt
              <= 2 s^2 exp(-z^2/2) (1 - z sqrt(pi/2) erfcx(z/sqrt 2));

    and e = 0 where |u| is at least the sum of the absolute weights. In each of the four cases the
    root mean square error lies within sum_j |v_j| (E e_j^2)^(1/2) of that of its linear part.

    Parameters
    ----------
    net : DenseNet
        Any net.
    support : pair of int
        The positions (a, b), 0-based.

    Returns
    -------
    lower, upper : float
        The population loss lies between them, up to a few roundings relative to the square of
        |c| + 1 + sum_j |v_j| (|b_j| + sum_i |w_ji|). Equal if all units are linear in each case.

    Raises
    ------
    InvalidArgumentError
        If the support does not fit.
    """
    from scipy.special import erfcx

    a, b = check_support(support, net.weights.shape[1])
    off = np.delete(net.weights, [a, b], axis=1)
    norms, most = np.linalg.norm(off, axis=1), np.abs(off).sum(axis=1)
    bounds = []
    for x_a, x_b in product((-1, 1), repeat=2):
        u = net.weights[:, a] * x_a + net.weights[:, b] * x_b + net.biases
        slopes = net.outer * (u >= 0)
        error_at_0 = net.constant + slopes @ u + x_a * x_b
        linear = math.hypot(float(error_at_0), float(np.linalg.norm(slopes @ off)))
        # Where s = 0 nothing is left: `most` is 0 too.
        z = np.abs(u) / np.where(norms > 0, norms, 1.0)
        tails = 2 * np.exp(-np.square(z) / 2) * (1 - z * np.sqrt(np.pi / 2) * erfcx(z / np.sqrt(2)))
        rest = np.where(np.abs(u) >= most, 0.0, np.square(norms) * np.clip(tails, 0, 0.5))
        spread = float(np.abs(net.outer) @ np.sqrt(rest))
        bounds.append((max(linear - spread, 0.0) ** 2, (linear + spread) ** 2))
    lower, upper = np.mean(bounds, axis=0).tolist()
    return float(lower), float(upper)


def enumerated_loss(net: DenseNet, support: tuple[SupportsIndex, SupportsIndex]) -> float:
    """Return the population loss as the mean over all 2^d inputs, in binary64.

    Raises
    ------
    InvalidArgumentError
        If the support does not fit, or d is larger than 16.
    """
    d = net.weights.shape[1]
    inputs = all_inputs(d)
    errors = net.predict(inputs.astype(np.float64)) - label(inputs, support)
    return float(np.mean(np.square(errors)))
