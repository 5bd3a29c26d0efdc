"""``list``: the claims, a line each."""

from __future__ import annotations

import argparse

from verify.commands.options import add_json
from verify.console.outcome import Outcome

NAME = "list"
SUMMARY = "list the claims"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_json(parser)


def execute(_: argparse.Namespace) -> Outcome:
    """List the claims."""
    from verify.claims import CLAIMS

    def show() -> None:
        width = max(map(len, CLAIMS))
        for claim in CLAIMS.values():
            print(f"{claim.id:{width}}  {claim.title}")

    document = [
        {"id": claim.id, "title": claim.title, "source": claim.source, "stance": claim.stance}
        for claim in CLAIMS.values()
    ]
    return Outcome({"claims": document}, show)
