"""Corollary 3 with its constants: d^2 + d m samples suffice up to a constant, certified in balls.

The grid and the constant are fixed here, before anything is computed; the statement speaks of the
(d, m) of the grid and of no other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.derivation import derivation_cell
from verify.evidence.ledger_agreement import LEDGER_BITS, events_agree
from verify.seeds import Streams

__all__ = ["CLAIMS", "FAILURE", "certified_failure", "sample_unit"]

FAILURE = Fraction(1, 4)

# Samples over d^2 + d m, and over d^4 from below for the route by the range of a sample.
_SUFFICIENT = 6
_BY_RANGE = 10

_BITS = 192
_DIGITS = 5

_GRID: Mapping[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((10**9, 1024),),
    "standard": ((10**3, 1024), (10**4, 512), (10**6, 512), (10**9, 1024)),
    "full": (
        (10**3, 1024),
        *((10**n, 512) for n in range(4, 7)),  # larger d ask for a larger m
        *((10**n, m) for n in range(4, 16) for m in (1024, 4096)),
    ),
}
# Where the least n that is found is compared by both routes.
_COMPARISONS: Mapping[Profile, tuple[tuple[int, int], ...]] = {
    "quick": (),
    "standard": ((10**9, 1024),),
    "full": ((10**3, 1024), (10**4, 512), (10**6, 512), (10**9, 1024)),
}
# The moments of one sample, and the proof on top of them.
_LEDGERS = ("sample_noise", "corollary3")

# Where the kernel's events are held against those of the ledger.
_CROSS_CHECKS: Mapping[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((10**9, 1024),),
    "standard": ((10**3, 1024), (10**6, 512)),
    "full": _GRID["full"],
}


def sample_unit(d: int, m: int) -> int:
    """Return d^2 + d m, the unit in which numbers of samples are counted."""
    return d * d + d * m


def certified_failure(d: int, m: int, n: int) -> Fraction:
    """Return the certified bound of the probability that a large step on n samples fails."""
    from numerics.balls.arithmetic.exact import upper_end
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.corollary3 import sample_failure_events
    from numerics.balls.bounds.corollary3_search import best_sample_budget
    from numerics.balls.bounds.events import total

    budget = best_sample_budget(d, m, n, failure=float(FAILURE))
    with working_precision(_BITS):
        bound = upper_end(total(sample_failure_events(d, m, n, budget)))
    return Fraction(1) if bound is None else bound


def _check_bound(d: int, m: int, _streams: Streams) -> Evidence:
    from numerics.balls.arithmetic.exact import upper_digits

    found = certified_failure(d, m, _SUFFICIENT * sample_unit(d, m))
    holds = found <= FAILURE
    return Evidence(
        cell=_name(d, m),
        subject="statement",
        method="the sum of all events in ball arithmetic",
        grade=Grade.CERTIFIED if holds else Grade.UNDECIDED,
        computed=f"P(failure) <= {upper_digits(found, _DIGITS)}",
        claimed=f"<= {float(FAILURE):g} from {_SUFFICIENT} (d^2 + d m) samples",
        margin=float(1 - found / FAILURE),
        precision=f"{_BITS} bits",
        # A bound that misses its mark leaves the statement open.
        reason=None if holds else "the bound misses what is claimed",
    )


def _check_comparison(d: int, m: int, _streams: Streams) -> Evidence:
    """Find the least n by the proof, and by the same proof from the range of a sample."""
    from numerics.balls.bounds.explicit_corollary3 import explicit_corollary3

    found = explicit_corollary3(d, m, failure=FAILURE)
    n, by_range = found.n_sufficient, found.n_hoeffding
    most, least = _SUFFICIENT * sample_unit(d, m), _BY_RANGE * d**4
    holds = n is not None and n <= most and by_range is not None and by_range >= least
    return Evidence(
        cell=_comparison_name(d, m),
        subject="statement",
        method="the sum of all events in ball arithmetic",
        grade=Grade.CERTIFIED if holds else Grade.UNDECIDED,
        computed=f"n = {_times(n, sample_unit(d, m))} (d^2 + d m) found; "
        f"by its range {_times(by_range, d**4)} d^4",
        claimed=f"at most {_SUFFICIENT} (d^2 + d m); by its range {_BY_RANGE} d^4 or more",
        margin=None if n is None else 1 - n / most,
        precision=f"{_BITS} bits",
        reason=None if holds else "the numbers found miss what is claimed",
    )


def _check_events(d: int, m: int, _streams: Streams) -> Evidence:
    """Hold the kernel's events against the ledger's, one by one and in total."""
    from numerics.balls.arithmetic.exact import upper_end
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.corollary3 import sample_failure_events
    from numerics.balls.bounds.corollary3_search import best_sample_budget
    from numerics.balls.bounds.events import total
    from verify.ledgers.corollary3_bound import sample_ledger_upper

    n = _SUFFICIENT * sample_unit(d, m)
    budget = best_sample_budget(d, m, n, failure=float(FAILURE))
    with working_precision(_BITS):
        events = sample_failure_events(d, m, n, budget)
        bound = upper_end(total(events))
    with working_precision(LEDGER_BITS):
        ledger = sample_ledger_upper(d, m, n, budget)
        return events_agree(_name(d, m), events, Fraction(1) if bound is None else bound, ledger)


def _times(n: int | None, unit: int) -> str:
    # Rounded up, as n is.
    return "no" if n is None else f"{math.ceil(Fraction(1000 * n, unit)) / 1000:g}"


def _name(d: int, m: int) -> str:
    # Every d here is a power of ten.
    return f"d=1e{len(str(d)) - 1}, m={m}"


def _comparison_name(d: int, m: int) -> str:
    return f"least n at {_name(d, m)}"


def _explicit_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        *(derivation_cell(name, cost=2) for name in _LEDGERS),
        *(
            Cell(name=f"events at {_name(d, m)}", check=partial(_check_events, d, m), cost=3)
            for d, m in _CROSS_CHECKS[profile]
        ),
        *(
            Cell(name=_name(d, m), check=partial(_check_bound, d, m), cost=1)
            for d, m in _GRID[profile]
        ),
        *(
            Cell(name=_comparison_name(d, m), check=partial(_check_comparison, d, m), cost=6)
            for d, m in _COMPARISONS[profile]
        ),
    )


CLAIMS = (
    Claim(
        id="corollary3-explicit",
        title="6 (d^2 + d m) samples suffice for a failure of 1/4, proved on a grid up to 10^15",
        statement=(
            r"$V$ has independent rows, uniform on the unit sphere of $\mathbb{R}^m$, $\theta^0$ is"
            r" uniform on it, $\tilde\theta^0 = -\theta^0$, the support is fixed before $V$ is"
            r" drawn, and one step is taken on the mean loss of $n = 6 (d^2 + d m)$ independent"
            r" inputs, uniform on $\{-1, +1\}^d$. At every $(d, m)$ of the cells, with probability"
            r" at least $\frac{3}{4}$, for every $T > 0$ and all large enough $\eta$, $\sup_x (f(x)"
            r" - y)^2 \le T$ over all inputs, with the heads on different positions of the"
            r" support. Where both were searched for, the least number of samples found by the"
            r" range of one sample's gradient alone, as in Hoeffding's inequality, is $10 d^4$ or"
            r" more."
        ),
        source="arXiv:2502.07553v2, Corollary 3; rate, constants and proof are ours",
        cells=_explicit_cells,
        dependencies=("theorem2-explicit", "corollary3-variance"),
    ),
)
