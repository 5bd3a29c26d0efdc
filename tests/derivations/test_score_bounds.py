"""Every bound against the quantity that it bounds, at random scores and at extreme ones."""

import itertools
import math

import mpmath
import pytest

from derivations.catalogue import load
from derivations.population_step.constants import value
from derivations.population_step.notation import CONSTANT_SYMBOLS
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
EPSILON = REALS.mpf(10) ** -25  # of equality: a few roundings in numbers of the order of 1
A, B = 0, 1


def evaluated(name, scalars):
    return evaluate_real(
        value(name), rational=lambda p, q: REALS.mpf(p) / q, scalars=scalars, functions=FUNCTIONS
    )


def bounds(scores):
    """Return every constant of score_bounds, at the tightest thresholds these scores allow."""
    d = len(scores)
    scalars = {
        "d": REALS.mpf(d),
        "sigma": max(abs(score) for score in scores),
        "h": abs(REALS.fsum(scores[2:])) / d,
        "q": REALS.fsum(score**2 for score in scores[2:]) / d,
        "D": scores[A] - scores[B],
    }
    for constant in load("score_bounds").constants:
        if constant.name not in scalars:
            scalars[constant.name] = evaluated(constant.name, scalars)
    return scalars


def weights(scores):
    """Return the weights of the first step and what they are made of, by their definitions."""
    d = len(scores)
    Z, Z_tilde, Z_2, Z_tilde_2 = (
        REALS.fsum(REALS.exp(k * score) for score in scores) for k in (1, -1, 2, -2)
    )
    omega = 1 / (Z * Z_tilde)
    lean = scores[A] - scores[B]
    kappa = 2 * REALS.cosh(lean) - omega * Z_2 * Z_tilde_2 - 2 * d * (d - 1) * omega
    K, M, rest = kappa / Z, omega * Z_tilde_2, 2 * (d - 1) * omega
    own = [K * REALS.expm1(score) + M * REALS.expm1(2 * score) for score in scores]
    return {
        "Z": Z,
        "Z_2": Z_2,
        "products": (Z * Z_tilde, Z_2 * Z_tilde_2),
        "omega": omega,
        "kappa": kappa,
        "K": K,
        "M": M,
        "own": own,
        "c": [K + M + rest + f for f in own],
    }


def confronted(scores):
    """Yield (name, truth, bound), truth <= bound, for one head."""
    d, at = len(scores), bounds(scores)
    true, frozen = weights(scores), weights([REALS.mpf(0)] * 2 + scores[2:])
    moved = {name: abs(true[name] - frozen[name]) for name in ("Z", "omega", "kappa", "K", "M")}
    own, c, lean = true["own"], true["c"], scores[A] - scores[B]
    size = REALS.sqrt(REALS.fsum(weight**2 for weight in c))
    off = range(2, d)
    yield "h_1", abs(REALS.fsum(scores)) / d, at["h_1"]
    yield "q_1", REALS.fsum(score**2 for score in scores) / d, at["q_1"]
    for k in (1, 2):
        total = REALS.fsum(REALS.cosh(k * score) for score in scores)
        yield f"C_{k}", total / d, at[f"C_{k}"]
        product = true["products"][k - 1]
        yield "Cauchy", d**2, product
        yield f"pi_{k}", abs(product - frozen["products"][k - 1]) / d**2, at[f"pi_{k}"]
    yield "omega_low", at["omega_low"], d**2 * true["omega"]
    yield "Z_low", at["Z_low"], true["Z"] / d
    yield "Z_high", true["Z"] / d, at["Z_high"]
    yield "Z_2_low", at["Z_2_low"], true["Z_2"] / d
    yield "Z_2_high", true["Z_2"] / d, at["Z_2_high"]
    yield "kappa_low", at["kappa_low"], true["kappa"]
    yield "kappa_high", true["kappa"], at["kappa_high"]
    yield "K_low", at["K_low"], d * true["K"]
    yield "K_high", d * true["K"], at["K_high"]
    yield "M_low", at["M_low"], d * true["M"]
    yield "M_high", d * true["M"], at["M_high"]
    yield "k_1", d * abs(true["K"] + 2 * true["M"]), at["k_1"]
    for score, f in zip(scores, own, strict=True):
        if score:
            linear = (true["K"] + 2 * true["M"]) * score
            yield "k_2", d * abs(f - linear) / score**2, at["k_2"]
            yield "F", d * abs(f) / abs(score), at["F"]
    yield "f_max", max(map(abs, own)), at["f_max"]
    yield "R", REALS.sqrt(REALS.fsum(f**2 for f in own)), at["R"]
    yield "c_max", max(map(abs, c)), at["c_max"]
    yield "w", size, at["w"]
    structured = REALS.fsum(c[j] * scores[j] for j in off)
    yield "beta_slope", abs(structured), 2 * at["beta_slope"]
    if lean > 0:
        yield "c_up", (own[A] - own[B]) / lean, at["c_up"]
        yield "c_down", -(own[A] - own[B]) / lean, at["c_down"]
    yield "e_Z", moved["Z"] / d, at["e_Z"]
    yield "mu_M", d * moved["M"], at["mu_M"]
    yield "k_kappa", moved["kappa"], at["k_kappa"]
    yield "kappa_abs", abs(frozen["kappa"]), at["kappa_abs"]
    yield "K_shift", d * moved["K"], at["K_shift"]
    yield "lambda_c", d * max(abs(c[j] - frozen["c"][j]) for j in off), at["lambda_c"]
    enlarged = (abs(frozen["c"][j]) + at["lambda_c"] / d for j in off)
    yield "w_0", REALS.sqrt(REALS.fsum(each**2 for each in enlarged)), at["w_0"]


