"""``python -m campaigns NAME``: run an attack on the verifier, and say what came of it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

_NAMES = ("mutants", "soundness", "robustness", "reproducibility")
_SIZES = ("small", "full")


class Campaign(Protocol):
    """What is expected of the module of a campaign."""

    SUMMARY: str
    """The campaign in a line."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options that only this campaign has."""

    def execute(self, options: argparse.Namespace) -> int:
        """Run it, print its figures, and return 0 if its goal is met, 1 if not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaign that the arguments name."""
    parser = argparse.ArgumentParser(prog="campaigns", allow_abbrev=False, description=__doc__)
    commands = parser.add_subparsers(dest="campaign", required=True, metavar="NAME")
    for name in _NAMES:
        campaign = cast(Campaign, import_module(f"campaigns.{name}"))
        command = commands.add_parser(name, help=campaign.SUMMARY, allow_abbrev=False)
        command.add_argument(
            "--size", choices=_SIZES, default="small", help="small, as CI runs it, or full"
        )
        command.add_argument("--seed", type=int, default=0, help="seed of the draws (default: 0)")
        command.add_argument(
            "--jobs",
            type=int,
            default=os.cpu_count() or 1,
            help="processes at once (default: one a core)",
        )
        command.add_argument(
            "--docs", action="store_true", help=f"write the figures into docs/{name}.md"
        )
        campaign.add_arguments(command)
        command.set_defaults(execute=campaign.execute)
    options = parser.parse_args(argv)
    return cast(int, options.execute(options))


if __name__ == "__main__":
    sys.exit(main())
