"""Events that are decided wrongly next to their thresholds turn their claim red."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import numerics.theorem2.events as events
import verify.evidence.event_kernels as event_kernels
from numerics.balls.bounds.events import HEADS
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.event_kernels import events_cell
from verify.seeds import Streams

KEYS = (
    ("largest score", None),
    ("sum of scores", None),
    ("sum of squared scores", None),
    ("overlap", None),
    ("small lean", None),
    *(
        (name, head)
        for head in HEADS
        for name in (
            "near margin",
            "far margin",
            "ambient alignment",
            "noise along the support",
            "noise along an ambient position",
        )
    ),
)


def evidence(seed: int = 0) -> Evidence:
    cell = events_cell()
    return cell.check(Streams(seed, f"theorem2-assumption-profile/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_events_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    cells = CLAIMS["theorem2-assumption-profile"].cells(profile)
    assert events_cell().name in {cell.name for cell in cells}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("answer", [True, False])
def test_an_event_that_does_not_depend_on_the_draw_is_found(monkeypatch, key, answer) -> None:
    right = event_kernels.events_of_draw
    monkeypatch.setattr(
        event_kernels, "events_of_draw", lambda *given: {**right(*given), key: answer}
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("key", KEYS)
def test_an_event_without_its_allowance_for_roundings_is_found(monkeypatch, key) -> None:
    right = event_kernels.events_of_draw

    def wrong(*given):
        with monkeypatch.context() as changed:
            changed.setattr(events, "_UNIT", 0.0)
            without = right(*given)
        return {**right(*given), key: without[key]}

    monkeypatch.setattr(event_kernels, "events_of_draw", wrong)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "changed",
    [
        lambda _, thresholds: replace(thresholds, bounds=thresholds.bounds[::-1]),
        lambda _, thresholds: replace(thresholds, slices=thresholds.slices[1:]),
        lambda slopes, thresholds: replace(
            thresholds, slices=tuple(y * slopes.distance for y in thresholds.slices)
        ),
    ],
    ids=["of another slice", "one end less", "ends of the lean"],
)
def test_bounds_of_another_slice_are_found(monkeypatch, changed) -> None:
    right = event_kernels.events_of_draw
    monkeypatch.setattr(
        event_kernels, "events_of_draw", lambda *given: right(given[0], changed(*given))
    )
    assert evidence().grade is Grade.REFUTED


def test_events_that_do_not_exclude_others_are_found(monkeypatch) -> None:
    right = event_kernels.events_of_draw

    def wrong(slopes, thresholds):
        names = ("largest_score", "overlap", "mean_score", "mean_square")
        free = replace(thresholds, **dict.fromkeys(names, math.inf))
        first = {key: right(slopes, thresholds)[key] for key in KEYS[:4]}
        return {**right(slopes, free), **first}

    monkeypatch.setattr(event_kernels, "events_of_draw", wrong)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("head", HEADS)
def test_a_margin_that_counts_on_every_slice_is_found(monkeypatch, head) -> None:
    right = event_kernels.events_of_draw

    def wrong(*given):
        found = right(*given)
        margins = [(name, head) for name in ("near margin", "far margin")]
        return {**found, **dict.fromkeys(margins, any(found[key] for key in margins))}

    monkeypatch.setattr(event_kernels, "events_of_draw", wrong)
    assert evidence().grade is Grade.REFUTED
