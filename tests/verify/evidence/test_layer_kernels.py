"""A layer that is not what it says turns the claim on its conditions red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import numerics.transformer.layer as layer
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import layer_kernels
from verify.evidence.layer_kernels import layer_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = layer_cell()
    return cell.check(Streams(seed, f"transformer-conditions/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_layers_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["transformer-conditions"].cells(profile)}
    assert layer_cell().name in names


@pytest.mark.parametrize(
    "other",
    [
        {"norm": "none"},
        {"norm": "layer"},
        {"norm": "rms"},
        {"masked": True},
        {"masked": False},
        {"residual": True},
        {"residual": False},
        {"dropout": None},
        {"readout": "mean"},
        {"readout": "product"},
        {"scale": 1.0},
    ],
)
def test_another_architecture_is_found(monkeypatch, other) -> None:
    right = layer_kernels.predict
    monkeypatch.setattr(
        layer_kernels,
        "predict",
        lambda arrays, V, x, to: right(arrays, V, x, replace(to, **other)),
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tokens: -tokens,
        lambda tokens: tokens * (1 + 1e-8),
        lambda tokens: np.nan * tokens,
    ],
)
def test_a_norm_that_errs_is_found(monkeypatch, wrong) -> None:
    right = layer._normed
    monkeypatch.setattr(layer, "_normed", lambda tokens, norm, xp: wrong(right(tokens, norm, xp)))
    assert evidence().grade is Grade.REFUTED
