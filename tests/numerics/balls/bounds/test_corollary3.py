"""The events of the corollary: which they are, each bound written again, and draws of everything.

A draw of V, theta^0 and n samples decides every event, the noise and its frozen counterpart being
computed as they are defined. Two things are held against it: the deterministic part of the proof,
that without an event every empirical slope is positive, and each bound, against how often its event
happens.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import pytest
from flint import arb
from hypothesis import event, given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.ambient import disturbance
from numerics.balls.bounds.corollary3 import SampleBudget, sample_failure_events
from numerics.balls.bounds.events import total
from numerics.balls.bounds.frozen_margin import FrozenMargin
from numerics.balls.bounds.sample_noise import SampleNoise
from numerics.balls.bounds.slope_bounds import ScoreBounds

# The page's own list (its sections 3 and 4): five events of both heads, and nine of each.
COMMON = (
    "largest score",
    "sum of scores",
    "sum of squared scores",
    "overlap",
    "energy along the support",
)
OF_A_HEAD = (
    "near margin",
    "innermost slice",
    "freezing",
    "far margin",
    "ambient alignment",
    "noise along the support",
    "noise along an ambient position",
    "energy along an ambient position",
    "sampling noise along an ambient position",
)
HEADS = ("theta", "theta_tilde")
EXPECTED = {(name, None) for name in COMMON} | set(itertools.product(OF_A_HEAD, HEADS))


@pytest.fixture(autouse=True)
def enough_bits():
    with working_precision(80):
        yield


def quantile(level, m):
    return math.sqrt(-math.expm1(-2 * level / (m - 1)))


def budget_at(d, m, *, reach=0.05, span=50.0, count=12, **changes):
    """A budget by rules of thumb, with chances of some e^-3 for an event."""
    sigma, rho_0 = quantile(3 + math.log(d), m), changes.get("overlap", quantile(3, m))
    last = min(1.0, 2 * sigma / math.sqrt(2 - 2 * rho_0))
    settings = {
        "largest_score": sigma,
        "sum_level": 3.0,
        "squares_level": 3.0,
        "overlap": rho_0,
        "near": (*(reach * span ** (i / count - 1) for i in range(count)), reach),
        "slices": (0.0, *(reach * (last / reach) ** (i / 6) for i in range(6)), 1.0),
        "cells": (-1.0, *(rho_0 * i / 4 for i in range(-10, 4) if rho_0 * i > -4), rho_0),
        "support_level": 3.0,
        "ambient_level": 3 + math.log(d),
        "freezing_level": 2.0,
        "energy_level": 3.0,
        "ambient_energy_level": 3 + math.log(d),
        "sampling": 0.3,
    }
    return SampleBudget(**{**settings, **changes})


def bounds_of(d, m, n, budget, **options):
    events = sample_failure_events(d, m, n, budget, **options)
    assert {(event.name, event.head) for event in events} == EXPECTED
    assert all(event.reason is None for event in events)
    return {(event.name, event.head): float(event.probability) for event in events}


@dataclass(frozen=True)
class Thresholds:
    """What the events compare a draw with."""

    d: int
    m: int
    n: int
    budget: SampleBudget
    by_range: bool = False

    @staticmethod
    def squares(k, m, level):
        return (k + 2 * math.sqrt(k * level) + 2 * level) / m

    @cached_property
    def total(self):
        return math.sqrt(2 * (self.d - 2) / self.m * self.budget.sum_level)

    @cached_property
    def square(self):
        return self.squares(self.d - 2, self.m, self.budget.squares_level)

    @cached_property
    def off_support(self):
        return self.squares(self.d - 2, self.m, self.budget.energy_level)

    @cached_property
    def off_pair(self):
        return 4 * self.squares(self.d - 3, self.m, self.budget.ambient_energy_level)

    @cached_property
    def energy(self):
        reach = self.budget.near[-1]
        root = math.sqrt(self.off_support) + reach * math.sqrt(self.square)
        return root**2 / (1 - reach**2) + 1 + self.budget.overlap

    @cached_property
    def scores(self):
        sigma = self.budget.largest_score / math.sqrt(1 - self.budget.near[-1] ** 2)
        return ScoreBounds(
            d=self.d,
            sigma=from_float(sigma),
            h=from_float(self.total / self.d),
            q=from_float(self.square / self.d),
        )

    @cached_property
    def noise(self):
        return SampleNoise(self.scores, self.m, by_range=self.by_range)

    @cached_property
    def changes(self):
        """theta at the ends of the near slices."""
        margin = FrozenMargin(self.noise, from_float(self.budget.overlap), from_float(self.energy))
        level = from_float(self.budget.freezing_level)
        return [
            float(margin.change(from_float(end), arb(self.n), level)) for end in self.budget.near
        ]

    @cached_property
    def lost(self):
        """Lambda."""
        later = self.changes[1:]
        return max(x / y for x, y in zip(later, self.budget.near[:-1], strict=True))

    @cached_property
    def near(self):
        return self.scores.slopes(from_float(2 * self.budget.near[-1]))

    @cached_property
    def slices(self):
        """The slopes' bounds on every slice."""
        most = 2 * float(self.scores.sigma)
        return [
            self.scores.slopes(from_float(min(2 * end, most))) for end in self.budget.slices[1:]
        ]

    def noises(self, i):
        """Largest noise along the support and along an ambient position on slice i."""
        unit = float(self.slices[i].noise) * math.sqrt(2 / (self.m - 1))
        return (
            unit * math.sqrt(self.budget.support_level),
            unit * math.sqrt(self.budget.ambient_level),
        )

    def loss(self, i):
        """nu."""
        found = disturbance(
            self.m,
            self.scores,
            self.slices[i],
            support_level=self.budget.support_level,
            ambient_level=self.budget.ambient_level,
        )
        return float(found) + self.budget.sampling


