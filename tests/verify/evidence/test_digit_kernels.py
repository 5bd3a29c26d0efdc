"""Digits at uniform attention that are wrong turn the claim on the digits red."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import verify.evidence.digit_kernels as digit_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.digit_kernels import uniform_digits_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = uniform_digits_cell()
    return cell.check(Streams(seed, f"gradient-digits/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_digits_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.EXACT, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["gradient-digits"].cells(profile)}
    assert uniform_digits_cell().name in names


def one_digit_off(text: str) -> str:
    """Return the text with its last digit before the exponent changed."""
    mantissa, mark, exponent = text.partition("e")
    place = max(i for i, letter in enumerate(mantissa) if letter.isdigit())
    digit = str((int(mantissa[place]) + 1) % 10)
    return mantissa[:place] + digit + mantissa[place + 1 :] + mark + exponent


@pytest.mark.parametrize("kernel", ["proved_digits", "settled_digits"])
@pytest.mark.parametrize("entry", ["loss", "theta", "theta_tilde"])
@pytest.mark.parametrize("silent", [False, True])
def test_a_digit_that_is_wrong_or_missing_is_found(monkeypatch, kernel, entry, silent) -> None:
    right = getattr(digit_kernels, kernel)

    def wrong(*arguments, **options):
        found = right(*arguments, **options)
        *rest, last = (found.loss,) if entry == "loss" else getattr(found, entry)
        changed = None if silent else one_digit_off(last)
        return replace(found, **{entry: changed if entry == "loss" else (*rest, changed)})

    monkeypatch.setattr(digit_kernels, kernel, wrong)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    ("found", "truth", "digits", "rounded"),
    [
        ("0.67", "2/3", 2, True),
        ("0.66", "2/3", 2, False),
        ("-67", "-200/3", 2, True),
        ("1e1", "999/100", 1, True),
        ("1.00e-7", "1/10000000", 3, True),
        ("1.01e-7", "1/10000000", 3, False),
        ("0", "0", 5, True),
        ("1e-300", "0", 5, False),
        ("0", "1/1000", 1, False),
    ],
)
def test_what_is_a_rounded_number(found, truth, digits, rounded) -> None:
    assert digit_kernels._is_rounded(Fraction(found), Fraction(truth), digits) is rounded
