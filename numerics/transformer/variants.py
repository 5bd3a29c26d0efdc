"""The Transformer with one condition of the equivalence broken, or met in another way.

Each variant changes one thing of a Transformer whose queries move exactly as theta and theta~
do, and says what becomes of that: the queries differ from a certain step on, or they do not differ
at all. Source: ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from numerics.arguments import integer_at_least
from numerics.transformer.descent import Comparison, Rule, compare, descend, descend_queries
from numerics.transformer.gradient import complex_step_gradient
from numerics.transformer.layer import Architecture
from numerics.transformer.start import equivalent_start

__all__ = ["BROKEN", "EQUIVALENT", "Variant", "compare_variant"]

_SCALED = 2.0  # the factor by which a scale or a norm is off
_ADAM_ETA = 0.2  # about what a coordinate moves in a step


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Setting:
    """The model of two queries, the step on it, and what the variants draw from."""

    rng: np.random.Generator
    V: NDArray[np.float64]
    theta: NDArray[np.float64]
    support: tuple[SupportsIndex, SupportsIndex]
    width: int
    eta: float

    @property
    def m(self) -> int:
        return int(self.V.shape[1])

    def start(self, *, scale: float = 1.0, cls_norm: float = 1.0) -> dict[str, NDArray[np.float64]]:
        """Draw parameters at which the Transformer's output is that of (theta, -theta)."""
        return equivalent_start(
            self.rng,
            self.V,
            self.theta,
            -self.theta,
            width=self.width,
            scale=scale,
            cls_norm=cls_norm,
        )

    def run(self) -> _Run:
        """Return the run that meets every condition as it is stated."""
        return _Run(parameters=self.start(), eta=self.eta)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Run:
    """A Transformer to be trained."""

    parameters: dict[str, NDArray[np.float64]]
    eta: float
    architecture: Architecture = field(default_factory=Architecture)
    trained: tuple[str, ...] = ("W_Q",)
    rule: Rule = "plain"
    rule_of_queries: Rule = "plain"
    tied: bool = False

    def moved(self, **parameters: NDArray[np.float64]) -> _Run:
        """Return the same with other parameters at the start."""
        return replace(self, parameters={**self.parameters, **parameters})


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One change to the Transformer, and what it does to the equivalence.

    Attributes
    ----------
    name : str
        What is changed, in words.
    since : int or None
        The first step after which the mapped queries differ from theta and theta~; 0 if they do
        at the start; None if they never do, and the predictions neither.
    """

    name: str
    since: int | None
    run: Callable[[_Setting], _Run] = field(repr=False)


def compare_variant(
    variant: Variant,
    rng: np.random.Generator,
    V: NDArray[np.float64],
    theta: NDArray[np.float64],
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    width: SupportsIndex,
    eta: float,
    steps: int,
) -> Comparison:
    """Train a variant beside the model of two queries, from the start (theta, -theta).

    Parameters
    ----------
    variant : Variant
        The change.
    rng : numpy.random.Generator
        Draws what the conditions leave open.
    V : ndarray, shape (d, m)
        The embeddings, d <= 12.
    theta : ndarray, shape (m,)
        The query of the first head at the start.
    support : pair of int
        The positions (a, b), 0-based.
    width : int
        h, the number of entries of queries and keys; more than m.
    eta : float
        Step size of the model of two queries.
    steps : int
        Number of steps.

    Raises
    ------
    InvalidArgumentError
        If `width` is not more than m, or d is more than 12.
    """
    h = integer_at_least("width", width, V.shape[1] + 1)
    setting = _Setting(rng=rng, V=V, theta=theta, support=support, width=h, eta=eta)
    run = variant.run(setting)
    queries = descend_queries(
        V, theta, -theta, support, eta=eta, steps=steps, rule=run.rule_of_queries
    )
    gradient = complex_step_gradient(V, support, run.architecture, by=run.trained)
    transformers = descend(
        gradient, run.parameters, eta=run.eta, steps=steps, rule=run.rule, tied=run.tied
    )
    return compare(transformers, run.architecture, V, queries)


def _stretched_keys(to: _Setting) -> _Run:
    """K^T K = diag(4, 1, ..., 1), the query chosen so that its scores at the start are right."""
    run = to.run()
    K = run.parameters["W_K"].copy()
    W_Q = run.parameters["W_Q"].copy()
    z = run.parameters["z_CLS"]
    along = K[:, :, 0].copy()
    K[:, :, 0] *= _SCALED
    # Halve the query's part along the stretched column.
    part = np.einsum("gh,ghn,n->g", along, W_Q, z)
    W_Q -= (1 - 1 / _SCALED) * part[:, None, None] * along[:, :, None] * z
    return run.moved(W_K=K, W_Q=W_Q)


def _doubled_keys(to: _Setting) -> _Run:
    """K^T K = 4, with the query over 2 and the step over 4."""
    run = to.run()
    K, z = run.parameters["W_K"].copy(), run.parameters["z_CLS"]
    K[:, :, : to.m] *= _SCALED
    query = run.parameters["W_Q"] @ z
    W_Q = run.parameters["W_Q"] - (1 - 1 / _SCALED) * query[:, :, None] * z
    return replace(run.moved(W_K=K, W_Q=W_Q), eta=run.eta / _SCALED**2)


def _key_of_the_bit(to: _Setting) -> _Run:
    run = to.run()
    K = run.parameters["W_K"].copy()
    K[:, :, to.m] = K[:, :, 0]
    return run.moved(W_K=K)


def _one_query(to: _Setting) -> _Run:
    """Share W_Q; the second head's keys are the negative ones, so that the start is right."""
    run = to.run()
    first = run.parameters["W_K"][0]
    return replace(
        run.moved(
            W_K=np.stack([first, -first]), W_Q=np.repeat(run.parameters["W_Q"][:1], 2, axis=0)
        ),
        tied=True,
    )


