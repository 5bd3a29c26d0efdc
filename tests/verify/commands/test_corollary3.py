"""``corollary3`` by simulation: the contract, the choice of the method, and what it refuses."""

import json

import numpy as np
import pytest

from numerics.one_step import step_along
from numerics.samples.empirical import empirical_gradient
from verify.cli import main
from verify.instances.instance import draw_instance
from verify.running.monte_carlo import Simulation
from verify.trials import samples as sample_trial
from verify.trials.one_step import OneStepTrial

SIZES = ("--d", "16", "--m", "8", "--n", "3e2")


def run(capsys, *argv: object) -> tuple[int, str, str]:
    code = main(["corollary3", *map(str, argv)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def document(capsys, *argv: object, code: int = 0) -> dict:
    found, out, _ = run(capsys, *argv, "--json", "--quiet")
    assert found == code
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_document_has_the_keys_of_the_contract(capsys) -> None:
    found = document(capsys, *SIZES, "--trials", 30, "--seed", 4)
    assert (found["d"], found["m"], found["n"], found["trials"]) == (16, 8, 300, 30)
    assert found["method"] == "exact"
    assert found["eta"] == pytest.approx(1000 * 256)
    for name in ("both_in_support", "distinct_positions", "success"):
        share = found[name]
        assert share["point"] == pytest.approx(share["count"] / 30)
        assert share["lower"] <= share["point"] <= share["upper"]
        assert share["level"] == pytest.approx(0.95)
    assert found["success"]["count"] <= found["both_in_support"]["count"]
    assert found["success"]["count"] <= found["distinct_positions"]["count"]
    assert 0 <= found["sup_loss"]["median"] <= found["sup_loss"]["max"] <= 4
    assert "reason" not in found


def test_shares_count_what_they_say(capsys, monkeypatch) -> None:
    def trial(heads: tuple[int, int], upper: float) -> OneStepTrial:
        return OneStepTrial((2, 5), heads, (0.9, 0.9), 0.0, upper)

    made_up = [trial((2, 5), 0.001), trial((2, 5), 0.02), trial((5, 5), 3), trial((2, 7), 4)]
    made_up.append(trial((7, 7), 1))
    monkeypatch.setattr("verify.running.monte_carlo.simulate", lambda *_, **__: Simulation(made_up))
    found = document(capsys, *SIZES)
    counts = [found[name]["count"] for name in ("both_in_support", "distinct_positions", "success")]
    assert counts == [3, 3, 1]
    assert found["sup_loss"] == {"median": 1, "max": 4}
    assert document(capsys, *SIZES, "--tolerance", "0.03")["success"]["count"] == 2


def test_a_trial_draws_support_embeddings_start_and_samples_in_that_order(capsys) -> None:
    found = document(capsys, *SIZES, "--trials", 1, "--seed", 9, "--eta-scale", 0.5)
    rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(0,)))
    given = draw_instance(rng, 16, 8)
    at = (given.V, given.theta, given.theta_tilde)
    start = empirical_gradient(rng, *at, given.support, n=300)
    step = step_along(*at, start, 0.5 * 16**2)
    a, b = given.support
    # The largest loss over all 2^16 inputs.
    bits = np.arange(1 << 16)[:, np.newaxis] >> np.arange(16) & 1
    x = 2.0 * bits - 1
    losses = (x[:, a] * x[:, b] - (x @ step.gamma) * (x @ step.gamma_tilde)) ** 2
    assert 1.01 < losses.max() < 3.9  # a loss that shows which samples were drawn
    assert found["sup_loss"]["max"] == pytest.approx(losses.max(), rel=1e-12)
    assert found["distinct_positions"]["count"] == (step.heads[0] != step.heads[1])


@pytest.mark.parametrize("method", ["exact", "gaussian-surrogate"])
def test_results_do_not_depend_on_jobs(capsys, method: str) -> None:
    argv = (*SIZES, "--trials", 9, "--method", method)
    assert document(capsys, *argv, "--jobs", 1) == document(capsys, *argv, "--jobs", 3)


