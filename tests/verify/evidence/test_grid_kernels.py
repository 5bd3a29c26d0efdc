"""Ends that do not increase, or stand elsewhere than defined, turn their claim red."""

from __future__ import annotations

import pytest

from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import grid_kernels
from verify.evidence.grid_kernels import grids_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = grids_cell()
    return cell.check(Streams(seed, f"theorem2-explicit/{cell.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_the_ends_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["theorem2-explicit"].cells(profile)}
    assert grids_cell().name in names


@pytest.mark.parametrize(
    ("kernel", "wrong"),
    [
        ("quantile", lambda right: lambda level, m: right(level, m + 1)),
        ("cell_ends", lambda right: lambda *given: right(*given)[:-1]),
        ("cell_ends", lambda right: lambda *given: right(*given)[::-1]),
        ("cell_ends", lambda right: lambda rho_0, m, count: right(rho_0, 4 * m, count)),
        ("slice_ends", lambda right: lambda *given: right(*given)[:-2]),
        ("slice_ends", lambda right: lambda first, *given: right(first / 2, *given)),
        ("slice_ends", lambda right: lambda first, sigma, *rest: right(first, sigma / 2, *rest)),
    ],
)
def test_ends_that_are_wrong_are_found(monkeypatch, kernel: str, wrong) -> None:
    monkeypatch.setattr(grid_kernels, kernel, wrong(getattr(grid_kernels, kernel)))
    assert evidence().grade is Grade.REFUTED
