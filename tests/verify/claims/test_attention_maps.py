"""The claim on attention maps is shown something wrong, and goes red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import arb

from derivations.attention.pointwise_maps import PointwiseMap
from numerics.attention_maps import MAPS, pointwise
from numerics.population import PopulationGradient
from verify.claim import Grade
from verify.claims import attention_maps
from verify.seeds import Streams

THREE_WAYS, LOSS, DERIVATION = "linear and erf", "loss of weights", "derivation"


def grade(name: str) -> Grade:
    (claim,) = attention_maps.CLAIMS
    (cell,) = (each for each in claim.cells("quick") if each.name.startswith(name))
    return cell.check(Streams(0, f"{claim.id}/{cell.name}")).grade


def test_it_holds() -> None:
    assert grade(DERIVATION) is Grade.EXACT
    assert grade(LOSS) is grade(THREE_WAYS) is Grade.SAMPLED


@pytest.mark.parametrize(
    "wrong",
    [
        lambda value: value * (1 + 1e-12),
        lambda value: value + 1e-9,
        lambda value: -value,
        lambda _: np.nan,
    ],
)
def test_a_wrong_loss_is_refuted(monkeypatch, wrong) -> None:
    right = attention_maps.loss
    monkeypatch.setattr(attention_maps, "loss", lambda *given: wrong(right(*given)))
    assert grade(LOSS) is Grade.REFUTED


@pytest.mark.parametrize(
    ("which", "factor"),
    [("loss", -1), ("theta", -1), ("theta_tilde", -1), ("theta", 1 + 1e-12), ("loss", np.nan)],
)
def test_a_wrong_kernel_is_refuted(monkeypatch, which: str, factor: float) -> None:
    right = attention_maps.gradient

    def wrong(*given, **options) -> PopulationGradient:
        found = right(*given, **options)
        return replace(found, **{which: factor * getattr(found, which)})

    monkeypatch.setattr(attention_maps, "gradient", wrong)
    assert grade(THREE_WAYS) is Grade.REFUTED


def test_a_wrong_derivative_of_a_map_is_refuted(monkeypatch) -> None:
    erf = MAPS["erf"]
    half = pointwise("erf", "erf", erf.weights, lambda s: np.exp(-s * s) / np.sqrt(np.pi))
    monkeypatch.setattr(attention_maps, "MAPS", {**MAPS, "erf": half})
    assert grade(THREE_WAYS) is Grade.REFUTED


def test_balls_that_do_not_meet_are_refuted(monkeypatch) -> None:
    right = attention_maps.evaluate_in_balls
    monkeypatch.setattr(
        attention_maps,
        "evaluate_in_balls",
        lambda *given, **options: right(*given, **options) + arb(2) ** -100,
    )
    assert grade(THREE_WAYS) is Grade.REFUTED


def test_a_wrong_derivation_is_refuted(monkeypatch) -> None:
    monkeypatch.setattr(PointwiseMap, "derivative", property(lambda _: sp.S.One))
    assert grade(DERIVATION) is Grade.REFUTED
