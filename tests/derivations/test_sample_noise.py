from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations import sample_noise
from derivations.calculus.power_sums import PowerSum
from derivations.catalogue import load
from derivations.notation import gamma, gamma_tilde
from derivations.proof.enumeration import dot, expectation
from derivations.proof.evaluation import evaluate
from derivations.proof.instances import concentrated_attention, random_fractions, seeded
from derivations.sample_step import form_bounds

NOISE = load("sample_noise")


def _fails():
    try:
        derivation = load("sample_noise")
    except Exception:  # a broken rule may also stop the derivation
        return True
    one_by_one = (replace(derivation, steps=(step,)) for step in derivation.steps)
    return any(result.failed for single in one_by_one for result in single.check())


@given(seed=st.integers(0, 999), d=st.integers(2, 7), head=st.sampled_from(["", "_tilde"]))
@settings(max_examples=settings().max_examples * 15 // 100)
def test_the_second_moment_against_all_samples(seed, d, head):
    rng = seeded(seed)
    at_a, at_b = rng.sample(range(d), 2)
    attention = {"": concentrated_attention(rng, d), "_tilde": concentrated_attention(rng, d)}
    along = random_fractions(rng, d)
    other = "" if head else "_tilde"
    mean = dot(attention[head], along)
    spread = [weight * (each - mean) for weight, each in zip(attention[head], along, strict=True)]

    def square(x):
        moving, still = dot(attention[head], x), dot(attention[other], x)
        return (2 * (moving * still - x[at_a] * x[at_b]) * still * dot(spread, x)) ** 2

    found = evaluate(
        NOISE.formula(f"second_moment{head}").right,
        sequences={
            "gamma": attention[""],
            "gamma_tilde": attention["_tilde"],
            f"r{head}": spread,
        },
        positions={"a": at_a, "b": at_b},
    )
    assert found == expectation(square, d)


def test_uniform_attention_along_one_position():
    """At d = 2 and equal weights, q^2 is 0 or 1 and both samples with q = 0 push nothing."""
    half = [Fraction(1, 2)] * 2
    found = evaluate(
        NOISE.formula("second_moment").right,
        sequences={"gamma": half, "gamma_tilde": half, "r": [Fraction(1, 4), Fraction(-1, 4)]},
        positions={"a": 0, "b": 1},
    )
    assert found == 0  # <r, x> vanishes where q does not


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("second_moment", lambda right: lambda: right() / 4),
        ("second_moment", lambda right: lambda: right() - 8 * sample_noise.spread_moments()[1]),
        ("spread_moments", lambda right: lambda: right()[::-1]),
        ("spread_moments", lambda right: lambda: (right()[0], -right()[1], right()[2])),
        ("start_moment", lambda right: lambda given: 2 * right(given)),
        ("overlap_of_spread", lambda right: lambda: -right()),
        ("attention_velocity", lambda right: lambda along: 2 * right(along)),
        ("gradient_along", lambda right: lambda: right() / 2),
        ("SWAP_HEADS", lambda right: {**right, gamma: gamma}),
        ("SWAP_HEADS", lambda right: {**right, gamma_tilde: gamma_tilde}),
    ],
)
def test_a_wrong_rule(monkeypatch, function, wrong):
    monkeypatch.setattr(sample_noise, function, wrong(getattr(sample_noise, function)))
    assert _fails()


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        ("double_factorial", lambda right: lambda k: right(k) + 1),
        ("double_factorial", lambda right: lambda k: 3 * right(k) if k == 4 else right(k)),
        ("double_factorial", lambda _right: lambda _k: 1),
        ("moment", lambda right: lambda forms: right(forms) + PowerSum(gamma_tilde**2)),
        ("moment", lambda right: lambda forms: sp.Integer(2) * right(forms)),
    ],
)
def test_a_wrong_bound_of_forms(monkeypatch, function, wrong):
    monkeypatch.setattr(form_bounds, function, wrong(getattr(form_bounds, function)))
    assert _fails()
