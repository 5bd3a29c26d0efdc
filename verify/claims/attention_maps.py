"""Loss and gradient for weights that softmax did not make: linear and erf attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from flint import arb
from numpy.typing import NDArray

from numerics.attention_maps import MAPS
from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.enumeration import enumerate_loss
from numerics.general_population import gradient, loss
from verify.claim import Cell, Claim, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.derivation import derivation_cell
from verify.instances.rational_attention import as_fractions, draw_support
from verify.ledgers.symbolic_to_ball import evaluate_in_balls

__all__ = ["CLAIMS"]

_UNIT = 2.0**-53
_BITS = 128
# Without a failure, 437 instances put the share of failures below 1% for two cells at the joint
# 95% level.
_TRIALS: dict[Profile, int] = {"quick": 440, "standard": 1000, "full": 10_000}

Form = Sequence[arb]


@dataclass(frozen=True)
class _BallMap:
    """A pointwise map and its derivative in balls."""

    value: Callable[[arb], arb]
    derivative: Callable[[arb], arb]


_BALL_MAPS: Mapping[str, _BallMap] = {
    "linear": _BallMap(lambda s: s, lambda _: arb(1)),
    "erf": _BallMap(lambda s: s.erf(), lambda s: 2 * (-s * s).exp() / arb.pi().sqrt()),
}


def _loss_error(rng: np.random.Generator) -> float:
    """Error of the loss of random weights, over the error that its documentation allows."""
    d = int(rng.integers(2, 9))
    a, b = draw_support(rng, d)
    gamma, gamma_tilde = rng.uniform(-1, 1, (2, d)) * 10.0 ** rng.uniform(-3, 1, (2, d))
    exact = enumerate_loss(as_fractions(gamma), as_fractions(gamma_tilde), (a, b)).mean
    found = loss(gamma, gamma_tilde, (a, b))
    if not math.isfinite(found):
        return math.nan
    on, on_tilde = (math.hypot(head[a], head[b]) for head in (gamma, gamma_tilde))
    off, off_tilde = (
        float(np.linalg.norm(np.delete(head, [a, b]))) for head in (gamma, gamma_tilde)
    )
    mixed = on * off_tilde + on_tilde * off
    scale = float(exact) + math.sqrt(exact) * mixed + (off * off_tilde) ** 2
    return abs(float(Fraction(found) - exact)) / ((4 * d + 20) * _UNIT * scale)


@dataclass(frozen=True)
class _Head:
    """Scores, weights and their rates along A, once in balls and once in binary64."""

    weights: Form
    slopes: Form
    rates: Form
    floats: NDArray[np.float64]
    float_slopes: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, scores: NDArray[np.float64], t: Form) -> _Head:
        exact = [from_float(score) for score in scores.tolist()]
        slopes = [_BALL_MAPS[name].derivative(score) for score in exact]
        floats = MAPS[name].weights(scores)
        return cls(
            [_BALL_MAPS[name].value(score) for score in exact],
            slopes,
            [slope * rate for slope, rate in zip(slopes, t, strict=True)],
            floats,
            MAPS[name].pull_back(scores, floats, np.ones(len(scores))),
        )


def _map_error(rng: np.random.Generator) -> float:
    """Largest error of loss and derivatives along A, three ways, over u and the size of the terms.

    Entries are multiples of 1/64, so that the scores are exact in binary64 and what errs is the
    map and the kernel.
    """
    name = list(_BALL_MAPS)[rng.integers(len(_BALL_MAPS))]
    d, m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    V = rng.integers(-64, 65, size=(d, m)) / 64
    theta, theta_tilde, A = rng.integers(-64, 65, size=(3, m)) / 64
    a, b = draw_support(rng, d)
    found = gradient(V, theta, theta_tilde, (a, b), attention=MAPS[name])
    rates, lengths = V @ A, np.abs(V) @ np.abs(A)
    with working_precision(_BITS):
        t = [from_float(rate) for rate in rates.tolist()]
        head, tilde = _Head.of(name, V @ theta, t), _Head.of(name, V @ theta_tilde, t)
        sequences = {
            "weight": head.weights,
            "weight_tilde": tilde.weights,
            "slope": head.slopes,
            "slope_tilde": tilde.slopes,
            "t": t,
        }
        mean, *slopes = _enumerated(head, tilde, (a, b))
        ways = (
            ("loss", mean, found.loss, _loss_scale(head, tilde, (a, b))),
            ("theta", slopes[0], found.theta @ A, _slope_scale(head, tilde, (a, b), lengths)),
            (
                "theta_tilde",
                slopes[1],
                found.theta_tilde @ A,
                _slope_scale(tilde, head, (a, b), lengths),
            ),
        )
        errors = []
        for formula, enumerated, value, scale in ways:
            derived = evaluate_in_balls(
                "attention_maps", formula, sequences=sequences, positions={"a": a, "b": b}
            )
            # The upper end, so that a wide ball counts as an error and not as agreement.
            error = float((abs(arb(float(value)) - derived) + enumerated.rad()).upper())
            if not derived.overlaps(enumerated):
                error = np.inf
            # With all of V zero the scale is zero, and the error too.
            errors.append(error / max(scale, np.finfo(np.float64).tiny))
    # np.max, unlike max, hands on an entry that is not a number.
    return float(np.max(errors)) / _UNIT


def _enumerated(head: _Head, tilde: _Head, support: tuple[int, int]) -> tuple[arb, arb, arb]:
    """Enclose the mean of (f - y)^2 over all inputs, and its derivatives along A.

    Both are the same at x and -x, so that half of the inputs do.
    """
    a, b = support
    d = len(head.weights)
    total = slope = slope_tilde = arb(0)
    for x in product((1,), *[(1, -1)] * (d - 1)):
        p, q, p_rate, q_rate = (
            sum((c * sign for c, sign in zip(form, x, strict=True)), arb(0))
            for form in (head.weights, tilde.weights, head.rates, tilde.rates)
        )
        error = p * q - x[a] * x[b]
        total += error * error
        slope += 2 * error * p_rate * q
        slope_tilde += 2 * error * p * q_rate
    half = 1 << (d - 1)
    return total / half, slope / half, slope_tilde / half


def _loss_scale(head: _Head, tilde: _Head, support: tuple[int, int]) -> float:
    """Return L with every term counted positive."""
    a, b = support
    u, v = np.abs(head.floats), np.abs(tilde.floats)
    return float(1 + 2 * (u[a] * v[b] + u[b] * v[a]) + (u @ u) * (v @ v) + 2 * (u @ v) ** 2)


def _slope_scale(
    head: _Head, tilde: _Head, support: tuple[int, int], lengths: NDArray[np.float64]
) -> float:
    """Return the derivative by the first head along A, with every term counted positive.

    `lengths` has the sums |V_ik| |A_k| over k in the place of v_i.A.
    """
    a, b = support
    u, v = np.abs(head.floats), np.abs(tilde.floats)
    g = 2 * u * (v @ v) + 4 * (u @ v) * v + 4 * u * v * v
    g[a] += 2 * v[b]
    g[b] += 2 * v[a]
    return float((np.abs(head.float_slopes) * g) @ lengths)


def _cells(profile: Profile) -> tuple[Cell, ...]:
    trials = _TRIALS[profile]
    return (
        derivation_cell("attention_maps", cost=1),
        agreement_cell(
            "loss of weights of any sign, d = 2..8",
            method="exact enumeration of all 2^d inputs",
            error=_loss_error,
            bound=1.0,
            trials=trials,
            cells=2,
            cost=trials * 3e-4,
        ),
        agreement_cell(
            "linear and erf, loss and gradients three ways, d = 2..5, m = 1..4",
            method=f"derived formulas and enumeration in {_BITS}-bit balls, which must overlap",
            error=_map_error,
            # Of four factors in a term, the derivative errs by s^2 + 4 <= 20 units for |s| <= 4
            # and each weight by 4; sums over d <= 5 positions and m <= 4 dimensions, and the
            # products, stay below 30 more.
            bound=64.0,
            trials=trials,
            cells=2,
            cost=trials * 1.2e-3,
        ),
    )


CLAIMS = (
    Claim(
        id="attention-maps",
        title="loss and gradient in closed form for any attention map, for every d",
        statement=(
            r"For weights $\gamma, \tilde\gamma$ of any sign and sum, $L = 1 - 2 (\gamma_a"
            r" \tilde\gamma_b + \gamma_b \tilde\gamma_a) + |\gamma|^2 |\tilde\gamma|^2 + 2 \langle"
            r" \gamma, \tilde\gamma \rangle^2 - 2 \sum_i \gamma_i^2 \tilde\gamma_i^2$. If"
            r" $\gamma_i = \phi(v_i \cdot \theta)$ for a differentiable $\phi$, then $\nabla_\theta"
            r" L = \sum_i g_i \phi'(v_i \cdot \theta) v_i$ with $g_i = \partial L / \partial"
            r" \gamma_i$; for linear attention $\phi'(s) = 1$, for erf attention $\phi'(s) = 2"
            r" e^{-s^2} / \sqrt\pi$."
        ),
        source="arXiv:2502.07553v2 compares with linear and erf attention; closed forms ours",
        cells=_cells,
        dependencies=("population-gradient",),
    ),
)
