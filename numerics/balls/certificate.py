"""Certificates for one step: that every one of the 2^d inputs has loss at most T, or one has not.

The instance is the binary64 numbers given, taken as exact rational numbers, with a rational step
size and tolerance. The answer is a proof by ball arithmetic, an input whose loss exceeds T, or
neither: precision is doubled until one of the first two comes out or a limit is reached. A
supremum equal to T cannot be told from its neighbours by balls; only where the attention after
the step is uniform, so that the supremum is a known rational number, is it compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, SupportsIndex

from flint import arb
from numpy.typing import ArrayLike

from numerics.arguments import (
    InvalidArgumentError,
    check_support,
    embedding_matrix,
    integer_at_least,
    sign_array,
    vector_of_length,
)
from numerics.balls.arithmetic.exact import (
    UnresolvedError,
    dyadic,
    from_fraction,
    lower_end,
    symmetric,
    upper_end,
)
from numerics.balls.arithmetic.integer_matrix import IntegerMatrix
from numerics.balls.arithmetic.precision import MIN_BITS, precisions, working_precision
from numerics.balls.arithmetic.ternary import Ternary, less, less_equal
from numerics.balls.model import HeadScores, Start, powers, starts, step
from numerics.balls.open_branch import enumerate_branch, search_branch
from numerics.balls.worst_case import Bracket, Generators, branches, joined, slack_factor

__all__ = ["FIRST_BITS", "StepCertificate", "certify_step", "reevaluate_witness"]

FIRST_BITS = 128
"""Working precision of the first attempt."""

# Below this relative accuracy an open bracket says nothing: raise the precision first.
_SHARP_BITS = 32

# A loss of exp(-10^400) beside a dyadic tolerance leaves more bits to spare than binary64 counts.
_LARGEST_MARGIN = 1 << 20

# |p|, |q| <= 1, so |1 - tau p q| <= 2 for every input of every instance.
_LARGEST_LOSS = Fraction(4)

Verdict = Literal["certified", "refuted", "undecided"]
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class StepCertificate:
    """What was proved about the loss of all inputs after one step.

    Attributes
    ----------
    verdict : str
        "certified": no loss exceeds the tolerance. "refuted": that of `witness` does.
        "undecided": neither is proved.
    sup_loss : pair of Fraction or None
        Encloses sup_x (f(x) - y(x))^2; None if nothing was enclosed.
    heads : pair of (int or None)
        The position of the largest attention of each head; None if undecided or a tie.
    attention : pair of (pair of Fraction or None)
        Encloses the attention of each head on its position in `heads`.
    witness : tuple of int or None
        If refuted, signs of an input whose loss, evaluated afresh, exceeds the tolerance.
    bits : int
        Highest working precision used; 0 if everything was rational.
    margin_bits : int or None
        Bits by which the distance from the tolerance exceeds the radius of the ball that decided:
        how much precision was to spare, 2^20 at most. None if undecided, or if no ball decided.
    reason : str or None
        Why it is undecided.
    """

    verdict: Verdict
    sup_loss: Interval | None
    heads: tuple[int | None, int | None]
    attention: tuple[Interval | None, Interval | None]
    witness: tuple[int, ...] | None
    bits: int
    margin_bits: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """The checked arguments."""

    matrix: IntegerMatrix
    before: tuple[Start, Start]
    support: tuple[int, int]
    eta: Fraction

    @classmethod
    def checked(
        cls,
        V: ArrayLike,
        theta: ArrayLike,
        theta_tilde: ArrayLike,
        support: tuple[SupportsIndex, SupportsIndex],
        eta: Fraction,
    ) -> _Question:
        matrix = embedding_matrix(V)
        d, m = matrix.shape
        first = vector_of_length("theta", theta, m)
        second = vector_of_length("theta_tilde", theta_tilde, m)
        positions = check_support(support, d)
        if eta <= 0:
            raise InvalidArgumentError("eta", eta, "must be positive")
        integers = IntegerMatrix(matrix)
        return cls(integers, starts(integers, first, second), positions, eta)

    @property
    def d(self) -> int:
        return len(self.matrix.V)

    def after_step(self, bits: int) -> tuple[HeadScores, HeadScores]:
        return step(self.matrix, self.before, self.support, eta=self.eta, bits=bits)


def certify_step(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    *,
    eta: Fraction,
    tolerance: Fraction,
    max_bits: SupportsIndex = 4096,
) -> StepCertificate:
    """Prove or refute that after one population step every input has loss at most `tolerance`.

    Parameters
    ----------
    V : array_like, shape (d, m)
        Embeddings, taken as exact rational numbers.
    theta, theta_tilde : array_like, shape (m,)
        The queries before the step, taken as exact rational numbers.
    support : pair of int
        The positions (a, b), 0-based.
    eta : Fraction
        Step size, positive, for the loss without the factor 1/2.
    tolerance : Fraction
        T, positive.
    max_bits : int
        Highest working precision; the first attempt uses 128 bits, or this if it is less.

    Raises
    ------
    InvalidArgumentError
        If a shape does not fit, an entry is not finite, or a number is out of its range.
    """
    question = _Question.checked(V, theta, theta_tilde, support, eta)
    if tolerance <= 0:
        raise InvalidArgumentError("tolerance", tolerance, "must be positive")
    most = integer_at_least("max_bits", max_bits, MIN_BITS)
    if _uniform_after_step(question):
        return _uniform_certificate(question.d, question.support, tolerance)
    for bits in precisions(min(FIRST_BITS, most), most):
        with working_precision(bits):
            try:
                latest = _attempt(question, tolerance, bits)
            except UnresolvedError as error:
                latest = _nothing(bits, str(error))
        if latest.verdict != "undecided" or latest.reason == _EXHAUSTED:
            break
    return latest


def reevaluate_witness(
    V: ArrayLike,
    theta: ArrayLike,
    theta_tilde: ArrayLike,
    support: tuple[SupportsIndex, SupportsIndex],
    witness: ArrayLike,
    *,
    eta: Fraction,
    bits: SupportsIndex = FIRST_BITS,
) -> Interval | None:
    """Enclose the loss of one input after the step; None if it cannot be at this precision.

    Parameters
    ----------
    V, theta, theta_tilde, support, eta
        The instance, as for `certify_step`.
    witness : array_like of int, shape (d,)
        Signs -1 and +1.
    bits : int
        Working precision.

    Raises
    ------
    InvalidArgumentError
        As `certify_step`; or if the input is no vector of d signs.
    """
    question = _Question.checked(V, theta, theta_tilde, support, eta)
    signs = sign_array("witness", witness, question.d)
    if signs.ndim != 1:
        raise InvalidArgumentError("witness", f"array of shape {signs.shape}", "must be one input")
    with working_precision(bits):
        try:
            scores = question.after_step(integer_at_least("bits", bits, MIN_BITS))
        except UnresolvedError:
            return None
        loss = _input_loss(signs.tolist(), scores, question.support)
        return _interval(loss, loss, _LARGEST_LOSS)


_TIE = "at {bits} bits the enclosure of the supremum holds the tolerance"
_OPEN = "at {bits} bits an edge bound exceeds every vertex"
_EXHAUSTED = "the search of the open branch was cut off with the tolerance between its ends"


def _attempt(question: _Question, tolerance: Fraction, bits: int) -> StepCertificate:
    scores = question.after_step(bits)
    generators = Generators.of(*scores, question.support)
    factor = slack_factor(*scores)
    limit = from_fraction(tolerance)
    opposite, equal = branches(generators)
    found = joined(opposite, equal)
    verdict = _verdict(found, factor, limit)
    reason = (_TIE if found.closed else _OPEN).format(bits=bits)
    if verdict == "undecided" and not found.closed and _sharp(found, factor):
        settled = enumerate_branch(generators, *scores)
        finished = True
        if settled is None:
            settled, finished = search_branch(generators, limit.sqrt() / factor)
        found = joined(opposite, settled)
        verdict = _verdict(found, factor, limit)
        reason = _TIE.format(bits=bits) if finished else _EXHAUSTED
    low, high = _loss(found.attained, factor), _loss(found.bound, factor)
    witness = None
    if verdict == "refuted":
        witness = tuple(-1 if i in found.witness else 1 for i in range(question.d))
        # The verdict rests on this evaluation alone, by another route from the same scores.
        low = _input_loss(witness, scores, question.support)
        if less(limit, low) is not Ternary.TRUE:
            verdict, witness = "undecided", None
            reason = _TIE.format(bits=bits)
    decisive = {"certified": high, "refuted": low}.get(verdict)
    (head, share), (head_tilde, share_tilde) = (_head(one) for one in scores)
    return StepCertificate(
        verdict,
        _interval(low, high, _LARGEST_LOSS),
        (head, head_tilde),
        (share, share_tilde),
        witness,
        bits,
        None if decisive is None else _margin_bits(decisive, limit, bits),
        reason if verdict == "undecided" else None,
    )


def _nothing(bits: int, reason: str) -> StepCertificate:
    reason = f"at {bits} bits {reason}"
    return StepCertificate("undecided", None, (None, None), (None, None), None, bits, None, reason)


def _loss(R: arb, factor: arb) -> arb:
    scaled = R * factor
    return scaled * scaled


def _verdict(found: Bracket, factor: arb, limit: arb) -> Verdict:
    trivial = less_equal(from_fraction(_LARGEST_LOSS), limit)
    if Ternary.TRUE in {trivial, less_equal(_loss(found.bound, factor), limit)}:
        return "certified"
    if less(limit, _loss(found.attained, factor)) is Ternary.TRUE:
        return "refuted"
    return "undecided"


def _sharp(found: Bracket, factor: arb) -> bool:
    return (found.bound * factor).rel_accuracy_bits() >= _SHARP_BITS


def _input_loss(
    x: Sequence[int], scores: tuple[HeadScores, HeadScores], support: tuple[int, int]
) -> arb:
    """Enclose (f(x) - y)^2 = (1 - tau p q)^2, every score a ball of its own."""
    a, b = support
    (plus, minus), (plus_tilde, minus_tilde) = (_masses(head, x) for head in scores)
    if x[a] != x[b]:
        plus_tilde, minus_tilde = minus_tilde, plus_tilde
    total = (plus + minus) * (plus_tilde + minus_tilde)
    R = 2 * (plus * minus_tilde + minus * plus_tilde) / total
    return R * R


def _masses(head: HeadScores, x: Sequence[int]) -> tuple[arb, arb]:
    top, unit, slack = max(head.integers), dyadic(1, head.unit), symmetric(head.slack)
    E = [(unit * (n - top) + slack).exp() for n in head.integers]
    plus = sum((e for e, sign in zip(E, x, strict=True) if sign > 0), arb(0))
    minus = sum((e for e, sign in zip(E, x, strict=True) if sign < 0), arb(0))
    return plus, minus


def _head(head: HeadScores) -> tuple[int | None, Interval | None]:
    """Return the position of the largest attention and the attention on it, if it is decided."""
    top, runner_up = sorted(range(len(head.integers)), key=head.integers.__getitem__)[:-3:-1]
    lead = dyadic(head.integers[top] - head.integers[runner_up], head.unit)
    if not lead > 2 * head.slack:
        return None, None
    # The largest power is 1, so its share is 1 over their sum, up to the slack of both.
    total = sum(powers(head.integers, head.unit), arb(0))
    share = symmetric(2 * head.slack).exp() / total
    return top, _interval(share, share, Fraction(1))


def _interval(low: arb, high: arb, most: Fraction) -> Interval | None:
    """Return the ends of an enclosure of a number in [0, most]."""
    lower, upper = lower_end(low), upper_end(high)
    if lower is None or upper is None:
        return None
    return max(lower, Fraction(0)), min(upper, most)


def _margin_bits(decisive: arb, limit: arb, bits: int) -> int | None:
    radius = decisive.rad() + limit.rad()
    distance = abs(decisive.mid() - limit.mid())
    if not distance > radius:
        return None  # decided by the range of the loss, not by its enclosure
    if radius == 0:
        return bits
    margin = (distance / radius).log() / arb(2).log()
    return math.floor(float(margin.lower())) if margin < _LARGEST_MARGIN else _LARGEST_MARGIN


def _uniform_after_step(question: _Question) -> bool:
    """Whether the attention of both heads is provably uniform after the step.

    If each head's scores are all equal, both gradients are -(2/d^2)(v_a + v_b - 2 vbar) exactly,
    and the scores stay equal if and only if V (d (v_a + v_b) - 2 sum v) has equal entries.
    """
    matrix, d = question.matrix, question.d
    if not all(len(set(head.scores.integers)) == 1 for head in question.before):
        return False
    weights = [-2] * d
    for position in question.support:
        weights[position] += d
    (direction,), _ = matrix.transposed_times([weights])
    (change,), _ = matrix.times([direction])
    return len(set(change)) == 1


def _uniform_certificate(d: int, support: tuple[int, int], tolerance: Fraction) -> StepCertificate:
    """Decide exactly at gamma = gamma~ = 1/d.

    For tau = +1, R = 1 - p^2 <= 1. For tau = -1, R = 1 + p^2 is largest with all signs outside
    the support alike, p = (d-2)/d.
    """
    largest = (1 + Fraction(d - 2, d) ** 2) ** 2
    refuted = largest > tolerance
    return StepCertificate(
        "refuted" if refuted else "certified",
        (largest, largest),
        (None, None),
        (None, None),
        tuple(-1 if i == support[1] else 1 for i in range(d)) if refuted else None,
        0,
        None,
        None,
    )
