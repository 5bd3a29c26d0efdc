"""Events that are decided wrongly next to their thresholds turn their claim red."""

from __future__ import annotations

import pytest

import numerics.theorem2.events as events
import verify.evidence.event_kernels as event_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.event_kernels import events_cell
from verify.seeds import Streams

KEYS = (
    *((name, None) for name in ("largest score", "sum of scores", "sum of squared scores")),
    *((name, None) for name in ("overlap", "small lean")),
    *(
        (name, head)
        for head in ("theta", "theta_tilde")
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
