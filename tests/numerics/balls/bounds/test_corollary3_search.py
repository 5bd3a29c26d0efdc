"""Budgets that the search finds: of the form that the corollary asks for, and good ones."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.corollary3 import sample_failure_events
from numerics.balls.bounds.corollary3_search import best_sample_budget, leading_samples
from numerics.balls.bounds.events import total


def failure(d, m, n, budget, **options):
    with working_precision(64):
        return float(total(sample_failure_events(d, m, n, budget, **options)))


@pytest.mark.parametrize(
    ("d", "m", "probability"),
    [(1000, 1024, 0.25), (10**6, 512, 0.25), (400, 30, 0.05), (9, 9, 0.9)],
)
def test_leading_samples_solve_the_leading_order(d, m, probability):
    n = leading_samples(d, m, probability)
    leading = math.sqrt(2 / math.pi) * math.sqrt(1 / d + (d**2 + d * m) / (4 * n))
    assert leading == pytest.approx(probability, rel=1e-12)


def test_no_number_of_samples_goes_below_the_population():
    d = 1000
    least = math.sqrt(2 / (math.pi * d))
    assert math.isfinite(leading_samples(d, 64, least * 1.001))
    assert leading_samples(d, 64, least * 0.999) == math.inf


@pytest.mark.parametrize("by_range", [False, True])
def test_budget_has_the_form_that_is_asked_for(by_range):
    d, m = 2000, 1024
    n = 20 * d**4 if by_range else 12 * d * d
    budget = best_sample_budget(d, m, n, failure=0.3, by_range=by_range)
    assert budget.near[-1] == budget.slices[1]
    assert budget.near[0] > 0
    assert (budget.slices[0], budget.slices[-1]) == (0, 1)
    assert (budget.cells[0], budget.cells[-1]) == (-1, budget.overlap)
    for ends in (budget.near, budget.slices, budget.cells):
        assert all(low < high for low, high in itertools.pairwise(ends))
    found = failure(d, m, n, budget, by_range=by_range)
    assert found < 0.35
    # A good one: no single threshold can be moved to much advantage.
    for name in ("largest_score", "sum_level", "freezing_level", "energy_level", "sampling"):
        for factor in (0.8, 1.25):
            moved = replace(budget, **{name: getattr(budget, name) * factor})
            assert failure(d, m, n, moved, by_range=by_range) > 0.99 * found, (name, factor)


# To leading order it takes 5.2, 2.7, 2.5 and 2.5 d^2.
@pytest.mark.parametrize(
    ("d", "m", "multiple"),
    [(10**3, 1024, 11), (10**4, 512, 6.6), (10**6, 512, 6.0), (10**9, 1024, 4.4)],
)
def test_few_samples_are_seen_to_suffice_for_a_quarter(d, m, multiple):
    n = int(multiple * d * d)
    assert failure(d, m, n, best_sample_budget(d, m, n, failure=0.25)) <= 0.25
