"""The lower bound: below what is simulated, above a share of it, and the same when written again.

One step fails for all large enough steps where exactly one of the two slopes against the other
position of the support is negative; the bound is on that.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.binomial import clopper_pearson
from numerics.balls.bounds.converse import ConverseBudget, failure_lower
from numerics.balls.bounds.events import total
from numerics.balls.bounds.slope_bounds import ScoreBounds, UnmetConditionError
from numerics.balls.bounds.theorem2 import failure_events
from numerics.balls.bounds.theorem2_search import best_budget, best_converse_budget, leading_order
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.theorem2.slopes import one_step_slopes
from numerics.theorem2.support_slopes import draw_support_slopes

LEVEL = 1 - Fraction(1, 10**6)


def quantile(level, m):
    return math.sqrt(-math.expm1(-2 * level / (m - 1)))


def lower(d, m, budget, bits=128):
    with working_precision(bits):
        return float(failure_lower(d, m, budget))


@cache
def best(d, m):
    return best_converse_budget(d, m)


def peak(m):
    return math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(math.pi)


def tail(t, m):
    return (1 - t * t) ** ((m - 1) / 2) * min(0.5, peak(m) / ((m - 1) * t))


def transcribed(d, m, budget):
    """The terms of the bound once more, in binary64; the constants are tested elsewhere."""
    sigma, rho_0, reach = budget.largest_score, budget.overlap, budget.reach
    h = math.sqrt(2 * (d - 2) / m * budget.sum_level) / d
    l_q = budget.squares_level
    q = (d - 2 + 2 * math.sqrt((d - 2) * l_q) + 2 * l_q) / (m * d)
    with working_precision(80):
        scores = ScoreBounds(d=d, sigma=from_float(sigma), h=from_float(h), q=from_float(q))
        found = scores.slopes(from_float(2 * reach))
        named = {each.name: float(getattr(found, each.name)) for each in fields(found)}
    alpha, beta, w, R = named["alpha"], named["beta"], named["noise"], named["norm"]
    c_bar, c_low, lam = named["weight"], named["decrease"], named["moves"]
    signal = math.sinh(2 * reach) / (2 * reach)

    def most(rho):
        return 2 * ((signal + c_low / 2) * (1 - rho) + beta)

    epsilon = beta / alpha
    r = 1 + epsilon / (1 - epsilon - rho_0)
    I_1 = (m - 2) / (m - 3) + epsilon * r * (m - 2) / (m - 5)
    slow = I_1 / (2 * alpha)
    p = 2 * d * tail(sigma, m) + 2 * math.exp(-budget.sum_level) + math.exp(-l_q)
    a_squared = (2 - 2 * c_bar) ** 2 / (d - 2) - c_bar**2 * q * d
    E_W = math.sqrt(a_squared / (1 + 2 / (m - 1)))
    E_3 = w**3 * ((1 + 2 / (m - 1)) * 3 / ((m - 1) * (m + 1))) ** 0.75
    t = lam * math.sqrt(2 * budget.freezing_level / (d * (m - 1))) / math.sqrt(1 - reach**2)
    overlap = 2 * tail(rho_0, m)
    far = 4 * tail(reach, m)
    far *= math.exp(-(m - 1) * (most(rho_0) * reach) ** 2 / (2 * w * w))
    return {
        "wedge": 2 * (1 - p - overlap) * E_W / (math.pi * most(0)),
        "frozen": -2 * peak(m) * t * (1 / most(0) + slow),
        "both": -R / math.pi * (slow - (1 - overlap) / most(0)),
        "cubic": -m / 3 * peak(m) * E_3 / most(rho_0) ** 3,
        "outside": -4 * tail(sigma, m),
        "far": -far,
        "thawed": -8 * peak(m) * reach * math.exp(-budget.freezing_level),
    }


# Budgets at which one correction is a large part of what is left, and the ordinary ones.
PLACES = {
    "frozen": (1000, 256, {"freezing_level": 60.0}),
    "both": (60, 300, {}),
    "cubic": (100, 256, {}),
    "outside": (300, 512, {"largest_score": quantile(7.5, 512)}),
    "far": (1000, 256, {"reach": 0.0085}),
    "thawed": (1000, 256, {"freezing_level": 6.0}),
}


@pytest.mark.parametrize("term", PLACES)
def test_every_correction_is_subtracted_where_it_is_large(term):
    d, m, changes = PLACES[term]
    budget = replace(best(d, m), **changes)
    terms = transcribed(d, m, budget)
    bound = sum(terms.values())
    # Dropping the term, or halving it, is far more than the rounding.
    assert -terms[term] >= 0.005 * terms["wedge"]
    assert bound > 0
    assert lower(d, m, budget) == pytest.approx(bound, rel=1e-9)


@given(
    d=st.sampled_from([50, 300, 10**4, 10**9]),
    m=st.sampled_from([64, 256, 1000, 10**5]),
    levels=st.tuples(*[st.integers(4, 40)] * 6),
)
def test_bound_from_a_second_transcription(d, m, levels):
    size, sums, squares, overlap, freezing, reach = levels
    budget = ConverseBudget(
        largest_score=quantile(size / 4 + math.log(d), m),
        sum_level=sums / 2,
        squares_level=squares / 2,
        overlap=quantile(overlap / 2, m),
        reach=reach / 10 / math.sqrt(d * m),
        freezing_level=freezing,
    )
    try:
        expected = sum(transcribed(d, m, budget).values())
    except (UnmetConditionError, ValueError):
        expected = 0.0
    # The terms are below the wedge, 1/sqrt(d), in size where anything is left.
    assert lower(d, m, budget) == pytest.approx(max(0.0, expected), rel=1e-8, abs=1e-9)


@cache
def opposite_signs(d, m, trials):
    """How often exactly one slope is negative, and at least one, in exact draws."""
    generator = np.random.default_rng(d + m)
    one = any_ = 0
    for _ in range(trials // 2000):
        negative = (draw_support_slopes(generator, d, m, draws=2000) < 0).sum(axis=1)
        one += int((negative == 1).sum())
        any_ += int((negative > 0).sum())
    return one, any_


@pytest.mark.parametrize(
    ("d", "m", "trials", "share"),
    # The share that the bound is of what is simulated: it grows with both sizes.
    [(100, 256, 60_000, 0.55), (100, 1024, 20_000, 0.75), (300, 256, 20_000, 0.7)],
)
def test_bounds_below_and_above_hold_what_is_simulated(d, m, trials, share):
    one, at_least_one = opposite_signs(d, m, trials)
    low, _ = clopper_pearson(one, trials, level=LEVEL)
    bound = lower(d, m, best(d, m))
    assert bound <= low
    assert bound >= share * one / trials
    budget = best_budget(d, m, scale=None, tolerance=Fraction(1, 100))
    with working_precision(128):
        above = total(failure_events(d, m, budget, scale=None, tolerance=Fraction(1, 100)))
    lowest, highest = clopper_pearson(at_least_one, trials, level=LEVEL)
    assert lowest <= above
    # Resolved only where the bound is not within a twentieth of the truth.
    assert highest <= above or (d, m) != (100, 256)


def test_drawn_embeddings_fail_as_often():
    # The same event from V itself: the two simulations share no formula but the slopes.
    d, m, trials = 100, 64, 4000
    rng = np.random.default_rng(7)
    one = 0
    for _ in range(trials):
        V, theta = sample_embeddings(rng, d, m), uniform_direction(rng, m)
        found = one_step_slopes(V, theta, (0, 1))
        one += (found.theta.support_slope < 0) != (found.theta_tilde.support_slope < 0)
    low, high = clopper_pearson(one, trials, level=LEVEL)
    other = opposite_signs(d, m, 20_000)[0] / 20_000
    assert low <= other <= high
    assert lower(d, m, best(d, m)) <= low


@pytest.mark.parametrize("budget_at", [(300, 256), (10**6, 512)])
@given(factors=st.tuples(*[st.integers(50, 200)] * 6))
def test_no_budget_near_the_best_contradicts_the_law(budget_at, factors):
    d, m = budget_at
    names = [each.name for each in fields(ConverseBudget)]
    budget = best(d, m)
    changed = replace(
        budget, **{n: getattr(budget, n) * f / 100 for n, f in zip(names, factors, strict=True)}
    )
    # The truth is the law up to 1/m, simulated to be within 2 percent at the first size.
    assert 0 <= lower(d, m, changed, bits=64) <= 1.02 * leading_order(d)


def test_where_nothing_can_be_said_the_bound_is_zero():
    ordinary = best(1000, 256)
    for d, m, changes in [
        (2, 256, {}),
        (1000, 5, {}),
        (1000, 256, {"overlap": 0.999}),  # g vanishes before rho_0
        (1000, 256, {"sum_level": 1e6}),  # Z_2 may vanish
        (1000, 256, {"sum_level": 0.1}),  # the events fill everything
        (1000, 256, {"largest_score": 1e-3}),
        (1000, 256, {"reach": 0.0}),
        (4, 256, {}),  # 2 - 2 c-bar < 0
    ]:
        assert lower(d, m, replace(ordinary, **changes)) == 0


@pytest.mark.parametrize("bits", [2, 10, 30, 53, 300])
def test_lower_precision_gives_a_lower_bound(bits):
    budget = best(1000, 256)
    with working_precision(bits):
        bound = failure_lower(1000, 256, budget).lower()
    assert bound <= arb(lower(1000, 256, budget, bits=400)) * (1 + arb(2) ** -50)
    if bits >= 30:
        assert bound > 0.018
