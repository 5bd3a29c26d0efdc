"""The comparison of attention maps: its trial can be repeated, its command is the contract."""

from __future__ import annotations

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

from numerics.attention_maps import find_map
from numerics.step_size_search import SEARCH, Candidate
from numerics.training import descend, population_objective, stopping_loss
from verify.cli import main
from verify.instances.starts import draw_start
from verify.seeds import Streams
from verify.trials import comparison
from verify.trials.comparison import compare_trial


def drawn(d: int, m: int, start: str, trial: int = 0):
    return draw_start(Streams(4).trial(trial), d, m, law="sphere", start=start)


def objective_of(instance, attention: str):
    return population_objective(instance.V, instance.support, attention=find_map(attention))


@pytest.mark.parametrize("text", ["1e309", "1e400"])
def test_a_tolerance_beyond_binary64_is_one_that_every_loss_meets(capsys, text: str) -> None:
    request = ("--d", "4", "--m", "2", "--seeds", "1", "--attention", "linear", "--jobs", "1")
    found = document(capsys, *request, "--tolerance", text)
    assert found["tolerance"] == text
    assert [run["steps_to_tolerance"] for run in found["runs"]] == [0]


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
