"""A search, a descent or a count of steps that is wrong turns its claim red."""

from __future__ import annotations

from dataclasses import replace

import pytest

import numerics.step_size_search as step_size_search
import verify.trials.comparison as comparison
from numerics.training import Trajectory
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import descent_kernels
from verify.evidence.descent_kernels import search_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = search_cell()
    return cell.check(Streams(seed, f"independent-starts-learn/{cell.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_the_search_agrees(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["independent-starts-learn"].cells(profile)}
    assert search_cell().name in names


def test_a_count_that_is_off_by_one_is_found(monkeypatch) -> None:
    monkeypatch.setattr(Trajectory, "steps", property(lambda end: len(end.losses)))
    assert evidence().grade is Grade.REFUTED


def test_a_search_that_goes_on_for_too_long_is_found(monkeypatch) -> None:
    monkeypatch.setattr(step_size_search, "_most_steps", lambda _tried, steps: steps)
    assert evidence().grade is Grade.REFUTED


def test_another_step_size_is_found(monkeypatch) -> None:
    monkeypatch.setattr(
        step_size_search, "first_step_sizes", lambda _d: [10.0 ** (k / 2) for k in range(-10, 11)]
    )
    assert evidence().grade is Grade.REFUTED


def test_a_descent_from_another_start_is_found(monkeypatch) -> None:
    right = comparison.draw_start

    def started(*given, **options):
        drawn = right(*given, **options)
        return replace(drawn, theta=drawn.theta_tilde)

    monkeypatch.setattr(comparison, "draw_start", started)
    assert evidence().grade is Grade.REFUTED


def test_heads_elsewhere_are_found(monkeypatch) -> None:
    right = comparison.heads_of
    monkeypatch.setattr(comparison, "heads_of", lambda *given: right(*given)[::-1])
    assert evidence().grade is Grade.REFUTED


def test_a_best_descent_that_is_not_the_best_is_found(monkeypatch) -> None:
    right = descent_kernels.compare_trial

    def compared(*given, **options):
        found = right(*given, **options)
        return replace(found, best=max(found.candidates, key=lambda each: each.rank))

    monkeypatch.setattr(descent_kernels, "compare_trial", compared)
    assert evidence().grade is Grade.REFUTED
