import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from numerics.arguments import InvalidArgumentError
from verify.cli import main
from verify.sweep import cluster
from verify.sweep.chunk import ExecutorLostError
from verify.sweep.cluster_workers import difference, environment

HERE = Path(__file__).parent
TROUBLE = str(HERE / "trouble.py")


@dataclass
class Cluster:
    """The process of `local_cluster.py`."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, request: str) -> dict:
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """Kill all of it."""
        family = [psutil.Process(self.process.pid)]
        family += family[0].children(recursive=True)
        for each in family:
            each.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def start_cluster():
    """Return a function that starts a cluster; all of them end with the module."""
    started = []

    def start(workers: int, threads: int, *preload: str, path: Path | None = None) -> Cluster:
        process = subprocess.Popen(
            [sys.executable, HERE / "local_cluster.py", str(workers), str(threads), *preload],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | ({} if path is None else {"PYTHONPATH": str(path)}),
        )
        started.append(Cluster(process, json.loads(process.stdout.readline())))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end()


@pytest.fixture(scope="module")
def threaded(start_cluster) -> Cluster:
    """Return a cluster of two workers with two threads each, which knows the kind `trouble`."""
    return start_cluster(2, 2, TROUBLE)


def wait_until(holds, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def local_rows(program) -> list[tuple]:
    """Return the rows of the same sweep on processes of this machine."""
    cluster_options, program.options = program.options, ("--jobs", "1")
    other = program.out.with_name("local")
    code, _, _ = program.finish(out=other)
    assert code == 0
    program.options = cluster_options
    return program.rows(other)


def test_a_worker_killed_midway_costs_no_row(program, threaded) -> None:
    sweep = program(
        "trials = 150\npause = 0.01", "d = [5, 7]", "--scheduler", threaded.address, "--quiet"
    )
    process = sweep.start()
    wait_until(lambda: sweep.count() >= 40)
    os.kill(threaded.ask("workers")["pids"][0], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert json.loads(out)["missing"] == 0
    assert err == ""
    assert sweep.rows() == local_rows(sweep)


@pytest.mark.parametrize(
    "text",
    [
        'kind = "theorem2"\ntrials = 30\n[grid]\nd = [64, 200]\nm = 32\n'
        'law = ["sphere", "gaussian"]',
        'kind = "corollary3"\ntrials = 16\n[grid]\nd = 64\nm = 32\nn = [300, 900]',
        'kind = "corollary3"\ntrials = 8\nmethod = "gaussian-surrogate"\n'
        "[grid]\nd = 64\nm = 32\nn = 1000",
    ],
    ids=["population", "samples", "surrogate"],
)
def test_threads_of_a_worker_find_the_rows_of_one_process(program, threaded, text) -> None:
    sweep = program("", "", "--scheduler", threaded.address)
    sweep.config.write_text(f'[sweep]\nname = "x"\n{text}\n')
    code, document, _ = sweep.finish()
    assert code == 0
    assert document["missing"] == 0
    assert sweep.rows() == local_rows(sweep)


def test_a_trial_that_kills_workers_is_the_only_one_blamed(program, start_cluster) -> None:
    shaken = start_cluster(2, 2, TROUBLE)
    shaken.ask("keep 2")
    sweep = program("trials = 6", 'd = 5\nmode = "deadly"', "--scheduler", shaken.address)
    code, document, _ = sweep.finish()
    assert code == 3
    assert document["missing"] == 0
    errors = {row[1]: row[-1] for row in sweep.rows() if row[-1] is not None}
    assert errors == {3: "the worker process died, and so did others that tried"}


def test_interrupted_it_takes_its_chunks_back(program, threaded) -> None:
    sweep = program("trials = 2000\npause = 0.02", "d = 5", "--scheduler", threaded.address)
    process = sweep.start()
    wait_until(lambda: sweep.count() >= 8)
    assert threaded.ask("tasks")["tasks"] > 0
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert json.loads(out)["reason"].startswith("interrupted")
    assert "Traceback" not in err
    wait_until(lambda: threaded.ask("tasks")["tasks"] == 0)


def test_a_scheduler_killed_midway_leaves_what_arrived_and_the_rest_runs_here(
    program, start_cluster
) -> None:
    lost = start_cluster(1, 2, TROUBLE)
    sweep = program("trials = 200\npause = 0.01", "d = 5", "--scheduler", lost.address)
    process = sweep.start()
    wait_until(lambda: sweep.count() >= 20)
    lost.end()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    reason = json.loads(out)["reason"]
    assert reason.startswith(f"scheduler={lost.address}: the connection was lost")
    assert "run the same command again" in reason
    assert "distributed" not in err
    arrived = sweep.rows()
    assert 20 <= len(arrived) < 200
    expected = local_rows(sweep)
    sweep.options = ("--jobs", "2")
    assert sweep.finish()[0] == 0
    assert sweep.rows() == expected
    assert set(arrived) <= set(expected)


def test_a_cluster_without_workers_is_waited_for(program, start_cluster) -> None:
    empty = start_cluster(0, 1, TROUBLE)
    sweep = program("trials = 4", "d = 5", "--scheduler", empty.address)
    process = sweep.start()
    patience = threading.Timer(60, process.kill)
    patience.start()
    line = process.stderr.readline()
    patience.cancel()
    assert line == f"scheduler={empty.address}: there are no workers; waiting for some to join\n"
    assert not sweep.out.exists()
    empty.ask("scale 1")
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert len(sweep.rows()) == 4


def test_a_worker_with_another_numpy_is_refused(program, start_cluster, tmp_path) -> None:
    pretended = tmp_path / "path" / "numpy-0.1.dist-info"
    pretended.mkdir(parents=True)
    (pretended / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")
    other = start_cluster(1, 1, path=pretended.parent)
    sweep = program("trials = 4", "d = 5", "--scheduler", other.address)
    code, document, err = sweep.finish()
    assert code == 2
    assert document == {}
    ours = environment()["numpy"]
    assert f"has numpy 0.1, this machine has numpy {ours}; install the same versions" in err
    assert err.count("\n") == 1
    assert not sweep.out.exists()


def test_a_worker_without_the_toolkit_is_refused(program, start_cluster, tmp_path) -> None:
    empty = tmp_path / "path" / "verify"
    empty.mkdir(parents=True)
    (empty / "__init__.py").write_text("")
    other = start_cluster(1, 1, path=empty.parent)
    code, _, err = program("trials = 4", "d = 5", "--scheduler", other.address).finish()
    assert code == 2
    assert f"has no xorverify {environment()['xorverify']} to import" in err


def test_the_address_of_a_worker_is_refused(threaded, monkeypatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 5.0)
    worker = threaded.ask("address")["addresses"][0]
    with pytest.raises(InvalidArgumentError, match="is a Worker of Dask; give the address of its"):
        connect(worker)


def connect(address: str) -> None:
    with cluster.connect(address, note=print):
        pass


@pytest.mark.parametrize(
    "address",
    [
        *("", "nonsense", "tcp://", "tcp://host", "host:port", "host:0", "host:65536", "a b:1"),
        *("http://host:1", "inproc://1/2/3", "/scheduler.json", "host:1/x", "host:1\n", "::1:1"),
    ],
)
def test_a_malformed_address_is_refused_at_once(tmp_path, capsys, address: str) -> None:
    config = tmp_path / "sweep.toml"
    config.write_text('[sweep]\nname = "x"\nkind = "theorem2"\n[grid]\nd = 4\nm = 4\n')
    out = tmp_path / "out"
    arguments = ["sweep", str(config), "--out", str(out), "--scheduler", address, "--json"]
    assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("error: scheduler=")
    assert "must read HOST:PORT or tcp://HOST:PORT" in found.err
    assert found.err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("address", ["host:1", "tcp://10.0.0.1:8786", "tls://[::1]:8786"])
def test_an_address_as_dask_prints_it_is_taken(monkeypatch, address: str) -> None:
    asked = []
    monkeypatch.setattr(cluster, "_refuse_unanswered", lambda given: asked.append(given) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        connect(address)
    assert asked == [address]


def test_an_address_where_nothing_answers_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InvalidArgumentError, match=r"no scheduler answers there within 0\.5 s"):
            connect(address)
        # What listens and says nothing takes no longer.
        free.listen()
        with pytest.raises(InvalidArgumentError, match=r"no scheduler answers there within 0\.5 s"):
            connect(address)


def test_without_dask_it_is_refused_by_the_name_of_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        InvalidArgumentError, match=r"needs distributed; pip install 'xorverify\[cl"
    ):
        connect("host:1")


def test_a_difference_names_both_sides() -> None:
    ours = environment()
    assert difference(ours, ours) is None
    for name in ("python", "xorverify", "numpy", "scipy", "numba"):
        theirs = {**ours, name: "0.1"}
        assert difference(theirs, ours) == f"has {name} 0.1, this machine has {name} {ours[name]}"
    assert difference({}, ours) == f"has python none, this machine has python {ours['python']}"


def test_a_worker_that_joins_later_is_looked_at_too() -> None:
    theirs = {**environment(), "numpy": "0.1"}
    answer = cluster._answer(None, theirs)
    assert answer == difference(environment(), theirs)

    class Done:
        def result(self, timeout: float) -> str:
            assert timeout > 0
            return answer

    with pytest.raises(ExecutorLostError, match="scheduler=host:1: a new worker has numpy "):
        cluster.Cluster(None, "host:1", print)._fetch(Done())


def test_other_sources_of_the_same_version_are_a_difference() -> None:
    ours = environment()
    found = difference({**ours, "sources": "0123"}, ours)
    assert found is not None
    assert found.startswith(f"has other sources of xorverify {ours['xorverify']} (0123)")
