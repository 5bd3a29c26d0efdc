"""What is proved without the softmax step: descent with other maps, floors, and queries that reach.

Brute force is rational arithmetic for floors. Descent is repeated in mpmath's floating point, all
inputs visited at every step, at two precisions, whose difference is taken for the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import mul
from types import MappingProxyType

from mpmath import MPContext, mpf

from campaigns.soundness.after_step import after_step
from campaigns.soundness.answers import Answers, tells
from campaigns.soundness.before_step import Scored
from campaigns.soundness.cases import Case
from campaigns.soundness.truth import Truth
from numerics.balls.attention_descent import certify_descent
from numerics.balls.reach.concave_floor import concave_floor
from numerics.balls.reach.softmax_reach import softmax_reach

__all__ = ["wrong_descent", "wrong_floor", "wrong_reach"]

_MOST_POSITIONS = 4
_LARGEST = 64.0  # beyond such numbers descent diverges at once
_TOLERANCES = (Fraction(1, 100), Fraction(1), Fraction(5, 2), Fraction(10), Fraction(100))

Map = Callable[[MPContext, mpf], mpf]


def _erf_derivative(context: MPContext, s: mpf) -> mpf:
    return 2 * context.exp(-s * s) / context.sqrt(context.pi)


def _tanh(context: MPContext, s: mpf) -> mpf:
    grown = context.exp(-2 * abs(s))
    size = (1 - grown) / (1 + grown)
    return size if s > 0 else -size


_MAPS: Mapping[str, tuple[Map, Map]] = MappingProxyType(
    {
        "linear": (lambda _, s: s, lambda context, _: context.mpf(1)),
        "erf": (lambda context, s: 1 - context.erfc(s), _erf_derivative),
        "tanh": (_tanh, lambda context, s: 1 - _tanh(context, s) ** 2),
    }
)


def wrong_descent(case: Case, _: Truth, answers: Answers) -> Iterator[str]:
    """Descend a few steps with another map, on the first positions of the case."""
    V = case.V[:_MOST_POSITIONS]
    if max(abs(x).max() for x in (V, case.theta, case.theta_tilde)) > _LARGEST:
        return
    rng = case.random()
    a, b = rng.permutation(len(V))[:2].tolist()
    name = tuple(_MAPS)[int(rng.integers(len(_MAPS)))]
    steps, eta = int(rng.integers(4)), Fraction(int(rng.integers(1, 30)), 100)
    tolerance = _TOLERANCES[int(rng.integers(len(_TOLERANCES)))]
    said = certify_descent(
        V,
        case.theta,
        case.theta_tilde,
        (a, b),
        attention=name,
        eta=eta,
        steps=steps,
        tolerance=tolerance,
        max_bits=case.low_bits if rng.random() < 0.3 else 4096,
    )
    answers.note("descent: verdict", said.verdict != "undecided")
    answers.note("descent: mean loss", tells(said.mean_loss))
    # Its upper end is a bound over all inputs, which none need attain.
    answers.note("descent: largest loss", tells(said.sup_loss, factor=8))
    bits = 2 * said.bits + 128
    coarse, fine = (
        _descended(V.tolist(), case, (a, b), name, eta, steps, precision)
        for precision in (bits, 2 * bits)
    )
    what = f"descent, {name}, {steps} steps of {eta}, tolerance {tolerance}, support {a} {b}"
    errors = [abs(x - y) + abs(y) / 2**bits for x, y in zip(coarse, fine, strict=True)]
    for of, ends, value, error in zip(
        ("mean", "largest"), (said.mean_loss, said.sup_loss), fine, errors, strict=True
    ):
        if ends is not None and not ends[0] - error <= value <= ends[1] + error:
            yield f"{what}: the enclosure of the {of} loss does not hold it"
    largest, error = fine[1], errors[1]
    if said.verdict == "certified" and largest > tolerance + error:
        yield f"{what}: certified, and a loss exceeds the tolerance"
    if said.verdict == "refuted" and largest <= tolerance + error:
        yield f"{what}: refuted, and no loss is known to exceed the tolerance"


def _descended(
    V: list[list[float]],
    case: Case,
    support: tuple[int, int],
    name: str,
    eta: Fraction,
    steps: int,
    bits: int,
) -> tuple[Fraction, Fraction]:
    """Return the mean and the largest loss after the last step."""
    context = MPContext()
    context.prec = bits
    rows = [[context.mpf(x) for x in row] for row in V]
    queries = [[context.mpf(x) for x in query.tolist()] for query in (case.theta, case.theta_tilde)]
    rate = context.mpf(eta.numerator) / eta.denominator
    phi, derivative = _MAPS[name]
    inputs = [(1, *rest) for rest in product((1, -1), repeat=len(V) - 1)]
    for step in range(steps + 1):
        scores = [[context.fdot(row, query) for row in rows] for query in queries]
        heads = [[phi(context, s) for s in head] for head in scores]
        sums = [[_signed(context, head, x) for x in inputs] for head in heads]
        errors = [
            p * q - x[support[0]] * x[support[1]] for p, q, x in zip(*sums, inputs, strict=True)
        ]
        if step == steps:
            break
        # Both gradients at the same queries: dL/dgamma_i = 2 E (p q - x_a x_b) q x_i.
        queries = [
            [
                component
                - rate
                * context.fdot(column, _slopes(context, derivative, own, errors, other, inputs))
                for component, column in zip(query, zip(*rows, strict=True), strict=True)
            ]
            for query, own, other in (
                (queries[0], scores[0], sums[1]),
                (queries[1], scores[1], sums[0]),
            )
        ]
    losses = [_as_fraction(error * error) for error in errors]
    return sum(losses, Fraction(0)) / len(losses), max(losses)


def _slopes(
    context: MPContext,
    derivative: Map,
    scores: Sequence[mpf],
    errors: Sequence[mpf],
    other: Sequence[mpf],
    inputs: Sequence[Sequence[int]],
) -> list[mpf]:
    """Return phi'(s_i) dL/dgamma_i."""
    factors = [2 * error * q / len(inputs) for error, q in zip(errors, other, strict=True)]
    return [
        derivative(context, s)
        * context.fsum(f * x[i] for f, x in zip(factors, inputs, strict=True))
        for i, s in enumerate(scores)
    ]