def cap(p):
    return min(1.0, p)


def peak(n):
    return math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2)) / math.sqrt(math.pi)


def tail(t, n):
    if t >= 1:
        return 0.0
    if t < 0:
        return 1.0
    mills = peak(n) / ((n - 1) * t) if t > 0 else math.inf
    return min(0.5, mills) * (1 - t * t) ** ((n - 1) / 2)


def mass(low, high, n):
    if low < 0 < high:
        return cap(peak(n) * (high - low))
    low, high = sorted((abs(low), abs(high)))
    return min(cap(peak(n) * (high - low) * (1 - low * low) ** ((n - 3) / 2)), tail(low, n))


def sub_gamma(t, variance, scale):
    if t <= 0:
        return 1.0
    return cap(
        math.exp(-2 * (t / (math.sqrt(variance) + math.sqrt(variance + 2 * scale * t))) ** 2)
    )


def aligned(thresholds):
    """The bound for ambient alignment, as in section 6 of the page of Theorem 2."""
    d, m, budget = thresholds.d, thresholds.m, thresholds.budget
    chance = 0.0
    for i, (low, high) in enumerate(itertools.pairwise(budget.slices)):
        nu, within = thresholds.loss(i), 0.0
        for left, right in itertools.pairwise(budget.cells):
            lean = math.sqrt(2 - 2 * right) * low
            rho = min(max(-math.exp(-2 * lean) - nu * math.exp(lean), left), right)
            square = 2 * math.cosh(2 * lean) + 2 * rho
            least = (
                (math.exp(lean) + rho * math.exp(-lean) - nu) / math.sqrt(square)
                if square > 0
                else -1.0
            )
            within += mass(left, right, m) * cap((d - 2) * tail(least, m))
        chance += cap(2 * mass(low, high, m)) * cap(within)
    return cap(chance)


