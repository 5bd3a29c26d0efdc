"""``diff``: what differs between the results of two runs."""

from __future__ import annotations

import argparse

from verify.commands.options import add_json, read_path
from verify.console.outcome import Outcome

NAME = "diff"
SUMMARY = "compare two results.json: verdicts, evidence; times and environments apart"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("a", metavar="A", help="a results.json, or a folder that holds one")
    parser.add_argument("b", metavar="B", help="the one to compare with it")
    parser.add_argument(
        "--assert-same",
        action="store_true",
        help="assert that the results are the same: a difference refutes it, with exit code 1",
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Compare; to find a difference is to complete, and no claim is refuted by it."""
    paths = {side: read_path(side, getattr(options, side)) for side in "ab"}

    from verify.report.difference import compare_results
    from verify.report.recorded import load_results

    a, b = (load_results(side, path) for side, path in paths.items())
    found = compare_results(a, b)

    def show() -> None:
        from verify.report.difference_tables import print_difference

        print_difference(found)

    files = {side: str(path) for side, path in paths.items()}
    refuted = options.assert_same and not found.same
    return Outcome({**files, **found.as_json()}, show, exit_code=1 if refuted else 0)
