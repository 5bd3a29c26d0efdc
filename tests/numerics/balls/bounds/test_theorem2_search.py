from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.converse import failure_lower
from numerics.balls.bounds.events import total
from numerics.balls.bounds.theorem2 import failure_events
from numerics.balls.bounds.theorem2_search import best_budget, best_converse_budget, leading_order

TOLERANCE = Fraction(1, 100)


def upper(d, m, budget, scale):
    with working_precision(64):
        return float(total(failure_events(d, m, budget, scale=scale, tolerance=TOLERANCE)))


def test_leading_order():
    assert leading_order(1) == pytest.approx(0.5, rel=1e-15)
    assert leading_order(3) == pytest.approx(1 / 3, rel=1e-15)
    assert leading_order(10**12) == pytest.approx(2e-6 / math.pi, rel=1e-12)


@pytest.mark.parametrize(
    ("d", "m", "scale"),
    [
        (1000, 256, None),
        (1000, 48, None),
        (40, 256, Fraction(200)),
        (10**6, 512, Fraction(40_000)),
        (10**15, 10**9, None),
        (3, 6, None),
        (10**15, 6, Fraction(1)),
    ],
)
def test_budgets_have_the_form_that_the_theorem_asks_for(d, m, scale):
    budget = best_budget(d, m, scale=scale, tolerance=TOLERANCE)
    assert 0 < budget.largest_score <= 1
    assert 0 < budget.overlap <= 1
    assert 0 < budget.share < 1
    levels = ("sum_level", "squares_level", "support_level", "ambient_level")
    assert all(math.isfinite(getattr(budget, name)) for name in levels)
    assert all(getattr(budget, name) >= 0 for name in levels)
    for ends, first, last in [(budget.slices, 0.0, 1.0), (budget.cells, -1.0, budget.overlap)]:
        assert (ends[0], ends[-1]) == (first, last)
        assert all(low < high for low, high in pairwise(ends))


@pytest.mark.parametrize(("d", "m", "scale"), [(1000, 256, None), (10**6, 512, Fraction(40_000))])
def test_no_threshold_moved_by_itself_gains_much(d, m, scale):
    budget = best_budget(d, m, scale=scale, tolerance=TOLERANCE)
    found = upper(d, m, budget, scale)
    for name in ("largest_score", "sum_level", "squares_level", "overlap", "support_level"):
        for factor in (0.8, 0.9, 1.1, 1.25):
            changed = replace(budget, **{name: getattr(budget, name) * factor})
            if name == "overlap":
                below = (end for end in budget.cells[:-1] if end < changed.overlap)
                changed = replace(changed, cells=(*below, changed.overlap))
            # A search of a few hundred evaluations in eight directions leaves some per mille.
            assert upper(d, m, changed, scale) >= 0.995 * found, (name, factor)


def test_random_budgets_are_not_better():
    rng = np.random.default_rng(1)
    d, m = 10_000, 512
    budget = best_budget(d, m, scale=None, tolerance=TOLERANCE)
    found = upper(d, m, budget, None)
    for _ in range(40):
        names = ("largest_score", "sum_level", "squares_level", "support_level", "ambient_level")
        factors = np.exp(rng.normal(0, 0.3, size=5))
        changes = {n: getattr(budget, n) * float(f) for n, f in zip(names, factors, strict=True)}
        changes["largest_score"] = min(1.0, changes["largest_score"])
        assert upper(d, m, replace(budget, **changes), None) >= 0.999 * found


def test_the_converse_is_not_gained_by_single_moves():
    d, m = 1000, 256
    budget = best_converse_budget(d, m)

    def lower(candidate):
        with working_precision(64):
            return float(failure_lower(d, m, candidate))

    found = lower(budget)
    for each in fields(budget):
        for factor in (0.8, 0.9, 1.1, 1.25):
            changed = replace(budget, **{each.name: getattr(budget, each.name) * factor})
            assert lower(changed) <= 1.005 * found, (each.name, factor)


def test_searches_are_deterministic():
    first, again = (best_budget(500, 300, scale=None, tolerance=TOLERANCE) for _ in range(2))
    assert first == again
    assert best_converse_budget(500, 300) == best_converse_budget(500, 300)
