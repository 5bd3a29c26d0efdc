"""Attention maps: what turns the scores of all positions into their weights, and its derivative.

Source: arXiv:2502.07553v2: softmax in section 2, the linear map and the error function, neither of
them normalised, in the experiments. A map of one's own is an `AttentionMap` in any module that can
be imported, and is found as ``module:ATTRIBUTE``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import InvalidArgumentError, suggestion, vector_of_length
from numerics.attention import softmax
from numerics.plug_ins import failure_in_a_line, load_plug_in

__all__ = ["MAPS", "SOFTMAX", "Array", "AttentionMap", "find_map", "pointwise", "weights_at"]

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AttentionMap:
    """A map from scores to attention weights, with the transpose of its derivative.

    Attributes
    ----------
    name : str
        A short name, as in a table: ``softmax``.
    title : str
        What a heading calls it: ``Softmax attention``.
    weights : callable
        Scores s, shape (d,), to weights gamma, shape (d,). Leaves its argument as it is.
    pull_back : callable
        ``(s, gamma, g)`` to w, all of shape (d,): w_i = sum_j g_j dgamma_j/ds_i. If g is the
        derivative of a loss by the weights, w is that by the scores, and sum_i w_i v_i that by
        the query.
    odd : bool
        Whether gamma(-s) = -gamma(s).
    """

    name: str
    title: str
    weights: Callable[[Array], Array]
    pull_back: Callable[[Array, Array, Array], Array]
    odd: bool = False


def pointwise(
    name: str,
    title: str,
    value: Callable[[Array], Array],
    derivative: Callable[[Array], Array],
    *,
    odd: bool = False,
) -> AttentionMap:
    """Return the map that applies one function phi to every score: gamma_i = phi(s_i).

    Parameters
    ----------
    name, title : str
        As in `AttentionMap`.
    value, derivative : callable
        phi and phi', of an array, entry by entry.
    odd : bool
        Whether phi(-s) = -phi(s).
    """

    def pull_back(scores: Array, _: Array, slopes: Array) -> Array:
        return derivative(scores) * slopes

    return AttentionMap(name, title, value, pull_back, odd)


def _softmax_pull_back(_: Array, gamma: Array, slopes: Array) -> Array:
    with np.errstate(under="ignore"):
        return gamma * (slopes - gamma @ slopes)


def _erf(scores: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(scores), dtype=np.float64)


def _erf_derivative(scores: Array) -> Array:
    with np.errstate(under="ignore", over="ignore"):  # exp(-inf) is the 0 it should be
        return np.asarray(2.0 / math.sqrt(math.pi) * np.exp(-np.square(scores)))


SOFTMAX = AttentionMap("softmax", "Softmax attention", softmax, _softmax_pull_back)
"""gamma_i = exp(s_i) / sum_j exp(s_j)."""

MAPS: Mapping[str, AttentionMap] = MappingProxyType(
    {
        attention.name: attention
        for attention in (
            SOFTMAX,
            pointwise("linear", "Linear attention", np.copy, np.ones_like, odd=True),
            pointwise("erf", "Error-function attention", _erf, _erf_derivative, odd=True),
        )
    }
)
"""The maps of the toolkit by name."""


def weights_at(what: str, scores: Array, attention: AttentionMap) -> Array:
    """Return the weights of a map at the scores of a query, or refuse the query by its name.

    Raises
    ------
    InvalidArgumentError
        If the scores or the weights are not finite, or there is not one weight for each position.
    """
    if not np.isfinite(scores).all():
        first = int(np.argmin(np.isfinite(scores)))
        raise InvalidArgumentError(
            what,
            f"query with score {scores[first]} at position {first}",
            "scores must not overflow",
        )
    with np.errstate(all="ignore"):
        weights = attention.weights(scores)
    return vector_of_length(f"{attention.name} weights of {what}", weights, scores.shape[0])


def find_map(name: str) -> AttentionMap:
    """Return a map by its name: a key of `MAPS`, or ``module:ATTRIBUTE``.

    `numerics.plug_ins` says which modules are found. A map of one's own is tried at a few scores
    before it is returned, since one with a wrong derivative would train, and to somewhere else.

    Raises
    ------
    InvalidArgumentError
        If there is no such map, module or attribute, the module fails, the attribute is no
        `AttentionMap`, or the map fails at scores between -2 and 2: raises, returns something
        else than finite numbers of the right shape, is not odd although it says so, or its
        derivative is not that of its weights.
    """
    if name in MAPS:
        return MAPS[name]
    if ":" not in name:
        known, near = ", ".join(MAPS), suggestion(name, MAPS)
        raise InvalidArgumentError("attention", name, f"must be {known} or module:ATTRIBUTE{near}")
    found = load_plug_in("attention", name, AttentionMap)
    for scores, slopes in _probes():
        _try(name, found, scores, slopes)
    return found


def _failed(name: str, doing: str, failure: BaseException) -> InvalidArgumentError:
    return InvalidArgumentError("attention", name, f"{doing} failed: {failure_in_a_line(failure)}")


_STEP = 2.0**-16
# Central differences err by step^2 phi'''/6: less than this share of phi' up to tanh(50 s).
_RELATIVE_ERROR = 1e-6
# What the weights may err by, as a share of the largest one: 2^9 units in the last place.
_NOISE = 2.0**-44


def _probes() -> list[tuple[Array, Array]]:
    """Return scores to try a map at, with slopes: of two lengths, and away from round numbers.

    A map may have a kink at a round number, as max(s, 0) has at 0.
    """
    probes = []
    for d in (2, 5):
        turns = np.modf(np.arange(1, d + 1) * math.sqrt(2))[0]
        scores, slopes = 4 * turns - 2.1, np.cos(9 * turns)
        probes += [(scores, slopes), (0.1 * scores, slopes)]
    for part in (part for probe in probes for part in probe):
        part.flags.writeable = False  # a map that changes its argument fails here
    return probes


def _try(name: str, attention: AttentionMap, scores: Array, slopes: Array) -> None:
    d = scores.shape[0]

    def weights(at: Array) -> Array:
        at.flags.writeable = False
        return _tried(name, f"weights at {_listed(at)}", lambda: attention.weights(at), d)

    weights(np.zeros(d))
    gamma = weights(scores)
    noise = _NOISE * float(np.abs(gamma).max())
    if attention.odd and not np.abs(weights(-scores) + gamma).max() <= noise:
        raise InvalidArgumentError("attention", name, f"is not odd at scores {_listed(scores)}")
    gamma.flags.writeable = False
    pulled = _tried(
        name,
        f"pull_back at {_listed(scores)}",
        lambda: attention.pull_back(scores, gamma, slopes),
        d,
    )
    differences = np.array(
        [
            (weights(scores + h) - weights(scores - h)) @ slopes / (2 * _STEP)
            for h in _STEP * np.eye(d)
        ]
    )
    tolerance = _RELATIVE_ERROR * np.abs(differences).max() + d * noise / _STEP
    if not np.abs(pulled - differences).max() <= tolerance:
        raise InvalidArgumentError(
            "attention",
            name,
            f"the derivative is wrong: at scores {_listed(scores)} and slopes {_listed(slopes)}, "
            f"pull_back gives {_listed(pulled)}, differences of weights {_listed(differences)}",
        )


def _tried(name: str, what: str, call: Callable[[], Array], d: int) -> Array:
    """Return the finite vector of a call, or refuse the map."""
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused below
            found = call()
    except (Exception, SystemExit) as failure:  # whatever the map runs into
        raise _failed(name, what, failure) from None
    try:
        return vector_of_length(what, found, d).copy()
    except InvalidArgumentError as refusal:
        raise InvalidArgumentError("attention", name, str(refusal)) from None


def _listed(vector: Array) -> str:
    return f"({', '.join(f'{entry:.6g}' for entry in vector)})"
