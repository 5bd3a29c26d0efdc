"""``replay``: re-decide a saved certificate or counterexample from its file alone."""

from __future__ import annotations

import argparse
import sys

from verify.commands.certify import add_max_bits, read_max_bits
from verify.commands.options import add_json, read_path
from verify.console.outcome import Outcome

NAME = "replay"
SUMMARY = "re-decide a saved certificate or counterexample from its file alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "bundle", metavar="BUNDLE", help="a saved bundle, as certify --bundle writes"
    )
    add_max_bits(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Decide again; what the file says was concluded is compared, never believed."""
    max_bits = read_max_bits(options)

    from verify.decisions.bundle import load_bundle
    from verify.decisions.descent import decide_descent, descent_bytes, descent_outcome
    from verify.decisions.one_step import decide_step, decision_bytes, step_outcome
    from verify.decisions.question import DescentQuestion
    from verify.running.memory import refuse_beyond_memory

    path = read_path("bundle", options.bundle)
    question, recorded = load_bundle(path)
    sizes = question.instance.d, question.instance.m
    if isinstance(question, DescentQuestion):
        refuse_beyond_memory("bundle", path, descent_bytes(*sizes))
        found, present = decide_descent(question, max_bits), descent_outcome
    else:
        refuse_beyond_memory("bundle", path, decision_bytes(*sizes))
        found, present = decide_step(question, max_bits), step_outcome
    if found["verdict"] != recorded:
        print(f"the bundle says {recorded}: that is not what was found", file=sys.stderr)
    return present(found | {"recorded_verdict": recorded})
