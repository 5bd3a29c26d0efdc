"""``gradient``: the population loss and gradient of an instance, to N digits."""

from __future__ import annotations

import argparse
from typing import Any

from verify.commands.options import add_json, add_support, read_path, read_support
from verify.console.outcome import Outcome
from verify.decimals import parse_integer

NAME = "gradient"
SUMMARY = "print the population loss and gradient of an instance to N significant digits"

CONVENTION = "L = E (f - y)^2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("instance", metavar="INSTANCE", help="an instance file (npz)")
    add_support(parser)
    parser.add_argument(
        "--digits", default="17", metavar="N", help="significant digits, 1 to 1000 (default: 17)"
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Compute the gradient."""
    support = read_support(options)
    digits = parse_integer("digits", options.digits, least=1, most=1000)

    from verify.instances.instance import load_instance

    given = load_instance(read_path("instance", options.instance), support=support)

    from numerics.balls.gradient_digits import population_gradient_digits
    from numerics.exact.norms import unit_norm_deviation
    from verify.console.enclosures import as_enclosure

    found = population_gradient_digits(*given.arguments, digits=digits)
    document: dict[str, Any] = {
        "d": given.d,
        "m": given.m,
        "support": list(given.support),
        "convention": CONVENTION,
        "digits": digits,
        "loss": found.loss,
        "gradient": {"theta": list(found.theta), "theta_tilde": list(found.theta_tilde)},
        "unit_norm_deviation": as_enclosure(unit_norm_deviation(given.V)),
    }
    if found.reason is not None:
        document["reason"] = found.reason
    return Outcome(document, lambda: _show(document), exit_code=0 if found.reason is None else 3)


def _show(document: dict[str, Any]) -> None:
    deviation = document["unit_norm_deviation"]
    print(f"d={document['d']}, m={document['m']}, support={document['support']}")
    print(f"convention: {CONVENTION}")
    print(f"max | |v_i| - 1 | in [{deviation['lower']}, {deviation['upper']}]")
    print(f"L = {_shown(document['loss'])}")
    for name, label in (("theta", "dL/dtheta"), ("theta_tilde", "dL/dtheta~")):
        for k, entry in enumerate(document["gradient"][name]):
            print(f"{label}[{k}] = {_shown(entry)}")
    if "reason" in document:
        print(f"undecided: {document['reason']}")


def _shown(entry: str | None) -> str:
    return "undecided" if entry is None else entry