def test_samples_beyond_reach_get_a_surrogate(capsys) -> None:
    found = document(capsys, "--d", 16, "--m", 8, "--n", "1e18", "--trials", 20)
    assert found["method"] == "gaussian-surrogate"
    few = document(capsys, *SIZES, "--trials", 20, "--method", "gaussian-surrogate")
    assert few["method"] == "gaussian-surrogate"
    assert few["success"]["count"] < found["success"]["count"]


def test_the_table_names_the_method(capsys) -> None:
    code, out, _ = run(capsys, *SIZES, "--trials", 8, "--quiet")
    assert code == 0
    for words in ("n=300", "exact", "both_in_support", "distinct_positions", "success", "sup loss"):
        assert words in out


def test_what_a_lost_worker_ran_is_missing_and_said_to_be(capsys, monkeypatch) -> None:
    lost = Simulation([], "trials 0..3: the worker process died (exit code -9)")
    monkeypatch.setattr("verify.running.monte_carlo.simulate", lambda *_, **__: lost)
    found = document(capsys, *SIZES, "--trials", 4, code=3)
    assert found["trials"] == 0
    assert found["success"] is None
    assert found["sup_loss"] == {"median": None, "max": None}
    assert "died" in found["reason"]
    code, out, _ = run(capsys, *SIZES, "--trials", 4, "--quiet")
    assert code == 3
    assert "incomplete: trials 0..3" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "n=missing: give --n N, or --bound"),
        ("--n 0", "n=0: must be an integer >= 1"),
        ("--n 1.5", "n=1.5: must be an integer >= 1"),
        ("--n 1e19", "n=1e19: must be at most"),
        ("--n 5 --failure 0.1", "failure=0.1: only with --bound"),
        ("--n 5 --trials 0", "trials=0: must be in 1..1000000"),
        ("--n 5 --eta-scale 0", "eta_scale=0: must be positive"),
        ("--n 5 --eta-scale 1e400", "eta_scale=1e400: eta = C d^2 must be"),
        ("--n 5 --tolerance 0", "tolerance=0: must be positive"),
        ("--n 5 --method best", "method=best: must be one of auto, exact, gaussian-surrogate"),
        ("--n 1e15 --method exact", "method=exact: would draw 1e+18 bits"),
        ("--n 5 --seed -1", "seed=-1: must be an integer >= 0"),
        ("--n 5 --jobs 0", "jobs=0: must be in 1..1024"),
        ("--n 5 --d 1", "d=1: must be an integer >= 2"),
        ("--n 5 --d 1e12", "d=1e12: needs about"),
        ("--n 5 --d 1e18 --m 1e18", "d=1e18: needs about"),
        ("--n 1e18 --m 1e6", "m=1e6: needs about"),
        ("--n 5 --law gaussian", "arguments="),
    ],
)
def test_what_is_refused(capsys, options: str, message: str) -> None:
    code, out, err = run(capsys, "--d", "10", "--m", "5", *options.split(), "--json")
    assert code == 2
    assert out == ""
    assert err.splitlines()[-1].startswith(f"error: {message}")


def test_memory_grows_with_workers(capsys, monkeypatch) -> None:
    needed: list[int] = []
    monkeypatch.setattr(
        "verify.running.monte_carlo.simulate", lambda *_, **__: Simulation([], "nothing")
    )
    monkeypatch.setattr(
        "verify.running.memory.refuse_beyond_memory", lambda *at: needed.append(at[-1])
    )
    for jobs in (1, 3, 8):
        document(capsys, *SIZES, "--trials", 3, "--jobs", jobs, code=3)
    assert needed[1] == 3 * needed[0]
    assert needed[2] == needed[1]  # no more workers than trials
    assert needed[0] == sample_trial.worker_bytes(16, 8, "exact")
