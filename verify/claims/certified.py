"""Single instances of Theorem 2, proved in ball arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.assumptions import SETTING
from verify.evidence.certificate_kernels import heads_cell
from verify.evidence.verdict_kernels import pushes_cell, verdicts_cell
from verify.instances.instance import draw_instance
from verify.seeds import Streams

__all__ = ["CLAIMS"]

_TOLERANCE = Fraction(1, 100)
_SCALE = 1000

_SIZES: dict[Profile, tuple[tuple[int, int, float], ...]] = {
    "quick": ((256, 64, 0.2),),
    "standard": ((256, 64, 0.1), (1024, 256, 0.2), (10_000, 512, 1)),
    "full": ((256, 64, 0.1), (1024, 256, 0.2), (10_000, 512, 1), (100_000, 256, 6)),
}
# A draw fails with a probability of order 1/sqrt(d), so that many in a row are no accident.
_ATTEMPTS = 10


def _prove(d: int, m: int, streams: Streams) -> Evidence:
    """Prove the conclusion at the first draw, of a few, at which there is a proof."""
    from numerics.balls.certificate import certify_step

    met = 0
    without: list[int] = []
    grade, computed, precision = Grade.VACUOUS, "nothing", None
    reason: str | None = "no draw met the assumptions"
    for trial in range(_ATTEMPTS):
        instance = draw_instance(streams.trial(trial), d, m)
        if not all(assumption.holds(instance) for assumption in SETTING):
            continue
        met += 1
        found = certify_step(
            *instance.arguments,
            eta=Fraction(_SCALE * d**2),
            tolerance=_TOLERANCE,
        )
        precision = f"{found.bits} bits"
        if found.verdict == "certified" and set(found.heads) == set(instance.support):
            grade, reason = Grade.CERTIFIED, None
            computed = f"draw {trial}: certified, margin {found.margin_bits} bits"
            break
        without.append(trial)
        # Draws without the conclusion do not speak against there being one that has it.
        grade, reason = Grade.UNDECIDED, f"no proof at {met} draws"
        computed = f"draw {trial}: {found.verdict}"
    if grade is Grade.CERTIFIED and without:
        computed += f"; no proof at draws {without}"
    return Evidence(
        cell=_name(d, m),
        subject="statement",
        method="ball arithmetic at drawn instances",
        grade=grade,
        computed=computed,
        claimed="sup loss <= 0.01, one head on a, the other on b",
        precision=precision,
        seed=streams.seed,
        trials=trial + 1,
        met=met,
        reason=reason,
    )


def _name(d: int, m: int) -> str:
    return f"d={d}, m={m}, eta={_SCALE} d^2"


def _cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        *(
            Cell(name=_name(d, m), check=partial(_prove, d, m), cost=cost)
            for d, m, cost in _SIZES[profile]
        ),
        heads_cell(),
        verdicts_cell(),
        pushes_cell(),
    )


CLAIMS = (
    Claim(
        id="theorem2-instances",
        title="at drawn instances, one step brings every one of the 2^d losses below 0.01, proved",
        statement=(
            r"There are embeddings and starts, drawn as in Theorem 2 and written down to the last"
            r" bit, at which one population step with $\eta = 1000 d^2$ gives $(f(x) - y)^2 \le"
            r" 0.01$ for every $x \in \{-1, +1\}^d$, with the heads on different positions of $S$."
        ),
        source="arXiv:2502.07553v2, Theorem 2, at single instances; the proofs are ours",
        cells=_cells,
        assumptions=SETTING,
        dependencies=("population-gradient", "worst-case-loss"),
    ),
)