def transcribed(d, m, n, budget, *, by_range=False):
    """The bounds once more, in binary64, in the order of the page."""
    at = Thresholds(d, m, n, budget, by_range=by_range)
    b, noise, energy = budget, at.noise, from_float(at.energy)
    alpha, beta = float(at.near.alpha), float(at.near.beta)
    excess = (beta + at.lost / 2) / alpha
    stretch = 1 + excess / (1 - excess - b.overlap)
    inverse = math.sqrt((m - 2) / (m - 5)) * stretch / (2 * alpha)
    w = math.sqrt(4 / d + float(at.scores.slopes(arb(0)).norm) ** 2)
    V = float(noise.square(energy) if by_range else noise.typical_square())
    joint = peak(m) * inverse * math.sqrt(w * w / (m - 1) + V / n)
    apart = w * inverse / math.pi + peak(m) * inverse * math.sqrt(V / n)

    def sampled(t, energy, more):
        variance = float(noise.square(energy)) / n + more
        scale = 0.0 if by_range else 40 * float(noise.product(energy)) / (3 * n)
        return sub_gamma(t, variance, scale)

    far = 0.0
    for i, (low, high) in enumerate(itertools.pairwise(b.slices)):
        if i > 0:
            part = at.slices[i]
            rate = 2 * (float(part.alpha) * (1 - b.overlap) - float(part.beta))
            proxy = float(part.noise) ** 2 / (m - 1)
            far += cap(2 * mass(low, high, m)) * sampled(rate * low, energy, proxy)
    ambient = sampled(b.sampling, from_float(at.off_pair + 12), 0.0)
    return {
        "largest score": cap(2 * d * tail(b.largest_score, m)),
        "sum of scores": cap(2 * math.exp(-b.sum_level)),
        "sum of squared scores": math.exp(-b.squares_level),
        "overlap": cap(2 * tail(b.overlap, m)),
        "energy along the support": math.exp(-b.energy_level),
        "near margin": cap(min(joint, apart)),
        "innermost slice": cap(2 * peak(m) * inverse * at.changes[0]),
        "freezing": cap(2 * peak(m) * b.near[-1]) * math.exp(-b.freezing_level),
        "far margin": cap(far),
        "ambient alignment": aligned(at),
        "noise along the support": math.exp(-b.support_level),
        "noise along an ambient position": cap((d - 2) * math.exp(-b.ambient_level)),
        "energy along an ambient position": cap((d - 2) * math.exp(-b.ambient_energy_level)),
        "sampling noise along an ambient position": cap((d - 2) * ambient),
    }


@dataclass(frozen=True)
class Attention:
    """Both heads at given scores, and the push of one of them along directions."""

    s: np.ndarray

    @cached_property
    def own(self):
        return np.exp(self.s) / np.exp(self.s).sum()

    @cached_property
    def other(self):
        return np.exp(-self.s) / np.exp(-self.s).sum()

    @cached_property
    def inverse_omega(self):
        return np.exp(self.s).sum() * np.exp(-self.s).sum()

    @cached_property
    def weights(self):
        """c_j."""
        s, d, omega = self.s, len(self.s), 1 / self.inverse_omega
        Z_2, Z_2_tilde = np.exp(2 * s).sum(), np.exp(-2 * s).sum()
        kappa = 2 * math.cosh(s[0] - s[1]) - omega * Z_2 * Z_2_tilde - 2 * d * (d - 1) * omega
        even = omega * Z_2_tilde * np.exp(2 * s) + 2 * (d - 1) * omega
        return kappa / np.exp(s).sum() * np.exp(s) + even

    @cached_property
    def population(self):
        """dL/dgamma_i."""
        g = 2 * self.own * (self.other @ self.other)
        g += 4 * (self.own @ self.other) * self.other - 4 * self.own * self.other**2
        g[:2] -= 2 * self.other[1::-1]
        return g

    def empirical(self, x):
        """The mean of the slopes of single samples, which the rows of x are."""
        # In binary32: it errs by some 1e-5 of the noise of the mean. And not by BLAS, whose threads
        # take longer to start than this takes.
        heads = np.stack([self.own, self.other]).astype(np.float32)
        p, q = np.einsum("nd,hd->hn", x, heads)
        slopes = np.einsum("n,nd->d", (p * q - x[:, 0] * x[:, 1]) * q, x)
        return slopes.astype(float) * 2 / len(x)

    def push(self, slopes, t):
        """The mean of G along directions: t has one in each column, or is one."""
        return (self.own * slopes) @ (t - self.own @ t) * self.inverse_omega / 2


