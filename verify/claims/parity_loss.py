"""Parity of k bits with k heads: loss and gradient, derived, enumerated and as a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from numerics.parity.enumeration import enumerate_parity_loss
from numerics.parity.population import parity_gradient, parity_loss
from numerics.population import gradient
from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.agreement import agreement_cell
from verify.evidence.derivation import derivation_cell
from verify.instances.rational_attention import draw_rational_attention
from verify.seeds import Streams
from verify.trials.parity import ParitySetting, draw_parity

if TYPE_CHECKING:
    import sympy as sp

__all__ = ["CLAIMS"]

_HEADS = (2, 3, 4)
_UNIT = 2.0**-53

_EXACT_TRIALS: Mapping[Profile, int] = {"quick": 1, "standard": 2, "full": 20}
_TRIALS: Mapping[Profile, int] = {"quick": 480, "standard": 500, "full": 5000}
_BOUND = 4000 * _UNIT

Heads = Sequence[Sequence[Fraction]]


@cache
def _formula(name: str) -> sp.Expr:
    from derivations.catalogue import load

    return load("parity").formula(name).right


def _derived(name: str, heads: Heads, support: tuple[int, ...], t: Sequence[Fraction]) -> Fraction:
    """Evaluate a formula of derivation parity exactly."""
    from derivations.proof.evaluation import evaluate

    named = {f"gamma_{h}": row for h, row in enumerate(heads, start=1)}
    return evaluate(
        _formula(f"{name}_{len(heads)}"),
        sequences={**named, "t": t},
        positions={f"s_{r}": position for r, position in enumerate(support, start=1)},
    )


def _slope(heads: Heads, support: tuple[int, ...], t: Sequence[Fraction]) -> Fraction:
    """Return the derivative of the enumerated loss along D gamma^1_i = gamma^1_i (t_i - mean).

    It is quadratic in gamma^1, so a central difference is the derivative exactly.
    """
    first, *others = heads
    mean = sum((g * rate for g, rate in zip(first, t, strict=True)), Fraction(0))
    velocity = [g * (rate - mean) for g, rate in zip(first, t, strict=True)]
    ahead, behind = (
        enumerate_parity_loss(
            [[g + sign * speed for g, speed in zip(first, velocity, strict=True)], *others],
            support,
        )
        for sign in (1, -1)
    )
    return (ahead - behind) / 2


def _draw(rng: np.random.Generator, k: int, d: int) -> tuple[list[list[Fraction]], tuple[int, ...]]:
    heads = [draw_rational_attention(rng, d) for _ in range(k)]
    return heads, tuple(rng.permutation(d)[:k].tolist())


def _check_enumeration(trials: int, streams: Streams) -> Evidence:
    """Hold the derived formulas against all 2^d inputs."""
    wrong, count = [], 0
    for k in _HEADS:
        for d in range(k, 9):
            for _ in range(trials):
                rng = streams.trial(count)
                heads, support = _draw(rng, k, d)
                t = [Fraction(int(rate)) for rate in rng.integers(-3, 4, size=d)]
                loss_agrees = _derived("loss", heads, support, t) == enumerate_parity_loss(
                    heads, support
                )
                if not (
                    loss_agrees
                    and _derived("slope", heads, support, t) == _slope(heads, support, t)
                ):
                    wrong.append(f"k = {k}, d = {d}, trial {count}")
                count += 1
    return Evidence(
        cell=_ENUMERATION,
        subject="statement",
        method="exact enumeration, rational arithmetic",
        grade=Grade.REFUTED if wrong else Grade.EXACT,
        computed=f"equal at {count - len(wrong)} of {count} instances",
        claimed=f"equal at all {count}: loss, and its slope along a random direction",
        precision="exact",
        seed=streams.seed,
        trials=count,
        reason=f"witness: {wrong[0]}" if wrong else None,
    )


_ENUMERATION = "all 2^d inputs in rational arithmetic, k = 2, 3, 4, d = k..8"


def _kernel_error(rng: np.random.Generator) -> float:
    """Return the error of the loss kernel at random attention, beside enumeration."""
    k = int(rng.integers(2, 5))
    heads, support = _draw(rng, k, k + int(rng.integers(0, 4)))
    found = parity_loss([[float(w) for w in row] for row in heads], support)
    return abs(found - float(enumerate_parity_loss(heads, support)))


def _gradient_error(rng: np.random.Generator) -> float:
    """Return the error of the gradient kernel at k = 2, beside that of the two-head kernel."""
    setting = ParitySetting(2, int(rng.integers(2, 60)), int(rng.integers(2, 9)), "independent")
    at = draw_parity(rng, setting)
    found = parity_gradient(at.V, at.theta, at.support).theta
    a, b = at.support
    expected = gradient(at.V, at.theta[0], at.theta[1], (a, b))
    return float(np.abs(found - np.stack([expected.theta, expected.theta_tilde])).max())


def _complex_step_error(rng: np.random.Generator) -> float:
    """Return the error of the gradient kernel at k = 3, 4, beside the loss over all inputs.

    The loss is analytic: its imaginary part at an imaginary step of 1e-20 is the derivative times
    the step, without any cancellation.
    """
    k = int(rng.integers(3, 5))
    at = draw_parity(rng, ParitySetting(k, int(rng.integers(k, 9)), 3, "independent"))
    h, A = int(rng.integers(k)), rng.uniform(-1, 1, size=3)
    queries = at.theta.astype(np.complex128)
    queries[h] += 1e-20j * A
    weights = np.exp(at.V @ queries.T)
    x = np.array(list(product((-1.0, 1.0), repeat=len(at.V))))
    forms = x @ (weights / weights.sum(axis=0))
    errors = forms.prod(axis=1) - x[:, list(at.support)].prod(axis=1)
    expected = float(np.mean(errors * errors).imag) / 1e-20
    found = parity_gradient(at.V, at.theta, at.support).theta[h] @ A
    return abs(float(found) - expected)


def _cells(profile: Profile) -> tuple[Cell, ...]:
    exact, trials = _EXACT_TRIALS[profile], _TRIALS[profile]
    checks = (
        ("loss at random attention", "exact enumeration", _kernel_error),
        ("gradient of two heads", "the kernel of the population loss", _gradient_error),
        ("gradient of three and four heads", "complex steps over all inputs", _complex_step_error),
    )
    return (
        derivation_cell("permanents", cost=1),
        *((derivation_cell("parity", cost=3),) if profile != "quick" else ()),
        Cell(name=_ENUMERATION, check=partial(_check_enumeration, exact), cost=1),
        *(
            agreement_cell(
                name,
                method=method,
                error=error,
                bound=_BOUND,
                trials=trials,
                cells=len(checks),
                cost=0.5,
            )
            for name, method, error in checks
        ),
    )


CLAIMS = (
    Claim(
        id="parity-loss",
        title="parity of k bits with k heads: loss and gradient in closed form, k = 2, 3, 4",
        statement=(
            r"For labels $y = (-1)^{k-1} \prod_{s \in S} x_s$ and the model $f = (-1)^{k-1}"
            r" \prod_{h=1}^k p_h$, $p_h = \langle \gamma^h, x \rangle$, $k = 2, 3, 4$, every $d$"
            r" and all queries, $L = 1 - 2 \operatorname{perm} (\gamma^h_s)_{h, s} + \mathbb{E}"
            r" \prod_h p_h^2$, the last term a sum over the $4$, $31$, $379$ partitions of $2k$"
            r" forms into even blocks; the gradients follow. $k = 2$ is the paper's model."
        ),
        source="ours",
        cells=_cells,
        dependencies=("moment-rule", "population-loss", "population-gradient"),
    ),
)
