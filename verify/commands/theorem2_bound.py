"""``theorem2 --bound``: Theorem 2 with its constants at one (d, m), proved, without simulation."""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from verify.commands.bound_events import (
    brief_above,
    brief_below,
    decimal_above,
    decimal_below,
    event_entry,
    show_events,
    vacuous_reason,
)
from verify.commands.options import read_tolerance
from verify.console.outcome import Outcome
from verify.console.progress import Progress
from verify.decimals import ExactDecimal, parse_integer, parse_positive

if TYPE_CHECKING:
    from numerics.balls.bounds.explicit_theorem2 import ExplicitTheorem2

__all__ = ["bound"]


def bound(options: argparse.Namespace) -> Outcome:
    """Prove what can be proved at the sizes, step size and tolerance of the options."""
    tolerance = read_tolerance(options)
    scale = None if options.eta_scale is None else parse_positive("eta_scale", options.eta_scale)

    from numerics.balls.bounds.explicit_theorem2 import MOST_D, explicit_theorem2

    d = parse_integer("d", options.d, least=2, most=MOST_D)
    m = parse_integer("m", options.m, least=1)
    with Progress(quiet=options.quiet).wait("bounding the probability of failure"):
        found = explicit_theorem2(
            d, m, tolerance=tolerance.value, scale=None if scale is None else scale.value
        )
    document = _document(found, tolerance, scale)
    return Outcome(document, lambda: _show(document), exit_code=3 if found.vacuous else 0)


def _document(
    found: ExplicitTheorem2, tolerance: ExactDecimal, scale: ExactDecimal | None
) -> dict[str, Any]:
    from numerics.balls.bounds.theorem2_search import leading_order

    eta_min = None if found.scale is None else found.scale * found.d**2
    document: dict[str, Any] = {
        "verdict": "vacuous" if found.vacuous else "certified",
        "d": found.d,
        "m": found.m,
        "tolerance": str(tolerance),
        "eta_scale": str(scale) if scale is not None else decimal_above(found.scale),
        "failure_upper": decimal_above(found.failure_upper),
        "eta_min": decimal_above(eta_min),
        "failure_limit": decimal_above(found.failure_limit),
        "failure_lower": decimal_below(found.failure_lower),
        "leading_order": leading_order(found.d),
        "events": [event_entry(event) for event in found.events],
        "assumptions": _assumptions(eta_min, tolerance),
        "uniform_over_supports": _uniform_over_supports(found),
    }
    if found.vacuous:
        document["reason"] = vacuous_reason(found.events)
    return document


def _assumptions(eta_min: Fraction | None, tolerance: ExactDecimal) -> list[str]:
    step = "for all large enough eta" if eta_min is None else "for every eta >= eta_min at once"
    return [
        "V has d >= 3 independent rows, uniform on the unit sphere of R^m, m >= 6",
        "theta^0 is uniform on that sphere, independent of V; theta~^0 = -theta^0",
        "the support {a, b} is fixed before V is drawn; inputs are uniform on {-1, +1}^d",
        "one step of exact population gradient descent from theta^0 and theta~^0, step size eta",
        "L = E (f - y)^2, without a factor 1/2: with it, eta is twice as large",
        "with probability >= 1 - failure_upper over V and theta^0, "
        f"{step}, sup_x (f(x) - y(x))^2 <= {tolerance} and the heads attend most to different "
        "positions of the support",
        "failure_limit: the same with probability >= 1 - failure_limit, for all eta beyond one "
        "that depends on the draw",
        "failure_lower: with at least this probability both heads prefer the same position of the "
        "support ever more as eta grows, and the lower limit of sup_x (f(x) - y(x))^2 is >= 1",
    ]


def _uniform_over_supports(found: ExplicitTheorem2) -> dict[str, Any]:
    """Say what holds for all supports of one drawn V at once: the union, and Markov's version."""
    supports = math.comb(found.d, 2)
    union = min(Fraction(1), supports * found.failure_upper)
    vacuous = union >= 1
    statement: dict[str, Any] = {
        "verdict": "vacuous" if vacuous else "certified",
        "failure_upper": decimal_above(union),
        "expected_failures_lower": decimal_below(supports * found.failure_lower),
        "share_of_failing_supports": (
            "for every delta > 0, with probability >= 1 - delta at most a fraction "
            "failure_upper/delta of all supports fails"
        ),
    }
    if vacuous:
        statement["reason"] = (
            "a union over all d (d - 1)/2 supports says nothing: as eta grows, "
            "expected_failures_lower of them fail on average, at least"
        )
    return statement


def _show(document: dict[str, Any]) -> None:
    print(
        f"{document['verdict']}: Theorem 2 with its constants at d={document['d']}, "
        f"m={document['m']}, T = {document['tolerance']}"
    )
    if "reason" in document:
        print(f"  {document['reason']}")
    if document["eta_min"] is None:
        print("  eta_min           none")
    else:
        print(f"  eta_min           {document['eta_min']} = {document['eta_scale']} d^2")
    print(f"  P(failure)     <= {brief_above(document['failure_upper'])} for every eta >= eta_min")
    print(f"  as eta grows   <= {brief_above(document['failure_limit'])}")
    print(f"                 >= {brief_below(document['failure_lower'])}")
    print(f"  the law           {document['leading_order']:.4g} = (2/pi) arctan(1/sqrt(d))")
    show_events(document["events"])
    print("  assumptions, and what is proved:")
    for assumption in document["assumptions"]:
        print(f"    - {assumption}")
    uniform = document["uniform_over_supports"]
    print(f"  all supports of one V at once: {uniform['verdict']}")
    print(f"    - P(some support fails) <= {brief_above(uniform['failure_upper'])}")
    print(
        f"    - {brief_below(uniform['expected_failures_lower'])} supports or more fail on average"
    )
    print(f"    - {uniform['share_of_failing_supports']}")
