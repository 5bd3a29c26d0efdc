"""The claims on attention maps that cannot represent the target can go red, each of them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb

from numerics.balls.reach import concave_floor as floors
from numerics.balls.reach import leverage
from verify.claim import Evidence, Grade, conclude
from verify.claims import CLAIMS
from verify.claims.softmax import WITNESSES, witness_question
from verify.runner import check_cell
from verify.seeds import Streams


def evidence(claim_id: str, name: str, profile: str = "quick") -> Evidence:
    cells = CLAIMS[claim_id].cells(profile)
    chosen = next(each for each in cells if each.name.startswith(name))
    return check_cell(claim_id, chosen.name, profile, 0)[0]


def test_a_formula_without_its_factor_disagrees_with_the_ledger(monkeypatch) -> None:
    right = floors.floor_at
    monkeypatch.setattr(floors, "floor_at", lambda h: right(h / 2))
    assert evidence("concave-attention-floor", "both forms").grade is Grade.REFUTED


def test_embeddings_whose_floor_is_too_low_are_left_open(monkeypatch) -> None:
    right = leverage.leverages
    monkeypatch.setattr(floors, "leverages", lambda V, bits: [4 * h for h in right(V, bits=bits)])
    monkeypatch.setattr(floors, "_largest_square", lambda _: arb(4))
    found = evidence("concave-attention-floor", "d=256")
    assert found.grade is Grade.UNDECIDED
    assert found.margin < 0
    assert found.reason
    assert evidence("softmax-necessary-for-narrow", "d=256").grade is Grade.UNDECIDED


def test_a_missing_form_refutes_the_mean(monkeypatch) -> None:
    from numerics.exact import quadratic_forms

    right = quadratic_forms.integer_rows
    # A column that says nothing new leaves fewer forms than there are matrices.
    monkeypatch.setattr(
        quadratic_forms, "integer_rows", lambda V: [[*row[:-1], row[0]] for row in right(V)]
    )
    assert evidence("concave-attention-average", "d=12").grade is Grade.REFUTED
    assert evidence("concave-attention-average", "dimension").grade is Grade.UNDECIDED


def test_dependent_rows_do_not_reach_one_half(monkeypatch) -> None:
    from verify.claims import concave_attention

    right = concave_attention.draw_instance

    def narrow(rng, d, m):
        instance = right(rng, d, m)
        instance.V[0] = instance.V[1]
        return instance

    monkeypatch.setattr(concave_attention, "draw_instance", narrow)
    assert evidence("antisymmetric-half", "d=6").grade is Grade.REFUTED


def test_heads_that_are_not_opposite_go_below_one_half(monkeypatch) -> None:
    from dataclasses import replace

    from numerics.embeddings import uniform_direction
    from verify.claims import concave_attention

    right = concave_attention.draw_instance

    def independent(rng, d, m):
        return replace(right(rng, d, m), theta_tilde=uniform_direction(rng, m))

    monkeypatch.setattr(concave_attention, "draw_instance", independent)
    found = evidence("antisymmetric-half", "linear")
    assert found.grade is Grade.REFUTED
    assert found.subject == "cross-check"


def test_the_literal_wording_is_refuted_and_that_settles_it() -> None:
    found = evidence("softmax-is-necessary", "linear")
    assert found.grade is Grade.REFUTED
    assert CLAIMS["softmax-is-necessary"].stance == "disputed"
    assert conclude([found])[0] is Grade.REFUTED


def test_without_a_witness_the_wording_stays_open(monkeypatch) -> None:
    # From opposite starts nothing is learnt, at any draw.
    from verify.claims import softmax

    monkeypatch.setattr(
        softmax,
        "_independent_start",
        lambda w, streams, i: softmax.draw_instance(streams.trial(i), w.d, w.m),
    )
    monkeypatch.setattr(softmax, "_ATTEMPTS", 1)
    found = evidence("softmax-is-necessary", "linear")
    assert found.grade is Grade.UNDECIDED
    assert found.reason


def test_the_witness_starts_at_independent_unit_queries() -> None:
    for name, witness in WITNESSES.items():
        question = witness_question(witness, Streams(0, name), 0)
        instance = question.instance
        assert (instance.d, instance.m) == (witness.d, witness.m)
        assert instance.m >= instance.d
        norms = np.linalg.norm([instance.theta, instance.theta_tilde, *instance.V], axis=1)
        assert norms == pytest.approx(1, abs=1e-12)
        assert abs(instance.theta @ instance.theta_tilde) < 0.9
        assert question.tolerance.value == Fraction(1, 100)


def test_a_step_that_fails_is_left_open(monkeypatch) -> None:
    from verify.claims import softmax

    monkeypatch.setattr(softmax, "_SCALE", 1)
    monkeypatch.setattr(softmax, "_ATTEMPTS", 2)
    assert evidence("softmax-necessary-for-narrow", "one step").grade is Grade.UNDECIDED


@pytest.mark.parametrize(
    ("claim_id", "name"),
    [
        ("concave-attention-floor", "d=256, m=16"),
        ("concave-attention-floor", "d=1024, m=16"),
        ("concave-attention-average", "d=12, m=4"),
        ("softmax-necessary-for-narrow", "d=1024, m=16"),
    ],
)
def test_the_page_shows_what_seed_zero_gives(claim_id: str, name: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "rivals.md").read_text()
    found = evidence(claim_id, name, "standard")
    bounds = re.findall(r"(?:loss|leverages) [<>]= (0\.\d{5,6})", found.computed)
    assert bounds
    # Bounds are quoted as they are, those of softmax rounded to the safe side.
    for bound in bounds:
        assert bound in page or f"{math.ceil(float(bound) * 1e4) / 1e4}" in page
