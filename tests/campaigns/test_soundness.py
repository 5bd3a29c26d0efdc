"""The soundness campaign at its small size, and that it sees what is unsound."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb

from campaigns import soundness
from campaigns.soundness import campaign as campaigns
from campaigns.soundness.attack import Outcome, attack
from campaigns.soundness.campaign import Campaign
from campaigns.soundness.checks import certificate as certificate_checks
from campaigns.soundness.kinds import KINDS, case_at
from numerics import settled_digits
from numerics import worst_case as binary64
from numerics.balls import (
    attention_descent,
    certificate,
    gradient_digits,
    model,
    open_branch,
    pushes,
    worst_case,
)
from numerics.balls.arithmetic import exact
from numerics.balls.reach import concave_floor, softmax_reach


def options(folder, **given):
    parser = argparse.ArgumentParser()
    soundness.add_arguments(parser)
    chosen = vars(parser.parse_args(["--findings", str(folder)]))
    shared = {"size": "small", "seed": 0, "jobs": 1, "docs": False}
    return argparse.Namespace(**(chosen | shared | given))


def test_nothing_is_unsound_at_the_small_size(tmp_path, capsys):
    assert soundness.execute(options(tmp_path)) == 0
    assert "0 of 2000 cases unsound" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_nothing_is_unsound_in_ten_thousand_cases(seed, tmp_path):
    assert soundness.execute(options(tmp_path, seed=seed)) == 0


def test_a_case_is_made_again_from_its_name():
    for number in range(2 * len(KINDS)):
        one, other = case_at(3, number), case_at(3, number)
        for name in ("kind", "support", "eta", "tolerance", "digits", "low_bits", "route"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("V", "theta", "theta_tilde"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    assert case_at(4, 0).V.tobytes() != case_at(3, 0).V.tobytes()


# Unsound changes: each takes what it replaces, and returns what takes its place.


def always(value):
    return lambda _: lambda *_, **__: value


def exchanged(function):
    return lambda *given, **options: function(*given, **options)[::-1]


def ends_exchanged(function):
    return lambda *given: ends and ends[::-1] if (ends := function(*given)) else None


def bound_at_the_vertices(function):
    return lambda *both: replace(found := function(*both), bound=found.attained)


def uphill(function):
    return lambda *given, eta, bits: function(*given, eta=-eta, bits=bits)


def at_the_next_position(function):
    def head(scores):
        position, share = function(scores)
        return position if position is None else (position + 1) % len(scores.integers), share

    return head


def larger_than_it_is(function):
    return lambda d, support, tolerance: function(d, support, tolerance * (1 - Fraction(1, 10**9)))


def uniform_before(_):
    return lambda question: all(len(set(h.scores.integers)) == 1 for h in question.before)


def without_cumulant(_):
    def weights(gamma, gamma_tilde, support):
        a, b = support
        square, overlap = model.dot(gamma_tilde, gamma_tilde), model.dot(gamma, gamma_tilde)
        halves = [g * square + 2 * t * overlap for g, t in zip(gamma, gamma_tilde, strict=True)]
        halves[a] -= gamma_tilde[b]
        halves[b] -= gamma_tilde[a]
        mean = model.dot(gamma, halves)
        return [2 * g * (half - mean) for g, half in zip(gamma, halves, strict=True)]

    return weights


def nothing_lost(function):
    return lambda values, bits: (*function(values, bits)[:2], arb(0))


def first_alone(_):
    return lambda _, terms, *start: start[0] if start else next(iter(terms))


def query_negated(function):
    def load(path):
        question, verdict = function(path)
        turned = replace(question.instance, theta_tilde=-question.instance.theta_tilde)
        return replace(question, instance=turned), verdict

    return load


def times(factor):
    return lambda function: lambda *given, **options: function(*given, **options) * factor


CHANGES = {
    "scores are taken as exact": (
        *("offset", 40, certificate, "slack_factor", always(arb(1))),
        "the enclosure of the largest loss does not hold it",
    ),
    "certified whatever the bracket": (
        *("sphere", 5, certificate, "_verdict", always("certified")),
        "certified, and a loss exceeds the tolerance",
    ),
    "certified by the vertices alone": (
        *("no vertex", 20, certificate, "joined", bound_at_the_vertices),
        "certified, and a loss exceeds the tolerance",
    ),
    "the tolerance compared the wrong way": (
        *("boundary", 20, certificate, "less_equal", lambda f: lambda x, y: f(y, x)),
        "certified, and a loss exceeds the tolerance",
    ),
    "ends exchanged": (
        *("sphere", 5, certificate, "_interval", ends_exchanged),
        "does not hold it",
    ),
    "radii dropped": (
        *("nearly tied", 40, exact, "arb", lambda _: lambda n, *_: arb(n)),
        "does not hold it",
    ),
    "rounded inwards": (
        *("sphere", 20, certificate, "upper_end", lambda _: exact.lower_end),
        "does not hold it",
    ),
    "another position than the head's": (
        *("sphere", 5, certificate, "_head", at_the_next_position),
        "head 0 is not at",
    ),
    "gradient ascent": (
        *("sphere", 5, certificate, "step", uphill),
        "certify",
    ),
    "heads exchanged": (
        *("free queries", 10, certificate, "step", exchanged),
        "certify",
    ),
    "rounding of the query not counted": (
        *("sphere", 40, model, "block_integers", nothing_lost),
        "does not hold it",
    ),
    "uniform attention by the start alone": (
        *("zero query", 10, certificate, "_uniform_after_step", uniform_before),
        "certify",
    ),
    "a rational supremum refuted at equality": (
        *("equal rows", 40, certificate, "_uniform_certificate", larger_than_it_is),
        "refuted, and no loss exceeds the tolerance",
    ),
    "edges left out": (
        *("no vertex", 20, worst_case, "_edges", always(())),
        "bracket by vertices and edges",
    ),
    "closed brackets everywhere": (
        *("no vertex", 20, worst_case, "_one_sided", always(True)),
        "does not hold the largest loss",
    ),
    "what the search has not visited is forgotten": (
        *("no vertex", 20, open_branch, "reduce", first_alone),
        "bracket by search",
    ),
    "entries of V taken for smaller than they are": (
        *("sphere", 40, model, "dyadic", lambda f: lambda n, e: f(n, e - 60)),
        "does not hold it",
    ),
    "replay with another query": (
        *("free queries", 20, certificate_checks, "load_bundle", query_negated),
        "replay: theta_tilde comes back changed",
    ),
    "replay to another verdict": (
        *(
            "sphere",
            20,
            certificate_checks,
            "decide_step",
            lambda f: lambda q, bits: f(q, bits) | {"bits": id(q)},
        ),
        "replay: another result",
    ),
    "the fourth cumulant left out": (
        *("sphere", 3, gradient_digits, "gradient_weights", without_cumulant),
        "is not correctly rounded",
    ),
    "the error of a component dropped": (
        *("nearly zero gradient", 40, gradient_digits, "symmetric", always(arb(0))),
        "gradient: ",
    ),
    "one end decides the digits": (
        *(
            "nearly zero gradient",
            60,
            gradient_digits,
            "_digits",
            lambda _: lambda x, n: gradient_digits._outwards(x, 1, n),
        ),
        "gradient: ",
    ),
    "what may be zero is printed as zero": (
        *("nearly zero gradient", 40, settled_digits, "balanced", always(True)),
        "which is not zero",
    ),
    "digits rounded towards zero": (
        *(
            "sphere",
            20,
            gradient_digits,
            "dyadic_digits",
            lambda f: lambda n, e, k: (f(n, e, k + 1) or "0")[:-1],
        ),
        "is not correctly rounded",
    ),
    "pushes without slack": (
        *("sphere", 10, pushes, "upper_end", always(Fraction(0))),
        "the enclosure of a push",
    ),
    "binary64 without its allowance": (
        *("sphere", 40, binary64, "_UNIT", lambda _: 0.0),
        "worst case",
    ),
    "a floor that is too high": (
        *("sphere", 60, concave_floor, "floor_at", times(2)),
        "floor: ",
    ),
    "descent with another slope": (
        *("sphere", 20, attention_descent, "_slopes", lambda f: lambda g, t, s: f(t, g, s)),
        "descent, ",
    ),
    "queries that are too short": (
        *("learning", 20, softmax_reach, "_least_gap", times(2)),
        "reach: ",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_unsound_change_is_seen(change, monkeypatch):
    kind, count, where, name, change_of, expected = CHANGES[change]
    monkeypatch.setattr(where, name, change_of(getattr(where, name)))
    found = (text for turn in range(count) for text in attack(case_at(0, turn, kind=kind)).wrong)
    assert any(expected in text for text in found)


def test_an_exception_is_unsound(monkeypatch):
    monkeypatch.setattr(certificate, "step", lambda *_, **__: 1 / 0)
    wrong = attack(case_at(0, 0)).wrong
    assert any("certify raised ZeroDivisionError" in text for text in wrong)
    assert any("low precision raised ZeroDivisionError" in text for text in wrong)


def test_zeros_that_are_left_open_where_they_are_due(monkeypatch):
    for name in ("balanced", "vanishes"):
        monkeypatch.setattr(settled_digits, name, lambda *_: False)
    monkeypatch.setattr(settled_digits, "MAX_BITS", 256)
    wrong = [
        text for turn in range(6) for text in attack(case_at(0, turn, kind="zero gradient")).wrong
    ]
    assert any("is zero by symmetry, and not printed" in text for text in wrong)


def test_what_is_unsound_is_saved_with_the_command_to_repeat_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(campaigns, "attack_all", None)
    monkeypatch.setattr(certificate, "_verdict", lambda *_: "certified")
    campaign = Campaign(0, 3, tmp_path)
    campaign.count([attack(case_at(0, number)) for number in range(3)])
    assert any("unsound" in failure for failure in campaign.failures())
    saved = sorted(path.name for path in tmp_path.iterdir())
    assert saved
    document = json.loads((tmp_path / saved[0]).read_text())
    assert (tmp_path / saved[0]).with_suffix(".npz").name in document["certify"]
    number = int(document["repeat"].split()[-1])
    assert soundness.execute(options(tmp_path, case=number)) == 1
    assert document["wrong"][0] in capsys.readouterr().out


def test_the_page_shows_what_a_case_prints(tmp_path, capsys):
    page = (Path(soundness.__file__).parents[2] / "docs" / "soundness.md").read_text()
    command, shown = page.partition("$ python -m campaigns soundness ")[2].splitlines()[:2]
    seed, case = command.split()[1::2]
    assert soundness.execute(options(tmp_path, seed=int(seed), case=int(case))) == 0
    assert capsys.readouterr().out == f"{shown}\n"


def test_a_kind_that_is_left_undecided_fails_the_campaign(tmp_path):
    campaign = Campaign(0, 40, tmp_path)
    campaign.count(
        [Outcome("sphere", n, "undecided" if n < 5 else "refuted", ()) for n in range(40)]
    )
    assert campaign.finished
    (failure,) = campaign.failures()
    assert failure.startswith("sphere: 5 of 40 undecided")


def test_a_share_of_nothing_unsound_is_bounded_by_the_rule_of_three(tmp_path):
    campaign = Campaign(0, 1000, tmp_path)
    campaign.count([Outcome("sphere", n, "refuted", ()) for n in range(1000)])
    # 1 - 0.05^(1/1000) = 0.0029913
    assert "at most 0.0030 is unsound" in campaign.figures()
    assert "| **all** |  | 1,000 | 0 | 1,000 | 0 | 0 |" in campaign.figures()


def test_cases_that_are_lost_fail_the_campaign(tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "attack_all", divided)
    campaign = Campaign(0, 10, tmp_path)
    campaign.run(jobs=1)
    assert not campaign.finished
    assert "ZeroDivisionError" in campaign.failures()[0]


def divided(*_):
    return 1 / 0
