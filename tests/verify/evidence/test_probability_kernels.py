"""A kernel that grades samples wrongly turns the claim on the kernels red."""

from __future__ import annotations

import pytest

import numerics.balls.bounds.tails
import numerics.binomial
import numerics.sphere
from numerics.balls.bounds import exact_tails
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.probability_kernels import interval_cell, tail_cell
from verify.seeds import Streams


def evidence(cell, seed: int = 0) -> Evidence:
    return cell.check(Streams(seed, f"kernel-accuracy/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cell", [interval_cell(), tail_cell()], ids=lambda cell: cell.name)
def test_the_kernels_agree(cell, seed: int) -> None:
    found = evidence(cell, seed)
    assert found.grade is Grade.CERTIFIED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cells(profile) -> None:
    names = {cell.name for cell in CLAIMS["kernel-accuracy"].cells(profile)}
    assert {interval_cell().name, tail_cell().name} <= names


def test_an_interval_whose_tails_are_twice_as_large_is_found(monkeypatch) -> None:
    right = numerics.binomial.clopper_pearson
    monkeypatch.setattr(
        numerics.binomial,
        "clopper_pearson",
        lambda count, trials, *, level: right(count, trials, level=2 * level - 1 or 2.0**-20),
    )
    assert evidence(interval_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize(
    ("module", "factor"),
    [
        (numerics.sphere, 1 - 1e-8),
        (numerics.sphere, 2),
        (numerics.balls.bounds.tails, 0.5),
        (numerics.balls.bounds.tails, 2),
    ],
)
def test_a_tail_that_is_off_is_found(monkeypatch, module, factor: float) -> None:
    right = module.coordinate_tail
    monkeypatch.setattr(module, "coordinate_tail", lambda *at: factor * right(*at))
    assert evidence(tail_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("end", ["lower", "upper", "mid"])
def test_a_tail_at_one_point_of_a_wide_ball_is_found(monkeypatch, end: str) -> None:
    right = exact_tails.exact_coordinate_tail
    monkeypatch.setattr(
        exact_tails, "exact_coordinate_tail", lambda t, n: right(getattr(t, end)(), n)
    )
    assert evidence(tail_cell()).grade is Grade.REFUTED
