"""The events of the theorem: which they are, that they are summed, and each bound written again.

How often the events happen in random draws is compared with these bounds elsewhere, with the
predicates that decide them for a draw.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, replace
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import event, given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.balls.arithmetic.exact import from_float
from numerics.balls.arithmetic.precision import working_precision
from numerics.balls.bounds.events import Event, total
from numerics.balls.bounds.slope_bounds import ScoreBounds
from numerics.balls.bounds.theorem2 import Budget, failure_events

TOLERANCE = Fraction(1, 100)

# The proof's own list (its section 8): five events of both heads, and five of each.
COMMON = ("largest score", "sum of scores", "sum of squared scores", "overlap", "small lean")
OF_A_HEAD = (
    "near margin",
    "far margin",
    "ambient alignment",
    "noise along the support",
    "noise along an ambient position",
)
EXPECTED = {(name, None) for name in COMMON} | set(
    itertools.product(OF_A_HEAD, ("theta", "theta_tilde"))
)


def quantile(level, m):
    return math.sqrt(-math.expm1(-2 * level / (m - 1)))


def budget_at(d, m, *, levels=(6, 6, 6, 6, 6, 6), first=0.02, share=0.9):
    size, sums, squares, overlap, support, ambient = levels
    sigma, rho_0 = quantile(size / 2 + math.log(d), m), quantile(overlap / 2, m)
    last = min(1.0, 2 * sigma)
    first = min(first, last / 2)
    slices = [first * (last / first) ** (i / 6) for i in range(6)]
    return Budget(
        largest_score=sigma,
        sum_level=sums / 2,
        squares_level=squares / 2,
        overlap=rho_0,
        slices=(0.0, *slices, 1.0),
        cells=(-1.0, *(rho_0 * i / 4 for i in range(-10, 4) if rho_0 * i > -4), rho_0),
        support_level=support / 2,
        ambient_level=ambient / 2 + math.log(d),
        share=share,
    )


def events_of(d, m, budget, *, scale=None, tolerance=TOLERANCE, bits=128):
    with working_precision(bits):
        return failure_events(d, m, budget, scale=scale, tolerance=tolerance)


@pytest.mark.parametrize(("d", "m"), [(16, 512), (10**6, 512), (10**15, 10**6)])
@pytest.mark.parametrize("scale", [None, Fraction(300)])
def test_the_events_are_those_of_the_proof(d, m, scale):
    events = events_of(d, m, budget_at(d, m), scale=scale)
    assert len(events) == 15
    assert {(each.name, each.head) for each in events} == EXPECTED
    assert all(each.reason is None for each in events)
    assert all(0 <= each.probability <= 1 for each in events)


def test_the_total_is_the_sum_of_all_events_and_at_most_one():
    events = events_of(10**4, 512, budget_at(10**4, 512, levels=(20,) * 6), scale=Fraction(10**4))
    exact = sum((each.probability for each in events), arb(0))
    bound = total(events)
    assert bound.is_exact()
    assert exact <= bound <= exact.upper()
    assert bound < 0.1
    for i, each in enumerate(events):
        doubled = [*events[:i], replace(each, probability=2 * each.probability), *events[i + 1 :]]
        if each.name == "small lean":
            assert each.probability > 1e-6
        assert total(doubled) - bound >= 0.999 * each.probability - 1e-12
        assert total(doubled) > bound or each.probability < 1e-30
        assert total([*events[:i], *events[i + 1 :]]) <= bound - 0.999 * each.probability + 1e-12


@pytest.mark.parametrize("odd", [arb("nan"), arb("inf"), arb(2), arb(0.9, 0.3)])
def test_a_total_that_says_nothing_is_one(odd):
    one = Event(name="largest score", head=None, probability=arb(0.5))
    assert total([one, replace(one, probability=odd)]) == 1
    assert total([one]) == 0.5
    assert total([]) == 0


# --- every bound once more, in binary64, from the constants of `slope_bounds`


def peak(m):
    return math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(math.pi)


def tail(t, m):
    """T_m(t)."""
    if t < 0:
        return 1.0
    if t >= 1:
        return 0.0
    factor = 0.5 if t == 0 else min(0.5, peak(m) / ((m - 1) * t))
    return factor * (1 - t * t) ** ((m - 1) / 2)


def mass(low, high, m):
    """P(low <= y <= high)."""
    if high <= 0:
        low, high = -high, -low
    if low < 0:
        return min(1.0, peak(m) * (high - low))
    return min(tail(low, m), (high - low) * peak(m) * (1 - low * low) ** ((m - 3) / 2))


def transcribed(d, m, budget, scale, tolerance):
    sigma, rho_0 = budget.largest_score, budget.overlap
    l_h, l_q, l_a, l_A = (
        budget.sum_level,
        budget.squares_level,
        budget.support_level,
        budget.ambient_level,
    )
    h = math.sqrt(2 * (d - 2) * l_h / m) / d
    q = (d - 2 + 2 * math.sqrt((d - 2) * l_q) + 2 * l_q) / (d * m)
    with working_precision(80):
        scores = ScoreBounds(d=d, sigma=from_float(sigma), h=from_float(h), q=from_float(q))
        omega = float(scores.omega_least)

    def constants(high):
        lean = min(2 * sigma, 2 * high)
        with working_precision(80):
            found = scores.slopes(from_float(lean))
            c = {each.name: float(getattr(found, each.name)) for each in fields(found)}
        noise = c["noise"] * (math.sqrt(2 * l_a / (m - 1)) + math.sqrt(2 * l_A / (m - 1)))
        along = 2 * math.cosh(lean) * (h + sigma / d) + c["norm"] * math.sqrt(q * d)
        nu = 4 * c["amplitude"] + 3 * c["weight"] + 2 * sigma * along + noise + tau_a
        return c, nu

    tau_0 = tau_a = 0.0
    if scale is not None:
        r = max(0.0, 1 - math.sqrt(tolerance))
        x = (1 - math.sqrt(r)) / (1 + math.sqrt(r))
        tau_0 = max(0.0, math.log(1 / (budget.share * x))) / (2 * scale * omega)
        tau_a = math.log(d / ((1 - budget.share) * x)) + 2 * sigma
        tau_a = max(0.0, tau_a) / (2 * scale * omega)

    near, _ = constants(budget.slices[1])
    alpha, epsilon = near["alpha"], near["beta"] / near["alpha"]
    r = 1 + epsilon / (1 - epsilon - rho_0)
    I_1 = (m - 2) / (m - 3) + epsilon * r * (m - 2) / (m - 5)
    I_2 = ((m - 2) / (m - 5)) ** 0.75 * r
    w_0 = math.sqrt(4 / d + near["norm"] ** 2) + near["moves"] / math.sqrt(d)
    far = aligned = 0.0
    for low, high in itertools.pairwise(budget.slices):
        c, nu = constants(high)
        P = min(1.0, 2 * mass(low, high, m))
        if low > 0:
            margin = 2 * (c["alpha"] * (1 - rho_0) - c["beta"]) * low
            margin -= tau_0 / math.sqrt(2 - 2 * rho_0)
            exponent = -(m - 1) * max(0.0, margin) ** 2 / (2 * c["noise"] ** 2)
            far += P * math.exp(exponent)
        within = 0.0
        for left, right in itertools.pairwise(budget.cells):
            lean = math.sqrt(2 - 2 * right) * low
            rho = min(max(-math.exp(-2 * lean) - nu * math.exp(lean), left), right)
            square = 2 * math.cosh(2 * lean) + 2 * rho
            t = -1.0
            if square > 0:
                t = (math.exp(lean) + rho * math.exp(-lean) - nu) / math.sqrt(square)
            within += mass(left, right, m) * min(1.0, (d - 2) * tail(t, m))
        aligned += P * min(1.0, within)
    result = {
        ("largest score", None): 2 * d * tail(sigma, m),
        ("sum of scores", None): 2 * math.exp(-l_h),
        ("sum of squared scores", None): math.exp(-l_q),
        ("overlap", None): tail(rho_0, m),
        ("small lean", None): peak(m) * tau_0 * I_2 / (math.sqrt(2) * alpha),
    }
    for head in ("theta", "theta_tilde"):
        result["near margin", head] = math.atan(w_0 * I_1 / (2 * alpha)) / math.pi
        result["far margin", head] = far
        result["ambient alignment", head] = aligned
        result["noise along the support", head] = math.exp(-l_a)
        result["noise along an ambient position", head] = (d - 2) * math.exp(-l_A)
    return {key: min(1.0, bound) for key, bound in result.items()}


@given(
    size=st.sampled_from(
        [(16, 512), (40, 128), (100, 64), (1000, 40), (1000, 256), (10**6, 300), (10**12, 1000)]
    ),
    levels=st.tuples(*[st.integers(2, 40)] * 6),
    first=st.sampled_from([0.001, 0.02, 0.2]),
    share=st.sampled_from([0.1, 0.5, 0.99]),
    scale=st.sampled_from([None, 30, 500, 10**5]),
    tolerance=st.sampled_from([Fraction(1, 10**6), TOLERANCE, Fraction(1, 2), Fraction(3)]),
)
def test_bounds_from_a_second_transcription(size, levels, first, share, scale, tolerance):
    d, m = size
    budget = budget_at(d, m, levels=levels, first=first, share=share)
    scale = None if scale is None else Fraction(scale)
    events = events_of(d, m, budget, scale=scale, tolerance=tolerance)
    if events[0].reason is not None:
        event("a condition fails")
        assert total(events) == 1
        return
    expected = transcribed(d, m, budget, scale, tolerance)
    assert {(each.name, each.head) for each in events} == expected.keys()
    for each in events:
        # Powers and exponentials of up to 700, in binary64, lose a thousand units and more.
        assert float(each.probability) == pytest.approx(
            expected[each.name, each.head], rel=1e-9, abs=1e-250
        ), each.name


@given(bits=st.sampled_from([4, 10, 30, 53]), levels=st.tuples(*[st.integers(8, 30)] * 6))
def test_lower_precision_gives_larger_bounds(bits, levels):
    budget = budget_at(1000, 256, levels=levels)
    sharp = events_of(1000, 256, budget, scale=Fraction(500), bits=300)
    rough = events_of(1000, 256, budget, scale=Fraction(500), bits=bits)
    assert total(rough) >= total(sharp)
    if rough[0].reason is None:
        for coarse, fine in zip(rough, sharp, strict=True):
            assert (coarse.name, coarse.head) == (fine.name, fine.head)
            assert coarse.probability.upper() >= fine.probability.lower()


# --- where nothing is proved


@pytest.mark.parametrize(
    ("d", "m", "changes", "name", "reason"),
    [
        (2, 256, {}, "ambient alignment", "d=2: the theorem asks for d >= 3"),
        (100, 5, {}, "near margin", "m=5: the theorem asks for m >= 6"),
        (1000, 256, {"sum_level": 1e6}, "sum of scores", "1 - 2 h - 4 sigma/d > 0"),
        (
            1000,
            256,
            {"overlap": 0.995, "cells": (-1.0, 0.995)},
            "near margin",
            "1 - beta/alpha > rho_0",
        ),
        (5, 256, {"largest_score": 1.0, "slices": (0.0, 1.0)}, "near margin", "alpha > 0"),
    ],
)
def test_a_condition_that_fails_leaves_one_event_of_probability_one(d, m, changes, name, reason):
    budget = replace(budget_at(max(d, 20), max(m, 20), levels=(1,) * 6), **changes)
    (event,) = events_of(d, m, budget)
    assert (event.name, event.head) == (name, None)
    assert event.probability == 1
    assert event.reason.startswith(reason)
    assert total([event]) == 1


def test_steps_too_small_are_seen():
    budget = budget_at(10**4, 512, levels=(20,) * 6)
    totals = [
        float(total(events_of(10**4, 512, budget, scale=scale)))
        for scale in [Fraction(1, 10**6), Fraction(10), Fraction(10**3), Fraction(10**6), None]
    ]
    assert totals[0] == 1
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] < 0.05


@pytest.mark.parametrize(
    "changes",
    [
        {"slices": (0.0, 0.02, 0.1)},
        {"slices": (0.02, 0.1, 1.0)},
        {"cells": (-1.0, 0.0, 0.01)},
        {"cells": (-0.1, 0.0, 0.9)},
        {"slices": ()},
        {"cells": ()},
    ],
)
def test_slices_and_cells_that_leave_something_out_prove_nothing(changes):
    budget = replace(budget_at(10**4, 512, levels=(20,) * 6), **changes)
    assert total(events_of(10**4, 512, budget)) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slices": (0.0, 0.1, 0.02, 1.0)}, "slices=(0.0, 0.1, 0.02, 1.0): must increase"),
        ({"slices": (0.0, 0.1, 0.1, 1.0)}, "slices=(0.0, 0.1, 0.1, 1.0): must increase"),
        ({"slices": (1.0, 0.0)}, "slices=(1.0, 0.0): must increase"),
        ({"slices": (0.0, math.nan, 1.0)}, "slices=(0.0, nan, 1.0): must increase"),
        ({"cells": (-1.0, 0.05, -0.5, 0.9)}, "cells=(-1.0, 0.05, -0.5, 0.9): must increase"),
        ({"cells": (-1.0, -1.0, 0.9)}, "cells=(-1.0, -1.0, 0.9): must increase"),
        ({"cells": (0.9, -1.0)}, "cells=(0.9, -1.0): must increase, and -1.0 does not exceed 0.9"),
    ],
)
def test_slices_and_cells_whose_ends_do_not_increase_are_refused(changes, message):
    budget = replace(budget_at(10**4, 512, levels=(20,) * 6), **changes)
    with pytest.raises(InvalidArgumentError) as refused:
        events_of(10**4, 512, budget)
    assert str(refused.value).startswith(message)
    assert str(refused.value).endswith("; sort the ends")