@dataclass(frozen=True)
class Draw:
    """V with the support in front, the larger score first, the start and n samples."""

    V: np.ndarray
    theta: np.ndarray
    x: np.ndarray

    @classmethod
    def of(cls, generator, d, m, n):
        V = generator.standard_normal((d, m))
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        theta = generator.standard_normal(m)
        theta /= np.linalg.norm(theta)
        if V[0] @ theta < V[1] @ theta:
            V[:2] = V[1::-1]
        bits = np.unpackbits(np.frombuffer(generator.bytes(n * d // 8 + 1), np.uint8), count=n * d)
        return cls(V, theta, 2 * bits.reshape(n, d).astype(np.float32) - 1)

    @cached_property
    def s(self):
        return self.V @ self.theta

    @cached_property
    def rho(self):
        return float(self.V[0] @ self.V[1])

    @cached_property
    def direction(self):
        return (self.V[0] - self.V[1]) / math.sqrt(2 - 2 * self.rho)

    @cached_property
    def y(self):
        return float(self.theta @ self.direction)

    @cached_property
    def t(self):
        return self.V @ self.direction

    @cached_property
    def frozen(self):
        """Scores and directions with a degree."""
        height = math.sqrt(1 - self.y**2)
        n_orthogonal = (self.direction - self.y * self.theta) / height
        theta_orthogonal = (self.theta - self.y * self.direction) / height
        s, t = self.s.copy(), self.V @ n_orthogonal
        s[:2] = (self.V[0] + self.V[1]) @ theta_orthogonal / 2
        t[:2] = self.t[:2]
        return s, t

    @cached_property
    def heads(self):
        return Side(self, 1), Side(self, -1)


@dataclass(frozen=True)
class Side:
    """One head of a draw: 1 takes position 0, -1 position 1 with all scores reversed."""

    draw: Draw
    sign: int

    @cached_property
    def now(self):
        return Attention(self.sign * self.draw.s)

    @cached_property
    def slopes(self):
        return self.now.empirical(self.draw.x)

    @cached_property
    def own(self):
        return self.draw.V[0 if self.sign == 1 else 1]

    @cached_property
    def support_slope(self):
        """The empirical slope against the other position of the support, over |A|."""
        return -self.sign * float(self.now.push(self.slopes, self.draw.t))

    @cached_property
    def noise(self):
        """F."""
        t, now = self.draw.t, self.now
        orthogonal = t - self.draw.s * self.draw.y
        embedded = now.weights[2:] @ orthogonal[2:]
        return self.sign * float(embedded + now.push(self.slopes - now.population, t))

    @cached_property
    def frozen_noise(self):
        """F frozen."""
        s, t = self.draw.frozen
        frozen = Attention(self.sign * s)
        sampled = frozen.push(frozen.empirical(self.draw.x) - frozen.population, t)
        return self.sign * float(frozen.weights[2:] @ t[2:] + sampled)

    @cached_property
    def along(self):
        """v_i . (v_own - v_k), a column for every k off the support."""
        return self.draw.V @ (self.own - self.draw.V[2:]).T

    @cached_property
    def ambient_slopes(self):
        return -self.now.push(self.slopes, self.along)

    @cached_property
    def sampling_noise(self):
        """What samples take from a slope."""
        return self.now.push(self.slopes - self.now.population, self.along)

    @cached_property
    def energies(self):
        """Over the positions off the support and k."""
        squares = self.along[2:] ** 2
        return squares.sum(axis=0) - np.diag(squares)

    @cached_property
    def support_noise(self):
        """sum c_j v_j' . v_own off the support, v' orthogonal to the start."""
        products = self.draw.V[2:] @ self.own - self.draw.s[2:] * (self.own @ self.draw.theta)
        return float(self.now.weights[2:] @ products)

    @cached_property
    def ambient_noise(self):
        """-sum c_j v_j' . v_k off the support and k."""
        orthogonal = self.draw.V[2:] - np.outer(self.draw.s[2:], self.draw.theta)
        products = orthogonal @ orthogonal.T
        np.fill_diagonal(products, 0)
        return -self.now.weights[2:] @ products

    @cached_property
    def conclusion(self):
        return self.support_slope > 0 and bool((self.ambient_slopes > 0).all())

    def events(self, at):
        """The events of this head."""
        budget, draw, rho, y = at.budget, self.draw, self.draw.rho, self.draw.y
        lean = draw.s[0] - draw.s[1]
        i = min(bisect_right(budget.slices, y) - 1, len(budget.slices) - 2)
        if i == 0:
            k = bisect_right(budget.near, y)
            room = (2 * (float(at.near.alpha) * (1 - rho) - float(at.near.beta)) - at.lost) * y
            if self.noise > self.frozen_noise + at.changes[min(k, len(at.changes) - 1)]:
                yield "freezing"
            if self.frozen_noise > room:
                yield "near margin"
            elif k == 0 and self.frozen_noise + at.changes[0] > room:
                yield "innermost slice"
        else:
            rate = float(at.slices[i].least_rate(from_float(budget.overlap)))
            if self.noise > rate * budget.slices[i]:
                yield "far margin"
        most, most_ambient = at.noises(i)
        other = draw.V[1 if self.sign == 1 else 0]
        pull = draw.V[2:] @ (math.exp(lean) * self.own + math.exp(-lean) * other)
        if (pull > math.exp(lean) + rho * math.exp(-lean) - at.loss(i)).any():
            yield "ambient alignment"
        if self.support_noise > most:
            yield "noise along the support"
        if (self.ambient_noise > most_ambient).any():
            yield "noise along an ambient position"
        if (self.energies > at.off_pair).any():
            yield "energy along an ambient position"
        if (self.sampling_noise > budget.sampling).any():
            yield "sampling noise along an ambient position"


def events_of(draw, at):
    """The events that a draw meets, as pairs of name and head."""
    off, budget = draw.s[2:], at.budget
    met = {
        "largest score": np.abs(draw.s).max() > budget.largest_score,
        "sum of scores": abs(off.sum()) > at.total,
        "sum of squared scores": off @ off > at.square,
        "overlap": abs(draw.rho) > budget.overlap,
        "energy along the support": draw.t[2:] @ draw.t[2:] > at.off_support,
    }
    found = {(name, None) for name, happened in met.items() if happened}
    for head, side in zip(HEADS, draw.heads, strict=True):
        found |= {(name, head) for name in side.events(at)}
    return found


@pytest.mark.parametrize("by_range", [False, True])
@pytest.mark.parametrize(
    ("d", "m", "n", "changes"),
    [
        (1000, 1024, 10**7, {"reach": 0.06, "count": 40, "freezing_level": 6.0}),
        (10_000, 512, 10**9, {"overlap": 0.25, "sampling": 0.6}),
        (64, 300, 20_000, {"freezing_level": 0.3, "sampling": 1.5}),
        (40, 2000, 10**5, {"support_level": 1.0, "ambient_level": 5.5, "energy_level": 0.5}),
        (3, 4000, 10**9, {"reach": 0.01, "largest_score": 0.06}),
        (200, 5000, 10**6, {"sum_level": 0.3, "squares_level": 0.4, "ambient_energy_level": 4.0}),
    ],
)
def test_each_bound_from_a_second_transcription(d, m, n, changes, by_range):
    # What Hoeffding's inequality needs on top of n is of order d^2.
    n = n * d * d if by_range else n
    budget = budget_at(d, m, **changes)
    expected = transcribed(d, m, n, budget, by_range=by_range)
    found = bounds_of(d, m, n, budget, by_range=by_range)
    assert 0 < expected["near margin"] < 1
    for (name, head), bound in found.items():
        # Tails of e^-100 carry their exponent's relative error.
        assert bound == pytest.approx(expected[name], rel=1e-8, abs=1e-300), (name, head)


def test_total_is_the_sum_of_five_events_and_twice_nine():
    d, m, n = 10_000, 1024, 10**10
    budget = budget_at(d, m, sampling=0.3, freezing_level=4.0, count=30)
    events = sample_failure_events(d, m, n, budget)
    assert len(events) == len(EXPECTED) == 5 + 2 * 9
    expected = transcribed(d, m, n, budget)
    everything = sum(expected[name] for name in COMMON)
    everything += 2 * sum(expected[name] for name in OF_A_HEAD)
    assert everything < 1
    assert float(total(events)) == pytest.approx(everything, rel=1e-9)


def test_more_samples_never_hurt():
    budget = budget_at(1000, 1024, count=40)
    totals = [
        float(total(sample_failure_events(1000, 1024, 10**k, budget))) for k in range(7, 60, 4)
    ]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] > 1.2 * totals[-1]


def test_every_threshold_matters():
    d, m, n = 200, 1024, 10**6
    budget = budget_at(d, m)
    before = bounds_of(d, m, n, budget)
    for field in fields(SampleBudget):
        value = getattr(budget, field.name)
        if field.name in ("near", "slices"):
            # The last near slice ends where the later ones begin.
            other = budget_at(d, m, reach=0.04)
            changed = replace(budget, near=other.near, slices=other.slices)
        elif field.name == "cells":
            changed = replace(budget, cells=(-1.0, budget.overlap))
        elif field.name == "overlap":
            changed = budget_at(d, m, overlap=value * 1.1)
        else:
            changed = replace(budget, **{field.name: value * 1.1})
        assert bounds_of(d, m, n, changed) != before, field.name


@pytest.mark.parametrize(
    ("d", "m", "changes", "event", "condition"),
    [
        (2, 1024, {}, "ambient alignment", "d=2: the theorem asks for d >= 3"),
        (1000, 1, {}, "near margin", "m=1: the theorem asks for m >= 6"),
        (1000, 2, {}, "near margin", "m=2: the theorem asks for m >= 6"),
        (1000, 5, {}, "near margin", "m=5: the theorem asks for m >= 6"),
        (1000, 1024, {"overlap": 0.999, "cells": (-1.0, 0.999)}, "near margin", "1 - beta/alpha"),
        (1000, 1024, {"overlap": 0.5}, "ambient alignment", "cells=(-1.0, "),
        (1000, 1024, {"near": ()}, "near margin", "near=(): must lead from above 0 to slices[1]"),
        (1000, 1024, {"near": (0.0, 0.05)}, "near margin", "near=(0.0, 0.05): must lead from"),
        (1000, 1024, {"near": (0.01, 0.04)}, "near margin", "near=(0.01, 0.04): must lead"),
        (1000, 1024, {"near": (0.01, 1.0)}, "near margin", "near=(0.01, 1.0): must lead"),
        (1000, 1024, {"slices": (0.0, 0.05, 0.9)}, "far margin", "slices=(0.0, 0.05, 0.9): must"),
        (1000, 1024, {"sum_level": 10.0**6}, "sum of scores", "1 - 2 h - 4 sigma/d > 0, so "),
        (1000, 1024, {"freezing_level": 10.0**4}, "near margin", "1 - beta/alpha > rho_0"),
    ],
)
def test_conditions_that_fail_name_the_event(d, m, changes, event, condition):
    budget = replace(budget_at(1000, 1024), **changes)
    (only,) = sample_failure_events(d, m, 10**7, budget)
    assert (only.name, only.head) == (event, None)
    assert only.reason is not None
    assert only.reason.startswith(condition)
    assert float(only.probability) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"near": (0.01, 0.001, 0.05)},
        {"near": (0.01, 0.01, 0.05)},
        {"slices": (0.0, 0.05, 0.02, 1.0)},
        {"cells": (-1.0, 0.05, -0.5, 0.9)},
    ],
)
def test_ends_that_do_not_increase_are_refused(changes):
    ((name, ends),) = changes.items()
    with pytest.raises(InvalidArgumentError) as refused:
        sample_failure_events(1000, 1024, 10**7, replace(budget_at(1000, 1024), **changes))
    assert str(refused.value).startswith(f"{name}={ends}: must increase")


