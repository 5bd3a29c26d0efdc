"""How time grows: exponents fitted over a decade and a half or more, beside those expected.

A fit begins where the fixed costs of a call are below some percent, which the smallest size says,
and a size that is a product is grown by each of its factors alone. The interval is that of least
squares on the logarithms of the medians, at 95%: it covers the noise and what bends the line, such
as the levels of the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import stdtrit

from benchmarks.timing import Row, interleaved
from numerics.attention import softmax
from numerics.balls.certificate import certify_step
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.population import gradient
from numerics.samples.empirical import empirical_slopes
from numerics.worst_case import worst_case_loss

__all__ = ["Growth", "fitted_exponent", "rows"]

_SUPPORT = (0, 1)
_LEVEL = 0.95

Prepare = Callable[[int, int], Callable[[], object]]
"""Draws what a call at two sizes needs, and returns the call."""


@dataclass(frozen=True, kw_only=True)
class Growth(Row):
    """A fitted exponent, with the medians it is fitted to.

    Parameters
    ----------
    kernel : str
        What was timed.
    size : str
        What the exponent is of, in the paper's letters: ``d m``.
    varied : str
        Which factor was varied, and what the other one was.
    sizes, seconds : tuple of float
        The size and the median at each point.
    """

    kernel: str
    size: str
    varied: str
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class _Ladder:
    """Points at which a kernel is timed: pairs of arguments for `prepare`, and their sizes."""

    kernel: str
    size: str
    varied: str
    points: tuple[tuple[int, int], ...]
    prepare: Prepare
    measure: Callable[[int, int], float] = lambda x, y: float(x * y)
    most: float | None = None


def _first_doubled(x: int, y: int, *, points: int = 6) -> tuple[tuple[int, int], ...]:
    """Return points from (x, y) on, by default over a factor of 32."""
    return tuple((x << k, y) for k in range(points))


def _second_doubled(x: int, y: int) -> tuple[tuple[int, int], ...]:
    return tuple((x, y << k) for k in range(6))


def rows(*, rounds: int) -> Iterator[Growth]:
    """Measure, and yield the table's lines."""
    for ladder in _LADDERS:
        yield _climb(ladder, rounds=min(rounds, 5))


def fitted_exponent(
    sizes: tuple[float, ...], seconds: tuple[float, ...]
) -> tuple[float, float, float]:
    """Fit ``seconds ~ size^k`` by least squares on logarithms.

    Returns
    -------
    k, lower, upper : float
        The exponent, and its 95% confidence interval by Student's t with two degrees of freedom
        fewer than there are points.
    """
    (k, _), covariance = np.polyfit(np.log(sizes), np.log(seconds), 1, cov=True)
    reach = float(stdtrit(len(sizes) - 2, (1 + _LEVEL) / 2)) * math.sqrt(covariance[0, 0])
    return float(k), float(k) - reach, float(k) + reach


def _climb(ladder: _Ladder, *, rounds: int) -> Growth:
    seconds = []
    for point in ladder.points:
        run = ladder.prepare(*point)
        seconds.append(interleaved({"ours": run}, rounds=rounds)["ours"].median)
    sizes = tuple(ladder.measure(*point) for point in ladder.points)
    k, lower, upper = fitted_exponent(sizes, tuple(seconds))
    return Growth(
        f"{ladder.kernel}, exponent of {ladder.size}, by {ladder.varied},"
        f" from {sizes[0]:.2g} to {sizes[-1]:.2g}",
        f"{k:.3f} ({lower:.3f} to {upper:.3f}, n = {len(sizes)})",
        "1" if ladder.most is None else f"1, <= {ladder.most:g}",
        None if ladder.most is None else k <= ladder.most,
        kernel=ladder.kernel,
        size=ladder.size,
        varied=ladder.varied,
        sizes=sizes,
        seconds=tuple(seconds),
    )


def _gradient(d: int, m: int) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
    theta_tilde = uniform_direction(rng, m)
    return lambda: gradient(V, theta, theta_tilde, _SUPPORT)


def _certificate(d: int, m: int) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
    eta, tolerance = Fraction(1000 * d**2), Fraction(1, 100)
    return lambda: certify_step(V, theta, -theta, _SUPPORT, eta=eta, tolerance=tolerance)


def _worst_case(d: int, _: int) -> Callable[[], object]:
    """Attention of order 1/d everywhere, so that every angle counts."""
    rng = np.random.default_rng(0)
    heads = softmax(rng.standard_normal(d)), softmax(rng.standard_normal(d))
    return lambda: worst_case_loss(*heads, _SUPPORT)


def _samples(n: int, d: int) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    heads = softmax(rng.standard_normal(d)), softmax(rng.standard_normal(d))
    return lambda: empirical_slopes(rng, *heads, _SUPPORT, n=n)


_LADDERS = (
    _Ladder("gradient", "d m", "d at m = 512", _first_doubled(1 << 13, 512), _gradient),
    _Ladder("gradient", "d m", "m at d = 8,192", _second_doubled(1 << 13, 512), _gradient),
    _Ladder(
        "certificate", "d m", "d at m = 256", _first_doubled(1 << 10, 256), _certificate, most=1.1
    ),
    _Ladder("certificate", "d m", "m at d = 128", _second_doubled(128, 1 << 10), _certificate),
    _Ladder(
        "worst case",
        "d log d",
        "d",
        _first_doubled(1 << 13, 0, points=8),
        _worst_case,
        lambda d, _: d * math.log(d),
    ),
    _Ladder("samples", "n d", "n at d = 512", _first_doubled(1 << 16, 512), _samples),
    _Ladder("samples", "n d", "d at n = 262,144", _second_doubled(1 << 18, 64), _samples),
)
