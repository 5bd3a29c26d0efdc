"""``show``: what one claim says, what it rests on, and how to check it."""

from __future__ import annotations

import argparse

from verify.claim import Claim
from verify.commands.options import add_json
from verify.console.outcome import Outcome

NAME = "show"
SUMMARY = "show one claim: statement, source, assumptions, what it rests on, how to check it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("claim", metavar="ID", help="a claim's id, as listed by 'list'")
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Show one claim."""
    from verify.claims import find_claim

    claim = find_claim(options.claim)

    def show() -> None:
        from verify.report.claim_page import print_claim

        print_claim(claim)

    return Outcome(_document(claim), show)


def _document(claim: Claim) -> dict[str, object]:
    from verify.report.proof_tree import proof_tree

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
        "bundles": list(claim.bundles),
        "tree": proof_tree(claim).as_json(),
    }