def test_least_sizes_are_not_refused():
    levels = dict.fromkeys(("sum_level", "squares_level", "freezing_level", "energy_level"), 1e-4)
    budget = budget_at(3, 6, largest_score=0.05, overlap=0.1, reach=0.01, **levels)
    assert bounds_of(3, 6, 10**9, budget)["near margin", "theta"] <= 1


D, M, N, DRAWS = 32, 256, 16_384, 600

# Three budgets, so that every bound is between .04 and .5 in one of them.
BUDGETS = {
    "tight": {
        "sum_level": 1.5,
        "squares_level": 1.0,
        "energy_level": 1.0,
        "support_level": 1.0,
        "ambient_level": 1 + math.log(D),
        "ambient_energy_level": 1 + math.log(D),
        "largest_score": quantile(1 + math.log(D), M),
        "overlap": quantile(2, M),
        "reach": 0.07,
        "count": 30,
    },
    "loose": {"freezing_level": 1.0, "count": 30},
    "few near slices": {"span": 4.0, "count": 8, "sampling": 1.7, "reach": 0.04},
}

# Which share of a bound is real at least, where it is; both heads are taken together. The others:
# |v_a - v_k|^2 counts as 4 and is about 2, b_D is ten times too large, the moments of a sample are
# met by no sample, and slices count by their ends.
SHARES = {
    "largest score": 0.7,
    "sum of scores": 0.14,
    "sum of squared scores": 0.08,
    "overlap": 0.5,
    "energy along the support": 0.08,
    "near margin": 0.3,
    "ambient alignment": 0.13,
    "noise along the support": 0.12,
    "noise along an ambient position": 0.03,
}


