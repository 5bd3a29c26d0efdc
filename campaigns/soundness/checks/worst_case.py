"""The brackets of the largest loss: in binary64 and in balls, vertices, edges and search."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from campaigns.soundness.answers import Answers, tells
from campaigns.soundness.before_step import in_one_unit, label_signs, signed_sums
from campaigns.soundness.cases import Case
from campaigns.soundness.checks.statements import excludes
from campaigns.soundness.truth import Truth, UnresolvedError
from numerics.balls.arithmetic.exact import dyadic, lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.model import HeadScores
from numerics.balls.open_branch import enumerate_branch, search_branch
from numerics.balls.worst_case import Bracket, Generators, branches, joined, slack_factor
from numerics.worst_case import Closure, worst_case_loss
from verify.testing.attention_pairs import ATTENTION_KINDS, AttentionPair

__all__ = ["wrong_ball_bracket", "wrong_binary64_bracket"]

# A closed bracket of binary64 is as narrow as its allowance for rounding: with k = sqrt(d) <= 3,
# (4 k + 36) u of R from either end, twice that of its square.
_NARROW = Fraction(2 * (2 * (4 * 3 + 36) + 16), 1 << 53)
_UNDERFLOW = Fraction(1, 1 << 1060)


def wrong_binary64_bracket(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Bracket the largest loss at the attention after the step, and at one made for the purpose."""
    step = truth.step()
    d = len(case.V)
    heads = [
        np.array([_as_binary64(step.attention(head, i).near(1 << 12)) for i in range(d)])
        for head in (0, 1)
    ]
    where = "after the step"
    yield from _wrong_bracket(where, heads[0], heads[1], case.support, answers)
    rng = case.random()
    kinds = tuple(ATTENTION_KINDS)
    size = int(rng.integers(2, 8))
    a, b = rng.permutation(size)[:2].tolist()
    pair = AttentionPair(
        kind=kinds[case.number % len(kinds)], d=size, seed=case.number, support=(a, b)
    )
    yield from _wrong_bracket(repr(pair), pair.gamma, pair.gamma_tilde, pair.support, answers)


def _as_binary64(x: Fraction | None) -> float:
    return 0.0 if x is None else float(x)


def _wrong_bracket(
    where: str,
    gamma: NDArray[np.float64],
    gamma_tilde: NDArray[np.float64],
    support: tuple[int, int],
    answers: Answers,
) -> Iterator[str]:
    said = worst_case_loss(gamma, gamma_tilde, support)
    E, F = (in_one_unit(head.tolist())[0] for head in (gamma, gamma_tilde))
    total = sum(E) * sum(F)
    taus = label_signs(len(E), support)
    R = [
        total - tau * p * q for tau, p, q in zip(taus, signed_sums(E), signed_sums(F), strict=True)
    ]
    square = total * total
    largest = Fraction(max(R) ** 2, square)
    x = said.witness.tolist()
    number = sum(1 << i for i, sign in enumerate(x[1:]) if sign != x[0])
    lower, upper = Fraction(said.lower), Fraction(said.upper)
    answers.note("binary64: largest loss", tells((lower, upper)))
    answers.note("binary64: closed", said.proved is not Closure.OPEN)
    if not 0 <= lower <= largest <= upper <= 4:
        yield f"worst case {where}: [{said.lower}, {said.upper}] does not hold the largest loss"
    if lower * square > R[number] ** 2:
        yield f"worst case {where}: the witness has less than the lower end"
    outside = [i for i in range(len(E)) if i not in support and (E[i] or F[i])]
    concentrated = all(2 * sum(head[i] for i in support) >= sum(head) for head in (E, F))
    if said.proved is Closure.CONCENTRATED and not concentrated:
        yield f"worst case {where}: said to be concentrated"
    if said.proved is Closure.FEW_GENERATORS and len(outside) > 1:
        yield f"worst case {where}: said to have few generators"
    if said.proved is not Closure.OPEN and upper > lower * (1 + _NARROW) + _UNDERFLOW:
        yield f"worst case {where}: said to be closed, and wide"


def wrong_ball_bracket(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Bracket the largest loss from scores that are known within a slack, at low precision."""
    places = 6 + case.number % 59
    with working_precision(case.low_bits):
        # One head is moved by nearly all of a larger slack, to the corner of what it covers.
        moves = (15, 0) if case.number % 2 else (0, -15)
        first, second = (_blurred(truth, head, places, moves[head]) for head in (0, 1))
        generators = Generators.of(first, second, case.support)
        factor = slack_factor(first, second)
        opposite, equal = branches(generators)
        found = joined(opposite, equal)
        brackets = [("vertices and edges", found)]
        settled = enumerate_branch(generators, first, second)
        if settled is None:
            answers.note(f"{case.band}: bracket by enumeration", False)
        else:
            brackets.append(("enumeration", joined(opposite, settled)))
        # The search ends at once with an input, has to look everywhere, and ends at once with none.
        whole = (equal if settled is None else settled).attained.mid()
        for target in (found.attained.mid() / 2, whole, 2 * found.bound.upper()):
            searched, _ = search_branch(generators, target)
            brackets.append(("search", joined(opposite, searched)))
        ends = [(name, _ends(bracket, factor)) for name, bracket in brackets]
    at = f"{case.low_bits} bits, scores in units of 2^-{places}"
    try:
        for name, enclosure in ends:
            answers.note(f"{case.band}: bracket by {name}", tells(enclosure))
            if enclosure is not None and excludes(truth.supremum_side, enclosure):
                yield f"bracket by {name}, {at}: it does not hold the largest loss"
    except UnresolvedError as failure:
        yield f"bracket, {at}: brute force cannot confirm: {failure}"


def _blurred(truth: Truth, head: int, places: int, moved: int) -> HeadScores:
    """Return the scores of a head after the step in units of 2^-places, within a slack.

    The largest is moved up by `moved` units and the others down, besides what is cut off.
    """
    step = truth.step()
    fine = step.accuracy + 16
    integers = [-(n >> (fine - places)) - (moved if n else -moved) for n in step.behind[head]]
    # Cut off by less than a unit, and known to 2^-(accuracy + 8) before.
    slack = dyadic(abs(moved) + 1, -places) + dyadic(1, -step.accuracy)
    return HeadScores(integers, -places, slack.upper())


def _ends(bracket: Bracket, factor: arb) -> tuple[Fraction, Fraction] | None:
    low, high = bracket.attained * factor, bracket.bound * factor
    lower, upper = lower_end(low * low), upper_end(high * high)
    return None if lower is None or upper is None else (lower, upper)
