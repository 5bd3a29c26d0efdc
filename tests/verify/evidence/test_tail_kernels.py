"""Tail bounds that are too small turn the claim on the kernels red."""

from __future__ import annotations

import pytest

import numerics.balls.bounds.tails as tails
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.tail_kernels import binomial_tails_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    return binomial_tails_cell().check(Streams(seed, "kernel-accuracy/tails of sums"))


@pytest.mark.parametrize("seed", range(3))
def test_the_bounds_hold(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.CERTIFIED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["kernel-accuracy"].cells(profile)}
    assert binomial_tails_cell().name in names


@pytest.mark.parametrize("name", ["bernstein_tail", "sub_gamma_tail", "sub_gaussian_tail"])
def test_a_tail_of_half_the_variance_is_found(monkeypatch, name) -> None:
    right = getattr(tails, name)
    monkeypatch.setattr(tails, name, lambda t, variance, *scale: right(t, variance / 2, *scale))
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize("name", ["bernstein", "sub_gamma"])
def test_a_tail_and_a_threshold_without_their_scale_are_found(monkeypatch, name) -> None:
    tail, threshold = (getattr(tails, f"{name}_{what}") for what in ("tail", "threshold"))
    monkeypatch.setattr(
        tails, f"{name}_tail", lambda t, variance, scale: tail(t, variance, 0 * scale)
    )
    monkeypatch.setattr(
        tails,
        f"{name}_threshold",
        lambda variance, scale, exponent: threshold(variance, 0 * scale, exponent),
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "name", ["bernstein_threshold", "sub_gamma_threshold", "sub_gaussian_threshold"]
)
def test_a_threshold_that_errs_is_found(monkeypatch, name) -> None:
    right = getattr(tails, name)
    monkeypatch.setattr(tails, name, lambda *given: right(*given) * 0.999)
    assert evidence().grade is Grade.REFUTED