@pytest.fixture(scope="module")
def drawn():
    """Thresholds, bounds and what happened, by budget; and both noises of all draws."""
    with working_precision(80):
        budgets = {
            name: budget_at(D, M, **{"freezing_level": 0.3, **changes})
            for name, changes in BUDGETS.items()
        }
        at = {name: Thresholds(D, M, N, budget) for name, budget in budgets.items()}
        bounds = {name: bounds_of(D, M, N, budget) for name, budget in budgets.items()}
        counts = {name: Counter() for name in budgets}
        good, frozen = Counter(), []
        generator = np.random.default_rng(20250706)
        for _ in range(DRAWS):
            draw = Draw.of(generator, D, M, N)
            fails = not all(side.conclusion for side in draw.heads)
            frozen.append([side.frozen_noise for side in draw.heads])
            for name in budgets:
                met = events_of(draw, at[name])
                counts[name].update(met)
                good[name] += not met
                good[name, "failed"] += fails and not met
    return at, bounds, counts, good, np.array(frozen)


def test_no_draw_without_events_fails(drawn):
    *_, good, _ = drawn
    # What the implication is worth: so many draws meet no event at all.
    assert good["loose"] > DRAWS / 4
    assert good["tight"] > DRAWS / 5
    assert good["loose", "failed"] == good["tight", "failed"] == 0


