"""The parts of the slopes of the first step by definition, to sixty digits.

The definitions are those of docs/theorem2.md, section 2. Every sum is formed product by product:
with so many digits nothing needs to be rearranged so that less cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mpmath import MPContext, mpf

from verify.instances.instance import Instance

__all__ = ["HeadDefinition", "SlopeDefinitions", "define_slopes"]

_DIGITS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadDefinition:
    """The parts of one head's slopes, named as in `numerics.theorem2.slopes.HeadSlopes`."""

    weights: Sequence[mpf]
    signal: mpf
    support_weights: mpf
    structured: mpf
    noise: mpf
    support_noise: mpf
    pulls: Sequence[mpf]
    ambient_noises: Sequence[mpf]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeDefinitions:
    """The start and the parts of both heads, named as in `numerics.theorem2.slopes`.

    `growth` is e^Delta.
    """

    scores: Sequence[mpf]
    ambient: Sequence[int]
    lean: mpf
    growth: mpf
    overlap: mpf
    distance: mpf
    omega: mpf
    theta: HeadDefinition
    theta_tilde: HeadDefinition


def define_slopes(instance: Instance) -> SlopeDefinitions:
    """Return the slopes' parts at an instance with unit rows and theta~ = -theta of length 1."""
    mp = MPContext()
    mp.dps = _DIGITS
    V = [[mp.mpf(entry) for entry in row] for row in instance.V.tolist()]
    theta = [mp.mpf(entry) for entry in instance.theta.tolist()]
    s = [mp.fdot(row, theta) for row in V]
    a, b = instance.support
    lean = abs(s[a] - s[b])
    apart = [x - y for x, y in zip(V[a], V[b], strict=True)]
    return SlopeDefinitions(
        scores=s,
        ambient=_ambient(instance.support, len(s)),
        lean=lean,
        growth=mp.exp(lean),
        overlap=mp.fdot(V[a], V[b]),
        distance=mp.sqrt(mp.fdot(apart, apart)),
        omega=1 / (mp.fsum(map(mp.exp, s)) * mp.fsum(mp.exp(-x) for x in s)),
        theta=_head(mp, V, theta, instance.support),
        theta_tilde=_head(mp, V, [-entry for entry in theta], instance.support),
    )


def _head(
    mp: MPContext, V: Sequence[Sequence[mpf]], theta: Sequence[mpf], support: tuple[int, int]
) -> HeadDefinition:
    """Define the parts of the head whose query is `theta`."""
    d, ambient = len(V), _ambient(support, len(V))
    s = [mp.fdot(row, theta) for row in V]
    own, other = sorted(support, key=s.__getitem__, reverse=True)
    Delta, rho = s[own] - s[other], mp.fdot(V[own], V[other])
    once, back = [mp.exp(x) for x in s], [mp.exp(-x) for x in s]
    Z, Z_tilde = mp.fsum(once), mp.fsum(back)
    Z_2, Z_2_tilde = mp.fdot(once, once), mp.fdot(back, back)
    omega = 1 / (Z * Z_tilde)
    kappa = 2 * mp.cosh(Delta) - omega * Z_2 * Z_2_tilde - 2 * d * (d - 1) * omega
    c = [kappa / Z * power + omega * Z_2_tilde * power**2 + 2 * (d - 1) * omega for power in once]
    off = [
        [v - x * t for v, t in zip(row, theta, strict=True)] for row, x in zip(V, s, strict=True)
    ]
    W = [mp.fsum(c[j] * off[j][k] for j in ambient) for k in range(len(theta))]
    noises = [mp.fdot(W, row) for row in V]
    return HeadDefinition(
        weights=c,
        signal=2 * mp.sinh(Delta) * (1 - rho),
        support_weights=-(c[own] - c[other]) * (1 - rho),
        structured=-Delta * mp.fsum(c[j] * s[j] for j in ambient),
        noise=noises[other] - noises[own],
        support_noise=noises[own],
        pulls=[
            mp.exp(Delta) * mp.fdot(V[own], V[k]) + mp.exp(-Delta) * mp.fdot(V[other], V[k])
            for k in ambient
        ],
        ambient_noises=[noises[k] - c[k] * mp.fdot(off[k], V[k]) for k in ambient],
    )


def _ambient(support: tuple[int, int], d: int) -> list[int]:
    return [j for j in range(d) if j not in support]
