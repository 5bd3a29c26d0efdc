"""``certify``: prove that after one step every loss is small, or hand over an input where not."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.commands.options import add_json, add_support, read_path, read_support, read_tolerance
from verify.console.outcome import Outcome
from verify.decimals import parse_integer, parse_positive

if TYPE_CHECKING:
    from verify.bundle import Question

NAME = "certify"
SUMMARY = "prove or refute that after one population step the loss of every input is <= T"

# Far beyond what any decision needs; memory and time grow with it.
_MOST_BITS = 1 << 16
_EXIT_CODES = {"certified": 0, "refuted": 1, "undecided": 3}


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

    from verify.bundle import Question, exact_binary64, save_bundle
    from verify.files.writing import check_writable
    from verify.instance import load_instance

    instance = load_instance(read_path("instance", options.instance), support=support)
    if given_eta is None:
        if instance.eta is None:
            raise InvalidArgumentError("eta", "missing", "give --eta E: the file has none")
        if instance.eta <= 0:
            raise InvalidArgumentError("eta", instance.eta, "must be positive")
        given_eta = exact_binary64(instance.eta)
    if target is not None:
        check_writable("bundle", target)

    question = Question(instance, given_eta, tolerance)
    document = decide(question, max_bits)
    if target is not None:
        if document["verdict"] == "undecided":
            print(f"no bundle is written: {document['reason']}", file=sys.stderr)
        else:
            save_bundle(target, question, document)
    return outcome(document)


def add_max_bits(parser: argparse.ArgumentParser) -> None:
    """Declare ``--max-bits``."""
    parser.add_argument(
        "--max-bits", default="4096", metavar="B", help="highest precision (default: 4096)"
    )


def read_max_bits(options: argparse.Namespace) -> int:
    """Return the highest working precision."""
    return parse_integer("max_bits", options.max_bits, least=2, most=_MOST_BITS)


def decide(question: Question, max_bits: int) -> dict[str, Any]:
    """Decide a question in ball arithmetic and return the document of the decision."""
    from numerics.balls.certificate import certify_step
    from numerics.norms import unit_norm_deviation
    from verify.enclosures import as_enclosure

    instance = question.instance
    found = certify_step(
        instance.V,
        instance.theta,
        instance.theta_tilde,
        instance.support,
        eta=question.eta.value,
        tolerance=question.tolerance.value,
        max_bits=max_bits,
    )
    document: dict[str, Any] = {
        "verdict": found.verdict,
        "tolerance": str(question.tolerance),
        "eta": str(question.eta),
        "d": instance.d,
        "m": instance.m,
        "support": list(instance.support),
        "sup_loss": as_enclosure(found.sup_loss),
        "heads": dict(zip(_HEADS, found.heads, strict=True)),
        "attention": {
            name: as_enclosure(ends) for name, ends in zip(_HEADS, found.attention, strict=True)
        },
        "witness": None if found.witness is None else list(found.witness),
        "unit_norm_deviation": as_enclosure(unit_norm_deviation(instance.V)),
        "bits": found.bits,
        "margin_bits": found.margin_bits,
    }
    if found.reason is not None:
        document["reason"] = found.reason
    return document


_HEADS = ("theta", "theta_tilde")


def outcome(document: dict[str, Any]) -> Outcome:
    """Return the document with its exit code and its form for readers."""
    return Outcome(document, lambda: _show(document), _EXIT_CODES[document["verdict"]])


def _show(document: dict[str, Any]) -> None:
    print(
        f"{document['verdict']}: the loss of every input after one step with eta = "
        f"{document['eta']} is <= {document['tolerance']}"
        if document["verdict"] == "certified"
        else f"{document['verdict']} at eta = {document['eta']}, T = {document['tolerance']}"
    )
    print(f"  d={document['d']}, m={document['m']}, support={document['support']}")
    print(f"  sup loss in        {_ends(document['sup_loss'])}")
    for name, symbol in zip(_HEADS, ("gamma", "gamma~"), strict=True):
        head, attention = document["heads"][name], document["attention"][name]
        where = "undecided" if head is None else f"at {head}, attention in {_ends(attention)}"
        print(f"  head {symbol:<14}{where}")
    print(f"  max | |v_i| - 1 | in {_ends(document['unit_norm_deviation'])}")
    print(f"  precision          {document['bits']} bits, margin {document['margin_bits']} bits")
    if document["witness"] is not None:
        signs = "".join("+" if sign > 0 else "-" for sign in document["witness"])
        print(f"  witness            {signs}")
    if "reason" in document:
        print(f"  undecided: {document['reason']}")


def _ends(enclosure: dict[str, str] | None) -> str:
    return "nothing" if enclosure is None else f"[{enclosure['lower']}, {enclosure['upper']}]"
