"""Exact kernels that are wrong turn the claim on the digits red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import verify.evidence.exact_kernels as exact_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.exact_kernels import ends_cell, products_cell, rank_cell, zero_cell
from verify.seeds import Streams


def evidence(cell, seed: int = 0) -> Evidence:
    return cell.check(Streams(seed, f"gradient-digits/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("cell", "grade"),
    [
        (zero_cell(), Grade.SAMPLED),
        (ends_cell(), Grade.EXACT),
        (products_cell(), Grade.EXACT),
        (rank_cell(), Grade.EXACT),
    ],
)
def test_the_kernels_agree(cell, grade, seed: int) -> None:
    found = evidence(cell, seed)
    assert found.grade is grade, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cells(profile) -> None:
    names = {cell.name for cell in CLAIMS["gradient-digits"].cells(profile)}
    cells = zero_cell(), ends_cell(), products_cell(), rank_cell()
    assert {cell.name for cell in cells} <= names


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("vanishes", lambda *_: False),
        ("vanishes", lambda _, column: not any(column)),
        ("balanced", lambda *_: True),
        ("numerator", lambda *_: {0: 1}),
    ],
)
def test_a_wrong_zero_is_found(monkeypatch, name, wrong) -> None:
    monkeypatch.setattr(exact_kernels, name, wrong)
    assert evidence(zero_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("text", ["0", "1"])
def test_a_zero_that_is_printed_wrongly_is_found(monkeypatch, text) -> None:
    right = exact_kernels.population_gradient_digits

    def wrong(*given, digits):
        found = right(*given, digits=digits)
        return replace(found, theta_tilde=(text, *found.theta_tilde[1:]))

    monkeypatch.setattr(exact_kernels, "population_gradient_digits", wrong)
    assert evidence(zero_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["lower_end", "upper_end"])
@pytest.mark.parametrize("by", [Fraction(1, 2**70000), Fraction(-1, 2**70000), Fraction(1)])
def test_an_end_that_is_moved_is_found(monkeypatch, name, by) -> None:
    right = getattr(exact_kernels, name)
    monkeypatch.setattr(exact_kernels, name, lambda ball: right(ball) + by)
    assert evidence(ends_cell()).grade is Grade.REFUTED


def test_an_end_that_is_given_up_is_found(monkeypatch) -> None:
    monkeypatch.setattr(exact_kernels, "lower_end", lambda _: None)
    assert evidence(ends_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["times", "transposed_times"])
@pytest.mark.parametrize("by", [1, 1 << 200])
def test_a_product_that_errs_is_found(monkeypatch, name, by) -> None:
    right = getattr(exact_kernels.IntegerMatrix, name)

    def wrong(self, vectors):
        (first, second), exponent = right(self, vectors)
        return [first, [second[0] + by, *second[1:]]], exponent

    monkeypatch.setattr(exact_kernels.IntegerMatrix, name, wrong)
    assert evidence(products_cell()).grade is Grade.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda V: min(V.shape),
        lambda V: len({tuple(row) for row in V.tolist()}),
    ],
)
def test_a_rank_that_errs_is_found(monkeypatch, wrong) -> None:
    monkeypatch.setattr(exact_kernels, "exact_rank", wrong)
    assert evidence(rank_cell()).grade is Grade.REFUTED
