"""What ``show`` prints of a claim."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from derivations.outline import outlines
from verify.claim import PROFILES
from verify.claims import CLAIMS
from verify.cli import main


def shown(capsys, claim_id: str) -> list[str]:
    assert main(["show", claim_id]) == 0
    return capsys.readouterr().out.splitlines()


def one_with(lines: list[str], words: str) -> str:
    (found,) = [line for line in lines if words in line]
    return found


def test_the_statement_is_there_to_be_read_and_to_be_copied(capsys) -> None:
    lines = shown(capsys, "population-loss")
    assert lines[0].startswith("population-loss: ")
    assert lines[1] == f"source: {CLAIMS['population-loss'].source}"
    assert lines[2] == "stance: asserted"
    assert one_with(lines, "L = 1 - 2 (γ_a γ̃_b + γ_b γ̃_a) + |γ|^2 |γ̃|^2")
    assert lines[lines.index("LaTeX:") + 1] == CLAIMS["population-loss"].statement


def test_assumptions_are_readable_too(capsys) -> None:
    lines = shown(capsys, "theorem2-loss")
    assert "  antisymmetric start: θ̃^0 = -θ^0" in lines
    assert "  none" in shown(capsys, "zero-start")


def test_steps_are_counted_and_what_they_rest_on_is_named(capsys) -> None:
    lines = shown(capsys, "theorem2-converse")
    at = lines.index(one_with(lines, "derivation score_bounds: Weights and slopes"))
    by_proof, signs = outlines()["score_bounds"].steps.values()
    assert f"{by_proof + signs} steps: {by_proof} by proof, {signs} up to signs" in lines[at + 1]
    named = " ".join(line.strip("│├└─ ") for line in lines[at + 2 : at + 4])
    assert "sinh above its tangent" in named
    assert named.endswith("decided in balls by xorverify run --claim theorem2-explicit")
    # A lemma is cited with its source once.
    cited = [line.strip("│├└─ ") for line in lines if "lemma, union bound" in line]
    assert cited == ["lemma, union bound: Boole", "lemma, union bound (see above)"]
    cells = [len(CLAIMS["theorem2-converse"].cells(profile)) for profile in PROFILES.values()]
    assert one_with(lines, "cells: {} quick, {} standard, {} full".format(*cells))


def test_claims_that_recur_are_marked(capsys) -> None:
    lines = shown(capsys, "theorem2-converse")
    assert one_with(lines, "population-loss: ").endswith(CLAIMS["population-loss"].title)
    assert one_with(lines, "population-loss (see above)")
    assert lines.index(one_with(lines, "population-loss: ")) < lines.index(
        one_with(lines, "population-loss (see above)")
    )


def test_it_says_how_to_do_it_again(capsys) -> None:
    assert shown(capsys, "theorem2-explicit")[-5:] == [
        "check it: xorverify run --claim theorem2-explicit",
        "derive it: python -m derivations one_step --check",
        "derive it: python -m derivations score_bounds --check",
        "derive it: python -m derivations theorem2 --check",
        "as LaTeX: xorverify latex theorem2-explicit",
    ]
    disputed = shown(capsys, "softmax-is-necessary")
    assert disputed[2].startswith("stance: disputed: ")
    assert disputed[-1].endswith("xorverify replay docs/witnesses/erf_attention.json")


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_every_claim_is_shown(capsys, claim_id: str) -> None:
    lines = shown(capsys, claim_id)
    assert f"check it: xorverify run --claim {claim_id}" in lines


def test_the_document_keeps_its_keys_and_has_the_tree(capsys) -> None:
    assert main(["show", "theorem2-loss", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    claim = CLAIMS["theorem2-loss"]
    assert found["statement"] == claim.statement
    assert found["dependencies"] == list(claim.dependencies)
    assert found["bundles"] == []
    assert found["tree"]["id"] == claim.id
    assert [each["id"] for each in found["tree"]["dependencies"]] == list(claim.dependencies)


@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_nothing_is_derived_or_checked_for_it(json_: list[str]) -> None:
    code = (
        "import sys; from verify.cli import main\n"
        "main(sys.argv[1:])\n"
        "heavy = {'sympy', 'scipy', 'matplotlib', 'verify.running.pool'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    argv = [sys.executable, "-c", code, "show", "theorem2-converse", *json_]
    found = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
