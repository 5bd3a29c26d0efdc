"""The comparison of attention maps: its search does what it says, its command what the contract."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import find_map
from numerics.embeddings import uniform_direction
from numerics.training import descend, population_objective
from verify.console.cli import main
from verify.instance import draw_instance
from verify.seeds import Streams
from verify.trials import comparison
from verify.trials.comparison import (
    SEARCH,
    Candidate,
    compare_trial,
    draw_start,
    first_step_sizes,
    read_start,
    search_step_size,
    stopping_loss,
)


def drawn(d: int, m: int, start: str, trial: int = 0):
    return draw_start(Streams(4).trial(trial), d, m, law="sphere", start=start)


def objective_of(instance, attention: str):
    return population_objective(instance.V, instance.support, attention=find_map(attention))


def test_the_order_of_the_draws_is_support_V_theta_theta_tilde() -> None:
    rng = Streams(4).trial(2)
    first = draw_instance(rng, 5, 3, law="gaussian")
    other = uniform_direction(rng, 3)
    found = draw_start(Streams(4).trial(2), 5, 3, law="gaussian", start="independent")
    assert found.support == first.support
    assert np.array_equal(found.V, first.V)
    assert np.array_equal(found.theta, first.theta)
    assert np.array_equal(found.theta_tilde, other)
    opposite = draw_start(Streams(4).trial(2), 5, 3, law="gaussian", start="antisymmetric")
    assert np.array_equal(opposite.theta_tilde, -first.theta)


@pytest.mark.parametrize("text", ["0.01", "0.1", "0.5", "1e-300", "0.3"])
def test_the_stopping_loss_is_the_largest_number_at_most_the_tolerance(text: str) -> None:
    tolerance = Fraction(text)
    found = stopping_loss(tolerance)
    assert Fraction(found) <= tolerance < Fraction(math.nextafter(found, 1))


@pytest.mark.parametrize("text", ["1e309", "1e400"])
def test_a_tolerance_beyond_binary64_is_one_that_every_loss_meets(capsys, text: str) -> None:
    request = ("--d", "4", "--m", "2", "--seeds", "1", "--attention", "linear", "--jobs", "1")
    found = document(capsys, *request, "--tolerance", text)
    assert found["tolerance"] == text
    assert [run["steps_to_tolerance"] for run in found["runs"]] == [0]


def test_the_grid_covers_what_linear_and_softmax_attention_want() -> None:
    sizes = first_step_sizes(256)
    assert sizes[0] == pytest.approx(1e-6)
    assert sizes[-2] < 1000 * 256**2 <= sizes[-1]
    ratios = [b / a for a, b in itertools.pairwise(sizes)]
    # Powers of ten in binary64 err by a unit or two.
    assert ratios == pytest.approx([10**0.5] * len(ratios), rel=1e-14)


@pytest.mark.parametrize(
    ("attention", "start", "d", "m"),
    [
        ("softmax", "antisymmetric", 24, 12),
        ("linear", "independent", 12, 24),
        ("erf", "independent", 16, 8),
    ],
)
def test_nothing_that_is_given_up_could_have_been_the_best(
    attention: str, start: str, d: int, m: int
) -> None:
    """All step sizes that were tried, in full, without giving up on any."""
    instance = drawn(d, m, start)
    objective = objective_of(instance, attention)
    steps, tolerance = 60, 0.01
    candidates = search_step_size(objective, instance, steps=steps, tolerance=tolerance)
    best = min(candidates, key=lambda each: each.rank)
    whole = []
    for each in candidates:
        end = descend(
            objective,
            instance.theta,
            instance.theta_tilde,
            eta=each.eta,
            steps=steps,
            tolerance=tolerance,
        )
        loss = math.inf if end.diverged else float(end.losses[-1])
        whole.append(Candidate(each.eta, end.steps, loss <= tolerance, loss))
    assert min(whole, key=lambda each: each.rank) == best
    assert [each.eta for each in candidates] == sorted({each.eta for each in candidates})
    first = set(first_step_sizes(d))
    finer = [each.eta for each in candidates if each.eta not in first]
    assert len(candidates) - len(finer) == len(first)
    # The refinement is around the best of the first step sizes, six to a decade.
    centre = min((each for each in whole if each.eta in first), key=lambda each: each.rank).eta
    expected = [centre * 10 ** (k / 6) for k in (-2, -1, 1, 2)]
    assert finer == pytest.approx(expected, rel=1e-14)


def test_the_rule_of_selection() -> None:
    def best(*candidates: Candidate) -> float:
        return min(candidates, key=lambda each: each.rank).eta

    slow, fast = Candidate(1, 9, True, 0.001), Candidate(2, 5, True, 0.009)
    assert best(slow, fast) == 2
    assert best(slow, Candidate(3, 1000, False, 0.02)) == 1
    assert best(Candidate(1, 1000, False, 0.5), Candidate(2, 1000, False, 0.4)) == 2
    assert best(fast, Candidate(4, 5, True, 0.001)) == 4
    assert best(fast, Candidate(1.5, 5, True, 0.009)) == 1.5
    assert best(Candidate(1, 3, False, math.inf), Candidate(2, 1000, False, 0.9)) == 2


def test_what_grows_a_thousandfold_is_given_up() -> None:
    instance = drawn(64, 128, "independent")
    candidates = search_step_size(
        objective_of(instance, "erf"), instance, steps=200, tolerance=0.01
    )
    largest = candidates[-1]
    assert largest.loss == math.inf
    assert largest.steps < 5
    assert not largest.reached


def test_the_best_descent_can_be_repeated_from_what_is_reported() -> None:
    found = compare_trial(
        Streams(4),
        1,
        "linear",
        d=12,
        m=24,
        start="independent",
        law="rademacher",
        steps=200,
        tolerance=0.01,
    )
    instance = draw_start(Streams(4).trial(1), 12, 24, law="rademacher", start="independent")
    assert found.support == instance.support
    end = descend(
        objective_of(instance, "linear"),
        instance.theta,
        instance.theta_tilde,
        eta=found.best.eta,
        steps=200,
        tolerance=0.01,
    )
    assert found.best.reached
    assert (end.steps, end.losses[-1]) == (found.best.steps, found.best.loss)
    heads = tuple(
        int(np.argmax(np.abs(instance.V @ query))) for query in (end.theta, end.theta_tilde)
    )
    assert found.heads == heads
    assert found.one_to_one == (set(heads) == set(instance.support))


def test_a_map_that_always_overflows_has_no_final_loss(monkeypatch) -> None:
    hopeless = [Candidate(1.0, 0, False, math.inf), Candidate(2.0, 3, False, math.inf)]
    monkeypatch.setattr(comparison, "search_step_size", lambda *_, **__: hopeless)
    request = {"d": 4, "m": 2, "start": "antisymmetric", "law": "sphere"}
    found = compare_trial(Streams(0), 0, "linear", **request, steps=3, tolerance=0.01)
    assert found.heads is None
    assert not found.one_to_one
    from verify.commands.compare import _described, _summary

    described = _described(found)
    assert described["final_loss"] is None
    assert described["heads"] == {"theta": None, "theta_tilde": None}
    assert described["reason"]
    summary = _summary("linear", [found])
    assert summary["final_loss"] == {"median": None, "max": None}
    json.dumps([described, summary], allow_nan=False)


def test_other_starts_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"^start=zero: must be one of antisymmetric"):
        read_start("start", "zero")


def document(capsys, *argv: str) -> dict:
    assert main(["compare", *argv, "--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


REQUEST = ("--d", "12", "--m", "24", "--start", "independent", "--steps", "40", "--seeds", "2")


def test_the_document_is_the_contract_and_does_not_depend_on_the_workers(capsys) -> None:
    found = document(capsys, *REQUEST, "--jobs", "2")
    assert found == document(capsys, *REQUEST, "--jobs", "1")
    assert found["search"]["rule"] == SEARCH
    runs = found["runs"]
    assert [(run["attention"], run["seed"]) for run in runs] == [
        (name, seed) for name in ("softmax", "linear", "erf") for seed in (0, 1)
    ]
    for run in runs:
        expected = compare_trial(
            Streams(0),
            run["seed"],
            run["attention"],
            d=12,
            m=24,
            start="independent",
            law="sphere",
            steps=40,
            tolerance=stopping_loss(Fraction("0.01")),
        )
        assert run["start"] == "independent"
        assert (run["eta"], run["final_loss"]) == (expected.best.eta, expected.best.loss)
        assert (run["heads"]["theta"], run["heads"]["theta_tilde"]) == expected.heads
        reached = expected.best.steps if expected.best.reached else None
        assert run["steps_to_tolerance"] == reached
    assert [each["attention"] for each in found["summary"]] == ["softmax", "linear", "erf"]
    softmax = found["summary"][0]
    steps = [run["steps_to_tolerance"] for run in runs[:2]]
    assert softmax["reached"] == sum(step is not None for step in steps) == 2
    assert softmax["steps_to_tolerance"] == {"median": sum(steps) / 2, "max": max(steps)}


def test_the_table_shows_the_runs(capsys) -> None:
    argv = [*REQUEST, "--attention", "linear", "--attention", "linear", "softmax", "--quiet"]
    assert main(["compare", *argv]) == 0
    out = capsys.readouterr().out
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith("  ")]
    expected = [["linear", "0"], ["linear", "1"], ["softmax", "0"], ["softmax", "1"]]
    assert rows == [["attention", "start"], *expected]
    assert "2 of 2 reach the tolerance" in out


PLUG_IN = """
import numpy as np
from numerics.attention_maps import pointwise
TANH = pointwise("tanh", "Tanh attention", np.tanh, lambda s: 1 / np.cosh(s) ** 2, odd=True)
"""


def test_a_map_and_a_law_of_ones_own_reach_the_workers(capsys, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("own_tanh.py").write_text(PLUG_IN)
    np.save("V.npy", np.random.default_rng(0).standard_normal((6, 8)) / 3)
    request = ("--d", "6", "--m", "8", "--steps", "30", "--seeds", "1", "--law", "file:V.npy")
    found = document(capsys, *request, "--attention", "own_tanh:TANH", "softmax")
    assert [run["attention"] for run in found["runs"]] == ["own_tanh:TANH", "softmax"]
    assert found["law"].startswith("file:V.npy#sha256=")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("--d 4 --m 3 --attention relu", "attention=relu: must be softmax, linear, erf or module"),
        ("--d 4 --m 3 --start zero", "start=zero: must be one of antisymmetric, independent"),
        ("--d 4 --m 3 --steps 0", "steps=0: must be in 1..1000000000"),
        ("--d 4 --m 3 --seeds 0", "seeds=0: must be in 1..1000000"),
        ("--d 4 --m 3 --tolerance 0", "tolerance=0: must be positive"),
        ("--d 4 --m 3 --law file:none.npy", "law=file:none.npy: unreadable file of embeddings"),
        ("--d 1e12 --m 1e6", "d=1e12: needs about"),
    ],
)
def test_a_bad_request_is_one_line(capsys, request_: str, message: str) -> None:
    assert main(["compare", *request_.split(), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_a_run_that_fails_is_told_and_the_others_are_kept(
    capsys, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    failing = PLUG_IN.replace("np.tanh,", "_value,").replace(
        "TANH =",
        "def _value(s):\n    if len(s) == 7:\n        raise RuntimeError('seven')\n"
        "    return np.tanh(s)\nTANH =",
    )
    Path("failing_tanh.py").write_text(failing)
    argv = "--d 7 --m 9 --steps 5 --seeds 1 --attention failing_tanh:TANH linear --json --quiet"
    assert main(["compare", *argv.split()]) == 3
    found = json.loads(capsys.readouterr().out)
    assert [run["attention"] for run in found["runs"]] == ["linear"]
    assert found["reason"].startswith("failing_tanh:TANH from start 0: RuntimeError: seven")
    assert found["summary"][0]["runs"] == 0


def test_an_interruption_keeps_what_is_finished(tmp_path: Path) -> None:
    argv = "compare --d 300 --m 60 --attention softmax linear --steps 100000 --seeds 2 --jobs 1"
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "verify", *argv.split(), "--json"],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            deadline = time.monotonic() + 60
            # Softmax attention is done after a step or two, linear attention never.
            while "softmax from start 1" not in log.read_text() and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    found = json.loads(out)
    assert process.returncode == 3
    assert found["reason"] == "interrupted"
    assert [run["attention"] for run in found["runs"]] == ["softmax", "softmax"]
