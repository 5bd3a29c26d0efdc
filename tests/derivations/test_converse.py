"""The lower bound: its pieces against what they bound, and the whole beside the upper bound."""

import math

import mpmath
import pytest

from derivations.catalogue import load
from derivations.population_step.constants import value
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
    at = {"n": n, "z": z}
    at["phi_n"] = evaluated("phi_n", at)
    return min(evaluated("tail_power", at), evaluated("tail_mills", at))


def failure_bounds(d, m, **changes):
    """Return every constant of the lower bound at one budget."""
    at = {"d": d, "m": m, "n": m, "sigma": 0.4, "l_h": 12, "l_q": 12, "rho_0": 0.3}
    at |= {"y_1": 0.012, "l_f": 22, **changes}
    at["D"] = 2 * at["y_1"]
    at |= {"T_sigma": tail(at["sigma"], m), "T_rho": tail(at["rho_0"], m)}
    at |= {"T_y": tail(at["y_1"], m), "phi_n": evaluated("phi_n", at)}
    at["phi_m"] = at["phi_n"]
    names = [constant.name for constant in load("score_bounds").constants]
    names += ["excess", "r_lean", "I_1", "largest_score", "sum_of_scores", "sum_of_squares"]
    for name in names:
        at[name] = evaluated(name, at)
    at["g_zero"] = evaluated("g_rho", {**at, "rho": 0})
    at["g_rho_0"] = evaluated("g_rho", {**at, "rho": at["rho_0"]})
    for constant in load("converse").constants:
        if constant.name != "g_rho":
            at[constant.name] = evaluated(constant.name, at)
    return at


def test_both_bounds_close_in_on_the_law():
    d, m = 10**6, 512
    at = failure_bounds(d, m)
    near = evaluated("near_margin", {**at, "w_0": at["w_0"]})
    law = 2 / math.pi * math.atan(1 / math.sqrt(d))
    assert 0.5 * law < at["failure_lower"] < law < 2 * near


def test_what_is_left_out_only_lowers_the_bound():
    at = failure_bounds(10**6, 512)
    for name in ("T_sigma", "T_rho", "p_scores", "t_second", "R", "E_3", "phi_m"):
        more = evaluated("failure_lower", {**at, name: at[name] * 2 + REALS.mpf(10) ** -9})
        assert more < at["failure_lower"], name
    assert evaluated("failure_lower", {**at, "E_W": at["E_W"] / 2}) < at["failure_lower"]
    at = failure_bounds(10**6, 512, y_1=0.0001)
    assert evaluated("failure_lower", {**at, "T_y": at["T_y"] * 2}) < at["failure_lower"]


def _unit(rng, dimension):
    vector = [rng.gauss(0, 1) for _ in range(dimension)]
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


@pytest.mark.parametrize(("count", "m"), [(2, 6), (6, 8)])
def test_moments_of_a_sum_of_directions(count, m):
    """E|W| >= a (1 + 2/(m-1))^(-1/2) and E|W|^4 <= (1 + 2/(m-1)) (E|W|^2)^2, and not much more."""
    rng, draws = seeded(count), 4000
    norms = []
    for _ in range(draws):
        rows = [_unit(rng, m - 1) for _ in range(count)]
        total = [sum(column) for column in zip(*rows, strict=True)]
        norms.append(math.sqrt(sum(x * x for x in total)))
    mean = sum(norms) / draws
    fourth = sum(norm**4 for norm in norms) / draws
    lower = evaluated("E_W", {"a_square": count, "m": m})
    assert lower < mean < 1.2 * lower
    # Exactly (1 + 2 (1 - 1/count)/(m - 1)) count^2; the sampling error of the mean is below 4%.
    exact = (1 + 2 * (1 - 1 / count) / (m - 1)) * count**2
    assert abs(fourth / exact - 1) < 0.1
    assert exact < (1 + 2 / (m - 1)) * count**2


@pytest.mark.parametrize("m", [6, 9, 40])
def test_the_mean_size_of_a_coordinate(m):
    phi = evaluated("phi_n", {"n": m})
    other = evaluated("phi_n", {"n": m - 1})
    mean = REALS.quad(lambda y: 2 * y * other * (1 - y * y) ** (REALS.mpf(m - 4) / 2), [0, 1])
    assert abs(phi * mean - 1 / REALS.pi) < 1e-12


@pytest.mark.parametrize("m", [6, 20])
def test_third_moments(m):
    """E|H|^3 for a single direction of weight w, against E_3, which is for H_+ and its twin."""
    other = evaluated("phi_n", {"n": m - 1})
    third = REALS.quad(lambda y: 2 * y**3 * other * (1 - y * y) ** (REALS.mpf(m - 4) / 2), [0, 1])
    bound = evaluated("E_3", {"w": 1, "m": m})
    assert 0.6 * bound < third < bound


def test_the_density_of_the_tangent():
    m = 9
    for zeta in (0, 0.1, 0.3, 1):
        density = (1 + REALS.mpf(zeta) ** 2) ** (-REALS.mpf(m) / 2)
        assert 1 - m * REALS.mpf(zeta) ** 2 / 2 <= density <= 1