def test_events_happen_no_more_often_than_their_bounds_say(drawn):
    _, bounds, counts, _, _ = drawn
    largest = Counter()
    for name, of_budget in bounds.items():
        for key, bound in of_budget.items():
            # Four standard deviations, at the bound.
            spare = 4 * math.sqrt(bound * (1 - bound) / DRAWS)
            assert counts[name][key] / DRAWS <= bound + spare, (name, key)
            if 0.04 <= bound <= 0.5:
                largest[key] = max(largest[key], bound)
    assert largest.keys() == EXPECTED


@pytest.mark.parametrize("event_name", SHARES)
def test_bounds_that_are_near_how_often_events_happen(drawn, event_name):
    _, bounds, counts, _, _ = drawn
    heads = [head for name, head in EXPECTED if name == event_name]
    best = max(
        sum(counts[name][event_name, head] for head in heads) / DRAWS / len(heads) / bound
        for name in bounds
        if 0.04 <= (bound := bounds[name][event_name, heads[0]]) <= 0.5
    )
    assert best >= SHARES[event_name]


def test_frozen_noise_against_its_moments(drawn):
    at, *_, frozen = drawn
    scores, noise = at["loose"].scores, at["loose"].noise
    weights = 4 / D + float(scores.slopes(arb(0)).norm) ** 2
    bound = weights / (M - 1) + float(noise.typical_square()) / N
    squares = (frozen**2).mean(axis=1)
    error = squares.std() / math.sqrt(DRAWS)
    assert squares.mean() + 4 * error <= bound
    assert squares.mean() >= 0.35 * bound
    # Half of the mean size is above zero, as the mean is zero.
    assert abs(frozen.mean()) <= 4 * frozen.std() / math.sqrt(DRAWS)


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(16, 36),
    m=st.integers(200, 600),
    per_pair=st.integers(10, 30),
    tenths=st.tuples(*[st.integers(1, 20)] * 9),
)
def test_without_events_every_empirical_slope_is_positive(seed, d, m, per_pair, tenths):
    n = d * d * per_pair
    sums, squares, size, overlap, support, ambient, freezing, energy, sampling = tenths
    budget = budget_at(
        d,
        m,
        count=20,
        reach=0.02 + 0.002 * freezing,
        largest_score=quantile(size / 10 + math.log(d), m),
        overlap=quantile(overlap / 10, m),
        sum_level=sums / 10,
        squares_level=squares / 10,
        support_level=support / 10,
        ambient_level=ambient / 10 + math.log(d),
        freezing_level=freezing / 50,
        energy_level=energy / 10,
        ambient_energy_level=energy / 10 + math.log(d),
        sampling=0.2 + sampling / 40,
    )
    if any(each.reason is not None for each in sample_failure_events(d, m, n, budget)):
        event("a condition fails")
        return
    at = Thresholds(d, m, n, budget)
    draw = Draw.of(np.random.default_rng(seed), d, m, n)
    met = events_of(draw, at)
    event(f"{len(met)} events" if len(met) < 2 else "more events")
    rate = 2 * (float(at.near.alpha) * (1 - draw.rho) - float(at.near.beta))
    for head, side in zip(HEADS, draw.heads, strict=True):
        if not any(name in met for name in itertools.product(COMMON, (None, head))):
            if draw.y <= budget.near[-1]:
                # Binary32 is in both sides alike.
                assert side.support_slope >= rate * draw.y - side.noise - 1e-9
            if not any(of_head == head for _, of_head in met):
                assert side.conclusion
