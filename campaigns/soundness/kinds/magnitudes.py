"""Instances of extreme numbers: denormal, huge, mixed, and steps beyond binary64."""

from __future__ import annotations

import math

import numpy as np

from campaigns.soundness.cases import Case, drafted, start
from numerics.embeddings import uniform_direction


def denormal(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw entries below the normal numbers of binary64."""
    V, theta = start(rng, d, m)
    V, theta = V.copy(), theta.copy()
    which = int(rng.integers(4))
    with np.errstate(under="ignore"):
        if which == 0:
            V *= 10.0 ** rng.integers(-323, -307, (d, 1))
        elif which == 1:
            theta = theta * 1e-310
        elif which == 2:
            V[rng.random((d, m)) < 0.5] = 5e-324
        else:
            V[:, 0] = rng.integers(-3, 4, d) * 5e-324
    eta = f"{int(rng.integers(1, 10))}e{int(rng.choice((0, 2, 300, 620)))}"
    return drafted(rng, V, theta, eta=eta)


def huge(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw entries whose products overflow binary64."""
    V, theta = start(rng, d, m)
    size = float(rng.choice((1e150, 1e300)))
    if rng.random() < 0.5:
        V = V * size
    else:
        V[rng.random((d, m)) < 0.3] *= size
    # The scores stay moderate, get huge, or vanish.
    theta = theta * float(rng.choice((1 / size, 1.0, 1e-300)))
    eta = f"{int(rng.integers(1, 10))}e{int(rng.choice((-600, -300, 0, 2)))}"
    return drafted(rng, V, theta, eta=eta)


def huge_step(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw step sizes up to beyond binary64."""
    eta = str(rng.choice(["1e300", "1e308", "1.7976931348623157e308", "1e400", "3e4000", "1e30"]))
    return drafted(rng, *start(rng, d, m), eta=eta)


def tiny_step(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw step sizes down to beyond binary64."""
    eta = str(rng.choice(["1e-320", "5e-324", "1e-400", "7e-4000", "1e-30", "3e-100"]))
    return drafted(rng, *start(rng, d, m), eta=eta)


def mixed_lengths(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw rows whose lengths differ by powers of two, up to 2^120."""
    V, theta = start(rng, d, m)
    exponents = rng.choice((-60, -30, 0, 30, 60), d)
    V = np.ldexp(V, exponents[:, np.newaxis])
    theta = np.ldexp(theta, int(rng.choice((-60, -30, 0))))
    return drafted(rng, V, theta, eta=f"{int(rng.integers(1, 100))}e{int(rng.integers(-38, 3))}")


def negative_zero(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put negative zeros into V and theta."""
    V, theta = start(rng, d, m)
    V[rng.random((d, m)) < 0.4] = -0.0
    theta[rng.random(m) < 0.4] = -0.0
    return drafted(rng, V, theta)


def concentrated(rng: np.random.Generator, d: int, m: int) -> Case:
    """Leave one head about 2^-bits of its attention off its position."""
    V, theta = start(rng, d, m)
    scores = np.sort(V @ theta)
    gap, spread = float(scores[-1] - scores[-2]), float(scores[-1] - scores[0])
    # With scores that differ by thousands every exponential takes thousands of bits.
    factor = float(rng.choice((20, 60, 130, 500, 2000))) * math.log(2) / max(gap, 1e-3)
    theta = theta * min(factor, 3000 / max(spread, 1e-3))
    other = -theta if rng.random() < 0.3 else uniform_direction(rng, m)
    eta = f"{int(rng.integers(1, 10))}e{int(rng.choice((-3, 0, 1, 3, 20)))}"
    return drafted(rng, V, theta, other, eta=eta)


def offset(rng: np.random.Generator, d: int, m: int) -> Case:
    """Give each head a common score of 2^60: differences of rounded scores are noise."""
    V = np.concatenate([np.full((d, 2), 2.0**60), rng.normal(size=(d, m))], axis=1)
    theta = np.concatenate([[1.0, 0.0], rng.normal(size=m)])
    theta_tilde = np.concatenate([[0.0, -1.0], rng.normal(size=m)])
    return drafted(rng, V, theta, theta_tilde, eta=f"{int(rng.integers(1, 50))}e-2")


def scattered(rng: np.random.Generator, d: int, m: int) -> Case:
    """Draw entries of sizes from 1e-40 to 1."""
    V = rng.normal(size=(d, m)) * 10.0 ** rng.integers(-40, 1, (d, m))
    return drafted(rng, V, rng.normal(size=m) * 10.0 ** rng.integers(-20, 1, m))
