"""The events of the corollary, and its bounds of what freezing changes on draws of V and theta."""

import itertools
import math
from dataclasses import replace

import pytest

from derivations import corollary3
from derivations.catalogue import load
from derivations.population_step.constants import value
from derivations.proof.evaluation import evaluate_real
from derivations.proof.instances import seeded
from derivations.sample_step import events as sample_events
from derivations.sample_step import frozen_attention, frozen_lean, near_noise, sub_gamma
from derivations.sample_step.form_bounds import double_factorial

COROLLARY, BOUNDS = load("corollary3"), load("score_bounds")
FUNCTIONS = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "pi": lambda: math.pi,
    "sqrt": math.sqrt,
}


def evaluated(name, at):
    return evaluate_real(value(name), rational=lambda p, q: p / q, scalars=at, functions=FUNCTIONS)


def _fails(steps):
    one_by_one = (replace(COROLLARY, steps=(step,)) for step in steps)
    return any(result.failed for single in one_by_one for result in single.check())


def test_the_events_and_their_heads():
    assert [(event.name, event.per_head) for event in corollary3.EVENTS] == [
        ("largest score", False),
        ("sum of scores", False),
        ("sum of squared scores", False),
        ("overlap", False),
        ("energy along the support", False),
        ("near margin", True),
        ("innermost slice", True),
        ("freezing", True),
        ("far margin", True),
        ("ambient alignment", True),
        ("noise along the support", True),
        ("noise along an ambient position", True),
        ("energy along an ambient position", True),
        ("sampling noise along an ambient position", True),
    ]
    names = {each.name for of in ("theorem2", "corollary3") for each in load(of).constants}
    assert all(event.formula in names for event in corollary3.EVENTS)
    assert sum(len(event.heads) for event in corollary3.EVENTS) == 23


@pytest.mark.parametrize("number", range(len(corollary3.EVENTS)))
def test_a_dropped_or_doubled_event_or_head_is_noticed(monkeypatch, number):
    events = corollary3.EVENTS
    total = COROLLARY.steps[-2:-1]
    changed = replace(events[number], per_head=not events[number].per_head)
    for wrong in (
        events[:number] + events[number + 1 :],
        (*events[:number], changed, *events[number + 1 :]),
        (*events, events[number]),
    ):
        monkeypatch.setattr(corollary3, "EVENTS", wrong)
        assert _fails(total)
    monkeypatch.setattr(corollary3, "EVENTS", events)
    assert not _fails(total)


@pytest.mark.parametrize(
    "wrong",
    [
        {"V_square": "H_square_ambient"},
        {"v_ambient": "H_square"},
        {"v_support": None},
        {"far_scale": "b_support"},
        {"v_move": None},
    ],
)
def test_a_wrong_form_by_range(monkeypatch, wrong):
    monkeypatch.setattr(corollary3, "BY_RANGE", {**corollary3.BY_RANGE, **wrong})
    assert _fails(COROLLARY.steps[-1:])


@pytest.mark.parametrize(
    ("module", "attribute", "wrong"),
    [
        (sub_gamma, "double_factorial", lambda right: lambda k: 2 * right(k)),
        (sub_gamma, "attention_velocity", lambda right: lambda along: 2 * right(along)),
        (frozen_lean, "OWN", lambda right: right / 2),
        (frozen_lean, "_MOVED", lambda right: replace(right, reach=right.reach / 2)),
        (frozen_lean, "_MOVED", lambda right: replace(right, second=right.second / 2)),
        (frozen_lean, "_MOVED", lambda right: replace(right, total=2 * right.total)),
        (frozen_lean, "_MOVED", lambda right: replace(right, total_2=2 * right.total_2)),
        (frozen_attention, "OFF_SUPPORT", lambda right: right / 2),
        (frozen_attention, "_share", lambda right: 2 * right),
        (near_noise, "OFF_SUPPORT", lambda _right: 1),
        (near_noise, "_SIGNS", lambda _right: 1),
        (near_noise, "negative_moment", lambda right: lambda k: right(k - 1)),
        (sample_events, "_OFF", lambda right: right - 1),
    ],
)
def test_a_wrong_rule(monkeypatch, module, attribute, wrong):
    monkeypatch.setattr(module, attribute, wrong(getattr(module, attribute)))
    assert _fails(module.steps())


class Start:
    """A draw of V and theta, as it is or frozen, with everything computed from its definition."""

    def __init__(self, scores, along, lean, sign):
        grown = [math.exp(sign * s) for s in scores]
        decayed = [math.exp(-sign * s) for s in scores]
        total, total_tilde = math.fsum(grown), math.fsum(decayed)
        squares = [math.fsum(e * e for e in each) for each in (grown, decayed)]
        d = len(scores)
        self.omega = 1 / (total * total_tilde)
        kappa = 2 * math.cosh(lean) - self.omega * (squares[0] * squares[1] + 2 * d * (d - 1))
        K, M = kappa / total, self.omega * squares[1]
        self.weights = [K * e + M * e * e + 2 * (d - 1) * self.omega for e in grown]
        self.attention = [e / total for e in grown]
        self.other = [e / total_tilde for e in decayed]
        self.mean = math.fsum(g * t for g, t in zip(self.attention, along, strict=True))
        self.spread = [g * (t - self.mean) for g, t in zip(self.attention, along, strict=True)]

    def gradient(self, x):
        p, q, spread = (
            math.fsum(c * sign for c, sign in zip(form, x, strict=True))
            for form in (self.attention, self.other, self.spread)
        )
        return (p * q - x[0] * x[1]) * q * spread / self.omega


