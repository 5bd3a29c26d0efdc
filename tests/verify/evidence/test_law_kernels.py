"""Laws of embeddings that are drawn wrongly turn their claims red."""

from __future__ import annotations

import numpy as np
import pytest

import verify.evidence.law_kernels as law_kernels
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.evidence.law_kernels import laws_cell
from verify.seeds import Streams

LAWS = ("sphere", "gaussian", "rademacher", "orthonormal", "sinusoidal")


def evidence(law: str, seed: int = 0) -> Evidence:
    return laws_cell([law]).check(Streams(seed, f"embedding-laws/{law}"))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", LAWS)
def test_the_laws_are_what_they_are_called(law: str, seed: int) -> None:
    found = evidence(law, seed)
    assert found.grade is Grade.SAMPLED, found.computed
    assert found.subject == "cross-check"


@pytest.mark.parametrize("profile", ["quick", "standard", "full"])
@pytest.mark.parametrize(
    ("claim", "laws"),
    [
        ("embedding-laws", ("rademacher", "orthonormal")),
        ("unequal-norms", ("gaussian",)),
        ("sinusoidal-embeddings", ("sinusoidal",)),
    ],
)
def test_every_profile_has_the_cell(profile, claim: str, laws: tuple[str, ...]) -> None:
    names = [cell.name for cell in CLAIMS[claim].cells(profile)]
    assert laws_cell(laws).name in names


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda V: V * (1 + 1e-3) if abs(np.linalg.norm(V[0]) - 1) < 1e-9 else 2 * V,
        np.abs,
        lambda V: V[[0] * len(V)],
        lambda V: V[:, ::-1] * np.arange(V.shape[1]),
    ],
)
def test_a_law_that_is_another_one_is_found(monkeypatch, law: str, wrong) -> None:
    right = law_kernels.sample_embeddings
    monkeypatch.setattr(
        law_kernels, "sample_embeddings", lambda *given, law: wrong(right(*given, law=law))
    )
    assert evidence(law).grade is Grade.REFUTED
