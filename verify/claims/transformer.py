"""The Transformer behind the two queries: the equivalence, and what breaks without a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from numerics.transformer.descent import compare, descend, descend_queries
from numerics.transformer.gradient import (
    complex_step_gradient,
    has_jax,
    has_library_attention,
    jax_gradient,
    library_attention,
)
from numerics.transformer.layer import Architecture
from numerics.transformer.start import equivalent_start
from numerics.transformer.variants import BROKEN, EQUIVALENT, compare_variant
from verify.claim import Cell, Claim, Evidence, Profile
from verify.evidence.derivation import derivation_cell
from verify.evidence.layer_kernels import layer_cell
from verify.evidence.sampling import Proportion, bonferroni_level, grade_at_most
from verify.instances.instance import draw_instance
from verify.seeds import Streams

__all__ = ["CLAIMS"]

_STEPS = 6
_CONTROL_STEPS = 3  # the latest control shows itself after two

# How far a number may be from what it is held against.
_BOUNDS = {
    # A gradient is a mean of terms up to 4 with some 50 roundings each, and a step at most 25/4:
    # six steps of 50 * 4 * 25/4 * 2^-53 each, if none of it cancels. Seen are some 1e-15.
    "six steps": 1e-12,
    # Such terms, times the entries of a weight and of a token, and the loss, a mean of squares.
    "loss and gradients": 1e-13,
    # The same terms, in binary64 as well, summed in the order of Equinox.
    "those of the library layer": 1e-13,
}
# A control has to leave the path of the two queries by this share of its length. Rounding makes
# it 1e-15 of it.
_APART = 0.01

# Instances, and the largest share of them that may disagree: none out of so many is within it.
_TRIALS: Mapping[Profile, tuple[int, float]] = {
    "quick": (30, 0.15),
    "standard": (100, 0.05),
    "full": (500, 0.01),
}
_CONTROL_TRIALS: Mapping[Profile, tuple[int, float]] = {
    "quick": (10, 0.35),
    "standard": (16, 0.25),
    "full": (200, 0.02),
}
# Instances at which the gradient by every parameter is compared, too. It is compiled for that,
# which takes longer than all the rest at profile quick.
_COMPLETE_TRIALS: Mapping[Profile, int] = {"quick": 0, "standard": 3, "full": 20}

_SIZES = (5, 3, 4)  # d, m, h of what JAX differentiates: one shape, compiled once


def _step_size(d: int) -> float:
    """Return eta: six such steps take the queries a good way, and do not overshoot."""
    return d * d / 4


def _check_variants(name: str, profile: Profile, streams: Streams) -> Evidence:
    """Train Transformers that meet the conditions in one way or another."""
    trials, share = _TRIALS[profile]
    errors = [_variant_error(streams.trial(i)) for i in range(trials)]
    bound = _BOUNDS["six steps"]
    return _at_most(
        name,
        "complex steps on the layer written out, beside the closed form",
        # "not <=" rather than ">": an error that is not a number is beyond the bound.
        [not error <= bound for error in errors],
        share,
        cells=2,
        computed=f"largest difference {np.max(errors):.2g}",
        event=f"difference > {bound:.0e}",
        streams=streams,
    )


def _variant_error(rng: np.random.Generator) -> float:
    d, m = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    instance = draw_instance(rng, d, m)
    variant = EQUIVALENT[int(rng.integers(len(EQUIVALENT)))]
    return compare_variant(
        variant,
        rng,
        instance.V,
        instance.theta,
        instance.support,
        width=m + int(rng.integers(1, 3)),
        eta=_step_size(d),
        steps=_STEPS,
    ).largest()


def _check_training(name: str, profile: Profile, streams: Streams) -> Evidence:
    """Train along the gradient of the library's layer, or along what else is installed."""
    trials, share = _TRIALS[profile]
    # One object, for which JAX compiles once.
    architecture = Architecture(scale=_SIZES[-1] ** -0.5)
    found = [
        _differences(streams.trial(i), architecture, complete=i < _COMPLETE_TRIALS[profile])
        for i in range(trials)
    ]
    largest = {
        what: float(np.max([each[what] for each in found if what in each]))
        for what in _BOUNDS
        if any(what in each for each in found)
    }
    shown = [f"{what} {error:.2g} of {_BOUNDS[what]:.0e}" for what, error in largest.items()]
    method, reason = _grounds()
    return _at_most(
        name,
        method,
        [any(not error <= _BOUNDS[what] for what, error in each.items()) for each in found],
        share,
        cells=2,
        computed=f"largest differences: {', '.join(shown)}",
        event="a difference beyond its bound",
        streams=streams,
        reason=reason,
    )


