"""Theorem 2 with its constants: derived, evaluated in balls, and the one held against the other.

The statements, their grids and their constants are fixed here, before anything is computed. Each
speaks of the (d, m) of its grid and of no other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from verify.claim import Cell, Claim, Evidence, Grade, Profile
from verify.evidence.derivation import derivation_cell
from verify.evidence.grid_kernels import grids_cell
from verify.evidence.ledger_agreement import LEDGER_BITS, cross_check, events_agree
from verify.evidence.rigged_obligations import obligations_cell
from verify.seeds import Streams

if TYPE_CHECKING:
    from numerics.balls.bounds.theorem2 import Budget

__all__ = [
    "CLAIMS",
    "TOLERANCE",
    "certified_lower",
    "certified_upper",
    "step_scale",
    "sufficient_width",
]

TOLERANCE = Fraction(1, 100)

# The probability of failure in terms of (2/pi) arctan(1/sqrt d), from m = 256 on: with the step
# size below, as the step grows, and from below.
_UPPER, _LIMIT, _LOWER = Fraction(3, 2), Fraction(21, 20), Fraction(9, 10)

# "With high probability" for the least m.
_FAILURE = Fraction(1, 10)
_LEAST_WIDTH = 36

# The ledger is evaluated at fewer bits than the certificate, whose bounds are rounded to safety.
_BITS = 192
_DIGITS = 5

_LEDGERS = ("one_step", "score_bounds", "theorem2")
_SIGNS = "signs left to ball arithmetic"

_GRID: Mapping[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((10**15, 256),),
    "standard": tuple((10**n, m) for n in range(3, 16, 3) for m in (256, 1024)),
    "full": tuple((10**n, m) for n in range(3, 16) for m in (256, 512, 1024, 4096, 16_384)),
}
_WIDTH_EXPONENTS: Mapping[Profile, range] = {
    "quick": range(3, 4),
    "standard": range(3, 16),
    "full": range(3, 16),
}
_CROSS_CHECKS: Mapping[Profile, tuple[tuple[int, int], ...]] = {
    "quick": ((10**3, 256),),
    "standard": ((10**3, 256), (10**6, 72), (10**15, 132)),
    "full": tuple((10**n, m) for n in range(3, 16) for m in (132, 256, 1024)),
}


def step_scale(d: int, m: int) -> int:
    """Return C = ceil(2 sqrt(d m)), for the step sizes eta >= C d^2."""
    return math.isqrt(4 * d * m - 1) + 1


def sufficient_width(d: int) -> int:
    """Return ceil(36 + 2 log2 d), for d > 1."""
    # The least k with 2^k >= d^2 is the number of binary digits of d^2 - 1.
    return _LEAST_WIDTH + (d * d - 1).bit_length()


def certified_upper(d: int, m: int, scale: Fraction | None) -> tuple[Budget, Fraction]:
    """Return a budget and the certified bound of the probability of failure at it.

    For the step sizes eta >= scale d^2, or for all large enough ones where there is no scale.
    """
    from numerics.balls.arithmetic.exact import upper_end
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.events import total
    from numerics.balls.bounds.theorem2 import failure_events
    from numerics.balls.bounds.theorem2_search import best_budget

    budget = best_budget(d, m, scale=scale, tolerance=TOLERANCE)
    with working_precision(_BITS):
        events = failure_events(d, m, budget, scale=scale, tolerance=TOLERANCE)
        bound = upper_end(total(events))
    return budget, Fraction(1) if bound is None else bound


def certified_lower(d: int, m: int) -> Fraction:
    """Return the certified lower bound of the probability of failure as the step grows."""
    from numerics.balls.arithmetic.exact import lower_end
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.converse import failure_lower
    from numerics.balls.bounds.theorem2_search import best_converse_budget

    budget = best_converse_budget(d, m)
    with working_precision(_BITS):
        return lower_end(failure_lower(d, m, budget)) or Fraction(0)


def _law(d: int) -> tuple[Fraction, Fraction]:
    """Return rational numbers next to (2/pi) arctan(1/sqrt d), below and above it."""
    from flint import arb

    from numerics.balls.arithmetic.exact import lower_end, upper_end
    from numerics.balls.arithmetic.precision import working_precision

    with working_precision(_BITS):
        law = 2 * (1 / arb(d).sqrt()).atan() / arb.pi()
        low, high = lower_end(law), upper_end(law)
    if low is None or high is None:
        raise ArithmeticError(f"the law at d={d} is not finite")
    return low, high


def _name(d: int, m: int) -> str:
    # Every d here is a power of ten.
    return f"d=1e{len(str(d)) - 1}, m={m}"


def _certified(
    name: str, pairs: tuple[tuple[Fraction, Fraction], ...], computed: str, claimed: str
) -> Evidence:
    """Return the evidence that each first number is at most the second.

    A bound that misses its mark does not refute the theorem: it leaves the statement open.
    """
    holds = all(left <= right for left, right in pairs)
    return Evidence(
        cell=name,
        subject="statement",
        method="the sum of all events in ball arithmetic",
        grade=Grade.CERTIFIED if holds else Grade.UNDECIDED,
        computed=computed,
        claimed=claimed,
        margin=min(float((right - left) / max(left, right)) for left, right in pairs),
        precision=f"{_BITS} bits",
        reason=None if holds else "the bound misses what is claimed",
    )


def _above(x: Fraction) -> str:
    from numerics.balls.arithmetic.exact import upper_digits

    return upper_digits(x, _DIGITS)


def _below(x: Fraction) -> str:
    from numerics.balls.arithmetic.exact import lower_digits

    return lower_digits(x, _DIGITS)


def _check_upper(d: int, m: int, _streams: Streams) -> Evidence:
    _, found = certified_upper(d, m, Fraction(step_scale(d, m)))
    _, found_limit = certified_upper(d, m, None)
    law, _ = _law(d)
    upper, limit = _UPPER * law, _LIMIT * law
    return _certified(
        _name(d, m),
        ((found, upper), (found_limit, limit)),
        f"P(failure) <= {_above(found)}; <= {_above(found_limit)} as eta grows",
        f"<= {_below(upper)} for eta >= 2 sqrt(d m) d^2, <= {_below(limit)} as eta grows",
    )


def _check_lower(d: int, m: int, _streams: Streams) -> Evidence:
    lower = certified_lower(d, m)
    _, law = _law(d)
    least = _LOWER * law
    return _certified(
        _name(d, m),
        ((least, lower),),
        f"P(failure) >= {_below(lower)} as eta grows",
        f">= {_above(least)}",
    )


def _check_width(d: int, _streams: Streams) -> Evidence:
    m = sufficient_width(d)
    _, found = certified_upper(d, m, Fraction(step_scale(d, m)))
    return _certified(
        _name(d, m),
        ((found, _FAILURE),),
        f"P(failure) <= {_above(found)}",
        "<= 0.1 for eta >= 2 sqrt(d m) d^2",
    )


def _check_signs(_streams: Streams) -> Evidence:
    """Decide the signs of functions of one variable that the ledgers leave to balls."""
    from derivations.catalogue import load
    from verify.ledgers.obligations import Verdict, discharge

    found = {
        f"{name}: {obligation.name}": discharge(obligation)
        for name in (*_LEDGERS, "converse")
        for obligation in load(name).obligations
    }
    verdicts = [each.verdict for each in found.values()]
    grade, reason = Grade.CERTIFIED, None
    for verdict, worse in ((Verdict.UNDECIDED, Grade.UNDECIDED), (Verdict.REFUTED, Grade.REFUTED)):
        if verdict in verdicts:
            grade = worse
            reason = "; ".join(
                f"{name}: {each.reason or f'negative at {each.witness}'}"
                for name, each in found.items()
                if each.verdict is verdict
            )
    return Evidence(
        cell=_SIGNS,
        subject="statement",
        method="interval subdivision, with a derivative next to each zero",
        grade=grade,
        computed=f"{verdicts.count(Verdict.PROVED)} of {len(found)} signs proved, on "
        f"{sum(each.cells for each in found.values())} intervals",
        claimed="every function of one variable has the sign that its step asks for",
        precision="ball arithmetic",
        reason=reason,
    )


def _check_events(d: int, m: int, _streams: Streams) -> Evidence:
    """Hold the kernel's events against the ledger's, one by one and in total."""
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.theorem2 import failure_events
    from verify.ledgers.theorem2_bound import ledger_upper

    scale = Fraction(step_scale(d, m))
    budget, bound = certified_upper(d, m, scale)
    with working_precision(_BITS):
        events = failure_events(d, m, budget, scale=scale, tolerance=TOLERANCE)
    with working_precision(LEDGER_BITS):
        ledger = ledger_upper(d, m, budget, scale=scale, tolerance=TOLERANCE)
        return events_agree(_name(d, m), events, bound, ledger)


def _check_converse(d: int, m: int, _streams: Streams) -> Evidence:
    """Hold the kernel's lower bound against the ledger's."""
    from numerics.balls.arithmetic.precision import working_precision
    from numerics.balls.bounds.converse import failure_lower
    from numerics.balls.bounds.theorem2_search import best_converse_budget
    from verify.ledgers.theorem2_bound import ledger_lower

    budget = best_converse_budget(d, m)
    with working_precision(_BITS):
        kernel = failure_lower(d, m, budget)
    with working_precision(LEDGER_BITS):
        agree = kernel.overlaps(ledger_lower(d, m, budget))
    return cross_check(
        f"lower bound at {_name(d, m)}",
        [] if agree else ["the lower bound"],
        agreed="both agree",
        claimed="the kernel's lower bound is the ledger's",
    )


def _explicit_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        *(derivation_cell(name, cost=3) for name in _LEDGERS),
        Cell(name=_SIGNS, check=_check_signs, cost=0.2),
        obligations_cell(),
        grids_cell(),
        *(
            Cell(name=_name(d, m), check=partial(_check_upper, d, m), cost=0.5)
            for d, m in _GRID[profile]
        ),
        *(
            Cell(name=f"events at {_name(d, m)}", check=partial(_check_events, d, m), cost=2)
            for d, m in _CROSS_CHECKS[profile]
        ),
    )


def _converse_cells(profile: Profile) -> tuple[Cell, ...]:
    return (
        derivation_cell("converse", cost=2),
        *(
            Cell(name=_name(d, m), check=partial(_check_lower, d, m), cost=0.1)
            for d, m in _GRID[profile]
        ),
        *(
            Cell(
                name=f"lower bound at {_name(d, m)}",
                check=partial(_check_converse, d, m),
                cost=2,
            )
            for d, m in _CROSS_CHECKS[profile]
        ),
    )


def _width_cells(profile: Profile) -> tuple[Cell, ...]:
    sizes = [10**exponent for exponent in _WIDTH_EXPONENTS[profile]]
    return tuple(
        Cell(name=_name(d, sufficient_width(d)), check=partial(_check_width, d), cost=0.5)
        for d in sizes
    )


_SETTING = (
    r"$V$ has independent rows, uniform on the unit sphere of $\mathbb{R}^m$, $\theta^0$ is uniform"
    r" on it, $\tilde\theta^0 = -\theta^0$, the support is fixed before $V$ is drawn, and one"
    r" population step is taken"
)

CLAIMS = (
    Claim(
        id="theorem2-explicit",
        title="Theorem 2 with its constants, proved on a grid up to d = 10^15",
        statement=(
            f"{_SETTING}. At every $(d, m)$ of the cells, with probability at least $1 -"
            r" \frac{3}{2} \cdot \frac{2}{\pi} \arctan(1 / \sqrt{d})$, for every $\eta \ge \lceil 2"
            r" \sqrt{d m} \rceil d^2$ at once, $\sup_x (f(x) - y)^2 \le 0.01$ with the heads on"
            r" different positions of the support; for all large enough $\eta$ with $1.05$ in place"
            r" of $\frac{3}{2}$."
        ),
        source="arXiv:2502.07553v2, Theorem 2; constants, rate and proof are ours",
        cells=_explicit_cells,
        dependencies=("antisymmetric-start", "worst-case-loss"),
    ),
    Claim(
        id="theorem2-converse",
        title="one step fails with a probability of order 1/sqrt(d), whatever its size: from below",
        statement=(
            f"{_SETTING}. At every $(d, m)$ of the cells, with probability at least $0.9 \\cdot"
            r" \frac{2}{\pi} \arctan(1 / \sqrt{d})$ both heads prefer the same position of the"
            r" support ever more as $\eta \to \infty$, and the lower limit of $\sup_x (f(x) - y)^2$"
            r" is at least $1$."
        ),
        source="ours",
        cells=_converse_cells,
        dependencies=("theorem2-explicit",),
    ),
    Claim(
        id="theorem2-logarithmic-width",
        title="m = 36 + 2 log2 d suffices for a failure probability of 0.1, on a grid up to 10^15",
        statement=(
            f"{_SETTING}. For every $d$ of the cells and $m = \\lceil 36 + 2 \\log_2 d \\rceil$,"
            r" with probability at least $0.9$, for every $\eta \ge \lceil 2 \sqrt{d m} \rceil d^2$"
            r" at once, $\sup_x (f(x) - y)^2 \le 0.01$. On this grid; for other $d$ nothing is"
            r" claimed."
        ),
        source="arXiv:2502.07553v2, Theorem 2; the width is ours",
        cells=_width_cells,
        dependencies=("theorem2-explicit",),
    ),
)
