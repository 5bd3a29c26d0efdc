"""What claims say they rest on, held against what their derivations use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import derivations
from derivations.catalogue import TITLES
from derivations.printing.plain import plain
from verify.claim import PROFILES, Cell, Claim
from verify.claims import CLAIMS
from verify.evidence.derivation import derivation_cell
from verify.report.proof_tree import Node, proof_tree

FOLDER = Path(derivations.__file__).parent
# Used in a check of what is derived another way: the claim does not rest on it.
ONLY_COMPARED = {("zero", "antisymmetric")}


def imports(module: str) -> Iterator[str]:
    """The modules of the package that a module of it imports."""
    for node in ast.walk(ast.parse(_file(module).read_text())):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("derivations."):
            place = str(node.module).removeprefix("derivations").lstrip(".")
            below = [f"{place}.{name.name}".lstrip(".") for name in node.names]
            yield from (each for each in (place, *below) if each and _file(each).is_file())


def _file(module: str) -> Path:
    return FOLDER.joinpath(*module.split(".")).with_suffix(".py")


def uses(derivation: str) -> set[str]:
    """The derivations that one builds upon, by itself or through modules that are none."""
    found, waiting, seen = set(), [derivation], set()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for other in set(imports(module)) - seen:
            if other in TITLES:
                found.add(other)
            else:
                waiting.append(other)
    return found - {derivation}


def below(claim: Claim) -> set[str]:
    """The ids of the claims that a claim rests on, and its own."""
    return {claim.id}.union(*(below(CLAIMS[id_]) for id_ in claim.dependencies))


def proved_by(derivation: str) -> list[str]:
    return [claim.id for claim in CLAIMS.values() if derivation in claim.derivations]


@pytest.mark.parametrize("derivation", TITLES)
def test_every_derivation_proves_a_claim(derivation: str) -> None:
    assert proved_by(derivation)


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_a_claim_rests_on_the_claims_whose_derivations_its_own_use(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    missing = {
        (derivation, other)
        for derivation in claim.derivations
        for other in uses(derivation)
        if not below(claim) & set(proved_by(other))
    }
    assert missing <= ONLY_COMPARED


def test_the_uses_of_derivations_are_found() -> None:
    assert uses("gradient") >= {"population", "softmax"}
    # Through `derivations.sample_step.form_bounds` among others.
    assert "moments" in uses("sample_noise")
    assert uses("zero") >= {other for _, other in ONLY_COMPARED}


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_dependencies_exist_once_each_and_have_no_circle(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    assert set(claim.dependencies) <= set(CLAIMS)
    assert len(set(claim.dependencies)) == len(claim.dependencies)
    assert not any(claim_id in below(CLAIMS[id_]) for id_ in claim.dependencies)


def test_a_cell_that_checks_a_derivation_says_which() -> None:
    assert derivation_cell("moments", cost=1).derivation == "moments"
    for claim in CLAIMS.values():
        for profile in PROFILES.values():
            for cell in claim.cells(profile):
                named = cell.name.removeprefix("derivation ")
                assert cell.derivation == (named if named != cell.name else None)


def test_derivations_of_all_profiles_count_once_each() -> None:
    def cells(profile: str) -> tuple[Cell, ...]:
        wanted = ("zero", "zero") if profile == "quick" else ("zero", "moments")
        return tuple(derivation_cell(name, cost=0) for name in wanted)

    claim = Claim(id="i", title="t", statement="s", source="ours", cells=cells)
    assert claim.derivations == ("zero", "moments")


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for each in node.dependencies:
        yield from nodes(each)


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_a_tree_holds_all_that_a_claim_rests_on_and_says_everything_once(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    tree = proof_tree(claim)
    said = [node for node in nodes(tree) if not node.repeated]
    assert sorted(node.claim.id for node in said) == sorted(below(claim))
    for node in said:
        assert tuple(each.claim.id for each in node.dependencies) == node.claim.dependencies
        assert tuple(node.derivations) == node.claim.derivations
    for node in nodes(tree):
        if node.repeated:
            assert not node.dependencies
            assert not node.derivations


def test_a_claim_is_repeated_only_after_it_was_said() -> None:
    order = [(node.claim.id, node.repeated) for node in nodes(proof_tree(CLAIMS["theorem2-loss"]))]
    assert order.count(("population-loss", False)) == 1
    assert ("population-loss", True) in order
    assert order.index(("population-loss", False)) < order.index(("population-loss", True))


def test_the_tree_as_json() -> None:
    found = proof_tree(CLAIMS["theorem2-explicit"]).as_json()
    assert (found["id"], found["stance"]) == ("theorem2-explicit", "asserted")
    cells = {name: len(CLAIMS["theorem2-explicit"].cells(name)) for name in PROFILES.values()}
    assert found["cells"] == cells
    by_name = {each["name"]: each for each in found["derivations"]}
    assert list(by_name) == ["one_step", "score_bounds", "theorem2"]
    assert "closed_by" not in by_name["one_step"]
    assert by_name["score_bounds"]["closed_by"] == "xorverify run --claim theorem2-explicit"
    assert "sinh above its tangent" in by_name["score_bounds"]["obligations"]
    assert {"name": "union bound", "source": "Boole"} in by_name["theorem2"]["lemmas"]
    antisymmetric, _ = found["dependencies"]
    gradient = antisymmetric["dependencies"][1]
    assert {"id": "population-loss", "repeated": True} in gradient["dependencies"]


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_every_claim_can_be_read_without_latex(claim_id: str) -> None:
    claim = CLAIMS[claim_id]
    for latex in (claim.statement, *(each.statement for each in claim.assumptions)):
        assert not set("\\$&") & set(plain(latex))


def test_bundles_are_files_that_replay_reads() -> None:
    from verify.decisions.bundle import load_bundle

    paths = [path for claim in CLAIMS.values() for path in claim.bundles]
    assert paths
    for path in paths:
        load_bundle(Path(__file__).parents[3] / path)
