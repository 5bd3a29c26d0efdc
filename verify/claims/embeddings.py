"""Random positional embeddings are nearly orthogonal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from numerics.sphere import coherence, coherence_bound
from verify.claim import Cell, Claim, Profile
from verify.evidence.assumptions import UNIT_EMBEDDINGS
from verify.evidence.simulation import Event, simulation_cell
from verify.instances.instance import Instance, draw_instance

__all__ = ["CLAIMS"]

_FAILURE = 0.1


@dataclass(frozen=True)
class _Setting:
    d: int
    m: int
    trials: int
    cost: float


_SETTINGS: dict[Profile, tuple[_Setting, ...]] = {
    "quick": (_Setting(256, 64, 100, 0.5), _Setting(512, 256, 100, 1)),
    "standard": (
        _Setting(256, 64, 200, 1),
        _Setting(1024, 256, 200, 4),
        _Setting(2048, 384, 100, 5),
    ),
    "full": (
        _Setting(256, 64, 2000, 5),
        _Setting(1024, 256, 2000, 30),
        _Setting(4096, 384, 1000, 200),
    ),
}


def _cells(profile: Profile) -> tuple[Cell, ...]:
    settings = _SETTINGS[profile]
    return tuple(
        simulation_cell(
            name=f"d={each.d}, m={each.m}",
            draw=partial(draw_instance, d=each.d, m=each.m),
            event=_exceeds(coherence_bound(each.d, each.m, _FAILURE)),
            bound=_FAILURE,
            trials=each.trials,
            cells=len(settings),
            assumptions=(UNIT_EMBEDDINGS,),
            cost=each.cost,
        )
        for each in settings
    )


# An inner product of unit vectors in binary64 errs by at most about m units of 2^-53, in whatever
# order it is added up: below 1e-12 for m up to several thousand.
_ROUNDING = 1e-12


def _exceeds(bound: float) -> Event:
    """Return the event that the coherence exceeds a bound, decided beyond its rounding error."""

    def happens(instance: Instance) -> bool | None:
        found = coherence(instance.V)
        if abs(found - bound) <= _ROUNDING:
            return None
        return found > bound

    return Event(f"max |v_i.v_j| > {bound:.4f}", happens)


CLAIMS = (
    Claim(
        id="near-orthogonality",
        title="random embeddings are nearly orthogonal, all pairs at once",
        statement=(
            r"For $v_1, \dots, v_d$ independent and uniform on $S^{m-1}$ and any $\delta \in (0,"
            r" 1)$, $\max_{i < j} |v_i \cdot v_j|^2 \le 1 - \bigl(\delta /"
            r" \binom{d}{2}\bigr)^{2/(m-1)}$ with probability at least $1 - \delta$; here $\delta ="
            r" 1/10$."
        ),
        source="arXiv:2502.07553v2, proof of Theorem 2; the explicit bound is ours",
        cells=_cells,
        assumptions=(UNIT_EMBEDDINGS,),
    ),
)
