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

from campaigns.soundness.answers import Answers, tells
from campaigns.soundness.before_step import ERROR_BITS, population
from campaigns.soundness.cases import Case
from campaigns.soundness.checks.statements import Statements, excludes
from campaigns.soundness.truth import Truth, UnresolvedError
from numerics.balls.arithmetic.exact import UnresolvedError as TooFewBitsError
from numerics.balls.certificate import certify_step, reevaluate_witness
from numerics.balls.pushes import enclose_pushes
from verify.cli import main
from verify.decimals import parse_positive
from verify.decisions.bundle import load_bundle, save_bundle
from verify.decisions.one_step import decide_step
from verify.decisions.question import Question
from verify.instances.instance import Instance, save_instance

__all__ = ["decision", "wrong_at_low_precision", "wrong_pushes"]

MAX_BITS = 4096
"""Highest working precision, the command's own default."""

# As documented; stated again here, so that a change of the table under attack is seen.
_EXIT_CODES = {"certified": 0, "refuted": 1, "undecided": 3}
# Lengths of rows are said to one part in so many, at least.
_FINE = 1 << 20


def decision(case: Case, truth: Truth, answers: Answers) -> tuple[str, list[str]]:
    """Ask for the certificate along the route of the case.

    Returns
    -------
    str, list of str
        The verdict, and what is unsound.
    """
    instance = Instance(case.V, case.theta, case.theta_tilde, case.support)
    question = Question(
        instance,
        parse_positive("eta", truth.eta_text),
        parse_positive("tolerance", truth.tolerance_text),
    )
    document = decide_step(question, MAX_BITS)
    wrong = [f"certify: {text}" for text in _wrong_document(document, truth, answers)]
    decided = document["verdict"] != "undecided"
    if case.route == "bundle":
        answers.note("replay of a bundle", decided)
    if case.route == "bundle" and decided:
        wrong += [f"replay: {text}" for text in _wrong_replay(question, document)]
    if case.route == "command":
        answers.note("commands", decided)
        wrong += [f"command: {text}" for text in _wrong_commands(question, document)]
    return document["verdict"], wrong


def _wrong_document(document: dict[str, Any], truth: Truth, answers: Answers) -> Iterator[str]:
    statements = Statements.read(document)
    statements.count("certify", answers)
    if (Fraction(document["eta"]), statements.tolerance) != (truth.eta, truth.tolerance):
        yield "the document has another step size or tolerance than was asked about"
    yield from statements.wrong(truth)
    deviation = document["unit_norm_deviation"]
    low, high = Fraction(deviation["lower"]), Fraction(deviation["upper"])
    answers.note("certify: lengths of rows", (high - low) * _FINE <= 1 + low)
    if _excludes_deviation(truth, low, high):
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
        due = _EXIT_CODES[document["verdict"]]
        code, saved = _run(["certify", str(instance), *numbers, "--bundle", str(bundle)])
        if code != due:
            yield f"certify ends with exit code {code}, and {due} is due"
        if saved != document:
            yield "certify prints another result than was found"
        if bundle.exists() is (document["verdict"] == "undecided"):
            yield "a bundle where nothing was decided, or none where something was"
        if bundle.exists():
            code, replayed = _run(["replay", str(bundle)])
            if code != due:
                yield f"replay ends with exit code {code}, and {due} is due"
            if replayed != document | {"recorded_verdict": document["verdict"]}:
                yield "replay prints another result than was found"


def _run(arguments: Sequence[str]) -> tuple[int, Any]:
    """Return the exit code of a command, and the document that it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        code = main([*arguments, "--json"])
    return code, json.loads(printed.getvalue())


def wrong_at_low_precision(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Certify where radii are as large as the numbers: what is rounded inwards shows."""
    tolerance = _nearby(truth, case.nearness)
    found = certify_step(
        case.V,
        case.theta,
        case.theta_tilde,
        case.support,
        eta=truth.eta,
        tolerance=tolerance,
        max_bits=case.low_bits,
    )
    at = f"at {case.low_bits} bits"
    band = case.band
    statements = Statements.of(tolerance, found)
    answers.note(f"{band}: verdict", found.verdict != "undecided")
    statements.count(band, answers)
    for text in statements.wrong(truth):
        yield f"certify {at}, tolerance beside the largest loss by 2^-{abs(case.nearness)}: {text}"
    signs = case.random().choice((-1, 1), len(case.V)).tolist()
    for question, bits, witness in (
        (f"{band}: loss of an input", case.low_bits, signs),
        ("witness again", 128, found.witness),
    ):
        if witness is None:
            continue
        ends = reevaluate_witness(
            case.V,
            case.theta,
            case.theta_tilde,
            case.support,
            np.array(witness),
            eta=truth.eta,
            bits=bits,
        )
        answers.note(question, tells(ends))
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


def wrong_pushes(case: Case, truth: Truth, answers: Answers) -> Iterator[str]:
    """Enclose how far a step moves the scores, at a precision at which radii show."""
    try:
        heads = enclose_pushes(
            case.V, case.theta, case.theta_tilde, case.support, bits=case.low_bits
        )
    except TooFewBitsError:
        answers.note(f"{case.band}: push", False)
        answers.note(f"{case.band}: push", False)
        return
    scored = truth.scored
    # So that the error, of all components together, is 2^-200 of the largest push there can be.
    bits = 200 + ERROR_BITS + 8
    gradients = population(scored, bits).gradients
    size = Fraction(2) ** (2 * scored.largest_exponent)
    error = size * len(scored.rows[0]) * Fraction(1, 1 << (bits - ERROR_BITS))
    for head, (gradient, (lows, highs)) in enumerate(zip(gradients, heads, strict=True)):
        largest = max(max(abs(low), abs(high)) for low, high in zip(lows, highs, strict=True))
        widest = max(high - low for low, high in zip(lows, highs, strict=True))
        answers.note(f"{case.band}: push", 2 * widest <= largest)
        for row, low, high in zip(scored.rows, lows, highs, strict=True):
            total = -sum(n * k for n, k in zip(row, gradient.numerators, strict=True))
            push = Fraction(total, gradient.denominator << scored.places)
            if not low - error <= push <= high + error:
                yield f"the enclosure of a push on head {head} does not hold it"
                break
