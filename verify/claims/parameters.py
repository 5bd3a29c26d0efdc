"""What is trained and what is frozen, counted."""

from __future__ import annotations

from functools import partial

import numpy as np

from numerics.one_step import one_step
from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.instances.instance import draw_instance
from verify.seeds import Streams

__all__ = ["CLAIMS"]

# Sizes with 2m below d at which the other claims find that one step succeeds.
_SIZES = ((1024, 256), (4096, 384), (16_384, 512))


def _count(d: int, m: int, streams: Streams) -> Evidence:
    """Count the numbers that a step changes, and those it leaves alone."""
    instance = draw_instance(streams.trial(0), d, m)
    frozen_before = instance.V.tobytes()
    step = one_step(instance.V, instance.theta, instance.support, 1000.0 * d**2)
    changed = np.count_nonzero(step.theta != instance.theta) + np.count_nonzero(
        step.theta_tilde != instance.theta_tilde
    )
    untouched = instance.V.tobytes() == frozen_before
    held = untouched and changed == 2 * m < d and instance.V.size == d * m
    return Evidence(
        cell=f"d={d}, m={m}",
        subject="statement",
        method="counting the numbers that a step changes",
        grade=Grade.EXACT if held else Grade.REFUTED,
        computed=f"{changed} trained, {instance.V.size} frozen, d = {d}",
        claimed=f"2m = {2 * m} < d trained, d m = {d * m} frozen",
        precision="exact",
        seed=streams.seed,
        trials=1,
    )


def _cells(profile: Profile) -> tuple[Cell, ...]:
    sizes = _SIZES[:1] if profile == "quick" else _SIZES
    return tuple(
        Cell(name=f"d={d}, m={m}", check=partial(_count, d, m), cost=d * m * 5e-8) for d, m in sizes
    )


CLAIMS = (
    Claim(
        id="parameter-count",
        title="2m numbers are trained, fewer than the d inputs; d m numbers are stored frozen",
        statement=(
            r"The model trains the two queries $\theta, \tilde\theta \in \mathbb{R}^m$ alone: $2m$"
            r" numbers, whatever $d$, and $2m < d$ at every $(d, m)$ of the cells. It also stores"
            r" the $d m$ frozen numbers of $V$."
        ),
        source="arXiv:2502.07553v2, Theorem 2; the count of frozen numbers is ours",
        cells=_cells,
    ),
)
