"""The largest loss over all 2^d inputs in balls: a bracket, and the input behind its lower end.

Ours; the geometry is that of docs/mathematics.md, section 5. With tau = x_a x_b, x_a = +1, the
loss is R^2, R = 1 - tau p q >= 0, and the points (p, q) fill a zonotope whose vertices are
met by turning the generators (gamma_i, gamma~_i), i not in S, one at a time, in order of angle.

**Order.** The generators are (e^{s_i}, e^{s~_i}) up to a common factor for each head, so the order
of their angles is that of the differences s~_i - s_i. Scores are exact here, integers times powers
of two, so the differences are compared exactly: no quotient, and no ball, is ever sorted.

**Scores with a slack.** After a step the scores are known within a slack rho for head 1 and rho~
for head 2. The bracket is computed for the midpoints, whose order is exact. Moving all scores of
head 1 by at most rho multiplies each e^{s_i}, and any sum of them, by a factor within e^{+-rho}, so

    R = 2 (alpha' beta + alpha beta') / (Z Z~)   or   2 (alpha' beta' + alpha beta) / (Z Z~),

alpha, alpha' head 1's mass where x is -1, +1 and beta, beta' that of head 2, by a factor within
e^{+-2 (rho + rho~)}, whatever x. So is its supremum: the bracket is multiplied by a ball that holds
these factors. Masses are sums of positive numbers, each formed from its own side; nothing cancels.

**Ends.** Vertices are inputs: the best one bounds the supremum from below. For tau = -1 it is the
supremum. For tau = +1 the supremum may exceed it by what an edge exceeds its better end: on the
edge of generator i, from R_s to R_e, with R_2 = 4 gamma_i gamma~_i, R is at most

    max(R_s, R_e) + (R_2 - |R_e - R_s|)^2 / (4 R_2)   if |R_e - R_s| < R_2,   else max(R_s, R_e).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from flint import arb

from numerics.balls.arithmetic.exact import symmetric
from numerics.balls.model import HeadScores, powers

__all__ = [
    "Bracket",
    "Generators",
    "Masses",
    "angle_order",
    "base",
    "branch",
    "branches",
    "joined",
    "slack_factor",
]


@dataclass(frozen=True, slots=True)
class Generators:
    """Unnormalised attention, with the positions outside the support in order of angle.

    Attributes
    ----------
    E, F : list of arb, length d
        Positive multiples of gamma and gamma~.
    support : pair of int
        The positions (a, b), 0-based.
    order : tuple of int
        The positions outside the support by increasing angle of (E_i, F_i).
    total : arb
        ``sum E * sum F``.
    """

    E: list[arb]
    F: list[arb]
    support: tuple[int, int]
    order: tuple[int, ...]
    total: arb

    @classmethod
    def of(cls, first: HeadScores, second: HeadScores, support: tuple[int, int]) -> Generators:
        """Take the exponentials of the midpoints of the scores."""
        E, F = powers(first.integers, first.unit), powers(second.integers, second.unit)
        order = angle_order(first, second)
        outside = tuple(i for i in order if i not in support)
        return cls(E, F, support, outside, sum(E, arb(0)) * sum(F, arb(0)))


class Masses(NamedTuple):
    """Masses of the positions where the sign is fixed: head 1 on +1 and -1, then head 2."""

    plus: arb
    minus: arb
    plus_tilde: arb
    minus_tilde: arb


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracket of the largest R = 1 - tau p q over the inputs in question.

    Attributes
    ----------
    attained : arb
        R of the witness; if `closed`, the supremum.
    bound : arb
        No R exceeds every member of it. The supremum is between the two.
    witness : frozenset of int
        The positions with sign -1.
    closed : bool
        The supremum is a vertex, so that the bracket is as narrow as the balls are.
    """

    attained: arb
    bound: arb
    witness: frozenset[int]
    closed: bool


def slack_factor(first: HeadScores, second: HeadScores) -> arb:
    """Return a ball with every factor by which the slack of the scores can change any R."""
    return symmetric(2 * (first.slack + second.slack)).exp()


def angle_order(first: HeadScores, second: HeadScores) -> list[int]:
    """Return the positions by increasing s~_i - s_i, compared as integers in a common unit."""
    unit = min(first.unit, second.unit)
    shift, shift_tilde = first.unit - unit, second.unit - unit
    differences = [
        (t << shift_tilde) - (s << shift)
        for s, t in zip(first.integers, second.integers, strict=True)
    ]
    return sorted(range(len(differences)), key=differences.__getitem__)


def branches(generators: Generators) -> tuple[Bracket, Bracket]:
    """Bracket the largest R over the inputs of tau = -1 and of tau = +1."""
    opposite, equal = (
        branch(generators, tau, base(generators, tau), generators.order) for tau in (-1, 1)
    )
    return opposite, equal


def joined(opposite: Bracket, equal: Bracket) -> Bracket:
    """Bracket the largest R over all inputs from the two branches, the first one closed."""
    best = max(opposite, equal, key=lambda found: found.attained.mid())
    return Bracket(
        opposite.attained.max(equal.attained),
        opposite.bound.max(equal.bound),
        best.witness,
        equal.closed or equal.bound <= opposite.attained,
    )


