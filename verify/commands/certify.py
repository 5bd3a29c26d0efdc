"""``certify``: prove that after one step every loss is small, or hand over an input where not."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from numerics.arguments import InvalidArgumentError
from verify.commands.options import add_json, add_support, read_path, read_support, read_tolerance
from verify.console.outcome import Outcome
from verify.decimals import parse_integer, parse_positive

NAME = "certify"
SUMMARY = "prove or refute that after one population step the loss of every input is <= T"

# Far beyond what any decision needs; memory and time grow with it.
_MOST_BITS = 1 << 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("instance", metavar="INSTANCE", help="an instance file (npz)")
    parser.add_argument("--eta", metavar="E", help="step size, exact; else that of the file")
    add_support(parser)
    parser.add_argument(
        "--tolerance", default="0.01", metavar="T", help="largest loss allowed (default: 0.01)"
    )
    add_max_bits(parser)
    parser.add_argument(
        "--bundle", metavar="FILE", help="save the certificate or counterexample for replay"
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Decide, and save the bundle if one is asked for and there is something to save."""
    support = read_support(options)
    tolerance = read_tolerance(options)
    max_bits = read_max_bits(options)
    given_eta = None if options.eta is None else parse_positive("eta", options.eta)
    target = None if options.bundle is None else read_path("bundle", options.bundle)

    from verify.decisions.bundle import refuse_too_large, save_bundle
    from verify.decisions.one_step import decide_step, decision_bytes, step_outcome
    from verify.decisions.question import Question, exact_binary64
    from verify.files.writing import check_writable
    from verify.instances.instance import load_instance
    from verify.running.memory import refuse_beyond_memory

    path = read_path("instance", options.instance)
    instance = load_instance(path, support=support)
    refuse_beyond_memory("instance", path, decision_bytes(instance.d, instance.m))
    if given_eta is None:
        if instance.eta is None:
            raise InvalidArgumentError("eta", "missing", "give --eta E: the file has none")
        if instance.eta <= 0:
            raise InvalidArgumentError("eta", instance.eta, "must be positive")
        given_eta = exact_binary64(instance.eta)
    if target is not None:
        check_writable("bundle", target)
        refuse_too_large(target, instance)

    question = Question(instance, given_eta, tolerance)
    document = decide_step(question, max_bits)
    outcome = step_outcome(document)
    if target is not None:
        if document["verdict"] == "undecided":
            print(f"no bundle is written: {document['reason']}", file=sys.stderr)
            return outcome
        try:
            save_bundle(target, question, document)
        except InvalidArgumentError as failure:
            # There was a place before the work began; what was found is printed all the same.
            print(f"no bundle is written: {failure}", file=sys.stderr)
            return replace(outcome, exit_code=outcome.exit_code or 3)
    return outcome


def add_max_bits(parser: argparse.ArgumentParser) -> None:
    """Declare ``--max-bits``."""
    parser.add_argument(
        "--max-bits", default="4096", metavar="B", help="highest precision (default: 4096)"
    )


def read_max_bits(options: argparse.Namespace) -> int:
    """Return the highest working precision."""
    return parse_integer("max_bits", options.max_bits, least=2, most=_MOST_BITS)
