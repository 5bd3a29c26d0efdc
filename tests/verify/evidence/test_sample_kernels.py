"""Sums over samples that are wrong turn the claim on their variance red."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

import numerics.samples.empirical as empirical
import numerics.samples.sums as sums
from numerics.samples.signs import SampleStream
from numerics.samples.sums import Units
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.sample_kernels import sums_cell
from verify.seeds import Streams


def evidence(seed: int = 0) -> Evidence:
    cell = sums_cell()
    return cell.check(Streams(seed, f"corollary3-variance/{cell.name}"))


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_agree(seed: int) -> None:
    found = evidence(seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(profile) -> None:
    names = {cell.name for cell in CLAIMS["corollary3-variance"].cells(profile)}
    assert sums_cell().name in names


@pytest.mark.parametrize("entry", ["loss", "gamma", "gamma_tilde"])
def test_a_number_beyond_its_accuracy_is_found(monkeypatch, entry) -> None:
    right = empirical._slopes

    def wrong(sums):
        found = right(sums)
        return replace(found, **{entry: getattr(found, entry) * (1 + 1e-6)})

    monkeypatch.setattr(empirical, "_slopes", wrong)
    assert evidence().grade is Grade.REFUTED


def test_heads_that_are_exchanged_for_given_samples_are_found(monkeypatch) -> None:
    right = empirical.packed_slopes
    monkeypatch.setattr(
        empirical,
        "packed_slopes",
        lambda gamma, gamma_tilde, *given: right(gamma_tilde, gamma, *given),
    )
    assert evidence().grade is Grade.REFUTED


@pytest.mark.filterwarnings("ignore:invalid value")  # weights beyond the wrong unit
def test_units_that_are_exchanged_are_found(monkeypatch) -> None:
    right = sums._byte_tables

    def wrong(gamma, gamma_tilde, units):
        return right(gamma, gamma_tilde, Units(units.gamma_tilde, units.gamma))

    monkeypatch.setattr(sums, "_byte_tables", wrong)
    assert evidence().grade is Grade.REFUTED


def test_a_sample_that_is_left_out_is_found(monkeypatch) -> None:
    right = SampleStream.blocks
    monkeypatch.setattr(
        SampleStream, "blocks", lambda self, start, stop: right(self, start + (start > 0), stop)
    )
    assert evidence().grade is Grade.REFUTED


def test_a_tile_that_comes_twice_is_found(monkeypatch) -> None:
    right = SampleStream.columns
    monkeypatch.setattr(
        SampleStream,
        "columns",
        lambda self, start, count, **options: right(self, start % 4096, count, **options),
    )
    assert evidence().grade is Grade.REFUTED


def test_a_generator_that_is_not_moved_on_is_found(monkeypatch) -> None:
    monkeypatch.setattr(empirical, "skip_samples", lambda *_: None)
    assert evidence().grade is Grade.REFUTED


@pytest.mark.parametrize(
    "runs",
    [
        lambda _, n, parts: [range(k * n // parts, (k + 1) * n // parts) for k in range(parts)],
        lambda right, n, _parts: right(n, 1),
        lambda right, n, parts: right(n - 1, parts),
        lambda right, n, parts: [*right(n, parts), range(n - 1, n)],
    ],
    ids=["too long", "too few", "one left out", "one twice"],
)
def test_samples_that_are_cut_wrongly_are_found(monkeypatch, runs) -> None:
    right = sums.sample_runs
    monkeypatch.setattr(sums, "sample_runs", partial(runs, right))
    assert evidence().grade is Grade.REFUTED
