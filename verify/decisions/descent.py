"""What many steps with another attention map lead to, decided in balls and put into words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify.console.enclosures import as_enclosure, written
from verify.console.outcome import Outcome
from verify.decisions.question import EXIT_CODES, DescentQuestion

__all__ = ["decide_descent", "descent_bytes", "descent_outcome"]

# V in balls and its transpose; weights, slopes and what is pulled back. As measured from
# (d, m) = (400, 50) to (400, 800) and (5000, 20): 93 to 112 bytes and 1360 bytes.
_BYTES_PER_ENTRY = 112
_BYTES_PER_POSITION = 1600


def descent_bytes(d: int, m: int) -> int:
    """Return the bytes that a decision at ``(d, m)`` needs: V, and the first attempt's balls."""
    return (8 + _BYTES_PER_ENTRY) * d * m + _BYTES_PER_POSITION * d


def decide_descent(question: DescentQuestion, max_bits: int) -> dict[str, Any]:
    """Decide in ball arithmetic whether every input has a small loss after the last step.

    Parameters
    ----------
    question : DescentQuestion
        The instance, the map, the step size, the number of steps and the tolerance.
    max_bits : int
        Highest working precision.

    Returns
    -------
    dict
        The strict JSON document of the decision.
    """
    from numerics.balls.attention_descent import certify_descent

    instance = question.instance
    found = certify_descent(
        *instance.arguments,
        attention=question.attention,
        eta=question.eta.value,
        steps=question.steps,
        tolerance=question.tolerance.value,
        max_bits=max_bits,
    )
    document: dict[str, Any] = {
        "verdict": found.verdict,
        "attention": question.attention,
        "steps": question.steps,
        "tolerance": str(question.tolerance),
        "eta": str(question.eta),
        "d": instance.d,
        "m": instance.m,
        "support": list(instance.support),
        "mean_loss": as_enclosure(found.mean_loss),
        "sup_loss": as_enclosure(found.sup_loss),
        "bits": found.bits,
    }
    if found.reason is not None:
        document["reason"] = found.reason
    return document


def descent_outcome(document: dict[str, Any]) -> Outcome:
    """Return the document with its exit code and its form for readers."""
    return Outcome(document, _shower(document), EXIT_CODES[document["verdict"]])


def _shower(document: dict[str, Any]) -> Callable[[], None]:
    lines = [
        f"{document['verdict']}: the loss of every input after {document['steps']} steps of"
        f" {document['attention']} attention with eta = {document['eta']} is <="
        f" {document['tolerance']}",
        f"  d={document['d']}, m={document['m']}, support={document['support']}",
        f"  mean loss in  {written(document['mean_loss'])}",
        f"  sup loss in   {written(document['sup_loss'])}",
        f"  precision     {document['bits']} bits",
    ]
    if "reason" in document:
        lines.append(f"  undecided: {document['reason']}")
    return lambda: print("\n".join(lines))
