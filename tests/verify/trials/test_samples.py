import os
import signal
from functools import partial

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from verify.console.progress import Progress
from verify.instances.instance import draw_instance
from verify.running.monte_carlo import simulate
from verify.seeds import Streams
from verify.trials import samples as sample_trial
from verify.trials.one_step import OneStepTrial
from verify.trials.samples import choose_method, run_sample_trials, worker_bytes

QUIET = Progress(quiet=True)


def trials(method: str, count: int, *, d=20, m=10, n=2000, seed=3) -> list[OneStepTrial]:
    streams = Streams(seed)
    return run_sample_trials(streams, range(count), d, m, n, eta=1e6 * d**2, method=method)


@pytest.mark.parametrize("method", ["exact", "gaussian-surrogate"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_trials_do_not_depend_on_workers_or_chunks(method: str, jobs: int) -> None:
    run = partial(run_sample_trials, Streams(3), d=20, m=5, n=500, eta=4e5, method=method)
    assert simulate(run, 17, jobs=jobs, progress=QUIET).trials == run(range(17))
    assert run(range(17))[5:8] == run(range(5, 8))


def die_on(unlucky: int, run, chunk: range) -> list[OneStepTrial]:
    if unlucky in chunk:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(chunk)


def test_a_lost_worker_takes_only_its_own_trials() -> None:
    run = partial(run_sample_trials, Streams(3), d=8, m=4, n=50, eta=1e5, method="exact")
    found = simulate(partial(die_on, 5, run), 12, jobs=2, progress=QUIET)
    assert found.trials == [each for i in range(12) if i != 5 for each in run(range(i, i + 1))]
    assert found.reason is not None
    assert "trials 5..5: the worker process died" in found.reason


def test_the_instances_are_those_of_a_population_step() -> None:
    for i, trial in enumerate(trials("exact", 5)):
        assert trial.support == draw_instance(Streams(3).trial(i), 20, 10).support


@pytest.mark.parametrize(
    ("d", "n", "count", "method"),
    [
        (100, 10**8, 100, "exact"),
        (1000, 4 * 10**9, 1, "exact"),
        (1000, 4 * 10**9 + 1, 1, "gaussian-surrogate"),
        (1000, 10**12, 1, "gaussian-surrogate"),
        (2, 2 * 10**12, 1, "exact"),
        (2, 10**12, 3, "gaussian-surrogate"),
    ],
)
def test_samples_are_drawn_up_to_four_trillion_bits(
    d: int, n: int, count: int, method: str
) -> None:
    assert choose_method(d, n, count) == method
    for asked in sample_trial.METHODS:
        assert choose_method(10, 10, 10, asked=asked) == asked


def test_what_would_take_weeks_is_refused() -> None:
    assert choose_method(1000, 10**12, 1, asked="exact") == "exact"
    with pytest.raises(InvalidArgumentError, match=r"^method=exact: would draw 2e\+15 bits"):
        choose_method(1000, 10**12, 2, asked="exact")
    assert choose_method(1000, 10**18, 2, asked="gaussian-surrogate") == "gaussian-surrogate"


def test_memory_follows_the_method() -> None:
    assert worker_bytes(10, 4000, "gaussian-surrogate") > worker_bytes(10, 4000, "exact") + 2**31
    assert worker_bytes(10**6, 4, "exact") > worker_bytes(10**6, 4, "gaussian-surrogate") + 2**30


def test_both_methods_agree_where_both_run() -> None:
    # 300 samples of 20 signs find the support in 0.65 of the draws; 600 would in 0.8.
    count = 1500
    shares = {}
    for method in sample_trial.METHODS:
        found = trials(method, count, n=300, seed=11)
        shares[method] = np.array(
            [
                np.mean([each.both_in_support for each in found]),
                np.mean([not each.same_position for each in found]),
                np.mean([each.one_to_one for each in found]),
            ]
        )
    exact, surrogate = shares["exact"], shares["gaussian-surrogate"]
    assert 0.6 < exact[0] < 0.7
    # Three standard deviations of independent draws; these share V and theta.
    assert np.all(np.abs(exact - surrogate) <= 3 * np.sqrt(2 * 0.25 / count))


def test_many_samples_are_the_population() -> None:
    from verify.trials.one_step import run_trials

    population = run_trials(Streams(3), range(40), 20, 10, eta=1e6 * 20**2)
    found = trials("gaussian-surrogate", 40, n=10**17)
    assert [each.heads for each in found] == [each.heads for each in population]


def test_samples_go_downhill(monkeypatch) -> None:
    assert sum(each.both_in_support for each in trials("exact", 40, n=20_000)) > 30
    step = sample_trial.step_along
    monkeypatch.setattr(sample_trial, "step_along", lambda *at: step(*at[:-1], -at[-1]))
    assert sum(each.both_in_support for each in trials("exact", 40, n=20_000)) < 10
