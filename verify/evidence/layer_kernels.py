"""The Transformer's layer, held against itself written out token by token.

A control has to leave the path of the two queries, by whatever it does: a layer with another norm,
residual or mask than it says would leave it as well.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from numerics.transformer.layer import Architecture, all_inputs, predict
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["layer_cell"]

Vector = NDArray[np.float64]
Arrays = Mapping[str, Vector]

# Sums of at most 8 products of numbers of size 1 to 10, one upon the other, by 2^-53 each.
_ACCURACY = 1e-11


def layer_cell() -> Cell:
    """Return the cell on the predictions of the layer, with all that may be switched on."""
    return fault_cell(
        "the layer, token by token",
        _layer_faults,
        method="queries, keys and values of single tokens; sums written out",
        claimed=f"the same predictions within {_ACCURACY:g}, for every norm, mask and readout",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=24,
        cost=0.3,
    )


def _layer_faults(rng: np.random.Generator) -> Faults:
    d, m, h = (int(size) for size in rng.integers([2, 1, 1], [5, 4, 5]))
    n = m + 1 + int(rng.integers(1, 4))
    shapes = {"W_Q": (2, h, n), "W_K": (2, h, n), "W_V": (2, h, n), "W_O": (2, n, h),
              "b_Q": (2, h), "b_K": (2, h), "b_V": (2, h),
              "readout": (2, n), "offset": (), "z_CLS": (n,)}  # fmt: skip
    arrays = {name: np.array(0.5 * rng.standard_normal(shape)) for name, shape in shapes.items()}
    V = rng.standard_normal((d, m))
    to = Architecture(
        scale=float(rng.uniform(0.2, 2)),
        masked=bool(rng.integers(2)),
        norm=("none", "layer", "rms")[int(rng.integers(3))],
        residual=bool(rng.integers(2)),
        dropout=rng.integers(0, 2, size=(2, d)).astype(np.float64) if rng.integers(2) else None,
        readout=("product", "mean")[int(rng.integers(2))],
    )
    inputs = all_inputs(d)
    found = predict(arrays, V, inputs, to)
    for x, value in zip(inputs, found.tolist(), strict=True):
        truth = _prediction(arrays, V, x, to)
        if not abs(value - truth) <= _ACCURACY * (1 + abs(truth)):
            yield f"f({x.tolist()}) = {value}, not {truth}, for {to}"


def _prediction(arrays: Arrays, V: Vector, x: Vector, to: Architecture) -> float:
    z_CLS = arrays["z_CLS"]
    rest = np.zeros(len(z_CLS) - V.shape[1] - 1)
    tokens = [z_CLS, *(np.concatenate([v, [bit], rest]) for v, bit in zip(V, x, strict=True))]
    seen = [_normed(token, to.norm) for token in tokens]
    y = z_CLS if to.residual else np.zeros(len(z_CLS))
    for head in range(2):
        W_Q, W_K, W_V, W_O, b_Q, b_K, b_V = (
            arrays[name][head] for name in ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V")
        )
        query = W_Q @ seen[0] + b_Q
        powers = [float(np.exp(to.scale * (query @ (W_K @ token + b_K)))) for token in seen]
        if to.masked:
            powers[0] = 0.0
        for position, (power, token) in enumerate(zip(powers, seen, strict=True)):
            dropped = position > 0 and to.dropout is not None and not to.dropout[head, position - 1]
            if not dropped:
                y = y + power / sum(powers) * (W_O @ (W_V @ token + b_V))
    first, second = (float(row @ y) for row in arrays["readout"])
    joint = first * second if to.readout == "product" else (first + second) / 2
    return float(arrays["offset"]) - joint


def _normed(token: Vector, norm: str) -> Vector:
    if norm == "layer":
        return np.asarray((token - token.mean()) / token.std())
    if norm == "rms":
        return np.asarray(token * np.sqrt(len(token)) / np.linalg.norm(token))
    return token
