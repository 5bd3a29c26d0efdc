"""Slopes of the first step that are wrong turn the claim on its events red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import verify.evidence.slope_kernels as slope_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.slope_kernels import slopes_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    return slopes_cell().check(Streams(seed, "theorem2-assumption-profile/slopes"))


@pytest.mark.parametrize("seed", range(3))
def test_the_slopes_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    cells = CLAIMS["theorem2-assumption-profile"].cells(profile)
    assert slopes_cell().name in {cell.name for cell in cells}


@pytest.mark.parametrize("head", ["theta", "theta_tilde"])
@pytest.mark.parametrize(
    "part",
    [
        "weights",
        "signal",
        "support_weights",
        "structured",
        "noise",
        "support_noise",
        "pulls",
        "ambient_noises",
        "ambient_slopes",
    ],
)
@pytest.mark.parametrize("factor", [1 + 1e-6, -1, np.nan])
def test_a_part_that_is_wrong_is_found(monkeypatch, head, part, factor) -> None:
    right = slope_kernels.one_step_slopes

    def wrong(*given):
        found = right(*given)
        changed = getattr(found, head)
        changed = replace(changed, **{part: getattr(changed, part) * factor})
        return replace(found, **{head: changed})

    monkeypatch.setattr(slope_kernels, "one_step_slopes", wrong)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["omega", "lean", "overlap", "distance"])
def test_a_start_that_is_wrong_is_found(monkeypatch, name) -> None:
    right = slope_kernels.one_step_slopes
    monkeypatch.setattr(
        slope_kernels,
        "one_step_slopes",
        lambda *given: replace(found := right(*given), **{name: 1.001 * getattr(found, name)}),
    )
    assert evidence().grade is Grade.REFUTED