def _grounds() -> tuple[str, str | None]:
    """Return the method of the training, and what is wanting to it."""
    beside = "in binary64, beside the closed form and complex steps"
    if has_library_attention():
        return f"JAX's derivative of Equinox's attention layer, {beside}", None
    if has_jax():
        return (
            f"JAX's derivative of the layer written out, {beside}",
            "Equinox is not installed, so this rests on no library's layer, but on ours;"
            " pip install 'xorverify[rivals]'",
        )
    return (
        "complex steps alone, beside the closed form",
        "JAX is not installed, so this rests on complex-step differentiation;"
        " pip install 'xorverify[rivals]'",
    )


def _differences(
    rng: np.random.Generator, architecture: Architecture, *, complete: bool
) -> dict[str, float]:
    """Return, by name, how far apart two computations are at one instance."""
    d, m, h = _SIZES
    instance = draw_instance(rng, d, m)
    V, theta, theta_tilde = instance.V, instance.theta, instance.theta_tilde
    start = equivalent_start(rng, V, theta, theta_tilde, width=h, scale=architecture.scale)
    given = (V, instance.support, architecture)
    eta = _step_size(d)
    by_jax = partial(jax_gradient, *given)
    by_library = partial(by_jax, attend=library_attention)
    by_steps = partial(complex_step_gradient, *given)
    best = by_library if has_library_attention() else by_jax if has_jax() else by_steps
    transformers = descend(best(by=("W_Q",)), start, eta=eta / architecture.scale**2, steps=_STEPS)
    path = descend_queries(V, theta, theta_tilde, instance.support, eta=eta, steps=_STEPS)
    differences = {"six steps": compare(transformers, architecture, V, path).largest()}
    if complete and has_jax():
        expected = by_steps(by=start)(start)
        differences["loss and gradients"] = _apart(by_jax(by=start)(start), expected)
        if has_library_attention():
            layer = by_library(by=start)(start)
            differences["those of the library layer"] = _apart(layer, expected)
    return differences


def _apart(
    found: tuple[float, Mapping[str, NDArray[np.float64]]],
    expected: tuple[float, Mapping[str, NDArray[np.float64]]],
) -> float:
    """Return the largest difference of two losses and gradients; nan if one is not a number."""
    (loss, slopes), (right, right_slopes) = found, expected
    apart = [np.max(np.abs(slopes[name] - slope)) for name, slope in right_slopes.items()]
    return float(np.max([abs(loss - right), *apart]))


def _check_controls(name: str, profile: Profile, streams: Streams) -> Evidence:
    """Break every condition by itself, at the same instance."""
    trials, share = _CONTROL_TRIALS[profile]
    found = [_control_distances(streams.trial(i)) for i in range(trials)]
    weakest, least = min(
        ((control, distance) for each in found for control, distance in each.items()),
        key=lambda pair: pair[1],
    )
    return _at_most(
        name,
        "complex steps on the layer written out, one condition broken at a time",
        [any(distance < _APART for distance in each.values()) for each in found],
        share,
        cells=1,
        computed=f"{len(BROKEN)} controls, the nearest at {least:.2g} of the way ({weakest})",
        event=f"a control within {_APART} of the way, or apart before its condition can tell",
        streams=streams,
    )


def _control_distances(rng: np.random.Generator) -> dict[str, float]:
    """Return how far each control leaves the path; 0 if it does so too early."""
    d, m = 4, 3
    instance = draw_instance(rng, d, m)
    distances = {}
    for control in BROKEN:
        queries = compare_variant(
            control,
            rng,
            instance.V,
            instance.theta,
            instance.support,
            width=m + 1,
            eta=_step_size(d),
            steps=_CONTROL_STEPS,
        ).queries
        before = np.max(queries[: control.since], initial=0.0)
        after = np.max(queries[control.since :])
        # A distance that is not a number is none either.
        apart = before <= _BOUNDS["six steps"] and after >= 0
        distances[control.name] = float(after) if apart else 0.0
    return distances