def _signed(context: MPContext, head: Sequence[mpf], x: Sequence[int]) -> mpf:
    return context.fsum(g * sign for g, sign in zip(head, x, strict=True))


def _as_fraction(x: mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1 if sign else 1) * Fraction(mantissa) * Fraction(2) ** exponent


def wrong_floor(_: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Bound the loss of odd concave attention from below."""
    V = [[Fraction(n, 1 << truth.scored.places) for n in row] for row in truth.scored.rows]
    said = concave_floor([[float(x) for x in row] for row in V])
    gram = [
        [sum(map(mul, left, right)) for right in zip(*V, strict=True)]
        for left in zip(*V, strict=True)
    ]
    m = len(gram)
    shifted = [
        [x - said.singular_square * (i == j) for j, x in enumerate(row)]
        for i, row in enumerate(gram)
    ]
    if any(coefficient < 0 for coefficient in _elementary(shifted)):
        yield "floor: sigma^2 is below its lower bound"
    if _elementary(gram)[m] == 0:
        if said.leverage is not None or said.loss > 0:
            yield "floor: leverages or a floor where columns are dependent"
        return
    leverage = max(sum(map(mul, row, _solved(gram, row))) for row in V)
    floor = 1 - 4 * leverage**2 / (1 - 2 * leverage) if 2 * leverage < 1 else Fraction(0)
    answers.note("floor: leverage", said.leverage is not None and said.leverage <= 2 * leverage)
    answers.note("floor: sigma", said.singular_square > 0)
    if floor > 0:
        answers.note("floor: loss", 2 * said.loss >= floor)
        answers.note("floor: loss by sigma", said.loss_by_singular > 0)
    if said.leverage is not None and said.leverage < leverage:
        yield "floor: a leverage exceeds its upper bound"
    if not 0 <= said.loss_by_singular <= said.loss <= max(floor, Fraction(0)):
        yield "floor: above what its leverages allow"


def _elementary(A: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Return the elementary symmetric functions of the eigenvalues (Faddeev, Le Verrier).

    A symmetric matrix has no negative eigenvalue if and only if none of them is negative.
    """
    m = len(A)
    found = [Fraction(1)]
    M = [[Fraction(0)] * m for _ in range(m)]
    for k in range(1, m + 1):
        M = [
            [
                sum(map(mul, row, column), Fraction(0)) + (-1) ** (k - 1) * found[-1] * (i == j)
                for j, column in enumerate(zip(*M, strict=True))
            ]
            for i, row in enumerate(A)
        ]
        trace = sum(
            (
                sum(map(mul, row, column))
                for row, column in zip(A, zip(*M, strict=True), strict=True)
            ),
            Fraction(0),
        )
        found.append((-1) ** (k - 1) * trace / k)
    return found


def _solved(A: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction]:
    """Return x with A x = right, for a positive definite A."""
    m = len(A)
    rows = [[*row, value] for row, value in zip(A, right, strict=True)]
    for i in range(m):
        pivot = rows[i]
        for j in range(m):
            if j != i:
                factor = rows[j][i] / pivot[i]
                rows[j] = [x - factor * y for x, y in zip(rows[j], pivot, strict=True)]
    return [row[m] / row[i] for i, row in enumerate(rows)]


def wrong_reach(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Find queries of softmax attention that serve every support."""
    tolerance = Fraction(1, 10 ** int(case.random().integers(1, 31)))
    said = softmax_reach(case.V, tolerance=tolerance)
    scored = truth.scored
    rows = scored.rows
    squares = [sum(map(mul, row, row)) for row in rows]
    gap = min(
        squares[i] - sum(map(mul, rows[i], rows[j]))
        for i in range(len(rows))
        for j in range(len(rows))
        if i != j
    )
    if gap > 0:
        answers.note("reach", said is not None and 2 * said.gap * (1 << (2 * scored.places)) >= gap)
    if said is None:
        return
    if said.gap > Fraction(gap, 1 << (2 * scored.places)):
        yield "reach: an overlap exceeds what the gap allows"
    if said.sup_loss > tolerance:
        yield "reach: the bound exceeds the tolerance"
    first, second = (
        [said.length * sum(map(mul, row, rows[position])) for row in rows]
        for position in scored.support
    )
    reached = Scored(rows, scored.places, (first, second), 2 * scored.places, scored.support)
    # A step of size zero leaves the attention as it is.
    if after_step(reached, Fraction(0), 200).supremum().side(said.sup_loss) != -1:
        yield "reach: a loss exceeds the bound"
