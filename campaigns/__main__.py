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

    PART_OPTIONS: tuple[str, ...]
    """The options that choose a part of the work; its figures are not those of the page."""

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
        command.set_defaults(execute=campaign.execute, part_options=campaign.PART_OPTIONS)
    options = parser.parse_args(argv)
    _refuse_a_part(commands.choices[options.campaign], options)
    return cast(int, options.execute(options))


def _refuse_a_part(command: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Exit with 2 if the figures of a part of the work would be written into the page."""
    chosen = vars(options)
    for name in options.part_options if options.docs else ():
        if chosen[name] != command.get_default(name):
            command.error(f"--docs needs the whole campaign: nothing is written with --{name}")


if __name__ == "__main__":
    sys.exit(main())
