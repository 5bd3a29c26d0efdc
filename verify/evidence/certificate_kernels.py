"""What a certificate says beside its verdict, held against binary64: heads and their attention.

Where two scores are equal to the last bit no head has a largest attention. Drawn instances have no
such ties, so that a certificate that names a head too easily would not be noticed at them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from numerics.balls.certificate import certify_step
from numerics.one_step import one_step
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.instance import draw_instance

__all__ = ["heads_cell"]

# Scores of size 1000 at most, each by some twenty roundings of gradients and products.
_ACCURACY = Fraction("1e-9")


def heads_cell() -> Cell:
    """Return the cell on the heads of certificates and their attention."""
    return fault_cell(
        "heads and their attention, also at ties",
        _head_faults,
        method="the step in binary64; embeddings that occur twice",
        claimed=f"heads and their attention within {float(_ACCURACY):g}; no head at a tie",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=20,
        cost=0.3,
    )


def _head_faults(rng: np.random.Generator) -> Faults:
    d, m = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    instance = draw_instance(rng, d, m)
    eta = Fraction(int(rng.integers(4, 2500)))
    for ties in (False, True):
        V = np.concatenate([instance.V, instance.V]) if ties else instance.V
        found = certify_step(
            V,
            instance.theta,
            instance.theta_tilde,
            instance.support,
            eta=eta,
            tolerance=Fraction("0.01"),
        )
        after = one_step(V, instance.theta, instance.support, float(eta))
        for head, share, gamma in zip(
            found.heads, found.attention, (after.gamma, after.gamma_tilde), strict=True
        ):
            if ties:
                right = head is None and share is None
            else:
                # Drawn scores are not so near to each other that binary64 could confuse them.
                right = head == int(np.argmax(gamma)) and _is_near(share, float(np.max(gamma)))
            if not right:
                yield f"head {head}, attention {share}, ties {ties}: {gamma.tolist()}"


def _is_near(interval: tuple[Fraction, Fraction] | None, value: float) -> bool:
    """Whether both ends of an interval are near a number."""
    return interval is not None and all(abs(end - Fraction(value)) <= _ACCURACY for end in interval)
