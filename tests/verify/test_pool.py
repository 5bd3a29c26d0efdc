import os
import signal
import time

from threadpoolctl import threadpool_info

from verify.pool import Failure, run_calls


def square(n: int) -> int:
    return n * n


def fail_or_square(n: int) -> int:
    if n == 2:
        raise ValueError("two\nlines")
    return n * n


def die_or_square(n: int) -> int:
    if n == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return n * n


def blas_threads(_: int) -> set[int]:
    import numpy as np

    np.ones((2, 2)) @ np.ones(2)
    return {pool["num_threads"] for pool in threadpool_info()}


def results(function, count: int, jobs: int) -> dict[int, object]:
    return dict(run_calls(function, [(n,) for n in range(count)], jobs=jobs))


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    expected = {n: n * n for n in range(7)}
    assert results(square, 7, 1) == expected
    assert results(square, 7, 3) == expected


def test_no_calls_give_no_results() -> None:
    assert results(square, 0, 2) == {}


def test_a_call_that_raises_is_recorded_in_one_line() -> None:
    found = results(fail_or_square, 4, 2)
    assert found[2] == Failure("ValueError: two lines")
    assert [found[n] for n in (0, 1, 3)] == [0, 1, 9]


def test_a_killed_worker_takes_only_its_own_call_with_it() -> None:
    found = results(die_or_square, 6, 2)
    assert isinstance(found[1], Failure)
    assert "worker process died" in found[1].reason
    assert [found[n] for n in (0, 2, 3, 4, 5)] == [0, 4, 9, 16, 25]


def test_workers_use_one_thread_for_linear_algebra() -> None:
    assert results(blas_threads, 1, 1)[0] == {1}
