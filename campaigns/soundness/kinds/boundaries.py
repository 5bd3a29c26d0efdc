"""Instances next to where an answer changes: at the largest loss, at a switch, in open brackets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from campaigns.soundness.after_step import gradient_bits
from campaigns.soundness.before_step import Scored, population
from campaigns.soundness.cases import Case, Near, drafted, start
from numerics.worst_case import worst_case_loss


def beside_the_supremum(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put the tolerance at the largest loss, rounded, or one unit beside it."""
    near = Near(int(rng.integers(1, 36)), int(rng.integers(-1, 2)))
    return drafted(rng, *start(rng, d, m), tolerance=near)


def extreme_tolerance(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put the tolerance at 4, which no loss reaches, or far above or below all losses.

    After a large step some losses are within 10^-40 of 4, if they are not as near to zero.
    """
    exponent = int(rng.integers(1, 9000))
    nearly_four = f"3.{'9' * int(rng.choice((20, 40, 60)))}"
    tolerance = str(
        rng.choice([f"1e-{exponent}", "4", nearly_four, nearly_four, f"5e{exponent}", "5e-324"])
    )
    eta = None if rng.random() < 0.5 else f"1e{int(rng.integers(5, 30))}"
    return drafted(rng, *start(rng, d, m), eta=eta, tolerance=tolerance)


def switch(rng: np.random.Generator, d: int, m: int) -> Case:
    """Put the step size next to where two positions of a head have the same score."""
    drawn = drafted(rng, *start(rng, d, m))
    scored = Scored.of(drawn.V, drawn.theta, drawn.theta_tilde, drawn.support)
    found = population(scored, gradient_bits(scored, Fraction(1), 200))
    head, size = int(rng.integers(2)), Fraction(1, 1 << scored.score_places)
    gradient = [found.gradients[head].fraction(k) for k in range(m)]
    lines = [
        (score * size, -sum(map(lambda x, g: x * g, row, gradient), Fraction(0)))
        for score, row in zip(scored.scores[head], scored.rows, strict=True)
    ]
    scale = Fraction(1, 1 << scored.places)
    crossings = [
        (start - other) / ((other_slope - slope) * scale)
        for i, (start, slope) in enumerate(lines)
        for other, other_slope in lines[:i]
        if abs(other_slope - slope) * scale > Fraction(1, 10**6)
    ]
    positive = [x for x in crossings if x > Fraction(1, 10**6)]
    if not positive:
        return drawn
    crossing = positive[int(rng.integers(len(positive)))]
    if rng.random() < 0.5:
        # The binary64 number next to it, or one of its neighbours, shown in full.
        eta = float(crossing)
        for _ in range(int(rng.integers(3))):
            eta = math.nextafter(eta, math.inf if rng.random() < 0.5 else 0.0)
        text = _in_full(eta)
    else:
        places = int(rng.choice((20, 40, 60)))
        text = f"{round(crossing * 10**places) + int(rng.integers(-1, 2))}e-{places}"
    return drafted(rng, drawn.V, drawn.theta, drawn.theta_tilde, support=drawn.support, eta=text)


def _in_full(x: float) -> str:
    numerator, denominator = x.as_integer_ratio()
    places = denominator.bit_length() - 1
    return f"{numerator * 5**places}e-{places}"


def prescribed(rng: np.random.Generator, d: int, _: int) -> Case:
    """Make brackets open: edges of the zonotope exceed its vertices.

    Attention is proportional to small integers and hardly moved by the step. One head is on the
    support and the other off it, so that p and q differ in sign.
    """
    weights = np.stack([rng.integers(1, 16, d), rng.integers(1, 5, d)], axis=1)
    rest = int(weights[2:, 1].sum())
    weights[:2, 0] = 1
    weights[:2, 1] = 1 + rng.integers(rest // 2, 2 * rest + 1, 2)
    V = np.log(weights)
    eta = f"{int(rng.integers(1, 10))}e-{int(rng.integers(3, 13))}"
    near = Near(int(rng.choice((2, 3, 5, 17))), int(rng.integers(-1, 2)))
    return drafted(
        rng, V, np.array([1.0, 0.0]), np.array([0.0, 1.0]), support=(0, 1), eta=eta, tolerance=near
    )


def inside(rng: np.random.Generator, d: int, _: int) -> Case:
    """Look for attention at which the worst input is no vertex: about one draw in eighty has it."""
    signs = 1 - 2 * (np.arange(1 << (d - 1))[:, np.newaxis] >> np.arange(d) & 1)
    for _ in range(150):
        weights = np.stack([2 * rng.integers(8, 30, d), rng.integers(1, 10, d)], axis=1)
        weights[2, 0] = weights[3:, 0].sum()
        rest = int(weights[2:, 1].sum())
        weights[:2, 0], weights[:2, 1] = 1, rng.integers(rest // 2, 2 * rest)
        gamma, gamma_tilde = (weights / weights.sum(axis=0)).T
        R = 1 - signs[:, 0] * signs[:, 1] * (signs @ gamma) * (signs @ gamma_tilde)
        if R.max() ** 2 > worst_case_loss(gamma, gamma_tilde, (0, 1)).lower + 1e-4:
            break
    return drafted(
        rng,
        np.log(weights),
        np.array([1.0, 0.0]),
        np.array([0.0, 1.0]),
        support=(0, 1),
        eta=f"{int(rng.integers(1, 10))}e-{int(rng.integers(6, 13))}",
        tolerance=Near(int(rng.integers(4, 12)), int(rng.integers(-1, 2))),
    )
