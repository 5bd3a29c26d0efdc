"""A certificate that errs next to the largest loss turns its claim red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import numerics.balls.certificate as certificate
from verify.claim import Cell, Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import verdict_kernels
from verify.evidence.verdict_kernels import pushes_cell, verdicts_cell
from verify.seeds import Streams

TINY = Fraction(1, 10**45)


def evidence(seed: int = 0, cell: Cell | None = None) -> Evidence:
    cell = cell or verdicts_cell()
    return cell.check(Streams(seed, f"theorem2-instances/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_verdicts_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["theorem2-instances"].cells(profile)}
    assert {verdicts_cell().name, pushes_cell().name} <= names


@pytest.mark.parametrize("seed", range(3))
def test_the_pushes_agree(seed: int) -> None:
    found = evidence(seed, pushes_cell())
    assert found.grade is Grade.SAMPLED, found.computed


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("head", [0, 1])
def test_an_end_of_a_push_without_its_slack_is_found(monkeypatch, side, head) -> None:
    right = verdict_kernels.enclose_pushes

    def wrong(*given, bits):
        found = [[list(ends) for ends in each] for each in right(*given, bits=bits)]
        lowers, uppers = found[head]
        found[head][side] = [(low + high) / 2 for low, high in zip(lowers, uppers, strict=True)]
        return found

    monkeypatch.setattr(verdict_kernels, "enclose_pushes", wrong)
    assert evidence(cell=pushes_cell()).grade is Grade.REFUTED


def test_pushes_that_say_nothing_are_found(monkeypatch) -> None:
    right = verdict_kernels.enclose_pushes

    def wide(*given, bits):
        return [
            ([low - 1 for low in lowers], [high + 1 for high in uppers])
            for lowers, uppers in right(*given, bits=bits)
        ]

    monkeypatch.setattr(verdict_kernels, "enclose_pushes", wide)
    assert evidence(cell=pushes_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("factor", [1 + TINY, 1 - TINY])
def test_a_tolerance_that_is_moved_is_found(monkeypatch, factor) -> None:
    right = verdict_kernels.certify_step
    monkeypatch.setattr(
        verdict_kernels,
        "certify_step",
        lambda *given, eta, tolerance: right(*given, eta=eta, tolerance=tolerance * factor),
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda found: replace(found, verdict="certified"),
        lambda found: replace(found, verdict="undecided"),
        lambda found: replace(found, witness=None),
        lambda found: replace(found, witness=found.witness and (1,) * len(found.witness)),
        lambda found: replace(found, sup_loss=None),
        lambda found: replace(found, sup_loss=tuple(x * (1 + TINY) for x in found.sup_loss)),
        lambda found: replace(found, sup_loss=tuple(x * (1 - TINY) for x in found.sup_loss)),
    ],
)
def test_a_certificate_that_errs_is_found(monkeypatch, wrong) -> None:
    right = verdict_kernels.certify_step
    monkeypatch.setattr(
        verdict_kernels, "certify_step", lambda *given, **how: wrong(right(*given, **how))
    )
    assert evidence().grade is Grade.REFUTED


def test_a_wrong_formula_for_equal_rows_is_found(monkeypatch) -> None:
    right = certificate._uniform_certificate
    monkeypatch.setattr(
        certificate, "_uniform_certificate", lambda d, support, T: right(d + 1, support, T)
    )
    assert evidence().grade is Grade.REFUTED
