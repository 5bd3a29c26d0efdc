"""Kernels behind witnesses that are wrong turn their claims red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import numerics.samples.covariance as covariance
import verify.evidence.witness_kernels as witness_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.witness_kernels import covariance_cell, enumeration_cell, norms_cell
from verify.seeds import Streams


def evidence(cell, seed: int = 0) -> Evidence:
    return cell.check(Streams(seed, f"kernel-accuracy/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("cell", "grade"),
    [
        (enumeration_cell(), Grade.SAMPLED),
        (norms_cell(), Grade.CERTIFIED),
        (covariance_cell(), Grade.SAMPLED),
    ],
)
def test_the_kernels_agree(cell, grade, seed: int) -> None:
    found = evidence(cell, seed)
    assert found.grade is grade, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cells(profile) -> None:
    names = {cell.name for cell in CLAIMS["kernel-accuracy"].cells(profile)}
    assert {enumeration_cell().name, norms_cell().name} <= names
    names = {cell.name for cell in CLAIMS["corollary3-variance"].cells(profile)}
    assert covariance_cell().name in names


@pytest.mark.parametrize(
    "wrong",
    [
        lambda found: replace(found, mean=found.mean + 1e-12),
        lambda found: replace(found, supremum=found.supremum * (1 + 1e-12)),
        lambda found: replace(found, witness=(found.witness[0], *[1] * (len(found.witness) - 1))),
    ],
)
def test_an_enumeration_that_errs_is_found(monkeypatch, wrong) -> None:
    right = witness_kernels.enumerate_loss

    def enumerated(gamma, gamma_tilde, support):
        found = right(gamma, gamma_tilde, support)
        return wrong(found) if isinstance(gamma, np.ndarray) else found

    monkeypatch.setattr(witness_kernels, "enumerate_loss", enumerated)
    assert evidence(enumeration_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda lower, upper: (lower + Fraction(1, 1 << 120), upper + Fraction(1, 1 << 120)),
        lambda lower, _: (lower, lower - Fraction(1, 1 << 140)),
        lambda lower, upper: (lower / 2, upper),
    ],
)
def test_an_enclosure_of_norms_that_errs_is_found(monkeypatch, wrong) -> None:
    right = witness_kernels.unit_norm_deviation
    monkeypatch.setattr(witness_kernels, "unit_norm_deviation", lambda V: wrong(*right(V)))
    assert evidence(norms_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong", [lambda found: found.T[::-1], lambda found: found + 1e-9, lambda found: -found]
)
def test_a_covariance_that_errs_is_found(monkeypatch, wrong) -> None:
    right = covariance.sample_covariance
    monkeypatch.setattr(covariance, "sample_covariance", lambda *given: wrong(right(*given)))
    assert evidence(covariance_cell()).grade is Grade.REFUTED
