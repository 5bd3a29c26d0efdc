"""The assumptions of the paper's setting, as predicates on instances."""

from __future__ import annotations

import numpy as np

from verify.claim import Assumption
from verify.instances.instance import Instance

__all__ = ["ANTISYMMETRIC_START", "SETTING", "UNIT_EMBEDDINGS", "UNIT_START"]

# A normalised row of m numbers has a squared norm within about (m + 4) units of 2^-53 of 1;
# 1e-12 leaves room up to m of several thousand.
_UNIT_TOLERANCE = 1e-12


def _unit_rows(instance: Instance) -> bool:
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", instance.V, instance.V)
    return bool(np.max(np.abs(squares - 1)) <= _UNIT_TOLERANCE)


def _unit_start(instance: Instance) -> bool:
    with np.errstate(over="ignore"):
        square = instance.theta @ instance.theta
    return bool(abs(square - 1) <= _UNIT_TOLERANCE)


def _antisymmetric(instance: Instance) -> bool:
    return np.array_equal(instance.theta_tilde, -instance.theta)


UNIT_EMBEDDINGS = Assumption("unit embeddings", r"$|v_i| = 1$ for every $i$", _unit_rows)
UNIT_START = Assumption("unit start", r"$|\theta^0| = 1$", _unit_start)
ANTISYMMETRIC_START = Assumption(
    "antisymmetric start", r"$\tilde\theta^0 = -\theta^0$", _antisymmetric
)

SETTING = (UNIT_EMBEDDINGS, UNIT_START, ANTISYMMETRIC_START)
"""What the paper's theorem assumes of every draw."""
