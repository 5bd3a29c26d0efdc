"""``show``: one claim's statement, assumptions, source and dependencies."""

from __future__ import annotations

import argparse

from verify.claim import Claim
from verify.commands.options import add_json
from verify.outcome import Outcome

NAME = "show"
SUMMARY = "show one claim: statement, assumptions, source, dependencies, LaTeX"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("claim", metavar="ID", help="a claim's id, as listed by 'list'")
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Show one claim."""
    from verify.claims import find_claim

    claim = find_claim(options.claim)
    return Outcome(_document(claim), lambda: print(_text(claim)))


def _document(claim: Claim) -> dict[str, object]:
    return {
        "id": claim.id,
        "title": claim.title,
        "statement": claim.statement,
        "source": claim.source,
        "stance": claim.stance,
        "assumptions": [
            {"name": assumption.name, "statement": assumption.statement}
            for assumption in claim.assumptions
        ],
        "dependencies": list(claim.dependencies),
    }


def _text(claim: Claim) -> str:
    lines = [
        f"{claim.id}: {claim.title}",
        f"source: {claim.source}",
        f"stance: {claim.stance}",
        "",
        "LaTeX:",
        claim.statement,
        "",
        "assumptions:",
        *(f"  {each.name}: {each.statement}" for each in claim.assumptions),
        *([] if claim.assumptions else ["  none"]),
        f"depends on: {', '.join(claim.dependencies) or 'nothing'}",
        f"check it: xorverify run --claim {claim.id}",
    ]
    return "\n".join(lines)
