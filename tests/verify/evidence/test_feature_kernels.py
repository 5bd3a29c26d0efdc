"""Projections that depend on how long the columns are turn their claim red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import numerics.baselines.exact_features as exact_features
import numerics.baselines.fixed_features as fixed_features
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.feature_kernels import columns_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = columns_cell()
    return cell.check(Streams(seed, f"fixed-embedding-floor/{cell.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_the_projections_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["fixed-embedding-floor"].cells(profile)}
    assert columns_cell().name in names


@pytest.mark.parametrize(
    "scaled",
    [
        lambda features: features,
        lambda features: np.ldexp(features, -np.frexp(np.abs(features).max(axis=0))[1]),
    ],
)
def test_columns_that_are_not_scaled_are_found(monkeypatch, scaled) -> None:
    monkeypatch.setattr(fixed_features, "_unit_columns", scaled)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda fit: replace(fit, losses=fit.losses + 1e-9),
        lambda fit: replace(fit, rank=fit.rank + 1),
        lambda fit: replace(fit, accuracy=fit.accuracy / 2),
    ],
)
def test_a_fit_that_errs_is_found(monkeypatch, wrong) -> None:
    right = fixed_features.best_losses
    monkeypatch.setattr(fixed_features, "best_losses", lambda *given: wrong(right(*given)))
    assert evidence().grade is Grade.REFUTED


def test_rational_losses_that_lose_bits_are_found(monkeypatch) -> None:
    right = exact_features._integers
    monkeypatch.setattr(exact_features, "_integers", lambda features: right(np.trunc(features)))
    assert evidence().grade is Grade.REFUTED
