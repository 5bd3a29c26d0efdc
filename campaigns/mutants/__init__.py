"""Theorem mutation: formulas made wrong one at a time, to see whether the claims notice."""

from __future__ import annotations

import argparse
import sys

__all__ = ["PART_OPTIONS", "SUMMARY", "add_arguments", "execute"]

SUMMARY = "make formulas wrong one at a time, and see whether the claims notice"
PART_OPTIONS = ("only", "file", "count", "list")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that choose the mutants."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--only", nargs="+", metavar="ID", help="judge these mutants, again")
    chosen.add_argument("--file", metavar="PATH", help="draw from the mutants of this file")
    parser.add_argument("--count", type=int, help="how many to draw (default: by --size)")
    parser.add_argument("--list", action="store_true", help="list the mutants, judge none")


def execute(options: argparse.Namespace) -> int:
    """Run the campaign; return 0 if enough of the mutants that count are killed, else 1."""
    from campaigns.mutants.baseline import BaselineError
    from campaigns.mutants.campaign import run

    try:
        return run(options)
    except (ValueError, BaselineError) as refusal:
        print(refusal, file=sys.stderr)
        return 2
