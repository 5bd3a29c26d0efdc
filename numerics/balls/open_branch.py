"""The branch x_a x_b = +1 where vertices and edges leave its supremum open: two ways to settle it.

Both are ours. Few inputs are enumerated: positions with equal scores in both heads are exchanged
freely, so only how many of them are negative counts. Binary64 sums, with a proved error, pick out
the inputs that can be the worst; these alone are evaluated in balls. Many inputs are searched: the
generator of the largest gamma_i gamma~_i is given each sign in turn, as the gap between vertices
and edges is at most the largest product left. Both heads' signs are PARTITION in disguise, so the
search is cut off after a fixed amount of work; on attention that comes from softmax it is short.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from flint import arb
from numpy.typing import NDArray

from numerics.balls.model import HeadScores
from numerics.balls.worst_case import Bracket, Generators, Masses, base, branch

__all__ = ["MAX_ENUMERATED", "enumerate_branch", "search_branch"]

MAX_ENUMERATED = 1 << 22
"""Most sign patterns, up to exchanges of equal positions, that are enumerated: d = 24 at least."""

_MAX_CANDIDATES = 1 << 11
_MAX_VERTICES = 1 << 18  # vertices evaluated by one search, a few seconds


def enumerate_branch(
    generators: Generators, first: HeadScores, second: HeadScores
) -> Bracket | None:
    """Return the largest R of the branch tau = +1, closed, by visiting every input.

    The binary64 sums of a head: its attention is known within 2^-53 and rounded to within 2^-53,
    so d entries err by d 2^-52; products with counts and at most d sums, each at most 1 + 2^-20 in
    size, err by 2^-53 and 2^-53 each. That is less than delta = d 2^-51 in all, and R errs by
    less than 2 delta + delta^2 and the roundings of 1 - p q: less than 4 delta. So the worst input
    is among those whose binary64 R is within 8 delta of the largest.

    Returns
    -------
    Bracket or None
        None if there are too many inputs, too many of them are within rounding of the worst, or
        the attention is not known to binary64 accuracy.
    """
    groups: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for i in generators.order:
        groups[first.integers[i], second.integers[i]].append(i)
    members = list(groups.values())
    # Each group doubles the count at least: many groups need no product of their sizes.
    if len(members) >= MAX_ENUMERATED.bit_length():
        return None
    if math.prod(len(group) + 1 for group in members) > MAX_ENUMERATED:
        return None
    heads = [_rounded_attention(generators.E), _rounded_attention(generators.F)]
    if heads[0] is None or heads[1] is None:
        return None
    p, q = (_sums(head, generators.support, members) for head in heads if head is not None)
    R = 1.0 - p * q
    delta = len(generators.E) * 2.0**-51
    candidates = np.flatnonzero(R.max() - 8 * delta <= R)
    if len(candidates) > _MAX_CANDIDATES:
        return None
    evaluated = [_evaluated(generators, _negative(int(number), members)) for number in candidates]
    bound = reduce(arb.max, (found.attained for found in evaluated))
    best = max(evaluated, key=lambda found: found.attained.mid())
    return Bracket(bound, bound, best.witness, closed=True)


def search_branch(generators: Generators, target: arb) -> tuple[Bracket, bool]:
    """Bracket the largest R of the branch tau = +1, until it is on one side of a target.

    Parameters
    ----------
    generators : Generators
        The attention.
    target : arb
        The search ends when an input provably exceeds it, when no input can, or after a fixed
        amount of work.

    Returns
    -------
    Bracket, bool
        The bracket, and whether the search ended before it was cut off.
    """
    fixed = base(generators, 1)
    best = branch(generators, 1, fixed, generators.order)
    below = arb(0)  # bounds all inputs whose part of the tree is done with
    counter, vertices = 0, 0
    queue = [(-best.bound.mid(), counter, best, fixed, generators.order, frozenset[int]())]
    while queue and vertices < _MAX_VERTICES and not best.attained > target:
        _, _, found, masses, free, negative = heapq.heappop(queue)
        if found.closed or found.bound <= target:
            below = below.max(found.bound)
            continue
        widest = max(free, key=lambda i: (generators.E[i] * generators.F[i]).mid())
        rest = tuple(i for i in free if i != widest)
        for sign, more in ((1, frozenset[int]()), (-1, frozenset({widest}))):
            child_masses = _with(masses, generators, widest, sign)
            child_negative = negative | more
            child = branch(generators, 1, child_masses, rest)
            if child.attained.mid() > best.attained.mid():
                best = replace(child, witness=child.witness | child_negative)
            counter += 1
            vertices += 2 * len(free)
            entry = (-child.bound.mid(), counter, child, child_masses, rest, child_negative)
            heapq.heappush(queue, entry)
    bound = reduce(arb.max, (entry[2].bound for entry in queue), below)
    finished = not queue or vertices < _MAX_VERTICES
    return Bracket(best.attained, bound.max(best.attained), best.witness, closed=False), finished


def _with(masses: Masses, generators: Generators, position: int, sign: int) -> Masses:
    u, t = generators.E[position], generators.F[position]
    if sign > 0:
        return masses._replace(plus=masses.plus + u, plus_tilde=masses.plus_tilde + t)
    return masses._replace(minus=masses.minus + u, minus_tilde=masses.minus_tilde + t)


def _rounded_attention(weights: Sequence[arb]) -> NDArray[np.float64] | None:
    share = 1 / sum(weights, arb(0))
    gamma = [weight * share for weight in weights]
    limit = arb((1, -53))
    if not all(g.rad() <= limit for g in gamma):
        return None
    return np.array([float(g.mid()) for g in gamma])


def _sums(
    gamma: NDArray[np.float64], support: tuple[int, int], members: Sequence[Sequence[int]]
) -> NDArray[np.float64]:
    """Return the signed sums of one head, numbered as `_negative` reads them."""
    a, b = support
    sums = np.array([gamma[a] + gamma[b]])
    for group in members:
        share = gamma[group[0]]
        counts = len(group) - 2.0 * np.arange(len(group) + 1)
        sums = (share * counts[:, np.newaxis] + sums).reshape(-1)
    return sums


def _negative(number: int, members: Sequence[Sequence[int]]) -> frozenset[int]:
    """Return the negative positions of the input of a number in mixed radix."""
    negative: list[int] = []
    for group in members:
        number, count = divmod(number, len(group) + 1)
        negative += group[:count]
    return frozenset(negative)


def _evaluated(generators: Generators, negative: frozenset[int]) -> Bracket:
    masses = base(generators, 1)
    for i in generators.order:
        masses = _with(masses, generators, i, -1 if i in negative else 1)
    found = branch(generators, 1, masses, ())
    return Bracket(found.attained, found.bound, negative, closed=True)
