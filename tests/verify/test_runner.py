import os
import signal
import threading

import pytest

from verify import runner
from verify.claim import Cell, Claim, Evidence, Grade
from verify.claims import CLAIMS
from verify.console.progress import Progress
from verify.runner import check_cell, run_claims
from verify.running.pool import Failure

CHEAP = ("zero-start", "near-orthogonality", "parameter-count")


def quick_run(jobs: int, seed: int = 7) -> runner.Run:
    claims = [CLAIMS[id_] for id_ in CHEAP]
    return run_claims(claims, profile="quick", seed=seed, jobs=jobs, progress=Progress(quiet=True))


def test_evidence_does_not_depend_on_the_number_of_workers() -> None:
    one, three = quick_run(1), quick_run(3)
    assert [each.claim.id for each in one.results] == list(CHEAP)
    assert [each.evidence for each in one.results] == [each.evidence for each in three.results]


def test_evidence_depends_on_the_seed() -> None:
    one, other = quick_run(2, seed=1), quick_run(2, seed=2)
    assert [each.evidence for each in one.results] != [each.evidence for each in other.results]


def made_up_claim(check) -> Claim:
    return Claim(
        id="made-up",
        title="t",
        statement="s",
        source="ours",
        cells=lambda _: (Cell(name="cell", check=check, cost=0),),
    )


def run_in_process(monkeypatch, claims, outcomes) -> runner.Run:
    """Run with a pool that hands back prepared outcomes."""
    monkeypatch.setattr(runner, "run_calls", lambda *_, **__: iter(outcomes()))
    return run_claims(claims, profile="quick", seed=0, jobs=1, progress=Progress(quiet=True))


def test_a_dead_worker_leaves_an_error_that_names_the_cell(monkeypatch) -> None:
    run = run_in_process(
        monkeypatch, [made_up_claim(None)], lambda: [(0, Failure("the worker process died"))]
    )
    (result,) = run.results
    assert result.verdict is Grade.ERROR
    assert result.evidence[0].cell == "cell"
    assert result.evidence[0].reason == "the worker process died"
    assert run.exit_code == 3


def test_an_interruption_keeps_what_is_finished(monkeypatch) -> None:
    finished = Evidence(
        cell="cell", subject="statement", method="m", grade=Grade.EXACT, computed="", claimed=""
    )

    def outcomes():
        yield 0, (finished, 1.5)
        raise KeyboardInterrupt

    two = [made_up_claim(None), CLAIMS["parameter-count"]]
    # The cells of parameter-count are the costlier, so the first of them is the call that ended.
    run = run_in_process(monkeypatch, two, outcomes)
    first, second = run.results
    assert first.verdict is Grade.UNDECIDED
    assert "interrupted" in first.evidence[0].reason
    assert second.evidence[0] == finished
    assert second.seconds == pytest.approx(1.5)
    assert run.exit_code == 3


def test_ctrl_c_ends_a_real_run_and_its_workers() -> None:
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    run = run_claims(
        [CLAIMS["theorem2-loss"]],
        profile="full",
        seed=0,
        jobs=2,
        progress=Progress(quiet=True),
    )
    timer.join()
    assert run.results[0].verdict is Grade.UNDECIDED
    assert run.exit_code == 3


def test_a_cell_is_found_again_by_name() -> None:
    evidence, seconds = check_cell("parameter-count", "d=1024, m=256", "quick", 0)
    assert evidence.grade is Grade.EXACT
    assert seconds > 0
