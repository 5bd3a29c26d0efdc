import os
import signal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from verify.console.progress import Progress
from verify.decimals import parse_decimal
from verify.instances.instance import Instance
from verify.running.monte_carlo import simulate
from verify.seeds import Streams
from verify.trials.one_step import measure, run_trials, step_size

QUIET = Progress(quiet=True)


def die_on(unlucky: int, trials: range) -> list[int]:
    if unlucky in trials:
        os.kill(os.getpid(), signal.SIGKILL)
    return list(trials)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_trials_do_not_depend_on_workers_or_chunks(jobs: int) -> None:
    run = partial(run_trials, Streams(3), d=20, m=5, eta=4e5)
    assert simulate(run, 23, jobs=jobs, progress=QUIET).trials == run(range(23))


def test_a_prefix_of_a_longer_run_is_the_shorter_run() -> None:
    run = partial(run_trials, Streams(3), d=20, m=5, eta=1e5)
    assert run(range(10))[:4] == run(range(4))
    assert run(range(10))[6:] == run(range(6, 10))


def test_a_lost_worker_is_named_and_the_rest_kept() -> None:
    found = simulate(partial(die_on, 5), 12, jobs=2, progress=QUIET)
    assert sorted(found.trials) == [n for n in range(12) if n != 5]
    assert found.reason is not None
    assert "trials 5..5" in found.reason


def test_step_size_is_exact_until_it_is_rounded_once() -> None:
    assert step_size(parse_decimal("eta_scale", "0.1"), 10).hex() == (10.0).hex()
    assert step_size(3, 10).hex() == (300.0).hex()


@pytest.mark.parametrize("scale", ["1e400", "1e-400"])
def test_a_step_size_beyond_binary64_is_refused(scale: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^eta_scale={scale}: "):
        step_size(parse_decimal("eta_scale", scale), 4)


def test_a_trial_reads_the_step_it_took() -> None:
    # Orthonormal embeddings: head 1 leans to a by theta itself and wins it, head 2 wins b.
    instance = Instance(
        np.eye(4), np.array([0.8, 0.0, 0.6, 0.0]), -np.array([0.8, 0.0, 0.6, 0.0]), (0, 1)
    )
    trial = measure(instance, eta=16_000.0)
    assert trial.heads == (0, 1)
    assert trial.one_to_one
    assert not trial.same_position
    assert trial.succeeds(Fraction(1, 100))
    assert not trial.succeeds(Fraction(0))
    assert min(trial.attention) > 0.99


def test_success_is_decided_exactly_at_the_tolerance() -> None:
    instance = Instance(np.eye(3), np.zeros(3), np.zeros(3), (0, 1))
    trial = measure(instance, eta=1e-30)
    upper = Fraction(trial.upper)
    assert trial.succeeds(upper)
    assert not trial.succeeds(upper - Fraction(1, 10**40))
