"""The bound composed from its constants, and its events where each is large enough to be seen."""

import math
from dataclasses import replace

import mpmath
import pytest
import sympy as sp

from derivations import theorem2
from derivations.catalogue import load
from derivations.population_step.constants import value
from derivations.population_step.notation import m as symbol_m
from derivations.population_step.wedge import negative_moment
from derivations.proof.evaluation import evaluate_real
from derivations.proof.instances import seeded

REALS = mpmath.MPContext()
REALS.dps = 30
FUNCTIONS = {
    **{name: getattr(REALS, name) for name in ("atan", "exp", "gamma", "log", "sqrt")},
    "abs": abs,
    "max": max,
    "pi": lambda: +REALS.pi,
}


def evaluated(name, scalars):
    return evaluate_real(
        value(name),
        rational=lambda p, q: REALS.mpf(p) / q,
        scalars={key: REALS.mpf(each) for key, each in scalars.items()},
        functions=FUNCTIONS,
    )


def tail(z, n):
    """Return T_n(z) for 0 < z < 1."""
    at = {"n": n, "z": z}
    at["phi_n"] = evaluated("phi_n", at)
    return min(evaluated("tail_power", at), evaluated("tail_mills", at))


def test_the_events_and_their_heads():
    assert [(event.name, event.per_head) for event in theorem2.EVENTS] == [
        ("largest score", False),
        ("sum of scores", False),
        ("sum of squared scores", False),
        ("overlap", False),
        ("small lean", False),
        ("near margin", True),
        ("far margin", True),
        ("ambient alignment", True),
        ("noise along the support", True),
        ("noise along an ambient position", True),
    ]
    names = {constant.name for constant in load("theorem2").constants}
    assert all(event.formula in names for event in theorem2.EVENTS)
    assert sum(len(event.heads) for event in theorem2.EVENTS) == 15


def _total_fails():
    derivation = load("theorem2")
    (result,) = replace(derivation, steps=derivation.steps[-1:]).check()
    return result.failed


@pytest.mark.parametrize("number", range(len(theorem2.EVENTS)))
def test_a_dropped_event_or_head_is_noticed(monkeypatch, number):
    events = theorem2.EVENTS
    monkeypatch.setattr(theorem2, "EVENTS", events[:number] + events[number + 1 :])
    assert _total_fails()
    changed = theorem2.Event(
        name=events[number].name,
        formula=events[number].formula,
        per_head=not events[number].per_head,
    )
    monkeypatch.setattr(theorem2, "EVENTS", (*events[:number], changed, *events[number + 1 :]))
    assert _total_fails()
    monkeypatch.setattr(theorem2, "EVENTS", (*events, events[number]))
    assert _total_fails()
    monkeypatch.setattr(theorem2, "EVENTS", events)
    assert not _total_fails()


@pytest.mark.parametrize("n", [4, 6, 7, 20, 128])
def test_tails_of_a_coordinate_against_the_incomplete_beta_function(n):
    worst = 0
    for z in (0.01, 0.1, 0.2, 0.35, 0.5, 0.8, 0.99):
        half = REALS.mpf(n - 1) / 2
        exact = REALS.betainc(half, 0.5, 0, 1 - REALS.mpf(z) ** 2, regularized=True) / 2
        bound = tail(z, n)
        assert exact <= bound
        worst = max(worst, exact / bound)
    assert worst > 0.9  # nine tenths of the bound would be wrong


@pytest.mark.parametrize("m", [6, 7, 16])
def test_negative_moments_by_quadrature(m):
    phi = evaluated("phi_n", {"n": m})
    for k in (1, 2):
        found = REALS.quad(
            lambda y, k=k: phi * (1 - y * y) ** (REALS.mpf(m - 3) / 2) / (1 - y) ** k,
            [-1, 0, 0.9, 0.999, 1],
        )
        exact = sp.Rational(negative_moment(k).subs(symbol_m, m))
        assert abs(found - REALS.mpf(int(exact.p)) / int(exact.q)) < 1e-4


def test_the_least_alignment_over_a_cell_and_a_slice():
    rng = seeded(3)
    for _ in range(40):
        low, high = sorted(rng.uniform(-0.99, 0.9) for _ in range(2))
        y, nu = rng.uniform(0, 0.7), rng.uniform(0, 1.5)
        at = {"r_low": low, "r_high": high, "y_low": y, "nu": nu}
        at["Delta"] = evaluated("Delta_cell", at)
        at["rho_star"] = evaluated("rho_star", at)
        least = evaluated("t_cell", {**at, "rho": evaluated("rho_cell", at)})
        found = []
        for _ in range(60):
            rho = rng.uniform(low, high)
            lean = math.sqrt(2 - 2 * rho) * rng.uniform(y, min(2 * y + 0.1, 1))
            found.append(evaluated("t_cell", {"Delta": lean, "rho": rho, "nu": nu}))
        corners = [
            evaluated("t_cell", {**at, "Delta": at["Delta"], "rho": rho}) for rho in (low, high)
        ]
        assert least <= min(found) + 1e-12
        assert least <= min(corners) + 1e-12
        if at["rho_star"] <= low or at["rho_star"] >= high:
            assert abs(least - min(corners)) < 1e-12


def test_wedges_have_the_probability_of_their_angle():
    """In the plane, by integration over the angle: a uniform direction, and a shifted wedge."""
    rng = seeded(4)
    angle, shift, inside, moved, draws = 0.7, 0.2, 0, 0, 20000
    for _ in range(draws):
        vector = [rng.gauss(0, 1) for _ in range(6)]
        length = math.sqrt(sum(x * x for x in vector))
        y, z = vector[0] / length, vector[1] / length
        inside += y >= 0 and z * math.tan(angle) > y
        moved += y >= shift and z * math.tan(angle) > y - shift
    error = 4 * math.sqrt(draws)  # of a count: four standard deviations are below 2 sqrt(draws)
    assert abs(inside - draws * angle / (2 * math.pi)) < error / 2
    assert moved < inside


def test_the_bound_of_a_large_case():
    """Composed at one slice and one cell: near the law (2/pi) arctan(1/sqrt d), and above it."""
    d, m = 10**6, 512
    at = {"d": d, "m": m, "n": m, "sigma": 0.4, "l_h": 12, "l_q": 12, "rho_0": 0.35, "y_low": 0}
    at |= {"y_high": 0.05, "l_a": 12, "l_A": 26, "tau_0": 0}
    at["D"] = evaluated("D_slice", at)
    at["phi_m"] = evaluated("phi_n", at)
    for constant in load("score_bounds").constants:
        at[constant.name] = evaluated(constant.name, at)
    for name in ("excess", "r_lean", "I_1", "I_2", "near_margin", "small_lean"):
        at[name] = evaluated(name, at)
    law = 2 / math.pi * math.atan(1 / math.sqrt(d))
    assert law < 2 * at["near_margin"] < 1.3 * law
    assert at["small_lean"] == 0