def _trained(*names: str) -> Callable[[_Setting], _Run]:
    return lambda to: replace(to.run(), trained=("W_Q", *names))


def _built(architecture: Architecture) -> Callable[[_Setting], _Run]:
    return lambda to: replace(to.run(), architecture=architecture)


def _dropout(to: _Setting) -> _Run:
    """Drop a quarter of the weights and head 1's weight of a, and scale up the rest."""
    kept = (to.rng.random((2, to.V.shape[0])) < 0.75) / 0.75
    kept[0, to.support[0]] = 0.0
    return replace(to.run(), architecture=Architecture(dropout=kept))


def _another_start(to: _Setting) -> _Run:
    """Move the query within the range of the keys by half a unit."""
    run = to.run()
    W_Q = run.parameters["W_Q"] + run.parameters["W_K"][:, :, :1] * run.parameters["z_CLS"] / 2
    return run.moved(W_Q=W_Q)


def _start_off_the_keys(to: _Setting) -> _Run:
    """Move the query by a unit vector orthogonal to all keys."""
    run = to.run()
    K = run.parameters["W_K"][:, :, : to.m]
    beside = np.concatenate([K, to.rng.normal(size=(2, to.width, 1))], axis=2)
    unseen = np.linalg.qr(beside)[0][:, :, -1:]
    return run.moved(W_Q=run.parameters["W_Q"] + unseen * run.parameters["z_CLS"])


def _scaled(to: _Setting, *, query: bool = True, step: bool = True) -> _Run:
    """Scale the scores by h^-1/2; correct the query at the start, and the step, or leave them."""
    scale = to.width**-0.5
    return _Run(
        parameters=to.start(scale=scale if query else 1.0),
        eta=to.eta / scale**2 if step else to.eta,
        architecture=Architecture(scale=scale),
    )


def _long_cls(to: _Setting, *, step: bool = True) -> _Run:
    """Double the CLS token; correct the step, or leave it."""
    parameters = to.start(cls_norm=_SCALED)
    return _Run(parameters=parameters, eta=to.eta / _SCALED**2 if step else to.eta)


def _rms_norm(to: _Setting) -> _Run:
    """Divide tokens by their root mean square, the same for all as |v_i|^2 + x_i^2 = 2."""
    n = to.m + 2
    factor = np.sqrt(n / 2)
    # Of this norm, the CLS token becomes z_CLS / factor, of norm sqrt(n).
    run = _Run(
        parameters=to.start(cls_norm=n / 2**0.5),
        eta=to.eta / n,
        architecture=Architecture(norm="rms"),
    )
    given = run.parameters
    return run.moved(
        W_K=given["W_K"] / factor,
        W_V=given["W_V"] / factor,
        W_Q=given["W_Q"] * factor,
    )