def _unit(vector):
    length = math.hypot(*vector)
    return [x / length for x in vector]


def _dot(left, right):
    return math.fsum(x * y for x, y in zip(left, right, strict=True))


def _distance(left, right):
    return math.dist(left, right)


def _drawn(seed, d, m):
    """Return a start, its frozen form, and the constants at thresholds that it just meets."""
    rng = seeded(seed)
    V = [_unit([rng.gauss(0, 1) for _ in range(m)]) for _ in range(d)]
    theta = _unit([rng.gauss(0, 1) for _ in range(m)])
    if _dot(V[0], theta) < _dot(V[1], theta):
        V[0], V[1] = V[1], V[0]
    direction = _unit([x - y for x, y in zip(V[0], V[1], strict=True)])
    y, rho = _dot(theta, direction), _dot(V[0], V[1])
    root = math.sqrt(1 - y * y)
    scores, along = [_dot(v, theta) for v in V], [_dot(v, direction) for v in V]
    still = (scores[0] + scores[1]) / (2 * root)
    frozen_scores = [still, still, *scores[2:]]
    across = [(t - s * y) / root for t, s in zip(along[2:], scores[2:], strict=True)]
    frozen_along = [*along[:2], *across]
    lean = scores[0] - scores[1]
    at = {"d": d, "m": m, "rho_0": abs(rho), "y_I": y, "y_high": y, "D": 2 * y, "n_samples": 100}
    at["sigma_0"] = max(map(abs, scores))
    at["h"], at["q"] = abs(math.fsum(scores[2:])) / d, _dot(scores[2:], scores[2:]) / d
    at["q_E"], at["l_F"] = _dot(along[2:], along[2:]) / d, 3.0
    at["sigma"] = evaluated("sigma", at)
    for constant in BOUNDS.constants:
        if constant.name not in {"h", "q"}:
            at[constant.name] = evaluated(constant.name, at)
    skipped = {"sigma", "q_E"}
    for constant in COROLLARY.constants:
        if constant.name == "theta_lean":
            break
        if constant.name not in {*skipped, "sub_gamma_tail", "q_k"} and (
            "ambient" not in constant.name
        ):
            at[constant.name] = evaluated(constant.name, at)
    pairs = [
        (Start(scores, along, lean, sign), Start(frozen_scores, frozen_along, 0.0, sign))
        for sign in (1, -1)
    ]
    return pairs, at


@pytest.mark.parametrize("seed", range(6))
def test_what_freezing_changes_in_a_draw(seed):
    pairs, at = _drawn(seed, d=60, m=200)
    assert 1 - 2 * at["h_1"] > 0
    for now, then in pairs:
        moved = max(
            map(abs, (x - y for x, y in zip(now.weights[2:], then.weights[2:], strict=True)))
        )
        assert 60 * moved <= at["lambda_lean"]
        assert _distance(now.attention, then.attention) <= at["N_move"]
        assert _distance(now.other, then.other) <= at["N_move"]
        assert abs(now.attention[0] - then.attention[0]) <= at["s_move"]
        assert abs(now.mean - then.mean) <= at["tau_move"]
        assert _distance(now.spread, then.spread) <= at["R_move"]
        assert abs(now.omega - then.omega) * 60**2 <= at["pi_lean"]
        for each in (now, then):
            assert math.hypot(*each.spread) <= at["R_high"]
            assert abs(each.mean) <= at["tau_mean"]
            assert math.hypot(*each.attention) <= at["N_norm"]
            product = math.hypot(*each.other) * math.hypot(*each.spread) / each.omega
            assert product <= at["b_support"]


def test_moments_of_one_sample_over_all_inputs():
    pairs, at = _drawn(1, d=8, m=400)
    inputs = list(itertools.product((-1, 1), repeat=8))
    for now, then in pairs:
        values = [(now.gradient(x), then.gradient(x)) for x in inputs]
        for k in (2, 3, 4):
            one = math.fsum(abs(g) ** k for g, _ in values) / len(values)
            change = math.fsum(abs(g - f) ** k for g, f in values) / len(values)
            assert one <= double_factorial(k) * (2 * at["b_support"]) ** k
            assert 0 < change <= double_factorial(k) * at["b_move"] ** k
        square = math.fsum(g * g for g, _ in values) / len(values)
        assert square <= min(at["v_support"], at["H_square"])


def test_the_tail_and_its_threshold():
    for v, c, level in ((1.0, 0.5, 3.0), (0.2, 2.0, 7.0), (3.0, 0.0, 1.5)):
        t = math.sqrt(2 * v * level) + c * level
        found = evaluated("sub_gamma_tail", {"t_tail": t, "v_tail": v, "c_tail": c})
        assert math.isclose(found, math.exp(-level), rel_tol=1e-12)
