"""Certificates of one step, and the same computation in mpmath."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from mpmath import MPContext

from benchmarks.timing import Row, interleaved
from numerics.balls.certificate import certify_step
from verify.instances.instance import Instance, draw_instance
from verify.seeds import Streams

__all__ = ["rows"]

_GOALS = {(1_000, 256): 0.5, (10_000, 512): 5.0, (100_000, 256): 30.0}
_PEER = (1_000, 256)
_BITS = 128


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    for (d, m), goal in _GOALS.items():
        instance = draw_instance(Streams(0).trial(0), d, m)
        run = {"ours": lambda at=instance: _certify(at)}
        found = interleaved(run, rounds=min(rounds, 3))["ours"]
        yield Row(f"certify at ({d:,}, {m})", str(found), f"<= {goal:g} s", found.median <= goal)
    instance = draw_instance(Streams(0).trial(0), *_PEER)
    figures = interleaved(
        {"ours": lambda: _certify(instance), "mpmath": lambda: _scores_in_mpmath(instance)},
        rounds=min(rounds, 3),
    )
    gain = figures["mpmath"].ratio(figures["ours"])
    yield Row(
        f"certify at ({_PEER[0]:,}, {_PEER[1]}): mpmath's step alone at {_BITS} bits, over ours",
        str(gain),
        ">= 20",
        gain.median >= 20,
    )


def _eta(instance: Instance) -> Fraction:
    return Fraction(1000 * instance.d**2)


def _certify(instance: Instance) -> None:
    found = certify_step(
        instance.V,
        instance.theta,
        instance.theta_tilde,
        instance.support,
        eta=_eta(instance),
        tolerance=Fraction(1, 100),
    )
    assert found.verdict in {"certified", "refuted"}


def _scores_in_mpmath(instance: Instance) -> list[float]:
    """Return the scores after the step, at the same precision but without any enclosure."""
    context = MPContext()
    context.prec = _BITS
    V = [[context.mpf(entry) for entry in row] for row in instance.V.tolist()]
    queries = [
        [context.mpf(entry) for entry in query.tolist()]
        for query in (instance.theta, instance.theta_tilde)
    ]
    heads = []
    for query in queries:
        powers = [context.exp(context.fdot(row, query)) for row in V]
        total = context.fsum(powers)
        heads.append([power / total for power in powers])
    after = []
    for query, gamma, other in zip(queries, heads, reversed(heads), strict=True):
        square, overlap = context.fdot(other, other), context.fdot(gamma, other)
        slopes = [
            2 * g * square + 4 * t * (overlap - g * t) for g, t in zip(gamma, other, strict=True)
        ]
        a, b = instance.support
        slopes[a] -= 2 * other[b]
        slopes[b] -= 2 * other[a]
        mean = context.fdot(gamma, slopes)
        weights = [g * (slope - mean) for g, slope in zip(gamma, slopes, strict=True)]
        eta = context.mpf(_eta(instance).numerator)
        moved = [
            x - eta * context.fdot(weights, [row[k] for row in V]) for k, x in enumerate(query)
        ]
        after += [float(context.fdot(row, moved)) for row in V]
    assert np.isfinite(after).all()
    return after
