"""What a claim rests on: other claims, derivations, lemmas and signs; nothing is derived or run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from derivations.catalogue import TITLES
from derivations.outline import Outline, outlines
from derivations.proof.ledger import CLOSED_BY
from verify.claim import PROFILES, Claim, Profile
from verify.claims import CLAIMS

__all__ = ["Node", "proof_tree"]


@dataclass(frozen=True, kw_only=True)
class Node:
    """A claim in the tree of what another one rests on.

    Attributes
    ----------
    claim : Claim
        The claim.
    repeated : bool
        Whether the tree has it further up: then what it rests on is said there, and not here.
    derivations : mapping of str to Outline
        The derivations whose steps its cells check, by name.
    cells : mapping of Profile to int
        How many cells are looked at.
    dependencies : tuple of Node
        The claims it rests on.
    """

    claim: Claim
    repeated: bool
    derivations: Mapping[str, Outline]
    cells: Mapping[Profile, int]
    dependencies: tuple[Node, ...]

    def as_json(self) -> dict[str, object]:
        """Return the tree from here on; of a repeated claim no more than that it is one."""
        if self.repeated:
            return {"id": self.claim.id, "repeated": True}
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "stance": self.claim.stance,
            "cells": dict(self.cells),
            "derivations": [
                _derivation_as_json(name, outline) for name, outline in self.derivations.items()
            ],
            "dependencies": [each.as_json() for each in self.dependencies],
        }


def proof_tree(claim: Claim) -> Node:
    """Return the tree of what a claim rests on, each claim once and marked where it recurs."""
    return _node(claim, set())


def _node(claim: Claim, seen: set[str]) -> Node:
    repeated = claim.id in seen
    seen.add(claim.id)
    return Node(
        claim=claim,
        repeated=repeated,
        derivations={} if repeated else {name: outlines()[name] for name in claim.derivations},
        cells={profile: len(claim.cells(profile)) for profile in PROFILES.values()},
        dependencies=()
        if repeated
        else tuple(_node(CLAIMS[id_], seen) for id_ in claim.dependencies),
    )


def _derivation_as_json(name: str, outline: Outline) -> dict[str, object]:
    described: dict[str, object] = {
        "name": name,
        "title": TITLES[name],
        "source": outline.source,
        "steps": dict(outline.steps),
        "lemmas": [{"name": lemma, "source": source} for lemma, source in outline.lemmas.items()],
        "obligations": list(outline.obligations),
    }
    if outline.obligations:
        described["closed_by"] = CLOSED_BY
    return described