def base(generators: Generators, tau: int) -> Masses:
    """Return the masses of the support, x_a = 1 and x_b = tau."""
    a, b = generators.support
    E, F = generators.E, generators.F
    if tau > 0:
        return Masses(E[a] + E[b], arb(0), F[a] + F[b], arb(0))
    return Masses(E[a], E[b], F[a], F[b])


def branch(generators: Generators, tau: int, fixed: Masses, free: Sequence[int]) -> Bracket:
    """Bracket the largest R = 1 - tau p q over the signs of the free positions.

    Parameters
    ----------
    generators : Generators
        The attention.
    tau : int
        x_a x_b.
    fixed : Masses
        The masses of all other positions.
    free : sequence of int
        Positions outside the support, in the order of ``generators.order``. The witness has
        those of sign -1 among these only, and b if tau is -1.
    """
    E = [generators.E[i] for i in free]
    F = [generators.F[i] for i in free]
    turned, turned_tilde = _running_sums(E), _running_sums(F)
    kept, kept_tilde = _running_sums(E[::-1])[::-1], _running_sums(F[::-1])[::-1]
    scale = 2 / generators.total
    chains = []
    # Positions turned to +1 in order of angle, the others at -1; then the other way round.
    for plus, minus, plus_tilde, minus_tilde in (
        (turned, kept, turned_tilde, kept_tilde),
        (kept, turned, kept_tilde, turned_tilde),
    ):
        along = (
            _shifted(plus, fixed.plus),
            _shifted(minus, fixed.minus),
            _shifted(plus_tilde, fixed.plus_tilde),
            _shifted(minus_tilde, fixed.minus_tilde),
        )
        chains.append([scale * x for x in _shortfalls(tau, *along)])
    best, chain, count = max(
        ((R[k], c, k) for c, R in enumerate(chains) for k in (_largest(R),)),
        key=lambda found: found[0].mid(),
    )
    negative = free[count:] if chain == 0 else free[:count]
    witness = frozenset(negative) | ({generators.support[1]} if tau < 0 else set())
    bound = reduce(arb.max, (x for R in chains for x in R))
    closed = tau < 0 or len(free) <= 1 or _one_sided(fixed, turned[-1], turned_tilde[-1])
    if closed:
        # The supremum is one of the vertices: their maximum encloses it, whichever it is.
        return Bracket(bound, bound, witness, closed)
    curvatures = [2 * scale * (u * t) for u, t in zip(E, F, strict=True)]
    edges = reduce(arb.max, (x for R in chains for x in _edges(R, curvatures)), arb(0))
    if edges <= best:
        return Bracket(bound, bound, witness, closed=True)
    return Bracket(best, bound.max(edges), witness, closed=False)


def _one_sided(fixed: Masses, free: arb, free_tilde: arb) -> bool:
    """Whether p and q provably never change sign and have one sign: p q is smallest at a vertex."""
    never_negative = (
        fixed.plus >= fixed.minus + free and fixed.plus_tilde >= fixed.minus_tilde + free_tilde
    )
    never_positive = (
        fixed.minus >= fixed.plus + free and fixed.minus_tilde >= fixed.plus_tilde + free_tilde
    )
    return never_negative or never_positive


def _running_sums(terms: Sequence[arb]) -> list[arb]:
    sums = [arb(0)]
    for term in terms:
        sums.append(sums[-1] + term)
    return sums


def _shifted(sums: list[arb], mass: arb) -> list[arb]:
    return [x + mass for x in sums]


def _shortfalls(
    tau: int,
    plus: Sequence[arb],
    minus: Sequence[arb],
    plus_tilde: Sequence[arb],
    minus_tilde: Sequence[arb],
) -> Iterator[arb]:
    """Yield (1 - tau p q) / 2 times the total."""
    if tau < 0:
        plus_tilde, minus_tilde = minus_tilde, plus_tilde
    for u, v, t, w in zip(plus, minus, plus_tilde, minus_tilde, strict=True):
        yield u * w + v * t


def _largest(R: Sequence[arb]) -> int:
    # Any choice is sound, as every vertex is an input; midpoints are exact, so they can be sorted.
    return max(range(len(R)), key=lambda k: R[k].mid())


def _edges(R: Sequence[arb], curvatures: Sequence[arb]) -> Iterator[arb]:
    """Yield a bound of every edge whose inside can exceed its ends."""
    for start, end, curvature in zip(R, R[1:], curvatures, strict=False):
        rise = abs(end - start)
        if rise >= curvature:
            continue
        higher = start.max(end)
        if curvature > 0:
            gap = curvature - rise
            # Both bound the excess; the second is better where the ends are known less well than
            # the curvature.
            excesses = gap * gap / (4 * curvature), curvature / 4
            yield higher + min(excesses, key=arb.upper)
        else:
            yield higher + curvature / 4
