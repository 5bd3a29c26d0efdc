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

# Some thirty numbers of the working precision, and the objects that hold them. As measured at
# d = 3e4 to 1e6: 920 to 1320 bytes in all for 17 digits, from m = 4 to m = 512 alike, as V is read
# in blocks; 2520 for 100 digits, 5130 for 300 and 14120 for 1000.
_BYTES_PER_POSITION = 1200
_NUMBERS_PER_POSITION = 32


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
    from verify.running.memory import refuse_beyond_memory

    path = read_path("instance", options.instance)
    given = load_instance(path, support=support)
    refuse_beyond_memory("instance", path, _needed_bytes(given.d, given.m, digits))

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


def _needed_bytes(d: int, m: int, digits: int) -> int:
    """Return the bytes of the first attempt, which most often is the last: V, and its balls.

    V counts twice, since the columns whose digits are still open are copied unless all of them are.
    """
    from numerics.settled_digits import first_bits

    per_position = _BYTES_PER_POSITION + _NUMBERS_PER_POSITION * first_bits(digits) // 8
    return d * (2 * 8 * m + per_position)


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
