"""Certificates of one step: the kernel at any precision, the bundle and its replay, the command."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.soundness.before_step import ERROR_BITS, population
from campaigns.soundness.cases import Case
from campaigns.soundness.checks.statements import Statements, excludes
from campaigns.soundness.truth import Truth, UnresolvedError
from numerics.balls.arithmetic.exact import UnresolvedError as TooFewBitsError
from numerics.balls.certificate import certify_step, reevaluate_witness
from numerics.balls.pushes import enclose_pushes
from verify.cli import main
from verify.decisions.bundle import load_bundle, save_bundle
from verify.decisions.one_step import decide_step
from verify.decisions.question import Question
from verify.instances.instance import Instance, save_instance

__all__ = ["decision", "wrong_at_low_precision", "wrong_pushes"]

MAX_BITS = 4096
"""Highest working precision, the command's own default."""


def decision(case: Case, truth: Truth) -> tuple[str, list[str]]:
    """Ask for the certificate along the route of the case.

    Returns
    -------
    str, list of str
        The verdict, and what is unsound.
    """
    instance = Instance(case.V, case.theta, case.theta_tilde, case.support)
    question = Question(instance, truth.eta, truth.tolerance)
    document = decide_step(question, MAX_BITS)
    wrong = [f"certify: {text}" for text in _wrong_document(document, truth)]
    if case.route == "bundle" and document["verdict"] != "undecided":
        wrong += [f"replay: {text}" for text in _wrong_replay(question, document)]
    if case.route == "command":
        wrong += [f"command: {text}" for text in _wrong_commands(question, document)]
    return document["verdict"], wrong


def _wrong_document(document: dict[str, Any], truth: Truth) -> Iterator[str]:
    yield from Statements.read(document).wrong(truth)
    deviation = document["unit_norm_deviation"]
    if _excludes_deviation(truth, Fraction(deviation["lower"]), Fraction(deviation["upper"])):
        yield "the enclosure of max | |v_i| - 1 | does not hold it"


def _excludes_deviation(truth: Truth, low: Fraction, high: Fraction) -> bool:
    # By squares, which are rational: | |v| - 1 | <= h where (1 - h)^2 <= |v|^2 <= (1 + h)^2.
    unit = Fraction(1, 1 << (2 * truth.scored.places))
    squares = [sum(n * n for n in row) * unit for row in truth.scored.rows]
    within = all(
        square <= (1 + high) ** 2 and (high >= 1 or (1 - high) ** 2 <= square) for square in squares
    )
    reached = any(
        square >= (1 + low) ** 2 or (low <= 1 and square <= (1 - low) ** 2) for square in squares
    )
    return not (within and reached)


def _wrong_replay(question: Question, document: dict[str, Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder, "bundle.json")
        save_bundle(bundle, question, document)
        again, recorded = load_bundle(bundle)
    for name in ("V", "theta", "theta_tilde"):
        saved, read = (getattr(each.instance, name) for each in (question, again))
        # Bytes, so that -0.0 and 0.0 differ.
        if saved.tobytes() != read.tobytes():
            yield f"{name} comes back changed"
    if again.instance.support != question.instance.support:
        yield "the support comes back changed"
    if (again.eta, again.tolerance) != (question.eta, question.tolerance):
        yield "step size or tolerance come back changed"
    if recorded != document["verdict"]:
        yield f"recorded as {recorded}, was {document['verdict']}"
    if decide_step(again, MAX_BITS) != document:
        yield "another result than that of the same question before"


def _wrong_commands(question: Question, document: dict[str, Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        instance, bundle = Path(folder, "instance.npz"), Path(folder, "bundle.json")
        save_instance("instance", instance, question.instance)
        numbers = ["--eta", question.eta.text, "--tolerance", question.tolerance.text]
        saved = _run(["certify", str(instance), *numbers, "--bundle", str(bundle)])
        if saved != document:
            yield "certify prints another result than was found"
        if bundle.exists() is (document["verdict"] == "undecided"):
            yield "a bundle where nothing was decided, or none where something was"
        if bundle.exists():
            replayed = _run(["replay", str(bundle)])
            if replayed != document | {"recorded_verdict": document["verdict"]}:
                yield "replay prints another result than was found"


def _run(arguments: Sequence[str]) -> Any:
    """Return the document that a command prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        main([*arguments, "--json"])
    return json.loads(printed.getvalue())


def wrong_at_low_precision(case: Case, truth: Truth) -> Iterator[str]:
    """Certify where radii are as large as the numbers: what is rounded inwards shows."""
    tolerance = _nearby(truth, case.nearness)
    found = certify_step(
        case.V,
        case.theta,
        case.theta_tilde,
        case.support,
        eta=truth.eta.value,
        tolerance=tolerance,
        max_bits=case.low_bits,
    )
    at = f"at {case.low_bits} bits"
    for text in Statements.of(tolerance, found).wrong(truth):
        yield f"certify {at}, tolerance beside the largest loss by 2^-{abs(case.nearness)}: {text}"
    signs = case.random().choice((-1, 1), len(case.V)).tolist()
    for bits, witness in ((case.low_bits, signs), (128, found.witness)):
        if witness is None:
            continue
        ends = reevaluate_witness(
            case.V,
            case.theta,
            case.theta_tilde,
            case.support,
            np.array(witness),
            eta=truth.eta.value,
            bits=bits,
        )
        try:
            if ends is not None and excludes(partial(truth.loss_side, witness), ends):
                yield f"the enclosure of the loss of {witness} at {bits} bits does not hold it"
        except UnresolvedError as failure:
            yield f"the loss of {witness}: brute force cannot confirm: {failure}"


def _nearby(truth: Truth, nearness: int) -> Fraction:
    largest = truth.step().supremum().near(1 << 15)
    if largest is None:
        return Fraction(1, 100)
    shift = Fraction(1, 1 << abs(nearness))
    return largest * (1 + shift if nearness > 0 else 1 - shift)


def wrong_pushes(case: Case, truth: Truth) -> Iterator[str]:
    """Enclose how far a step moves the scores, at a precision at which radii show."""
    try:
        heads = enclose_pushes(
            case.V, case.theta, case.theta_tilde, case.support, bits=case.low_bits
        )
    except TooFewBitsError:
        return
    scored = truth.scored
    # So that the error, of all components together, is 2^-200 of the largest push there can be.
    bits = 200 + ERROR_BITS + 8
    gradients = population(scored, bits).gradients
    size = Fraction(2) ** (2 * scored.largest_exponent)
    error = size * len(scored.rows[0]) * Fraction(1, 1 << (bits - ERROR_BITS))
    for head, (gradient, (lows, highs)) in enumerate(zip(gradients, heads, strict=True)):
        for row, low, high in zip(scored.rows, lows, highs, strict=True):
            total = -sum(n * k for n, k in zip(row, gradient.numerators, strict=True))
            push = Fraction(total, gradient.denominator << scored.places)
            if not low - error <= push <= high + error:
                yield f"the enclosure of a push on head {head} does not hold it"
                break
