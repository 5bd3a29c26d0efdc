"""The kernels of the claims on attention maps, held against other ways to the same numbers.

A bound that a broken kernel makes too good would pass every threshold, so what is thresholded
elsewhere is computed again here at small sizes: leverages from determinants, the least singular
value from leading minors, projections from values at all inputs, descent from the mean over all
inputs with the derivative of each map taken from its power series.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
from flint import arb, arb_series, fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from numerics.balls.arithmetic.exact import from_float, from_fraction, lower_end, upper_end
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.arithmetic.ternary import Ternary
from numerics.embeddings import sample_embeddings, uniform_direction
from verify.claim import Cell, Grade
from verify.evidence.faults import Faults, fault_cell

__all__ = ["descent_cell", "floor_cell", "forms_cell", "reach_cell"]

_BITS = 192
# The kernels work with 128 bits or more; their results may be wider than exact ones by this.
_WIDTH = Fraction(1, 1 << 60)


def floor_cell() -> Cell:
    """Return the cell on leverages, least singular value and floor."""
    return fault_cell(
        "leverages, sigma and floor at small V",
        _floor_faults,
        method="determinants and leading minors of integers",
        claimed="the kernel encloses all of them, and closely",
        grade=Grade.EXACT,
        precision="exact",
        trials=20,
        cost=0.3,
    )


def _floor_faults(rng: np.random.Generator) -> Faults:
    from numerics.balls.reach.concave_floor import concave_floor
    from numerics.balls.reach.least_singular import least_singular_square, singular_square_exceeds
    from numerics.balls.reach.leverage import leverages

    d, m = int(rng.integers(15, 30)), int(rng.integers(1, 4))
    rows = rng.integers(-9, 10, size=(d, m)).tolist()
    rows[0] = [0] * m
    gram = _gram(rows)
    volume = gram.det()
    if volume == 0:  # dependent columns have no leverages of this form
        return
    exact = [1 - Fraction(int((gram - _gram([row])).det()), int(volume)) for row in rows]
    V = np.array(rows, dtype=np.float64)
    for h, ball in zip(exact, leverages(V), strict=True):
        low, high = lower_end(ball), upper_end(ball)
        if low is None or high is None or not high - _WIDTH <= h <= high or not low <= h:
            yield f"a leverage of {h} in {ball}"
    sigma = least_singular_square(V)
    if sigma.upper is None or not 0 < sigma.lower <= sigma.upper <= 2 * sigma.lower:
        yield f"sigma^2 in [{sigma.lower}, {sigma.upper}]"
        return
    if not _is_definite(gram, sigma.lower) or _is_definite(gram, sigma.upper):
        yield f"sigma^2 is not in [{float(sigma.lower)}, {float(sigma.upper)}]"
    if singular_square_exceeds(V, 2 * sigma.upper) is not Ternary.FALSE:
        yield f"sigma^2 > {float(2 * sigma.upper)}"
    found, longest = concave_floor(V), max(sum(x * x for x in row) for row in rows)
    for value, h in ((found.loss, max(exact)), (found.loss_by_singular, longest / sigma.lower)):
        floor = max(Fraction(0), 1 - 4 * h**2 / (1 - 2 * h)) if 2 * h < 1 else Fraction(0)
        if not value <= floor <= value + _WIDTH:
            yield f"a floor of {float(value)} in the place of {float(floor)}"


def _gram(rows: Sequence[Sequence[int]]) -> fmpz_mat:
    matrix = fmpz_mat(rows)
    return matrix.transpose() * matrix


def _is_definite(gram: fmpz_mat, c: Fraction) -> bool:
    """Tell by its leading minors whether V^T V - c I is positive definite."""
    m = gram.nrows()
    shifted = [
        [gram[i, j] * c.denominator - (c.numerator if i == j else 0) for j in range(m)]
        for i in range(m)
    ]
    return all(fmpz_mat([row[:k] for row in shifted[:k]]).det() > 0 for k in range(1, m + 1))


def forms_cell() -> Cell:
    """Return the cell on the space of quadratic forms."""
    return fault_cell(
        "projections at small V",
        _forms_faults,
        method="values at all inputs, determinants of integers",
        claimed="the kernel's r, lambda_0 and all lambda_ij, and r by the formula",
        grade=Grade.EXACT,
        precision="exact",
        trials=20,
        cost=0.3,
    )


def _forms_faults(rng: np.random.Generator) -> Faults:
    from numerics.exact.quadratic_forms import form_space

    d, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    rows = rng.integers(-1, 2, size=(d, m)).tolist()
    found = form_space(np.array(rows, dtype=np.float64), None)
    inputs = list(product((-1, 1), repeat=d))
    along = [[sum(x[i] * rows[i][k] for i in range(d)) for x in inputs] for k in range(m)]
    basis: list[list[int]] = []
    for k, j in product(range(m), repeat=2):
        form = [p * q for p, q in zip(along[k], along[j], strict=True)]
        if _volume([*basis, form]) > 0:
            basis.append(form)
    rank = fmpz_mat(rows).rank()
    # Without a position of leverage 1 the others span less.
    alone = sum(fmpz_mat([*rows[:i], *rows[i + 1 :]]).rank() < rank for i in range(d))
    if not found.dimension == len(basis) == rank * (rank + 1) // 2 - max(alone - 1, 0):
        yield f"r = {found.dimension} at rows {rows}; {len(basis)} by enumeration"
    places: list[tuple[int, ...]] = [(), *combinations(range(d), 2)]
    for place, share in zip(places, (found.constant, *found.targets.values()), strict=True):
        values = [math.prod(x[i] for i in place) for x in inputs]
        outside = Fraction(_volume([*basis, values]), _volume(basis) * len(inputs))
        if share != 1 - outside:
            yield f"lambda{place} = {share} at rows {rows}; {1 - outside} by enumeration"
    # Single supports may be asked for in any order.
    asked = [(j, i) for i, j in combinations(range(d), 2)]
    told = form_space(np.array(rows, dtype=np.float64), asked).targets
    if told != found.targets:
        yield f"at rows {rows}: {told} for the supports {asked}"


def _volume(functions: Sequence[Sequence[int]]) -> int:
    """Return the determinant of the scalar products: 0 if the functions are dependent."""
    if not functions:
        return 1
    matrix = fmpz_mat(functions)
    return int((matrix * matrix.transpose()).det())


def reach_cell() -> Cell:
    """Return the cell on what softmax reaches at long queries."""
    return fault_cell(
        "softmax at long queries, small V",
        _reach_faults,
        method="all inputs and supports in balls; the gap in fractions; the ledger's bound",
        claimed="every loss <= the kernel's bound, which is the ledger's at the gap of V",
        grade=Grade.CERTIFIED,
        precision=f"{_BITS} bits",
        trials=5,
        cost=0.3,
    )


def _reach_faults(rng: np.random.Generator) -> Faults:
    # At d = 2 there is one other embedding, and so one score to be below.
    for d in (2, int(rng.integers(3, 6))):
        yield from _reach_faults_at(rng, d)


def _reach_faults_at(rng: np.random.Generator, d: int) -> Faults:
    from numerics.balls.reach.softmax_reach import softmax_reach
    from verify.ledgers.symbolic_to_ball import evaluate_real_in_balls

    V = sample_embeddings(rng, d, 3)
    exact = fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in V.tolist()])
    products = exact * exact.transpose()
    gap = min(products[i, i] - products[i, j] for i, j in permutations(range(d), 2))
    delta = Fraction(int(gap.p), int(gap.q))
    found = softmax_reach(V, tolerance=Fraction(1, 100))
    if found is None or not found.gap <= delta <= found.gap * (1 + _WIDTH):
        yield f"a gap of {delta} in {found}"
        return
    with working_precision(_BITS):
        most = from_fraction(found.sup_loss)
        bound = evaluate_real_in_balls(
            "concave_attention",
            "softmax_sup",
            {"d": arb(d), "length": arb(found.length), "gap": from_fraction(delta)},
        )
        if not (bound <= most and most <= bound * (1 + from_fraction(_WIDTH))):
            yield f"a bound of {most}, by the ledger {bound}"
        for support in permutations(range(d), 2):
            heads = []
            for i in support:
                scores = [found.length * arb(products[i, j]) for j in range(d)]
                total = sum((s.exp() for s in scores), arb(0))
                heads.append([s.exp() / total for s in scores])
            for loss in _losses(heads, support):
                if not loss <= most:
                    yield f"a loss of {loss} above {most}"


def _losses(heads: Sequence[Sequence[arb]], support: tuple[int, int]) -> list[arb]:
    """Enclose (f - y)^2 at every input; x and -x have the same."""
    a, b = support
    errors = [
        _form(heads[0], x) * _form(heads[1], x) - x[a] * x[b]
        for x in product((1,), *[(1, -1)] * (len(heads[0]) - 1))
    ]
    return [error * error for error in errors]


def _form(weights: Sequence[arb], x: Sequence[arb | int]) -> arb:
    return sum((w * each for w, each in zip(weights, x, strict=True)), arb(0))


_SERIES: Mapping[str, Callable[[arb_series], arb_series]] = {
    "linear": lambda s: s,
    "erf": lambda s: s.erf(),
    "tanh": lambda s: ((2 * s).exp() - 1) / ((2 * s).exp() + 1),
}

# Small steps, as larger ones may diverge from some starts.
_STEPS, _ETA = 3, Fraction(1, 50)


def descent_cell() -> Cell:
    """Return the cell on gradient descent in balls."""
    return fault_cell(
        "descent in balls at small V",
        _descent_faults,
        method=f"all inputs in balls, maps differentiated as power series; {_STEPS} steps",
        claimed="the kernel's mean loss; its bounds of the largest loss hold that of all inputs",
        grade=Grade.CERTIFIED,
        precision=f"{_BITS} bits",
        trials=3,
        cost=0.5,
    )


def _descent_faults(rng: np.random.Generator) -> Faults:
    from numerics.balls.attention_descent import MAPS, certify_descent

    d, m = int(rng.integers(3, 5)), int(rng.integers(2, 6))
    V = sample_embeddings(rng, d, m)
    theta, theta_tilde = (uniform_direction(rng, m) for _ in range(2))
    a, b = rng.permutation(d)[:2].tolist()
    for name in MAPS:
        found = {
            tolerance: certify_descent(
                V,
                theta,
                theta_tilde,
                (a, b),
                attention=name,
                eta=_ETA,
                steps=_STEPS,
                tolerance=tolerance,
            )
            for tolerance in (Fraction(1, 10**9), Fraction(10**9))
        }
        verdicts = [each.verdict for each in found.values()]
        if verdicts != ["refuted", "certified"]:
            yield f"{name}: {verdicts}"
        with working_precision(_BITS):
            heads = _descend(V.tolist(), (theta, theta_tilde), (a, b), _SERIES[name])
            losses = _losses(heads, (a, b))
            mean = sum(losses, arb(0)) / len(losses)
            for each in found.values():
                if not (_meets(each.mean_loss, mean) and _holds(each.sup_loss, losses)):
                    yield f"{name}: {each}, by enumeration {mean}"


def _meets(interval: tuple[Fraction, Fraction] | None, ball: arb) -> bool:
    """Tell whether an interval and a ball are both narrow, and have a point in common."""
    low, high = lower_end(ball), upper_end(ball)
    if interval is None or low is None or high is None:
        return False
    narrow = max(interval[1] - interval[0], high - low) <= _WIDTH
    return narrow and interval[0] <= high and low <= interval[1]


def _holds(interval: tuple[Fraction, Fraction] | None, losses: Sequence[arb]) -> bool:
    """Tell whether the largest of some losses lies in an interval."""
    if interval is None:
        return False
    # The upper end can be the largest loss itself, where no comparison of balls decides.
    low, high = from_fraction(interval[0]), from_fraction(interval[1] + _WIDTH)
    return all(loss <= high for loss in losses) and any(loss >= low for loss in losses)


def _descend(
    V: Sequence[Sequence[float]],
    start: Sequence[NDArray[np.float64]],
    support: tuple[int, int],
    phi: Callable[[arb_series], arb_series],
) -> list[list[arb]]:
    """Return the weights of both heads after the steps."""
    a, b = support
    rows = [[from_float(x) for x in row] for row in V]
    queries = [[from_float(x) for x in query.tolist()] for query in start]
    inputs = list(product((1, -1), repeat=len(rows)))
    for step in range(_STEPS + 1):
        series = [[phi(arb_series([_form(row, q), 1], prec=2)) for row in rows] for q in queries]
        heads = [[each[0] for each in head] for head in series]
        if step < _STEPS:
            slopes = [[arb(0)] * len(rows) for _ in heads]
            for x in inputs:
                p, q = (_form(head, x) for head in heads)
                error = 2 * (p * q - x[a] * x[b]) / len(inputs)
                for slope, other in zip(slopes, (q, p), strict=True):
                    for i, sign in enumerate(x):
                        slope[i] += error * other * sign
            for query, head, slope in zip(queries, series, slopes, strict=True):
                for each, g, row in zip(head, slope, rows, strict=True):
                    for k, v in enumerate(row):
                        query[k] -= from_fraction(_ETA) * each[1] * g * v
    return heads
