"""A law of the choices that is another one turns its claim red."""

from __future__ import annotations

import numpy as np
import pytest

import verify.evidence.choice_kernels as choice_kernels
from numerics.parity import prediction, signal
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.choice_kernels import choices_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = choices_cell()
    return cell.check(Streams(seed, f"parity-first-step/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_laws_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["parity-first-step"].cells(profile)}
    assert choices_cell().name in names


def test_a_basis_that_is_not_uniformly_rotated_is_found(monkeypatch) -> None:
    monkeypatch.setattr(
        signal,
        "_orthonormalised",
        lambda rows: np.linalg.qr(rows.transpose(0, 2, 1))[0].transpose(0, 2, 1),
    )
    assert evidence().grade is Grade.REFUTED


def test_gains_that_are_exchanged_are_found(monkeypatch) -> None:
    right = prediction._gains
    monkeypatch.setattr(prediction, "_gains", lambda k, d: right(k, d)[::-1])
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_chance_that_is_off_is_found(monkeypatch, factor: float) -> None:
    right = choice_kernels.distinct_probability
    monkeypatch.setattr(
        choice_kernels, "distinct_probability", lambda k, shock: factor * right(k, shock)
    )
    assert evidence().grade is Grade.REFUTED


def test_a_limit_of_other_embeddings_is_found(monkeypatch) -> None:
    right = choice_kernels.draw_distinct
    monkeypatch.setattr(
        choice_kernels,
        "draw_distinct",
        lambda *at, orthonormal=False, **how: right(*at, orthonormal=not orthonormal, **how),
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("shock", [np.nan, -5.0])
def test_a_shock_that_no_utilities_have_is_found(monkeypatch, shock: float) -> None:
    monkeypatch.setattr(choice_kernels, "common_shock", lambda *_, **__: shock)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("_LEAST", -1.0),
        ("_LEAST", -0.6),
        ("_LEAST", -0.3),
        ("_LARGEST", 3.0),
        ("_LARGEST", 1.0),
    ],
)
def test_a_quadrature_with_another_reach_is_found(monkeypatch, name: str, end: float) -> None:
    monkeypatch.setattr(prediction, name, end)
    assert evidence().grade is Grade.REFUTED


def test_a_quadrature_that_is_off_by_little_is_found(monkeypatch) -> None:
    right = choice_kernels.distinct_probability
    monkeypatch.setattr(
        choice_kernels, "distinct_probability", lambda k, shock: right(k, shock) + 2e-6
    )
    assert evidence().grade is Grade.REFUTED