def score_vectors():
    """Yield scores with s_a >= s_b and 1 - 2 h_1 > 0: random ones, and extreme ones."""
    rng = seeded(5)
    for d, scale in itertools.product((3, 5, 12, 40), (1.0, 0.3, 0.02)):
        for _ in range(3):
            draw = [REALS.mpf(rng.uniform(-scale, scale)) for _ in range(d)]
            yield sorted(draw[:2], reverse=True) + draw[2:]
    for size in (1.0, 0.5, 0.1, 0.01):
        end = REALS.mpf(size)
        for d in (8, 20):
            balanced = [end, -end] * ((d - 2) // 2)
            yield [end, -end, *balanced]
            yield [end, end, *balanced]
            yield [-end, -end, *balanced]
            yield [end, -end] + [REALS.mpf(0)] * (d - 2)
            yield [end] * 2 + [end / 8] * (d - 2)
            yield [-end] * 2 + [-end / 8] * (d - 2)


# How much of each bound is used up somewhere at least; with 1/1.001 of it the bound would be
# violated where the number is 1.
USED = {
    **dict.fromkeys(("h_1", "q_1", "C_1", "C_2", "omega_low", "Z_low", "Z_high"), 0.999),
    **dict.fromkeys(("Z_2_low", "Z_2_high", "e_Z", "Cauchy", "c_max", "w"), 0.99),
    "w_0": 0.97,
    **dict.fromkeys(("kappa_abs", "kappa_low", "k_1", "M_high", "M_low", "F", "R", "f_max"), 0.9),
    **dict.fromkeys(("pi_1", "pi_2", "mu_M", "k_kappa", "K_shift", "lambda_c"), 0.25),
    **dict.fromkeys(("kappa_high", "K_low", "K_high", "c_up", "k_2", "beta_slope"), 0.4),
}


@pytest.fixture(scope="module")
def confrontations():
    found = []
    for scores in score_vectors():
        if bounds(scores)["Z_2_low"] <= 0:
            continue
        reflected = [-score for score in scores]
        # Head 2 leans to b by Delta: its a is b.
        for head in (scores, [reflected[B], reflected[A], *reflected[2:]]):
            found.extend(confronted(head))
    return found


def test_every_bound_holds(confrontations):
    assert len(confrontations) > 2000
    for name, truth, bound in confrontations:
        assert truth <= bound + EPSILON * max(1, abs(bound)), f"{name}: {truth} and {bound}"


def test_every_constant_is_confronted(confrontations):
    names = {name for name, _, _ in confrontations} - {"Cauchy"}
    exported = {constant.name for constant in load("score_bounds").constants}
    # The first two are thresholds, the last two enter the slope.
    assert exported - names == {"h", "q", "alpha_slope", "c_margin"}


@pytest.mark.parametrize("name", USED)
def test_a_weakened_bound_is_violated(confrontations, name):
    """The truth comes as close to the bound as stated, so that a bound tighter by that is wrong."""
    used = max(
        truth / bound if bound > 0 else bound / truth
        for found, truth, bound in confrontations
        if found == name and truth * bound > 0
    )
    assert used >= USED[name], f"{name}: {float(used)}"
    assert used <= 1 + EPSILON


def test_signs_are_those_that_the_symbols_declare():
    at = bounds([REALS.mpf(1) / 4, -REALS.mpf(1) / 5] + [REALS.mpf(1) / 8, -REALS.mpf(1) / 7] * 40)
    for name, symbol in CONSTANT_SYMBOLS.items():
        if name in at and symbol.is_positive:
            assert at[name] > 0, name
        elif name in at and symbol.is_nonnegative:
            assert at[name] >= 0, name


def test_the_largest_score_may_be_1():
    at = bounds([REALS.mpf(1), REALS.mpf(-1)] + [REALS.mpf(1) / 4, -REALS.mpf(1) / 4] * 500)
    assert all(math.isfinite(each) for each in at.values())