def _at_most(
    name: str,
    method: str,
    happened: Sequence[bool],
    share: float,
    *,
    cells: int,
    computed: str,
    event: str,
    streams: Streams,
    reason: str | None = None,
) -> Evidence:
    """Return the evidence of a cross-check that may fail at a share of all instances."""
    trials = len(happened)
    failing = Proportion(sum(happened), trials, bonferroni_level(cells))
    return Evidence(
        cell=name,
        subject="cross-check",
        method=method,
        grade=grade_at_most(failing, share),
        computed=f"{computed}; {failing}",
        claimed=f"P({event}) <= {share}",
        precision="binary64",
        seed=streams.seed,
        trials=trials,
        reason=reason,
    )


def _equivalence_cells(profile: Profile) -> tuple[Cell, ...]:
    trials, _ = _TRIALS[profile]
    d, m, h = _SIZES
    variants = "Transformers that meet the conditions, d = 3..5, m = 2, 3"
    training = f"six steps of automatic differentiation, d={d}, m={m}, h={h}"
    return (
        derivation_cell("transformer", cost=0.5),
        Cell(
            name=variants,
            check=partial(_check_variants, variants, profile),
            cost=trials * 0.012,
        ),
        Cell(
            name=training,
            check=partial(_check_training, training, profile),
            cost=1 + trials * 0.005 + (2 if _COMPLETE_TRIALS[profile] else 0),
        ),
    )


def _condition_cells(profile: Profile) -> tuple[Cell, ...]:
    trials, _ = _CONTROL_TRIALS[profile]
    controls = "one condition broken at a time, d = 4, m = 3"
    return (
        derivation_cell("transformer_conditions", cost=0.5),
        Cell(name=controls, check=partial(_check_controls, controls, profile), cost=trials * 0.12),
        layer_cell(),
    )


CLAIMS = (
    Claim(
        id="transformer-equivalence",
        title="a single-layer Transformer with a CLS token is the model of two queries,"
        " and trains like it",
        statement=(
            r"Tokens $z_i = (v_i, x_i, 0)$ and a CLS token $z$; in each of two heads, attention"
            r" with scores $\lambda \langle W_Q z, W_K z_i \rangle$, and $f = -\langle w^1, y"
            r" \rangle \langle w^2, y \rangle$ of the output $y$ at the CLS token. Let $W_K$ be $K$"
            r" on the embeddings, $K^\top K = 1$, and vanish on the bit, the CLS token be masked as"
            r" a key, the readouts find $x_i$ in the values of their own head and nothing else,"
            r" each head have its own $W_Q$, which alone is trained, without bias, norm, residual"
            r" or dropout, and $\lambda K^\top W_Q z = \theta^0$, $\tilde\theta^0$ at the start."
            r" Then plain gradient descent with the step $\eta / (\lambda^2 |z|^2)$ gives $\lambda"
            r" K^\top W_Q z = \theta$, $\tilde\theta$ and the predictions of the two queries after"
            r" every step of size $\eta$ of theirs, for any loss of the predictions."
        ),
        source="arXiv:2502.07553v2, section 2, the reduction to two queries; conditions ours",
        cells=_equivalence_cells,
        dependencies=("softmax-derivative", "population-gradient"),
    ),
    Claim(
        id="transformer-conditions",
        title="without any one of its conditions the Transformer computes or trains something else",
        statement=(
            r"What becomes of the equivalence without each of its conditions, in closed form for"
            r" symbolic $d$ and all sizes: with $K^\top K \ne 1$, a key that reads the bit, an"
            r" unmasked CLS token, other gains, a residual that is read, layer norm, dropout,"
            r" another readout, one $W_Q$ for both heads, a trained bias of the query or the"
            r" output, $z$, $W_K$, $W_V$, $W_O$ or $w$ trained, momentum, Adam, another scale,"
            r" norm or start."
            r" Changes of variables apart, each is another model or another path."
        ),
        source="ours",
        cells=_condition_cells,
        dependencies=("transformer-equivalence", "zero-start"),
    ),
)
