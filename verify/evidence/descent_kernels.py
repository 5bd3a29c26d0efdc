"""The search for a step size and its best descent, held against steps taken one by one.

Claims and commands ask in how many steps a descent reaches its tolerance, and where its heads are
then: a count that is off by one, or a descent from another start, looks like any other result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from numerics.attention_maps import find_map
from numerics.training import Objective, population_objective
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell
from verify.instances.starts import STARTS, Start, draw_start
from verify.seeds import Streams
from verify.trials.comparison import compare_trial

__all__ = ["search_cell"]

_ATTENTION = ("softmax", "linear", "erf")
# Most of the searches reach the tolerance with some step sizes, and not with others.
_STEPS = 10
_TOLERANCE = 0.5
# A power of ten, by a rounding or two.
_ACCURACY = 1e-14

# Steps taken, loss after them, and the queries there.
_End = tuple[int, float, tuple[NDArray[np.float64], NDArray[np.float64]]]
# The better key is the smaller one.
_Key = tuple[bool, int, float, float]


def search_cell() -> Cell:
    """Return the cell on the search for a step size and its best descent."""
    return fault_cell(
        "search for a step size",
        _search_faults,
        method="steps taken one by one; the rule of the search as it is worded",
        claimed="the same step sizes, steps, losses, best step size and heads",
        grade=Grade.SAMPLED,
        precision="binary64",
        trials=3,
        cost=0.3,
    )


def _search_faults(rng: np.random.Generator) -> Faults:
    d, m, seed = (int(rng.integers(low, high)) for low, high in ((3, 6), (2, 9), (0, 1 << 31)))
    start: Start = STARTS[int(rng.integers(len(STARTS)))]
    for name in _ATTENTION:
        found = compare_trial(
            Streams(seed),
            0,
            name,
            d=d,
            m=m,
            start=start,
            law="sphere",
            steps=_STEPS,
            tolerance=_TOLERANCE,
        )
        drawn = draw_start(Streams(seed).trial(0), d, m, law="sphere", start=start)
        objective = population_objective(drawn.V, drawn.support, attention=find_map(name))
        ends: dict[float, _End] = {}
        quickest = _STEPS
        tried = {each.eta: each for each in found.candidates}
        for eta in _in_turn(sorted(tried), d):
            if eta is None:
                yield f"{name}: step sizes {list(tried)} for d = {d}"
                return
            ends[eta] = _descent(objective, (drawn.theta, drawn.theta_tilde), eta, quickest)
            steps, loss, _ = ends[eta]
            reached = loss <= _TOLERANCE
            if reached:
                quickest = min(quickest, steps)
            if not _same(tried[eta].loss, loss) or (tried[eta].steps, tried[eta].reached) != (
                steps,
                reached,
            ):
                yield f"{name}, by hand {steps} steps to loss {loss}: {tried[eta]}"
        best = min(ends, key=lambda eta: _key(eta, ends[eta]))
        # The largest weights of softmax are at the largest scores; of odd maps, at the furthest.
        size = np.asarray if name == "softmax" else np.abs
        heads = tuple(int(np.argmax(size(drawn.V @ query))) for query in ends[best][2])
        if (found.best.eta, found.heads) != (best, heads):
            yield f"{name}: best {found.best}, heads {found.heads}; by hand {best}, {heads}"


def _in_turn(etas: list[float], d: int) -> Iterator[float | None]:
    """Yield the step sizes in the order in which they are tried; None if they are others."""
    decades = math.ceil(math.log10(1000 * d * d))
    coarse = [10.0 ** (k / 2) for k in range(2 * decades, -13, -1)]
    first = [eta for wanted in coarse for eta in etas if _near(eta, wanted)]
    yield from first if len(first) == len(coarse) else [None]
    later = [eta for eta in etas if eta not in first]
    # A third of a decade to either side of the best, six a decade.
    middle = math.sqrt(later[0] * later[-1]) if later else 0.0
    fine = [middle * 10.0 ** (k / 6) for k in (-2, -1, 1, 2)]
    agree = len(later) == len(fine) and all(map(_near, later, fine))
    yield from later if agree and any(_near(middle, eta) for eta in first) else [None]


def _near(x: float, y: float) -> bool:
    return math.isclose(x, y, rel_tol=_ACCURACY)


def _same(x: float, y: float) -> bool:
    """Whether two losses have the same bits, the infinite one included."""
    return x.hex() == y.hex()


def _key(eta: float, end: _End) -> _Key:
    steps, loss, _ = end
    reached = loss <= _TOLERANCE
    return not reached, steps if reached else 0, loss, eta


def _descent(
    objective: Objective,
    queries: tuple[NDArray[np.float64], NDArray[np.float64]],
    eta: float,
    most: int,
) -> _End:
    """Take steps until the tolerance, `most` of them, or a loss 1000 times that of the start."""
    at = objective(*queries)
    first, taken = at.loss, 0
    while taken < most and at.loss > _TOLERANCE:
        queries = (queries[0] - eta * at.theta, queries[1] - eta * at.theta_tilde)
        at = objective(*queries)
        taken += 1
        if at.loss / first > 1000:
            return taken, math.inf, queries
    return taken, at.loss, queries
