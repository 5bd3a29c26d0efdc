"""A broken kernel turns a claim on attention maps red, also where it makes its bounds better."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from numerics.balls import attention_descent
from numerics.balls.arithmetic.ternary import Ternary
from numerics.balls.reach import concave_floor, least_singular, softmax_reach
from numerics.exact import quadratic_forms
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence import attention_kernels
from verify.seeds import Streams

CELLS = {
    "concave-attention-floor": attention_kernels.floor_cell,
    "concave-attention-average": attention_kernels.forms_cell,
    "softmax-necessary-for-narrow": attention_kernels.reach_cell,
    "antisymmetric-half": attention_kernels.descent_cell,
}


def evidence(claim_id: str, seed: int = 0) -> Evidence:
    cell = CELLS[claim_id]()
    return cell.check(Streams(seed, f"{claim_id}/{cell.name}"))


@pytest.mark.parametrize("claim_id", CELLS)
@pytest.mark.parametrize("seed", range(4))
def test_the_kernels_agree(claim_id: str, seed: int) -> None:
    found = evidence(claim_id, seed)
    assert found.grade in (Grade.EXACT, Grade.CERTIFIED), found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("claim_id", CELLS)
@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
def test_every_profile_has_the_cell(claim_id: str, profile) -> None:
    assert CELLS[claim_id]().name in {cell.name for cell in CLAIMS[claim_id].cells(profile)}


def _halved(right):
    return lambda V, **options: [h / 2 for h in right(V, **options)]


def _smallest(_):
    return lambda values: min(values, key=float)


def _always(_):
    return lambda _matrix: Ternary.TRUE


def _more_constant(right):
    return lambda V, supports=(): replace(right(V, supports), constant=right(V, ()).constant * 2)


def _exchanged(right):
    def forms(V, supports=()):
        found = right(V, supports)
        values = [*found.targets.values()][::-1]
        return replace(found, targets=dict(zip(found.targets, values, strict=True)))

    return forms


def _scaled(factor):
    return lambda right: lambda *given: factor * right(*given)


def _scaled_slopes(right):
    return lambda *given: [slope / 2 for slope in right(*given)]


def _own_place_wrong(right):
    def slopes(gamma, gamma_tilde, support):
        found = right(gamma, gamma_tilde, support)
        found[support[0]] += 4 * gamma_tilde[support[1]]
        return found

    return slopes


def _wrong_derivatives(maps):
    wrong = {
        name: attention_descent.PointwiseMap(each.value, lambda s, of=each: of.derivative(2 * s))
        for name, each in maps.items()
    }
    return MappingProxyType(wrong)


@pytest.mark.parametrize(
    ("claim_id", "module", "name", "broken"),
    [
        ("concave-attention-floor", concave_floor, "leverages", _halved),
        ("concave-attention-floor", concave_floor, "_largest", _smallest),
        ("concave-attention-floor", concave_floor, "floor_at", _scaled(2)),
        ("concave-attention-floor", least_singular, "positive_definite", _always),
        ("concave-attention-floor", least_singular, "_quotient", _scaled(2)),
        ("concave-attention-average", quadratic_forms, "form_space", _more_constant),
        ("concave-attention-average", quadratic_forms, "form_space", _exchanged),
        ("softmax-necessary-for-narrow", softmax_reach, "_least_gap", _scaled(2)),
        ("antisymmetric-half", attention_descent, "_slopes", _scaled_slopes),
        ("antisymmetric-half", attention_descent, "_slopes", _own_place_wrong),
        ("antisymmetric-half", attention_descent, "_every_input", _scaled(0.5)),
        ("antisymmetric-half", attention_descent, "population_loss", _scaled(0.5)),
        ("antisymmetric-half", attention_descent, "MAPS", _wrong_derivatives),
    ],
)
def test_a_broken_kernel_is_noticed(monkeypatch, claim_id: str, module, name: str, broken) -> None:
    monkeypatch.setattr(module, name, broken(getattr(module, name)))
    found = evidence(claim_id)
    assert found.grade is Grade.REFUTED
    assert "agreement" not in found.computed
