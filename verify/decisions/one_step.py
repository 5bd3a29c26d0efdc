"""What one population step leads to, decided in balls and put into words."""

from __future__ import annotations

from typing import Any

from verify.console.enclosures import as_enclosure, written
from verify.console.outcome import Outcome
from verify.decisions.question import EXIT_CODES, Question

__all__ = ["decide_step", "decision_bytes", "step_outcome"]

_HEADS = ("theta", "theta_tilde")

# Some fifty balls and integers of 128 bits with the objects that hold them, and a rational number
# for the norm. As measured at d = 3e4 to 1e6: 1700 to 1830 bytes, from m = 4 to m = 512 alike, as V
# is read in blocks; 2060 where the sizes of its rows spread over 900 powers of two.
_BYTES_PER_POSITION = 2200


def decision_bytes(d: int, m: int) -> int:
    """Return the bytes that a decision at ``(d, m)`` needs: V once, and the first attempt.

    Nobody knows in advance whether there will be another one, at twice the precision.
    """
    return 8 * d * m + _BYTES_PER_POSITION * d


def decide_step(question: Question, max_bits: int) -> dict[str, Any]:
    """Decide in ball arithmetic whether every input has a small loss after the step.

    Parameters
    ----------
    question : Question
        The instance, the step size and the tolerance.
    max_bits : int
        Highest working precision.

    Returns
    -------
    dict
        The strict JSON document of the decision.
    """
    from numerics.balls.certificate import certify_step
    from numerics.exact.norms import unit_norm_deviation

    instance = question.instance
    found = certify_step(
        *instance.arguments,
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


def step_outcome(document: dict[str, Any]) -> Outcome:
    """Return the document with its exit code and its form for readers."""
    return Outcome(document, lambda: _show(document), EXIT_CODES[document["verdict"]])


def _show(document: dict[str, Any]) -> None:
    print(
        f"{document['verdict']}: the loss of every input after one step with eta = "
        f"{document['eta']} is <= {document['tolerance']}"
        if document["verdict"] == "certified"
        else f"{document['verdict']} at eta = {document['eta']}, T = {document['tolerance']}"
    )
    print(f"  d={document['d']}, m={document['m']}, support={document['support']}")
    print(f"  sup loss in        {written(document['sup_loss'])}")
    for name, symbol in zip(_HEADS, ("gamma", "gamma~"), strict=True):
        head, attention = document["heads"][name], document["attention"][name]
        where = "undecided" if head is None else f"at {head}, attention in {written(attention)}"
        print(f"  head {symbol:<14}{where}")
    print(f"  max | |v_i| - 1 | in {written(document['unit_norm_deviation'])}")
    print(f"  precision          {document['bits']} bits, margin {document['margin_bits']} bits")
    if document["witness"] is not None:
        signs = "".join("+" if sign > 0 else "-" for sign in document["witness"])
        print(f"  witness            {signs}")
    if "reason" in document:
        print(f"  undecided: {document['reason']}")
