"""Instances whose positions look alike: equal rows, equal scores, and zeros by symmetry."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from campaigns.soundness.cases import Case, drafted, start
from numerics.embeddings import sample_embeddings, uniform_direction


def grid(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw small integers: equal rows, equal scores, exact ties."""
    V = rng.integers(-2, 3, (d, m)).astype(float)
    theta = rng.integers(-1, 2, m) / 2
    return drafted(rng, V, theta, -theta if rng.random() < 0.6 else rng.integers(-1, 2, m) / 2)


def equal_scores(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw different rows, of which the queries see the first column only."""
    V = sample_embeddings(rng, d, m)
    V[:, 0] = rng.integers(0, 2, d) / 2
    theta, theta_tilde = np.zeros(m), np.zeros(m)
    theta[0], theta_tilde[0] = rng.integers(-3, 4, 2)
    return drafted(rng, V, theta, theta_tilde)


def duplicates(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw each row from half as many."""
    V, theta = start(rng, d, m)
    return drafted(rng, V[rng.integers(max(d // 2, 1), size=d)], theta)


def duplicates_of_the_support(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let ambient rows equal v_a or v_b."""
    V, theta = start(rng, d, m)
    a, b = rng.permutation(d)[:2].tolist()
    for i in set(range(d)) - {a, b}:
        if rng.random() < 0.5:
            V[i] = V[a if rng.random() < 0.5 else b]
    return drafted(rng, V, theta, support=(a, b))


def equal_support(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let v_a = v_b, and a query vanish now and then."""
    V, theta = start(rng, d, m)
    a, b = rng.permutation(d)[:2].tolist()
    V[b] = V[a]
    sizes = rng.integers(0, 2, 2)
    return drafted(rng, V, theta * sizes[0], -theta * sizes[1], support=(a, b))


def equal_rows(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let all rows be equal, with the tolerance at the rational largest loss.

    Attention stays 1/d whatever the step, and the largest loss is (1 + ((d - 2)/d)^2)^2.
    """
    V = np.tile(sample_embeddings(rng, d, m)[0], (d, 1))
    drawn = drafted(rng, V, uniform_direction(rng, m), uniform_direction(rng, m))
    largest = (1 + Fraction(d - 2, d) ** 2) ** 2
    if any(d % p == 0 for p in (3, 7)) or rng.random() < 0.3:
        return drawn
    shift = Fraction(int(rng.integers(-1, 2)), 10 ** int(rng.choice((30, 100, 2000))))
    exact = (largest + shift) * 10**2000
    if exact.denominator != 1:
        return drawn
    return drafted(
        rng,
        V,
        drawn.theta,
        drawn.theta_tilde,
        support=drawn.support,
        eta=drawn.eta,
        tolerance=f"{exact.numerator}e-2000",
    )


def parallel(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put all rows on one line."""
    V = np.outer(rng.integers(-3, 4, d), rng.integers(1, 4, m)) / 4
    return drafted(rng, V, rng.integers(-3, 4, m) / 4)


def opposite(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let every other row be the negative of the one before."""
    V, theta = start(rng, d, m)
    V[1::2] = -V[: 2 * (d // 2) : 2]
    return drafted(rng, V, theta)


def nearly_tied(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let two leading rows differ by units in the last place, or by 2^-40."""
    V, _ = start(rng, d, m)
    i, j = rng.permutation(d)[:2].tolist()
    V[j] = V[i] + 2.0 ** float(rng.choice((-52, -51, -40, -30)))
    return drafted(rng, V, V[i] * 3.0)


def tied_inputs(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let ambient positions share their row: many inputs have the largest loss."""
    V, theta = start(rng, d, m)
    V[2:] = V[-1]
    return drafted(rng, V, theta, support=(0, 1))


def zero_gradient(rng: np.random.Generator, d: int, m: int) -> Case:
    """Make a component of the gradient zero by symmetry."""
    V, theta = start(rng, d, m)
    a, b = rng.permutation(d)[:2].tolist()
    which = int(rng.integers(3))
    if which == 0:
        V[:, 0] = V[0, 0]
    elif which == 1:
        # Ambient positions in pairs that differ in the sign of a column that no query sees.
        theta[0], V[:, 0] = 0.0, 0.0
        ambient = [i for i in range(d) if i not in (a, b)]
        for i, j in zip(ambient[::2], ambient[1::2], strict=False):
            V[j] = V[i]
            V[i, 0], V[j, 0] = 0.25, -0.25
    else:
        theta[:], V[:, 0] = 0.0, rng.integers(-4, 5)
        V[a, 0], V[b, 0] = V[a, 0] + 3.0, V[b, 0] - 3.0
    return drafted(rng, V, theta, -theta if rng.random() < 0.5 else theta / 2, support=(a, b))


def nearly_zero_gradient(rng: np.random.Generator, d: int, m: int) -> Case:
    """Let a column be constant but for a bit, or have equal sums, not means, over equal scores."""
    V, theta = start(rng, d, m)
    i, which = int(rng.integers(d)), int(rng.integers(3))
    if which == 0:
        V[:, 0] = V[0, 0]
        V[i, 0] = math.nextafter(V[0, 0], math.inf)
    elif which == 1:
        V[:, 0] = 0.0
        V[i, 0] = 5e-324
    else:
        # Ambient rows that differ in a column that no query sees; they are one group of scores.
        V[2:], theta[0] = V[-1], 0.0
        V[:, 0] = 0.0
        V[[0, 1, -1], 0] = 0.5
        return drafted(rng, V, theta, -theta, support=(0, 1))
    return drafted(rng, V, theta)
