"""A claim on the terminal: what it says, the tree of what it rests on, and how to check it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.text import Text
from rich.tree import Tree

from derivations.catalogue import TITLES
from derivations.outline import Outline
from derivations.printing.plain import plain
from derivations.proof.ledger import CLOSED_BY
from verify.claim import ASSERTED, Claim
from verify.console import terminal
from verify.report.proof_tree import Node, proof_tree

__all__ = ["print_claim"]

_HOW = {
    "proof": "by proof",
    "instances": "at instances",
    "obligation": "up to signs",
    "lemma": "by lemma",
}
"""How a step is decided, in words, by the value of its `derivations.proof.ledger.Method`."""

_ABOVE = "(see above)"


def print_claim(claim: Claim) -> None:
    """Print a claim on standard output; nothing is derived or checked for it."""
    console = terminal.console(sys.stdout)
    console.print(Text(f"{claim.id}: {claim.title}", style="bold"))
    console.print(Text(f"source: {claim.source}"))
    console.print(Text(f"stance: {_stance(claim)}"))
    console.print()
    console.print(Text(plain(claim.statement)))
    console.print("\nLaTeX:")
    # Not broken by the width of the terminal: it is there to be copied.
    console.print(Text(claim.statement), soft_wrap=True)
    console.print("\nassumptions:")
    for each in claim.assumptions:
        console.print(Text(f"  {each.name}: {plain(each.statement)}"))
    if not claim.assumptions:
        console.print("  none")
    tree = proof_tree(claim)
    console.print()
    console.print(_tree(tree))
    console.print("\nits cells at profile standard:")
    for cell in claim.cells("standard"):
        console.print(Text(f"  {cell.name}"), soft_wrap=True)
    console.print()
    for line in _commands(tree):
        console.print(Text(line), soft_wrap=True)


def _stance(claim: Claim) -> str:
    if claim.stance == ASSERTED:
        return claim.stance
    return f"{claim.stance}: a wording that the evidence contradicts, settled when it is refuted"


def _tree(root: Node) -> Tree:
    tree = Tree(Text(f"{root.claim.id} rests on", style="bold"))
    _grow(tree, root, set())
    return tree


def _grow(tree: Tree, node: Node, cited: set[str]) -> None:
    """Add what a claim rests on to its place in the tree; lemmas are cited with a source once."""
    for name, outline in node.derivations.items():
        branch = tree.add(Text(f"derivation {name}: {TITLES[name]}", style="green"))
        for line in _derivation_lines(outline, cited):
            branch.add(Text(line))
    cells = ", ".join(f"{count} {profile}" for profile, count in node.cells.items())
    tree.add(Text(f"cells: {cells}"))
    for each in node.dependencies:
        if each.repeated:
            tree.add(Text(f"{each.claim.id} {_ABOVE}", style="dim"))
        else:
            claim = Text(f"{each.claim.id}: {each.claim.title}", style="cyan")
            _grow(tree.add(claim), each, cited)


def _derivation_lines(outline: Outline, cited: set[str]) -> Iterator[str]:
    counts = ", ".join(f"{count} {_HOW[method]}" for method, count in outline.steps.items())
    total = sum(outline.steps.values())
    yield f"{total} steps: {counts}"
    for lemma, source in outline.lemmas.items():
        yield f"lemma, {lemma} {_ABOVE}" if lemma in cited else f"lemma, {lemma}: {plain(source)}"
        cited.add(lemma)
    if outline.obligations:
        yield f"signs: {', '.join(outline.obligations)}; decided in balls by {CLOSED_BY}"


def _commands(root: Node) -> Iterator[str]:
    """Yield the commands that check, derive, print and replay, each with what it does."""
    claim = root.claim
    yield f"check it: xorverify run --claim {claim.id}"
    for name in root.derivations:
        yield f"derive it: python -m derivations {name} --check"
    yield f"as LaTeX: xorverify latex {claim.id}"
    for path in claim.bundles:
        yield f"decide it again, in a clone: xorverify replay {path}"