def _residual(to: _Setting, *, seen: bool) -> _Run:
    """Add the CLS token to y; the readouts have the overlap 2^-1/2 with it, or none."""
    run = to.run()
    z = run.parameters["z_CLS"]
    across = np.linalg.qr(np.column_stack([z, run.parameters["readout"].T]))[0][:, 1:].T
    readout = np.stack([z + across[0], z - across[0]]) / 2**0.5 if seen else across
    bit = run.parameters["W_V"][:, :, to.m]
    run = run.moved(readout=readout, W_O=readout[:, :, None] * bit[:, None, :])
    return replace(run, architecture=Architecture(residual=True))


def _opposite_gains(to: _Setting) -> _Run:
    run = to.run()
    gains = np.array([3.0, 1 / 3.0])
    return run.moved(W_V=run.parameters["W_V"] * gains[:, None, None])


def _key_bias(to: _Setting) -> _Run:
    run = to.run().moved(b_K=to.rng.normal(size=(2, to.width)))
    return replace(run, trained=("W_Q", "b_K"))


def _query_bias(to: _Setting) -> _Run:
    return replace(to.run(), trained=("W_Q", "b_Q"), eta=to.eta / 2)


def _momentum(to: _Setting, *, of_queries: Rule) -> _Run:
    return replace(to.run(), rule="momentum", rule_of_queries=of_queries)


def _adam(to: _Setting) -> _Run:
    return replace(to.run(), rule="adam", eta=_ADAM_ETA)


def _value_bias(to: _Setting) -> _Run:
    """Give the values a bias, 1/2 where the readout sees the bit."""
    run = to.run()
    return run.moved(b_V=run.parameters["W_V"][:, :, to.m] / 2)


BROKEN = (
    Variant(name="stretched keys, K^T K = diag(4, 1, ..., 1)", since=1, run=_stretched_keys),
    Variant(name="the key reads the bit", since=1, run=_key_of_the_bit),
    Variant(name="the CLS token is a key", since=1, run=_built(Architecture(masked=False))),
    Variant(name="the heads share W_Q", since=1, run=_one_query),
    Variant(name="a query bias is trained", since=1, run=_trained("b_Q")),
    Variant(name="the values have a bias", since=1, run=_value_bias),
    Variant(name="the output's offset is trained", since=2, run=_trained("offset")),
    Variant(name="W_K is trained", since=1, run=_trained("W_K")),
    Variant(name="W_V is trained", since=2, run=_trained("W_V")),
    Variant(name="W_O is trained", since=2, run=_trained("W_O")),
    Variant(name="the readout is trained", since=2, run=_trained("readout")),
    Variant(name="z_CLS is trained", since=1, run=_trained("z_CLS")),
    Variant(name="layer norm", since=1, run=_built(Architecture(norm="layer"))),
    Variant(name="a residual that is read", since=1, run=partial(_residual, seen=True)),
    Variant(name="dropout, the same mask at every step", since=1, run=_dropout),
    Variant(name="the readout is the mean", since=1, run=_built(Architecture(readout="mean"))),
    Variant(name="momentum", since=2, run=partial(_momentum, of_queries="plain")),
    Variant(name="Adam", since=1, run=_adam),
    Variant(name="another start", since=0, run=_another_start),
    Variant(name="scale h^-1/2, start not corrected", since=0, run=partial(_scaled, query=False)),
    Variant(name="scale h^-1/2, step not corrected", since=1, run=partial(_scaled, step=False)),
    Variant(name="|z_CLS| = 2, step not corrected", since=1, run=partial(_long_cls, step=False)),
)
"""Each breaks one condition: after `since` steps the queries are no longer theta and theta~."""

EQUIVALENT = (
    Variant(name="as stated", since=None, run=_Setting.run),
    Variant(name="scale h^-1/2, start and step corrected", since=None, run=_scaled),
    Variant(name="|z_CLS| = 2, step over 4", since=None, run=_long_cls),
    Variant(name="K^T K = 4, query over 2, step over 4", since=None, run=_doubled_keys),
    Variant(name="a start off the range of the keys", since=None, run=_start_off_the_keys),
    Variant(name="a query bias is trained, step over 2", since=None, run=_query_bias),
    Variant(name="a key bias, trained", since=None, run=_key_bias),
    Variant(name="root-mean-square norm, undone", since=None, run=_rms_norm),
    Variant(name="a residual that is not read", since=None, run=partial(_residual, seen=False)),
    Variant(name="the values' gains are 3 and 1/3", since=None, run=_opposite_gains),
    Variant(
        name="momentum on both sides", since=None, run=partial(_momentum, of_queries="momentum")
    ),
)
"""Each meets the conditions in another way, or is a change of variables that undoes itself."""
