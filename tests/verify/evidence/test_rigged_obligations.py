"""A rule for signs that proves too much, or too little at some zeros, turns its claim red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

import verify.ledgers.obligations as obligations
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.rigged_obligations import obligations_cell
from verify.ledgers.obligations import Verdict
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = obligations_cell()
    return cell.check(Streams(seed, f"theorem2-explicit/{cell.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_the_signs_are_found(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.EXACT, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["theorem2-explicit"].cells(profile)}
    assert obligations_cell().name in names


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("from_zero", lambda right: lambda self, cell: right(self, cell).upper()),
        ("from_zero", lambda right: lambda self, cell: -right(self, cell)),
        ("from_zero", lambda _: lambda _self, _cell: arb.nan()),
        ("direct", lambda right: lambda self, cell: right(self, cell).upper()),
        ("mean_value", lambda _: lambda _self, _cell, centre: centre),
        ("at", lambda right: lambda self, point: -right(self, point)),
    ],
)
def test_a_rule_that_errs_is_found(monkeypatch, method: str, wrong) -> None:
    right = getattr(obligations._Function, method)
    monkeypatch.setattr(obligations._Function, method, wrong(right))
    assert evidence().grade is Grade.REFUTED


def test_a_witness_elsewhere_is_found(monkeypatch) -> None:
    right = obligations.discharge

    def discharged(obligation, **options):
        found = right(obligation, **options)
        if found.verdict is Verdict.REFUTED:
            return replace(found, witness=found.witness + Fraction(100))
        return found

    monkeypatch.setattr(obligations, "discharge", discharged)
    assert evidence().grade is Grade.REFUTED
