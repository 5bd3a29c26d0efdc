"""The theorem on single draws: what it concludes, and how often each of its events happens."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.binomial import clopper_pearson
from numerics.balls.bounds.events import total
from numerics.balls.bounds.slope_bounds import UnmetConditionError
from numerics.balls.bounds.theorem2 import Budget, failure_events
from numerics.embeddings import sample_embeddings, uniform_direction
from numerics.one_step import one_step
from numerics.theorem2.events import event_thresholds, events_of_draw
from numerics.theorem2.slopes import one_step_slopes
from numerics.worst_case import worst_case_loss
from verify.testing.strategies import instances

UNIT = 2.0**-53
TOLERANCE = Fraction(1, 100)


def quantile(level, m):
    """The t with (1 - t^2)^((m-1)/2) = e^-level."""
    return math.sqrt(-math.expm1(-2 * level / (m - 1)))


def ordinary_budget(d, m, *, first=0.3):
    """A budget with room for everything at sizes with d much below m."""
    sigma, rho_0 = quantile(math.log(20 * d), m), quantile(3, m)
    last = max(2 * sigma, 2 * first)
    ends = [first * (last / first) ** (i / 16) for i in range(16)]
    return Budget(
        largest_score=sigma,
        sum_level=3.0,
        squares_level=3.0,
        overlap=rho_0,
        slices=(0.0, *(end for end in ends if end < 1), 1.0),
        cells=(-1.0, *(float(x) * rho_0 for x in np.linspace(-2.5, 0.9, 35)), rho_0),
        support_level=3.0,
        ambient_level=math.log(20 * d),
        share=0.9,
    )


def probabilities(d, m, budget, *, scale=None, tolerance=TOLERANCE):
    with working_precision(128):
        events = failure_events(d, m, budget, scale=scale, tolerance=tolerance)
        assert all(each.reason is None for each in events)
        return {(each.name, each.head): float(each.probability) for each in events}


# --- the theorem


def assert_conclusion(V, theta, support, found, thresholds, scale, tolerance, factor):
    slack = 20 * (V.shape[0] + V.shape[1]) * UNIT  # of the slopes, as computed
    for head in (found.theta, found.theta_tilde):
        assert head.support_slope >= thresholds.support_slope - slack
        assert head.ambient_slopes.min() >= thresholds.ambient_slope - slack
    if scale is not None:
        eta = float(scale) * V.shape[0] ** 2 * factor
        step = one_step(V, theta, support, eta)
        assert step.heads == (found.theta.own, found.theta_tilde.own)
        largest = worst_case_loss(step.gamma, step.gamma_tilde, support)
        # The scores after the step are of order eta omega, which costs as many units.
        assert largest.upper <= tolerance * (1 + 100 * eta * found.omega * slack) + 1e-15


@given(
    instance=instances(min_d=6, max_d=40, min_m=128, max_m=700),
    levels=st.tuples(*[st.integers(2, 12)] * 6),
    step=st.sampled_from([None, 60, 250, 4000]),
    tolerance=st.sampled_from([Fraction(1, 10**6), TOLERANCE, Fraction(1, 2), Fraction(2)]),
    first=st.sampled_from([0.002, 0.01, 0.05, 0.3]),
    factor=st.sampled_from([1.0, 1.7, 50.0]),
)
def test_a_draw_without_events_satisfies_the_theorem(
    instance, levels, step, tolerance, first, factor
):
    d, m = instance.d, instance.m
    sigma, sums, squares, overlap, support, ambient = (level / 2 for level in levels)
    budget = replace(
        ordinary_budget(d, m, first=first),
        largest_score=quantile(sigma + math.log(d), m),
        sum_level=sums,
        squares_level=squares,
        overlap=quantile(overlap, m),
        support_level=support,
        ambient_level=ambient + math.log(d),
    )
    scale = None if step is None else Fraction(step)
    try:
        thresholds = event_thresholds(d, m, budget, scale=scale, tolerance=tolerance)
    except UnmetConditionError:
        event("conditions unmet")
        return
    found = one_step_slopes(instance.V, instance.theta, instance.support)
    if any(events_of_draw(found, thresholds).values()):
        event("an event happened")
        return
    event("conclusion")
    assert_conclusion(
        instance.V, instance.theta, instance.support, found, thresholds, scale, tolerance, factor
    )


def draws(d, m, count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield sample_embeddings(rng, d, m), uniform_direction(rng, m)


@pytest.mark.parametrize(("d", "m", "scale"), [(16, 512, None), (30, 256, 400), (200, 128, 800)])
def test_most_draws_are_not_vacuous(d, m, scale):
    scale = None if scale is None else Fraction(scale)
    thresholds = event_thresholds(d, m, ordinary_budget(d, m), scale=scale, tolerance=TOLERANCE)
    concluded = 0
    for V, theta in draws(d, m, 200, seed=d):
        found = one_step_slopes(V, theta, (0, 1))
        if not any(events_of_draw(found, thresholds).values()):
            concluded += 1
            assert_conclusion(V, theta, (0, 1), found, thresholds, scale, TOLERANCE, 1.0)
    # The sharpest of the three bounds alone leaves half of them.
    assert concluded >= 120


# --- how often the events happen


D, M = 16, 512
COUNTS = {(D, M): 12_000, (100, 256): 4000}
LEVEL = 1 - Fraction(1, 10**5)
ORDINARY = ordinary_budget(D, M)
COMMON, BOTH = (None,), ("theta", "theta_tilde")


@cache
def sampled_slopes(d, m):
    count = COUNTS[d, m]
    return [one_step_slopes(V, theta, (0, 1)) for V, theta in draws(d, m, count, seed=d)]


def sampled_counts(d, m, budget, *, scale=None):
    thresholds = event_thresholds(d, m, budget, scale=scale, tolerance=TOLERANCE)
    counts = {}
    for found in sampled_slopes(d, m):
        for key, happens in events_of_draw(found, thresholds).items():
            counts[key] = counts.get(key, 0) + happens
    return counts


# Each event where its bound is large: the sizes, what is changed in the ordinary budget, the scale,
# and the share of the bound that the frequency is still above. Where this is far from 1:
# - sub-Gaussian and chi-square tails leave out the factor 1/(x sqrt(2 pi)) of the Gaussian tail and
#   more: at e^-1 the truth is P(g > sqrt 2) = .079, at 2 e^-1.4 it is P(|g| > 1.67) = .095, and
#   less where the noise has not its largest variance;
# - for the far margin there is such a tail on each slice; with thin ones and the largest variance
#   1/pi of the bound would be real, as int_0^inf P(g > t) dt is of int_0^inf exp(-t^2/2) dt;
# - the unions over ambient positions are over such tails too: the share still is above 1/(d - 2).
PLACES = [
    ("largest score", COMMON, D, M, {"largest_score": quantile(3, M)}, None, 0.7),
    ("sum of scores", COMMON, D, M, {"sum_level": 1.4}, None, 0.15),
    ("sum of squared scores", COMMON, D, M, {"squares_level": 0.8}, None, 0.13),
    ("overlap", COMMON, D, M, {"overlap": quantile(0.7, M)}, None, 0.6),
    ("small lean", COMMON, D, M, {}, Fraction(30), 0.8),
    ("near margin", BOTH, D, M, {}, None, 0.65),
    ("far margin", BOTH, D, M, {"slices": ordinary_budget(D, M, first=0.002).slices}, None, 0.14),
    ("ambient alignment", BOTH, D, M, {"support_level": 22.0, "ambient_level": 22.0}, None, 0.3),
    ("noise along the support", BOTH, D, M, {"support_level": 1.0}, None, 0.13),
    ("noise along an ambient position", BOTH, 100, 256, {"ambient_level": 5.5}, None, 0.045),
]


@pytest.mark.parametrize(("name", "heads", "d", "m", "changes", "scale", "share"), PLACES)
def test_events_happen_less_often_than_their_bounds_say_and_not_much_less(
    name, heads, d, m, changes, scale, share
):
    first = 0.3 if name in {"near margin", "small lean"} else 0.004
    budget = replace(ordinary_budget(d, m, first=first), **changes)
    bounds = probabilities(d, m, budget, scale=scale)
    counts = sampled_counts(d, m, budget, scale=scale)
    assert counts.keys() == bounds.keys()
    for head in heads:
        bound = bounds[name, head]
        assert 0.05 <= bound <= 0.5
        low, high = clopper_pearson(counts[name, head], COUNTS[d, m], level=LEVEL)
        assert high <= bound
        assert low >= share * bound


def test_the_places_are_all_events_of_the_theorem():
    keys = {(name, head) for name, heads, *_ in PLACES for head in heads}
    assert keys == set(probabilities(D, M, ORDINARY))


def random_budget(seed):
    rng = np.random.default_rng(seed)
    levels = rng.uniform(1, 8, size=5)
    return replace(
        ordinary_budget(D, M, first=float(rng.choice([0.02, 0.1, 0.3]))),
        largest_score=quantile(levels[0] + math.log(D), M),
        sum_level=float(levels[1]),
        squares_level=float(levels[2]),
        overlap=quantile(levels[3], M),
        support_level=float(levels[4]),
        ambient_level=float(levels[4]) + math.log(D),
    )


@pytest.mark.parametrize("seed", [1, 2, 4, 6])  # those with a bound below .6
def test_the_total_bounds_how_often_anything_happens_and_how_often_a_step_fails(seed):
    budget = random_budget(seed)
    thresholds = event_thresholds(D, M, budget, scale=None, tolerance=TOLERANCE)
    failed = happened = 0
    for found in sampled_slopes(D, M):
        least = min(
            min(head.support_slope, head.ambient_slopes.min())
            for head in (found.theta, found.theta_tilde)
        )
        happens = any(events_of_draw(found, thresholds).values())
        # Draw by draw, as the proof says.
        assert happens or least >= 0
        failed += least < 0
        happened += happens
    with working_precision(128):
        bound = total(failure_events(D, M, budget, scale=None, tolerance=TOLERANCE))
    assert clopper_pearson(happened, COUNTS[D, M], level=LEVEL)[1] <= bound
    # The law is (2/pi) arctan(1/sqrt d) = .156, and no true bound can be below what is seen.
    low, high = clopper_pearson(failed, COUNTS[D, M], level=LEVEL)
    assert low <= 0.156 <= high
    assert high <= bound


# --- the thresholds


def test_needed_slopes():
    for tolerance, r in [(TOLERANCE, 0.9), (Fraction(1), 0.0), (Fraction(9), 0.0)]:
        found = event_thresholds(D, M, ORDINARY, scale=Fraction(100), tolerance=tolerance)
        x = (1 - math.sqrt(r)) / (1 + math.sqrt(r))
        # At an omega of 1/d^2, the largest there is, they would be these; it is a little less.
        support = math.log(1 / (0.9 * x)) / 200
        ambient = (math.log(D / (0.1 * x)) + 2 * ORDINARY.largest_score) / 200
        assert support <= found.support_slope <= 1.05 * support
        assert ambient <= found.ambient_slope <= 1.05 * ambient
    tiny = event_thresholds(D, M, ORDINARY, scale=Fraction(100), tolerance=Fraction(1, 10**2000))
    assert tiny.support_slope == pytest.approx(
        found.support_slope + 1000 * math.log(10) / 200, rel=0.05
    )
    limit = event_thresholds(D, M, ORDINARY, scale=None, tolerance=TOLERANCE)
    assert limit.support_slope == limit.ambient_slope == 0
    # Against an ambient position the slope needed is part of what the signal has to pay for.
    for finite, infinite in zip(found.bounds, limit.bounds, strict=True):
        assert finite.disturbance == pytest.approx(infinite.disturbance + found.ambient_slope)


def literal_events(V, theta, thresholds):
    """The events on the slopes as the proof writes them, for support (0, 1)."""
    found = one_step_slopes(V, theta, (0, 1))
    s = V @ theta
    a, b = (0, 1) if s[0] >= s[1] else (1, 0)
    A, rho, lean = V[a] - V[b], V[a] @ V[b], s[a] - s[b]
    length = np.linalg.norm(A)
    y = theta @ A / length
    i = sum(y >= end for end in thresholds.slices)
    bounds = thresholds.bounds[i]
    g = 2 * (bounds.alpha * (1 - rho) - bounds.beta)
    perp = V - np.outer(s, theta)
    ambient = range(2, V.shape[0])
    small = i == 0 and g * y < thresholds.support_slope / length
    result = {("small lean", None): small}
    for name, head, own, other in [
        ("theta", found.theta, a, b),
        ("theta_tilde", found.theta_tilde, b, a),
    ]:
        c = head.weights
        W = c[2:] @ perp[2:]
        Y = W @ (V[own] - V[other]) / length
        missed = g * y - thresholds.support_slope / length < Y
        push = math.exp(lean) * V[own] + math.exp(-lean) * V[other]
        least = math.exp(lean) + rho * math.exp(-lean) - bounds.disturbance
        noises = [-(W - c[k] * perp[k]) @ V[k] for k in ambient]
        result["near margin", name] = i == 0 and not small and missed
        result["far margin", name] = i >= 1 and missed
        result["ambient alignment", name] = any(push @ V[k] > least for k in ambient)
        result["noise along the support", name] = W @ V[own] > bounds.support_noise
        result["noise along an ambient position", name] = max(noises) > bounds.ambient_noise
    return result


def test_every_event_on_the_slopes_read_literally():
    # Everything about as likely as not: low levels, a small step, many draws on either side of y_1.
    budget = replace(ordinary_budget(D, M, first=0.03), support_level=0.02, ambient_level=0.6)
    thresholds = event_thresholds(D, M, budget, scale=Fraction(70), tolerance=TOLERANCE)
    raised = replace(
        thresholds,
        bounds=tuple(replace(each, disturbance=0.85) for each in thresholds.bounds),
    )
    seen = {}
    for V, theta in draws(D, M, 400, seed=5):
        events = events_of_draw(one_step_slopes(V, theta, (0, 1)), raised)
        if any(list(events.values())[:4]):
            continue
        for key, happens in literal_events(V, theta, raised).items():
            assert events[key] == happens, key
            seen.setdefault(key, set()).add(happens)
    assert all(values == {True, False} for values in seen.values()), seen


def test_a_draw_at_a_threshold_counts_as_an_event():
    found = sampled_slopes(D, M)[0]
    largest = float(np.abs(found.scores).max())
    for sigma, happens in [(largest, True), (largest + 1e-15, True), (largest + 1e-9, False)]:
        thresholds = event_thresholds(
            D, M, replace(ORDINARY, largest_score=sigma), scale=None, tolerance=TOLERANCE
        )
        assert events_of_draw(found, thresholds)["largest score", None] is happens


def test_where_the_scores_are_out_of_bounds_nothing_else_is_counted():
    budget = replace(ORDINARY, largest_score=0.02, support_level=0.0)
    thresholds = event_thresholds(D, M, budget, scale=None, tolerance=TOLERANCE)
    events = events_of_draw(sampled_slopes(D, M)[0], thresholds)
    assert [key for key, happens in events.items() if happens] == [("largest score", None)]


def test_bad_arguments_and_unmet_conditions():
    options = {"scale": None, "tolerance": TOLERANCE}
    with pytest.raises(InvalidArgumentError, match=r"^d=2"):
        event_thresholds(2, M, ORDINARY, **options)
    with pytest.raises(InvalidArgumentError, match=r"^m=5"):
        event_thresholds(D, 5, ORDINARY, **options)
    with pytest.raises(UnmetConditionError, match=r"^near margin"):
        event_thresholds(D, M, replace(ORDINARY, overlap=0.99), **options)
    thresholds = event_thresholds(D, M, ORDINARY, **options)
    other = one_step_slopes(np.eye(3), [0.0, 0.6, 0.8], (0, 1))
    with pytest.raises(InvalidArgumentError, match=r"^slopes=draw of 3 positions: must be 16"):
        events_of_draw(other, thresholds)
