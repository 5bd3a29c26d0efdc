"""The claims of the explicit Theorem 2 can each go red: every one is shown a wrong bound here."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import numerics.balls.bounds.theorem2 as kernel
from derivations import catalogue
from derivations import theorem2 as ledger
from derivations.proof.obligations import Obligation
from numerics.one_step import one_step
from numerics.theorem2.slopes import one_step_slopes
from verify.claim import Cell, Grade
from verify.claims import CLAIMS, explicit_theorem2, explicit_theorem2_draws
from verify.evidence.band import grade_between
from verify.evidence.derivation import derivation_cell
from verify.evidence.sampling import Proportion
from verify.instances.instance import draw_instance
from verify.seeds import Streams

CERTIFIED = ("theorem2-explicit", "theorem2-converse", "theorem2-logarithmic-width")
SAMPLED = ("theorem2-bound-not-contradicted", "theorem2-law", "theorem2-assumption-profile")


def cell(claim_id: str, name: str) -> Cell:
    return next(each for each in CLAIMS[claim_id].cells("quick") if each.name.startswith(name))


def evidence(claim_id: str, name: str):
    return cell(claim_id, name).check(Streams(0, "test"))


@pytest.mark.parametrize("claim_id", [*CERTIFIED, *SAMPLED])
def test_the_claims_are_registered_with_cells_in_every_profile(claim_id: str) -> None:
    for profile in ("quick", "standard", "full"):
        names = [each.name for each in CLAIMS[claim_id].cells(profile)]
        assert len(set(names)) == len(names) > 0


@pytest.mark.parametrize(
    ("claim_id", "name"),
    [(id_, each.name) for id_ in CERTIFIED for each in CLAIMS[id_].cells("quick")],
)
def test_every_certified_cell_holds(claim_id: str, name: str) -> None:
    found = evidence(claim_id, name)
    # A cross-check of kernels may rest on draws; the statement does not.
    proofs = {Grade.CERTIFIED, Grade.EXACT}
    assert found.grade in (proofs if found.subject == "statement" else proofs | {Grade.SAMPLED})


def test_ten_thousand_draws_at_the_certified_step_size_in_the_full_profile() -> None:
    plan = explicit_theorem2_draws._STEP_PLANS["full"]
    assert sum(setting.trials for setting in plan.settings) >= 10_000


# The kernel against the ledger.


def mutated(change):
    events = kernel.failure_events

    def wrong(*at, **options):
        return tuple(change(events(*at, **options)))

    return wrong


@pytest.mark.parametrize("i", [0, 4, 5, 10, 14])
def test_an_event_dropped_from_the_kernel_is_refuted(monkeypatch, i: int) -> None:
    wrong = mutated(lambda events: events[:i] + events[i + 1 :])
    monkeypatch.setattr(kernel, "failure_events", wrong)
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert "the total" in found.computed


@pytest.mark.parametrize("head", ["theta", "theta_tilde"])
def test_a_head_dropped_from_the_kernel_is_refuted(monkeypatch, head: str) -> None:
    wrong = mutated(lambda events: [event for event in events if event.head != head])
    monkeypatch.setattr(kernel, "failure_events", wrong)
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert f"near margin ({head})" in found.computed


@pytest.mark.parametrize("factor", [1 - 1e-12, 1 + 1e-12, 0.5])
def test_a_factor_in_one_event_of_the_kernel_is_refuted(monkeypatch, factor: float) -> None:
    wrong = mutated(
        lambda events: (
            replace(event, probability=event.probability * factor)
            if event.name == "overlap"
            else event
            for event in events
        )
    )
    monkeypatch.setattr(kernel, "failure_events", wrong)
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert "overlap (both heads)" in found.computed


def test_a_total_that_is_rounded_down_is_refuted(monkeypatch) -> None:
    from numerics.balls.bounds import events as kernel_events

    monkeypatch.setattr(
        kernel_events, "total", lambda events: sum(each.probability for each in events).lower()
    )
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert "below the sum of the upper ends" in found.computed


def test_an_event_dropped_from_the_ledger_is_refuted(monkeypatch) -> None:
    monkeypatch.setattr(ledger, "EVENTS", ledger.EVENTS[1:])
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert "largest score" in found.computed


def test_a_head_dropped_from_the_ledger_is_refuted(monkeypatch) -> None:
    one_head = tuple(replace(each, per_head=False) for each in ledger.EVENTS)
    monkeypatch.setattr(ledger, "EVENTS", one_head)
    found = evidence("theorem2-explicit", "events at")
    assert found.grade is Grade.REFUTED
    assert "near margin (theta_tilde)" in found.computed


def test_a_lower_bound_that_is_not_the_ledgers_is_refuted(monkeypatch) -> None:
    from numerics.balls.bounds import converse

    bound = converse.failure_lower
    monkeypatch.setattr(converse, "failure_lower", lambda *at: bound(*at) * (1 - 1e-12))
    assert evidence("theorem2-converse", "lower bound at").grade is Grade.REFUTED


# Bounds that miss what is claimed, and ledgers that do not hold.


def test_bounds_that_miss_what_is_claimed_leave_it_open(monkeypatch) -> None:
    monkeypatch.setattr(explicit_theorem2, "_LIMIT", Fraction(1))
    found = evidence("theorem2-explicit", "d=1e15")
    assert found.grade is Grade.UNDECIDED
    assert found.reason
    assert found.margin is not None
    assert found.margin < 0
    monkeypatch.setattr(explicit_theorem2, "_LOWER", Fraction(1))
    assert evidence("theorem2-converse", "d=1e15").grade is Grade.UNDECIDED
    monkeypatch.setattr(explicit_theorem2, "_LEAST_WIDTH", 18)
    assert evidence("theorem2-logarithmic-width", "d=1e3").grade is Grade.UNDECIDED


def test_the_law_is_enclosed() -> None:
    for d in (3, 10**3, 10**15):
        low, high = explicit_theorem2._law(d)
        assert low <= high
        assert float(low) == pytest.approx(2 / math.pi * math.atan(1 / math.sqrt(d)), rel=1e-14)
        assert high - low < low / 2**180


def test_the_width_and_the_step_size_are_rounded_up() -> None:
    for d in (2, 3, 4, 5, 1000, 1024, 1025, 10**15):
        m = explicit_theorem2.sufficient_width(d)
        assert 2 ** (m - 36) >= d * d > 2 ** (m - 37)
        scale = explicit_theorem2.step_scale(d, m)
        assert scale**2 >= 4 * d * m > (scale - 1) ** 2


x = sp.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("expression", "grade"),
    [(x - 1, Grade.REFUTED), (sp.Symbol("x", real=True) ** 2, Grade.UNDECIDED)],
)
def test_a_sign_that_does_not_hold_is_not_certified(monkeypatch, expression, grade) -> None:
    load = catalogue.load
    wrong = Obligation(
        name="made up", expression=expression, variable=x, lower=sp.S(-1), upper=sp.S(2)
    )

    def with_wrong_sign(name: str):
        found = load(name)
        if name != "score_bounds":
            return found
        steps = tuple(
            replace(step, obligations=(*step.obligations, wrong)) if step.obligations else step
            for step in found.steps
        )
        return replace(found, steps=steps)

    monkeypatch.setattr(catalogue, "load", with_wrong_sign)
    found = evidence("theorem2-explicit", "signs")
    assert found.grade is grade
    assert "made up" in found.reason


def test_lemmas_and_signs_are_counted_and_named() -> None:
    found = derivation_cell("theorem2", cost=0).check(Streams(0))
    assert "by lemma" in found.computed
    assert "Anderson's lemma" in found.method
    found = derivation_cell("score_bounds", cost=0).check(Streams(0))
    assert "up to signs" in found.computed
    assert "sinh above its tangent" in found.method


# Random draws.


@pytest.mark.parametrize(
    ("count", "grade"),
    [(400, Grade.SAMPLED), (335, Grade.UNDECIDED), (470, Grade.UNDECIDED), (300, Grade.REFUTED)],
)
def test_an_interval_is_held_against_both_bounds(count: int, grade: Grade) -> None:
    found = Proportion(count, 1000)
    assert grade_between(found, 0.35, 0.45, slack=1.1) is grade


def test_a_bound_below_the_truth_is_refuted_by_draws(monkeypatch) -> None:
    monkeypatch.setattr(
        explicit_theorem2_draws, "certified_upper", lambda *_: (None, Fraction(1, 100))
    )
    assert evidence("theorem2-bound-not-contradicted", "d=128").grade is Grade.REFUTED


def test_a_step_uphill_contradicts_the_bound(monkeypatch) -> None:
    measure = explicit_theorem2_draws.measure
    monkeypatch.setattr(
        explicit_theorem2_draws, "measure", lambda instance, eta: measure(instance, eta=-eta)
    )
    assert evidence("theorem2-bound-not-contradicted", "d=128").grade is Grade.REFUTED


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_a_law_off_by_a_factor_is_not_sampled(monkeypatch, factor: float) -> None:
    lower = explicit_theorem2_draws.certified_lower
    upper = explicit_theorem2_draws.certified_upper
    monkeypatch.setattr(
        explicit_theorem2_draws, "certified_lower", lambda *at: lower(*at) * Fraction(factor)
    )
    monkeypatch.setattr(
        explicit_theorem2_draws,
        "certified_upper",
        lambda *at: (None, upper(*at)[1] * Fraction(factor)),
    )
    assert evidence("theorem2-law", "d=256").grade is Grade.REFUTED


def test_failing_draws_with_heads_elsewhere_are_refuted(monkeypatch) -> None:
    prefers = explicit_theorem2_draws._preferred

    def elsewhere(head):
        found = prefers(head)
        return found if found == head.own else None

    monkeypatch.setattr(explicit_theorem2_draws, "_preferred", elsewhere)
    assert evidence("theorem2-law", "heads").grade is Grade.REFUTED


def test_the_preferred_positions_are_those_after_a_large_step() -> None:
    elsewhere = same = 0
    for i in range(300):
        instance = draw_instance(Streams(1, "preferred").trial(i), 12, 6)
        slopes = one_step_slopes(instance.V, instance.theta, instance.support)
        found = [explicit_theorem2_draws._preferred(h) for h in (slopes.theta, slopes.theta_tilde)]
        step = one_step(instance.V, instance.theta, instance.support, 1e12)
        expected = [head if head in instance.support else None for head in step.heads]
        assert found == expected
        elsewhere += None in found
        same += None not in found and found[0] == found[1]
    assert elsewhere > 20
    assert same > 20


@pytest.mark.parametrize("name", ["largest score", "overlap", "small lean"])
def test_an_event_more_frequent_than_its_bound_is_refuted(monkeypatch, name: str) -> None:
    wrong = mutated(
        lambda events: (
            replace(event, probability=event.probability / 4) if event.name == name else event
            for event in events
        )
    )
    monkeypatch.setattr(kernel, "failure_events", wrong)
    assert evidence("theorem2-assumption-profile", "d=64").grade is Grade.REFUTED


def test_the_events_of_both_heads_are_shown_side_by_side() -> None:
    found = {
        ("overlap", None): Proportion(3, 24, 0.95),
        ("far margin", "theta"): Proportion(6, 24, 0.95),
        ("small lean", None): Proportion(0, 24, 0.95),
        ("far margin", "theta_tilde"): Proportion(12, 24, 0.95),
    }
    bounds = {key: 0.5 if "margin" in key[0] else 0.25 for key in found}
    assert explicit_theorem2_draws._beside_bounds(found, bounds) == (
        "frequencies, one for each head where there are two: overlap 0.1250 (bound 0.2500); "
        "far margin 0.2500 and 0.5000 (bound 0.5000); small lean 0.0000 (bound 0.2500)"
    )


def test_an_event_without_a_bound_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(kernel, "failure_events", mutated(lambda events: events[1:]))
    found = evidence("theorem2-assumption-profile", "d=64")
    assert found.grade is Grade.ERROR
    assert "largest score" in found.reason


def test_the_events_of_the_profile_have_bounds_between_a_hundredth_and_a_half() -> None:
    for setting in explicit_theorem2_draws._PROFILE_SETTINGS["standard"]:
        budget = explicit_theorem2_draws._loose_budget(setting.d, setting.m)
        events = kernel.failure_events(
            setting.d,
            setting.m,
            budget,
            scale=explicit_theorem2_draws._LOOSE_SCALE,
            tolerance=explicit_theorem2.TOLERANCE,
        )
        assert len(events) == 15
        assert all(0.01 < float(event.probability) < 0.5 for event in events)
        assert np.isfinite(budget.slices).all()
