"""``corollary3 --bound``: how many samples provably suffice at one (d, m), without simulation."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.commands.bound_events import (
    brief_above,
    costliest,
    decimal_above,
    event_entry,
    show_events,
    vacuous_reason,
)
from verify.console.outcome import Outcome
from verify.console.progress import Progress
from verify.decimals import ExactDecimal, parse_integer, parse_positive

if TYPE_CHECKING:
    from numerics.balls.bounds.explicit_corollary3 import ExplicitCorollary3

__all__ = ["bound"]

_FAILURE = "0.25"


def bound(options: argparse.Namespace) -> Outcome:
    """Prove what can be proved at the sizes and the probability of failure of the options."""
    failure = parse_positive("failure", _FAILURE if options.failure is None else options.failure)
    if failure.value >= 1:
        raise InvalidArgumentError("failure", failure, "must be below 1")

    from numerics.balls.bounds.explicit_corollary3 import explicit_corollary3
    from numerics.balls.bounds.explicit_theorem2 import MOST_D

    d = parse_integer("d", options.d, least=2, most=MOST_D)
    m = parse_integer("m", options.m, least=1)
    with Progress(quiet=options.quiet).wait("searching for the least number of samples"):
        found = explicit_corollary3(d, m, failure=failure.value)
    document = _document(found, failure)
    exit_code = 3 if document["verdict"] == "vacuous" else 0
    return Outcome(document, lambda: _show(document), exit_code=exit_code)


def _document(found: ExplicitCorollary3, failure: ExactDecimal) -> dict[str, Any]:
    document: dict[str, Any] = {
        "verdict": "vacuous" if found.vacuous else "certified",
        "d": found.d,
        "m": found.m,
        "failure": str(failure),
        "n_sufficient": _count(found.n_sufficient),
        "n_hoeffding": _count(found.n_hoeffding),
        "failure_upper": decimal_above(found.failure_upper),
        "costliest": event_entry(costliest(found.events))["name"],
        "events": [event_entry(event) for event in found.events],
        "assumptions": list(_ASSUMPTIONS),
    }
    if found.vacuous:
        document["reason"] = vacuous_reason(
            found.events, total=f"more than {failure} at all numbers of samples that were tried"
        )
    return document


def _count(n: int | None) -> str | None:
    return None if n is None else decimal_above(Fraction(n))


_ASSUMPTIONS = (
    "V has d >= 3 independent rows, uniform on the unit sphere of R^m, m >= 6",
    "theta^0 is uniform on that sphere, independent of V; theta~^0 = -theta^0",
    "the support {a, b} is fixed before V is drawn",
    "n >= n_sufficient inputs, uniform on {-1, +1}^d, independent of each other, of V and theta^0",
    "one step of gradient descent on their mean loss (f - y)^2 from theta^0 and theta~^0",
    "with probability >= 1 - failure_upper over V, theta^0 and the inputs, for every T > 0 and "
    "all large enough eta, sup_x (f(x) - y(x))^2 <= T over all inputs and the heads attend most "
    "to different positions of the support",
    "n_hoeffding: what the same proof asks for if it uses the range of one sample's gradient only",
)


def _show(document: dict[str, Any]) -> None:
    print(
        f"{document['verdict']}: Corollary 3 with its constants at d={document['d']}, "
        f"m={document['m']}, P(failure) <= {document['failure']}"
    )
    if "reason" in document:
        print(f"  {document['reason']}")
    d, m = document["d"], document["m"]
    for name, unit, scale in (
        ("n_sufficient", d**2 + d * m, "(d^2 + d m)"),
        ("n_hoeffding", d**4, "d^4"),
    ):
        n = document[name]
        times = "" if n is None else f" = {float(Fraction(n) / unit):.4g} {scale}"
        print(f"  {name:<14} {n or 'none'}{times}")
    print(f"  P(failure)  <= {brief_above(document['failure_upper'])}")
    show_events(document["events"])
    print("  assumptions, and what is proved:")
    for assumption in document["assumptions"]:
        print(f"    - {assumption}")
