"""What may happen to a sweep while it runs: nothing finished is lost, nothing is doubled."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import psutil
import pytest


def wait_until(holds, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this takes too long"
        time.sleep(0.01)


def kill_many_times(program, kills: int, *, seed: int) -> None:
    """Start and kill the parent process, at moments that cover the whole sweep and its start."""
    rng = np.random.default_rng(seed)
    total = 600
    for k in range(kills):
        process = program.start()
        if k % 2 == 0:
            time.sleep(rng.uniform(0, 0.5))
        else:
            wait_until(lambda k=k: program.count() >= 0.8 * total * k / kills)
            time.sleep(rng.uniform(0, 0.05))
        assert process.poll() is None, "it was done before it was killed"
        process.kill()
        process.communicate()


def test_killed_twenty_times_a_sweep_ends_with_the_rows_of_an_undisturbed_one(
    program, tmp_path
) -> None:
    sweep = program("trials = 300\nseed = 3\npause = 0.02", "d = [5, 7]")
    kill_many_times(sweep, 20, seed=1)
    before = sweep.count()
    assert 0 < before < 600
    assert sweep.finish()[0] == 0
    undisturbed = program("trials = 300\nseed = 3\npause = 0.0001", "d = [5, 7]")
    assert undisturbed.finish(out=tmp_path / "undisturbed")[0] == 0
    assert sweep.rows() == undisturbed.rows(tmp_path / "undisturbed")
    assert len(sweep.rows()) == 600


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_killed_at_other_moments_a_sweep_ends_with_the_same_rows(
    program, tmp_path, seed: int
) -> None:
    sweep = program(f"trials = 300\nseed = {seed}\npause = 0.02", "d = [5, 7]")
    kill_many_times(sweep, 20, seed=seed)
    assert sweep.finish()[0] == 0
    undisturbed = program(f"trials = 300\nseed = {seed}\npause = 0.0001", "d = [5, 7]")
    assert undisturbed.finish(out=tmp_path / "undisturbed")[0] == 0
    assert sweep.rows() == undisturbed.rows(tmp_path / "undisturbed")


@pytest.mark.long
def test_a_million_rows_need_no_more_memory_than_a_few(program) -> None:
    sweep = program("trials = 500000\npause = 1e-9", "d = [5, 7]")
    process = psutil.Process(sweep.start().pid)
    wait_until(lambda: sweep.count() > 1000)
    few = process.memory_info().rss
    most = few
    while sweep.processes[-1].poll() is None:
        with suppress(psutil.Error):
            # A process that has ended, and is not yet waited for, has no memory.
            most = max(most, process.memory_info().rss)
        time.sleep(0.1)
    assert most < few + (64 << 20)
    assert sweep.count() == 10**6
    # What is done is looked through again without holding it.
    assert sweep.finish()[0] == 0


def test_workers_end_when_their_parent_is_killed(program, workers_of) -> None:
    # The workers must not finish what they are at, which would take longer than the test may.
    sweep = program("trials = 10", 'd = 5\nmode = "endless"')
    process = sweep.start()
    wait_until(lambda: sweep.count() >= 2)
    time.sleep(0.5)
    workers = workers_of(process.pid)
    assert workers
    process.kill()
    process.communicate()
    wait_until(lambda: not any(worker.is_running() for worker in workers), 10)


def test_a_killed_worker_costs_no_row(program, workers_of) -> None:
    sweep = program("trials = 400\npause = 0.005", "d = 5")
    process = sweep.start()
    for least in (20, 101, 200):
        wait_until(lambda least=least: sweep.count() >= least)
        wait_until(lambda: len(workers_of(process.pid)) == 2)
        os.kill(workers_of(process.pid)[least % 2].pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert '"errors": 0' in out
    assert [row[1] for row in sweep.rows()] == list(range(400))


def test_a_trial_that_kills_its_worker_is_found_and_recorded(program) -> None:
    sweep = program("trials = 60", 'd = 5\nmode = ["calm", "deadly"]')
    code, document, _ = sweep.finish()
    assert code == 3
    assert [cell["errors"] for cell in document["cells"]] == [0, 1]
    assert document["cells"][1]["cell"] == "d=5,mode=deadly"
    errors = {row[1]: row[-1] for row in sweep.rows() if row[-1] is not None}
    assert errors == {3: "the worker process died (exit code -9), 3 times on this trial"}
    assert len(sweep.rows()) == 120


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        ("raising", "ValueError: two lines"),
        ("nan", "ValueError: uniform=nan: must be finite"),
        ("incomplete", "KeyError: 'uniform'"),
    ],
)
def test_a_trial_that_fails_is_recorded_and_run_again_by_the_next_run(
    program, mode: str, error: str
) -> None:
    sweep = program("trials = 8", f'd = 5\nmode = ["{mode}", "calm"]')
    first = sweep.finish()
    assert first[0] == 3
    assert first[1]["errors"] == 1
    assert first[1]["reason"].startswith("1 trial failed; run the same command again")
    assert first[1]["cells"][0]["error"] == error
    assert first[1]["cells"][0]["success"]["count"] == 4
    rows = sweep.rows()
    assert [(row[0], row[1], row[-1]) for row in rows if row[-1]] == [
        (f"d=5,mode={mode}", 3, error)
    ]
    assert sweep.finish()[:2] == first[:2]
    assert sweep.rows() == rows


def test_a_cell_beyond_this_machine_stops_no_other(program) -> None:
    sweep = program("trials = 5", 'd = 5\nmode = ["doomed", "calm"]')
    code, document, _ = sweep.finish()
    assert code == 3
    doomed, calm = document["cells"]
    assert (doomed["done"], doomed["errors"], calm["done"]) == (0, 5, 5)
    assert doomed["error"].startswith("cell=d=5,mode=doomed: needs about 9.31e+06 GiB of memory")
    assert doomed["success"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_keeps_its_rows_and_says_how_to_go_on(
    program, workers_of, number: int
) -> None:
    sweep = program("trials = 600\npause = 0.004", "d = 5")
    process = sweep.start(start_new_session=True)
    wait_until(lambda: sweep.count() > 50)
    workers = workers_of(process.pid)
    # As a terminal does: to the whole group.
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "Traceback" not in err
    assert '"reason": "interrupted; run the same command again to go on from here"' in out
    assert '"errors": 0' in out
    assert not any(worker.is_running() for worker in workers)
    kept = sweep.rows()
    assert 50 < len(kept) < 600
    assert sweep.finish()[0] == 0
    assert len(sweep.rows()) == 600
    assert set(kept) <= set(sweep.rows())


def test_a_second_run_in_the_folder_is_refused(program) -> None:
    sweep = program("trials = 2000\npause = 0.01", "d = 5")
    process = sweep.start()
    wait_until(lambda: sweep.count() > 0)
    code, document, err = sweep.finish()
    assert (code, document) == (2, {})
    assert err == (
        f"error: out={sweep.out}: another sweep is running in this folder; wait for it, or choose "
        "another\n"
    )
    assert process.poll() is None
    process.kill()
    process.communicate()
    # The system let go of the lock.
    assert sweep.start().poll() is None
    wait_until(lambda: sweep.count() > 0)


def test_rows_wait_while_another_program_has_the_database_locked(program) -> None:
    sweep = program("trials = 300\npause = 0.005", "d = 5")
    process = sweep.start()
    wait_until(lambda: sweep.count() > 10)
    other = sqlite3.connect(sweep.out / "results.sqlite", isolation_level=None)
    wait_until(lambda: began(other))
    kept = sweep.count()
    time.sleep(1.5)
    assert sweep.count() == kept
    other.execute("ROLLBACK")
    other.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err.count("is locked by another program: rows wait in memory until it is free") == 1
    assert err.count("the database is free again: all rows are written") == 1
    assert len(sweep.rows()) == 300


def test_rows_of_a_sweep_that_is_done_wait_for_the_lock(program, workers_of) -> None:
    sweep = program("trials = 200\npause = 0.005", "d = 5")
    process = sweep.start()
    wait_until(lambda: sweep.count() > 10)
    other = sqlite3.connect(sweep.out / "results.sqlite", isolation_level=None)
    wait_until(lambda: began(other))
    wait_until(lambda: not workers_of(process.pid))
    assert process.poll() is None
    other.execute("ROLLBACK")
    other.close()
    assert process.wait(60) == 0
    assert len(sweep.rows()) == 200


def began(connection: sqlite3.Connection) -> bool:
    with suppress(sqlite3.OperationalError):
        connection.execute("BEGIN IMMEDIATE")
    return connection.in_transaction


def test_a_full_disk_is_survived(program, tmp_path) -> None:
    sweep = program("trials = 4000\npause = 0.00001", "d = [5, 6, 7]", "--jobs", "1")
    with small_disk(sweep.out, 300) as limits:
        code, document, err = sweep.finish(**limits)
        assert code == 3
        assert str(sweep.out / "results.sqlite") in document["reason"]
        assert "the disk is full" in document["reason"]
        assert "Traceback" not in err
        kept = sweep.rows()
        assert 0 < len(kept) < 12000
        shutil.copytree(sweep.out, tmp_path / "larger")
    assert sweep.finish(out=tmp_path / "larger")[0] == 0
    rows = sweep.rows(tmp_path / "larger")
    assert len(rows) == 12000
    assert set(kept) <= set(rows)


def test_a_disk_that_is_full_from_the_start_is_survived(program) -> None:
    sweep = program("trials = 10", "d = 5")
    with small_disk(sweep.out, 200) as limits:
        filler = sweep.out / "filler"
        if limits:
            limits = {"preexec_fn": lambda: limit_files(0)}
        else:
            with suppress(OSError), filler.open("wb") as stream:
                while True:
                    stream.write(bytes(4096))
                    stream.flush()
        code, document, err = sweep.finish(**limits)
        assert code == 3
        assert "the disk is full" in document["reason"]
        assert document["missing"] is None
        assert "Traceback" not in err
        filler.unlink(missing_ok=True)
        assert sweep.finish()[0] == 0
        assert len(sweep.rows()) == 10


def test_a_folder_that_is_taken_away_ends_the_run(program) -> None:
    sweep = program("trials = 1000\npause = 0.01", "d = 5")
    process = sweep.start()
    wait_until(lambda: sweep.count() > 10)
    elsewhere = sweep.out.rename(sweep.out.with_name("elsewhere"))
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"{sweep.out / 'results.sqlite'} was moved or deleted during the run" in out
    assert 10 < len(sweep.rows(elsewhere)) < 1000
    assert not sweep.out.exists()


@contextmanager
def small_disk(folder: Path, kibibytes: int):
    """Yield options for a process whose folder has little space, or that may write little."""
    folder.mkdir()
    mount = f"mount -t tmpfs -o size={kibibytes}k tmpfs {folder}"
    if subprocess.run(mount, shell=True, capture_output=True, check=False).returncode == 0:
        try:
            yield {}
        finally:
            subprocess.run(f"umount --lazy {folder}", shell=True, check=True)
    else:
        yield {"preexec_fn": lambda: limit_files(kibibytes << 10)}


def limit_files(size: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
