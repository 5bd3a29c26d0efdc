import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from verify.running.pool import Failure, WorkersLostError, run_calls, stream_calls


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


def die_while_it_answers(n: int) -> bytes:
    if n == 1:
        kill_soon = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL))
        kill_soon.start()
    return bytes(1 << 26 if n == 1 else 1)


def unreadable(n: int) -> object:
    return threading.Lock() if n == 1 else n


def own_pid(_: int) -> int:
    return os.getpid()


def leave(n: int) -> None:
    if n == 1:
        raise SystemExit(7)


def end_at_once(_) -> None:
    sys.exit(3)


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


def test_a_worker_killed_while_it_answers_does_not_block_the_others() -> None:
    found = results(die_while_it_answers, 8, 2)
    assert set(found) == set(range(8))
    assert [found[n] for n in range(8) if n != 1] == [b"\0"] * 7


def test_a_result_that_cannot_travel_is_a_failure_of_its_call() -> None:
    found = results(unreadable, 3, 1)
    assert [found[0], found[2]] == [0, 2]
    assert isinstance(found[1], Failure)
    assert found[1].reason.startswith("TypeError: cannot pickle")
    assert not found[1].died


def test_a_worker_that_leaves_is_told_from_a_call_that_raises() -> None:
    found = results(leave, 3, 1)
    assert found[1] == Failure("the worker process died (exit code 7)", died=True)
    assert [found[0], found[2]] == [None, None]


def test_calls_are_asked_for_as_workers_come_free() -> None:
    asked, ahead = 0, []

    def take() -> int | None:
        nonlocal asked
        asked += 1
        return asked - 1 if asked <= 10 else None

    for done, (call, outcome) in enumerate(stream_calls(square, take, jobs=2)):
        assert outcome == call**2
        ahead.append(min(asked, 10) - done)
    assert len(ahead) == 10
    assert max(ahead) <= 2 + 1


def test_what_an_outcome_calls_for_is_taken_up() -> None:
    waiting = [3]
    found = []
    for call, outcome in stream_calls(square, lambda: waiting.pop() if waiting else None, jobs=2):
        found.append(outcome)
        if call > 0:
            waiting.append(call - 1)
    assert found == [9, 4, 1, 0]


def test_the_death_of_an_idle_worker_is_held_against_no_call() -> None:
    found = []
    calls = iter(range(4))
    for _, pid in stream_calls(own_pid, lambda: next(calls, None), jobs=1):
        found.append(pid)
        os.kill(pid, signal.SIGKILL)
    assert len(set(found)) == 4
    assert all(isinstance(pid, int) for pid in found)


def test_workers_that_cannot_begin_are_given_up(monkeypatch) -> None:
    monkeypatch.setattr("verify.running.pool._serve", end_at_once)
    with pytest.raises(WorkersLostError, match=r"died \(exit code 3\) before it began, 5 times"):
        results(square, 2, 1)


def test_workers_end_when_the_consumer_has_seen_enough() -> None:
    calls = iter(range(1, 100))
    stream = stream_calls(own_pid, lambda: next(calls, None), jobs=2)
    _, pid = next(stream)
    stream.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def die_amid_the_answer(n: int) -> bytes:
    if n % 2:
        io = Path(f"/proc/{os.getppid()}/io")
        enough = bytes_read(io) + (1 << 22)

        def kill() -> None:
            while bytes_read(io) < enough:
                time.sleep(0.0003)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
    return bytes(1 << 25 if n % 2 else 1)


def bytes_read(io: Path) -> int:
    return int(io.read_text().split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the kill needs Linux's counters")
def test_a_worker_killed_when_part_of_its_answer_has_come_takes_only_its_call() -> None:
    found = results(die_amid_the_answer, 4, 2)
    assert [found[0], found[2]] == [b"\0"] * 2
    assert all(isinstance(found[n], Failure) and found[n].died for n in (1, 3))


def test_workers_that_the_system_refuses_are_done_without(monkeypatch) -> None:
    from verify.running import pool

    started = []

    class Scarce(pool._Worker):
        def __init__(self) -> None:
            if started:
                raise OSError(24, "Too many open files")
            started.append(True)
            super().__init__()

    monkeypatch.setattr(pool, "_Worker", Scarce)
    assert dict(run_calls(square, [(n,) for n in range(5)], jobs=4)) == {n: n * n for n in range(5)}


def test_without_any_worker_it_is_said_why(monkeypatch) -> None:
    from verify.running import pool

    def refuse() -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(pool, "_Worker", refuse)
    with pytest.raises(WorkersLostError, match=r"can be started: .*temporarily unavailable"):
        list(run_calls(square, [(1,)], jobs=2))


def own_path(_: int) -> tuple[str, set[int]]:
    return os.environ.get("SHADOWED", ""), signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_worker_takes_no_module_from_the_working_folder(tmp_path, monkeypatch) -> None:
    for name in ("pickle", "signal", "socket", "struct"):
        (tmp_path / f"{name}.py").write_text("import os; os.environ['SHADOWED'] = __file__\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    ((_, found),) = run_calls(own_path, [(1,)], jobs=1)
    assert found[0] == ""
    assert "PYTHONSAFEPATH" not in os.environ


def own_folder(_: int) -> tuple[str, bool]:
    try:
        Path("written").touch()
    except FileNotFoundError:
        return os.getcwd(), False
    return os.getcwd(), True


def test_workers_are_where_their_parent_is_even_if_that_was_deleted(tmp_path, monkeypatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    assert [*run_calls(own_folder, [(1,)], jobs=1)] == [(0, (str(place), True))]
    (place / "written").unlink()
    place.rmdir()
    assert [*run_calls(own_folder, [(1,)], jobs=1)] == [(0, (".", False))]
    with pytest.raises(FileNotFoundError):
        os.getcwd()


def test_what_a_terminal_sends_to_all_is_for_the_parent() -> None:
    ((_, found),) = run_calls(own_path, [(1,)], jobs=1)
    assert {signal.SIGINT, signal.SIGHUP, signal.SIGQUIT} <= found[1]
    assert signal.SIGTERM not in found[1]
