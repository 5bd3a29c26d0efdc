"""A verifier that says nothing is not unsound, and fails the campaign all the same."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from campaigns.soundness.answers import Answers, tells
from campaigns.soundness.attack import CHECKS, RARE_CHECKS, Outcome
from campaigns.soundness.campaign import Campaign
from campaigns.soundness.checks import (
    certificate,
    gradient,
    other_attention,
    worst_case,
)
from campaigns.soundness.kinds import KINDS, case_at
from campaigns.soundness.questions import QUESTIONS, RARELY
from campaigns.soundness.truth import Truth
from numerics.balls import certificate as kernel
from numerics.balls.arithmetic.exact import UnresolvedError
from numerics.worst_case import Closure
from verify import cli, decimals
from verify.decisions.question import EXIT_CODES

BANDS = ("below 32 bits", "32 to 100 bits")


def decided(case, truth, answers):
    return certificate.decision(replace(case, route="kernel"), truth, answers)[1]


def failures(check, count, folder, kind=None):
    """What fails if so many cases are put to one check; none may be unsound."""
    campaign = Campaign(0, count, folder)
    for turn in range(count):
        case, answers = case_at(0, turn, kind=kind), Answers()
        wrong = tuple(check(case, Truth(case), answers))
        campaign.count([Outcome(case.kind, turn, "refuted", wrong, answers)])
    assert not list(folder.iterdir())
    return campaign.failures()


# Silent changes: each takes what it replaces, and returns what takes its place.


def always(value):
    return lambda _: lambda *_, **__: value


def without_digits(function):
    def digits(*given, **options):
        found = function(*given, **options)
        theta, theta_tilde = (
            tuple("0" if text == "0" else None for text in head)
            for head in (found.theta, found.theta_tilde)
        )
        return replace(found, loss=None, theta=theta, theta_tilde=theta_tilde)

    return digits


def without_zeros(function):
    def digits(*given, **options):
        found = function(*given, **options)
        theta, theta_tilde = (
            tuple(None if text == "0" else text for text in head)
            for head in (found.theta, found.theta_tilde)
        )
        return replace(found, theta=theta, theta_tilde=theta_tilde)

    return digits


def undecided(function):
    nothing = (None, None)
    return lambda *given, **options: replace(
        function(*given, **options),
        verdict="undecided",
        sup_loss=None,
        heads=nothing,
        attention=nothing,
        witness=None,
    )


def refused(_):
    def pushes(*_, **__):
        raise UnresolvedError

    return pushes


def wide_pushes(function):
    def pushes(*given, **options):
        heads = function(*given, **options)
        return [
            ([x - 100 * abs(x) - 1 for x in lows], [x + 100 * abs(x) + 1 for x in highs])
            for lows, highs in heads
        ]

    return pushes


def from_0_to_4(function):
    return lambda *given: replace(function(*given), lower=0.0, upper=4.0, proved=Closure.OPEN)


def certified_to_4(function):
    return lambda *given, **options: replace(
        function(*given, **options), sup_loss=(Fraction(0), Fraction(4))
    )


def verdict_alone(function):
    def document(*given):
        nothing = {"theta": None, "theta_tilde": None}
        return dict(function(*given)) | {"sup_loss": None, "heads": nothing, "attention": nothing}

    return document


def lengths_unknown(function):
    wide = {"unit_norm_deviation": {"lower": "0", "upper": "1e999"}}
    return lambda *given: dict(function(*given)) | wide


def no_floor(function):
    zero = Fraction(0)
    return lambda *given: replace(
        function(*given), loss=zero, loss_by_singular=zero, leverage=None, singular_square=zero
    )


def descent_undecided(function):
    return lambda *given, **options: replace(
        function(*given, **options), verdict="undecided", mean_loss=None, sup_loss=None
    )


def in_bands(*names):
    return {f"{band}: {name}" for band in BANDS for name in names}


LOW = CHECKS["low precision"]
STATED = ("largest loss", "head", "attention")
SILENT = {
    "no digit printed but zeros": (
        *(CHECKS["gradient"], 150, None),
        *(gradient, "population_gradient_digits", without_digits),
        {"gradient: loss", "gradient: component"},
    ),
    "no zero printed": (
        *(CHECKS["gradient"], 20, "equal rows"),
        *(gradient, "population_gradient_digits", without_zeros),
        {"gradient: zero"},
    ),
    "undecided at low precision": (
        *(LOW, 400, None),
        *(certificate, "certify_step", undecided),
        in_bands("verdict", *STATED),
    ),
    "an enclosure of every loss there is": (
        *(LOW, 400, None),
        *(certificate, "certify_step", certified_to_4),
        in_bands("largest loss"),
    ),
    "no input evaluated again": (
        *(LOW, 400, None),
        *(certificate, "reevaluate_witness", always(None)),
        in_bands("loss of an input"),
    ),
    "pushes refused": (
        *(CHECKS["pushes"], 400, None),
        *(certificate, "enclose_pushes", refused),
        in_bands("push"),
    ),
    "pushes enclosed widely": (
        *(CHECKS["pushes"], 400, None),
        *(certificate, "enclose_pushes", wide_pushes),
        in_bands("push"),
    ),
    "balls without ends": (
        *(CHECKS["ball bracket"], 400, None),
        *(worst_case, "_ends", always(None)),
        in_bands("bracket by vertices and edges", "bracket by enumeration", "bracket by search"),
    ),
    "nothing enumerated": (
        *(CHECKS["ball bracket"], 400, None),
        *(worst_case, "enumerate_branch", always(None)),
        in_bands("bracket by enumeration"),
    ),
    "binary64 from 0 to 4": (
        *(CHECKS["binary64 bracket"], 100, None),
        *(worst_case, "worst_case_loss", from_0_to_4),
        {"binary64: largest loss", "binary64: closed"},
    ),
    "a verdict alone": (
        *(decided, 100, None),
        *(certificate, "decide_step", verdict_alone),
        {f"certify: {name}" for name in STATED},
    ),
    "lengths from 0 to 1e999": (
        *(decided, 100, None),
        *(certificate, "decide_step", lengths_unknown),
        {"certify: lengths of rows"},
    ),
    "no queries that reach": (
        *(RARE_CHECKS["reach"], 400, None),
        *(other_attention, "softmax_reach", always(None)),
        {"reach"},
    ),
    "no floor": (
        *(RARE_CHECKS["floor"], 150, "one column"),
        *(other_attention, "concave_floor", no_floor),
        {"floor: leverage", "floor: sigma", "floor: loss", "floor: loss by sigma"},
    ),
    "descent undecided": (
        *(RARE_CHECKS["descent"], 120, None),
        *(other_attention, "certify_descent", descent_undecided),
        {"descent: verdict", "descent: mean loss", "descent: largest loss"},
    ),
}


@pytest.mark.parametrize("change", SILENT)
def test_silence_fails_the_campaign(change, tmp_path, monkeypatch):
    check, count, kind, where, name, change_of, expected = SILENT[change]
    monkeypatch.setattr(where, name, change_of(getattr(where, name)))
    found = failures(check, count, tmp_path, kind)
    assert {text.rpartition(": ")[0].rpartition(": ")[0] for text in found} == expected
    assert all(" answered, fewer than " in text for text in found)


def with_answers(number, answered):
    """A case in which every question is put once."""
    answers = Answers()
    for name in QUESTIONS:
        answers.note(name, name in answered)
    return Outcome("sphere", number, "refuted", (), answers)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_a_share_that_can_be_missed(name, tmp_path):
    least = QUESTIONS[name].answered
    enough = -(-1000 * least.numerator // least.denominator)
    for answered in (enough, enough - 1):
        campaign = Campaign(0, 1000, tmp_path)
        silent = with_answers(0, set(QUESTIONS) - {name})
        campaign.count([with_answers(0, QUESTIONS)] * answered)
        campaign.count([silent] * (1000 - answered))
        found = campaign.failures()
        if answered == enough:
            assert not found
        else:
            (text,) = found
            assert text.startswith(f"{name}: {answered} of 1000 answered, fewer than ")


def test_questions_that_are_not_put_fail_the_campaign(tmp_path):
    for count in (999, 1000):
        campaign = Campaign(0, count, tmp_path)
        campaign.count([Outcome("sphere", 0, "refuted", ())] * count)
        found = campaign.failures()
        assert len(found) == (len(QUESTIONS) if count == 1000 else 0)
        assert all(": put in 0 of 1000 cases, fewer than " in text for text in found)


def test_a_question_without_a_share_is_refused():
    with pytest.raises(KeyError, match="weather"):
        Answers().note("weather", True)


def test_the_table_shows_what_was_answered(tmp_path):
    campaign = Campaign(0, 2, tmp_path)
    campaign.count([with_answers(0, QUESTIONS), with_answers(1, set(QUESTIONS) - {"reach"})])
    (row,) = (line for line in campaign.figures().splitlines() if line.startswith("| reach |"))
    assert row.startswith("| reach | 2 | 2 | 1 | 80% |")


def test_an_enclosure_tells_the_size_to_a_factor():
    assert tells((Fraction(1), Fraction(2)))
    assert not tells((Fraction(1), Fraction(2) + Fraction(1, 10**9)))
    assert tells((Fraction(0), Fraction(0)))
    assert not tells((Fraction(0), Fraction(1, 10**9)))
    assert tells((Fraction(1), Fraction(8)), factor=8)
    assert not tells(None)


@pytest.mark.parametrize("command", ["certify", "replay"])
@pytest.mark.parametrize(("tolerance", "due"), [("4", 0), ("1e-9000", 1)])
def test_another_exit_code_is_seen(command, tolerance, due, monkeypatch):
    case = replace(case_at(0, 0), route="command", tolerance=tolerance)
    assert not certificate.decision(case, Truth(case), Answers())[1]
    main = cli.main
    for code in {0, 1, 2, 3} - {due}:
        monkeypatch.setattr(
            certificate, "main", lambda given, code=code: (main(given), code)[given[0] == command]
        )
        wrong = certificate.decision(case, Truth(case), Answers())[1]
        assert wrong == [f"command: {command} ends with exit code {code}, and {due} is due"]


def test_the_exit_code_of_the_undecided_is_seen(monkeypatch):
    case = replace(case_at(0, 0), route="command")
    monkeypatch.setattr(kernel, "_verdict", lambda *_: "undecided")
    assert not certificate.decision(case, Truth(case), Answers())[1]
    monkeypatch.setitem(EXIT_CODES, "undecided", 0)
    assert certificate.decision(case, Truth(case), Answers())[1] == [
        "command: certify ends with exit code 0, and 3 is due"
    ]


@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(2)])
def test_a_parser_that_misreads_numbers_is_seen(factor, monkeypatch):
    monkeypatch.setattr(decimals, "Fraction", lambda text: Fraction(text) * factor)
    wrong = []
    for turn in range(10):
        case = case_at(0, turn, kind="sphere")
        wrong += decided(case, Truth(case), Answers())
    assert any("the enclosure of the largest loss does not hold it" in text for text in wrong)
    assert any("exceeds the tolerance" in text for text in wrong)


def test_every_kind_asks_for_queries_at_many_tolerances(monkeypatch):
    asked, truth = {}, Truth(case_at(0, 0))

    def reach(_, *, tolerance):
        asked[kind].add(tolerance)

    monkeypatch.setattr(other_attention, "softmax_reach", reach)
    for place, kind in enumerate(KINDS):
        asked[kind] = set()
        for turn in range(0, 50 * RARELY, RARELY):
            case = case_at(0, turn * len(KINDS) + place)
            assert case.kind == kind
            list(other_attention.wrong_reach(case, truth, Answers()))
    assert min(map(len, asked.values())) >= 15
