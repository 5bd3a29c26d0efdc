"""A certificate that names a wrong head, or one at a tie, turns its claim red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import numerics.balls.certificate as certificate
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import certificate_kernels
from verify.evidence.certificate_kernels import heads_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = heads_cell()
    return cell.check(Streams(seed, f"theorem2-instances/{cell.name}"))


@pytest.mark.parametrize("seed", range(4))
def test_the_certificates_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["theorem2-instances"].cells(profile)}
    assert heads_cell().name in names


def test_a_head_at_a_tie_is_found(monkeypatch) -> None:
    right = certificate._head
    monkeypatch.setattr(certificate, "_head", lambda head: right(replace(head, slack=-head.slack)))
    assert evidence().grade is Grade.REFUTED


def _moved(attention, by):
    """Move the ends of those intervals that there are."""
    return tuple(
        share and tuple(end + more for end, more in zip(share, by, strict=True))
        for share in attention
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda found: replace(found, heads=found.heads[::-1]),
        lambda found: replace(found, heads=(None, None)),
        lambda found: replace(found, attention=found.attention[::-1]),
        lambda found: replace(found, attention=_moved(found.attention, (0, Fraction(1, 10**6)))),
        lambda found: replace(found, attention=_moved(found.attention, (Fraction(-1, 10**6), 0))),
    ],
)
def test_a_certificate_that_errs_is_found(monkeypatch, wrong) -> None:
    right = certificate_kernels.certify_step
    monkeypatch.setattr(
        certificate_kernels,
        "certify_step",
        lambda *given, **options: wrong(right(*given, **options)),
    )
    assert evidence().grade is Grade.REFUTED
