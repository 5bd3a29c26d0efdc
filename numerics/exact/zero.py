"""Proofs that a component of the population gradient is exactly zero.

Ours. The embeddings and queries are rational numbers, so the scores are, and a component is

    sum_i E_i G_i (Z V_ik - W_k) / (Z^3 Y^2),    E_i = exp(s_i), F_i = exp(s~_i),
    Z = sum E_i, Y = sum F_i, W_k = sum E_i V_ik, C = sum E_i F_i, Q = sum F_i^2,
    G_i = 2 E_i Q + 4 C F_i - 4 E_i F_i^2 - 2 (delta_ia F_b + delta_ib F_a) Z Y.

The numerator is a sum of rational numbers times exponentials of rational numbers. By the
theorem of Lindemann and Weierstrass the exponentials of distinct rationals are linearly
independent over the rationals: the numerator is zero if and only if, after equal exponents are
grouped, every coefficient is zero. Positions with the same pair of scores enter together, so
the cost depends on the number of distinct pairs, cubed.

A component is also zero, whatever the number of distinct scores, if the column of V has the same
mean over every group of positions that share their weight, as the weights sum to zero. Positions
with the same pair of scores do, a and b apart; a and b share theirs if their scores agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["MAX_GROUPS", "PositionGroups", "balanced", "numerator", "vanishes"]

MAX_GROUPS = 32
"""Most distinct pairs of scores for which the numerator is expanded (about 0.1 s a column)."""

Exponentials = dict[int, int]
"""A sum of coefficient * exp(exponent), keyed by the exponent in some common unit."""


@dataclass(frozen=True, slots=True)
class PositionGroups:
    """Positions grouped by their pair of scores, the support apart.

    Attributes
    ----------
    members : list of list of int
        The positions of each group; a and b are groups 0 and 1.
    scores : list of (int, int)
        The scores (s, s~) of each group, in one common unit.
    """

    members: list[list[int]]
    scores: list[tuple[int, int]]

    @classmethod
    def of(
        cls, scores: Sequence[int], scores_tilde: Sequence[int], support: tuple[int, int]
    ) -> PositionGroups:
        """Group the positions of an instance whose scores are integers in one common unit."""
        ordinary: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for position, pair in enumerate(zip(scores, scores_tilde, strict=True)):
            if position not in support:
                ordinary[pair].append(position)
        a, b = support
        of_support = [(scores[a], scores_tilde[a]), (scores[b], scores_tilde[b])]
        return cls([[a], [b], *ordinary.values()], [*of_support, *ordinary])

    @property
    def distinct(self) -> int:
        """Number of distinct pairs of scores."""
        return len(set(self.scores))

    def swapped(self) -> PositionGroups:
        """Return the same groups with the two heads exchanged."""
        return PositionGroups(self.members, [(tilde, score) for score, tilde in self.scores])


def balanced(groups: PositionGroups, column: Sequence[int]) -> bool:
    """Whether the column has one mean over every group, so that its component is zero.

    Parameters
    ----------
    groups : PositionGroups
        The positions that share their weight.
    column : sequence of int, length d
        A column of V in some common unit.
    """
    sharing = groups.members
    if groups.scores[0] == groups.scores[1]:
        sharing = [sharing[0] + sharing[1], *sharing[2:]]
    sums = [(sum(column[i] for i in members), len(members)) for members in sharing]
    total, size = sums[0]
    return all(part * size == total * count for part, count in sums)


def vanishes(groups: PositionGroups, column: Sequence[int]) -> bool:
    """Decide whether the component of dL/dtheta along a column of V is zero.

    A decision both ways, by Lindemann and Weierstrass; the cost grows with the cube of
    ``groups.distinct``. For dL/dtheta~ pass ``groups.swapped()``.

    Parameters
    ----------
    groups : PositionGroups
        The positions, by scores.
    column : sequence of int, length d
        The column of V in some common unit.
    """
    return not numerator(groups, column)


def numerator(groups: PositionGroups, column: Sequence[int]) -> Exponentials:
    """Return Z^3 Y^2 times the component of dL/dtheta along a column of V.

    Parameters
    ----------
    groups, column
        As for `vanishes`.

    Returns
    -------
    dict of int to int
        The coefficient, not zero, of the exponential of each exponent, in the unit of the scores.
    """
    sizes = [len(members) for members in groups.members]
    sums = [sum(column[i] for i in members) for members in groups.members]
    first = [score for score, _ in groups.scores]
    second = [tilde for _, tilde in groups.scores]
    Z = _collect(zip(first, sizes, strict=True))
    Y = _collect(zip(second, sizes, strict=True))
    W = _collect(zip(first, sums, strict=True))
    C = _collect((s + t, size) for s, t, size in zip(first, second, sizes, strict=True))
    Q = _collect((2 * t, size) for t, size in zip(second, sizes, strict=True))
    ZY = _product(Z, Y)

    parts = []
    for group, (s, t) in enumerate(groups.scores):
        # sum over the group of E_i (Z V_ik - W_k), and G_i.
        deviation = _sum(_shifted(Z, s, sums[group]), _shifted(W, s, -sizes[group]))
        slope = _sum(_shifted(Q, s, 2), _shifted(C, t, 4), {s + 2 * t: -4})
        if group < 2:
            slope = _sum(slope, _shifted(ZY, second[1 - group], -2))
        parts.append(_product(deviation, slope))
    return _sum(*parts)


def _collect(terms: Iterable[tuple[int, int]]) -> Exponentials:
    """Add up (exponent, coefficient) terms, dropping exponents whose coefficient is zero."""
    collected: defaultdict[int, int] = defaultdict(int)
    for exponent, coefficient in terms:
        collected[exponent] += coefficient
    return {exponent: value for exponent, value in collected.items() if value}


def _sum(*parts: Exponentials) -> Exponentials:
    return _collect(term for part in parts for term in part.items())


def _shifted(x: Exponentials, exponent: int, factor: int) -> Exponentials:
    """Return x times factor * exp(exponent)."""
    return {other + exponent: factor * value for other, value in x.items()}


def _product(x: Exponentials, y: Exponentials) -> Exponentials:
    return _collect(
        (left + right, value * other) for left, value in x.items() for right, other in y.items()
    )
