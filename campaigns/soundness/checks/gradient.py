"""The printed digits of loss and gradient: each must be the correctly rounded one, or none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from campaigns.soundness.answers import Answers
from campaigns.soundness.before_step import ERROR_BITS, population, vanishing
from campaigns.soundness.cases import Case
from campaigns.soundness.kinds import KINDS
from campaigns.soundness.questions import FAR, FAR_RARELY
from campaigns.soundness.rounding import rounds_to
from campaigns.soundness.truth import Truth
from numerics.balls.gradient_digits import population_gradient_digits

__all__ = ["wrong_digits"]

_MOST_BITS = 1 << 17  # twice what the digits under test are computed with
_LOSS = (-1, 0)
_NAMES = {-1: "loss", 0: "dL/dtheta", 1: "dL/dtheta~"}


def wrong_digits(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Print the loss and both gradients to the digits of the case.

    Where scores differ by thousands, the verifier tries 65,536 bits for a second before it leaves
    digits open. It is asked there one time in `FAR_RARELY`.
    """
    if _spread(truth) > FAR and case.number // len(KINDS) % FAR_RARELY:
        return
    found = population_gradient_digits(
        case.V, case.theta, case.theta_tilde, case.support, digits=case.digits
    )
    printed = {_LOSS: found.loss}
    for head, components in enumerate((found.theta, found.theta_tilde)):
        printed |= {(head, k): text for k, text in enumerate(components)}
    zeros = vanishing(truth.scored)
    for (head, k), text in printed.items():
        what = "loss" if head < 0 else "zero" if zeros[head][k] else "component"
        answers.note(f"gradient: {what}", text is not None)
    pending = {entry: text for entry, text in printed.items() if text is not None}
    bits = 64 + math.ceil(case.digits * math.log2(10))
    scale = Fraction(2) ** truth.scored.largest_exponent
    while pending and bits <= _MOST_BITS:
        loss, gradients = population(truth.scored, bits)
        unit = Fraction(1, 1 << (bits - ERROR_BITS))
        for (head, k), text in list(pending.items()):
            at = (head, k)
            if at == _LOSS:
                value, error = loss, unit
            else:
                value, error = gradients[head].fraction(k), unit * scale
            if truth.scored.uniform:
                error = Fraction(0)
            if text == "0" or abs(value) <= error:
                # Zero, or it looks like it.
                zero = at != _LOSS and zeros[head][k]
                if zero is not (text == "0"):
                    truly = "zero" if zero else "not zero"
                    yield f"gradient: {_NAMES[head]}[{k}] = {text}, which is {truly}"
                if zero or text == "0":
                    del pending[at]
                continue
            right = rounds_to(text, value - error, value + error, case.digits)
            if right is not None:
                del pending[at]
            if right is False:
                yield f"gradient: {_NAMES[head]}[{k}] = {text} is not correctly rounded"
        bits *= 2
    for head, k in pending:
        yield f"gradient: {_NAMES[head]}[{k}] has digits that brute force cannot confirm"
    if case.kind == "zero gradient":
        for head, components in enumerate((found.theta, found.theta_tilde)):
            for k, component in enumerate(components):
                if zeros[head][k] and component is None:
                    yield f"gradient: {_NAMES[head]}[{k}] is zero by symmetry, and not printed"


def _spread(truth: Truth) -> int:
    """Return by how much scores before the step differ at most."""
    scored = truth.scored
    return max(max(head) - min(head) for head in scored.scores) >> scored.score_places
