"""The small campaign on processes, and what judges it: what would be let slip otherwise."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from campaigns.robustness import attacks_of, survive
from campaigns.robustness.commands import COMMANDS, Command
from campaigns.robustness.endings import half_written, is_pythons_own, misbehaviour, strays
from campaigns.robustness.programs import Ending, Surroundings, end_of, members, start

ATTACKS = attacks_of("processes", full=False)
LISTING = next(command for command in COMMANDS if command.name == "list")
WELL = Ending(0, '{"claims": []}\n', "")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: f"{each.group}: {each.name}")
def test_it_is_withstood(attack) -> None:
    found = survive(attack, 0)
    assert found.ok, f"{found.problem}\n{found.command}"


def test_every_command_is_attacked_in_every_way() -> None:
    names = {(attack.group, attack.name) for attack in attacks_of("processes", full=True)}
    for command in COMMANDS:
        for group in ("standard output", "environment variables", "signals", "limits", "deaths"):
            assert any(where == group and name.startswith(command.name) for where, name in names)


def test_a_good_ending_is_good() -> None:
    assert misbehaviour(LISTING, WELL, codes={0}) == ""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"code": None}, "did not end"),
        ({"code": -15}, "exit code -15"),
        ({"code": 1}, "exit code 1"),
        ({"orphans": ("python worker",)}, "left processes"),
        ({"err": "Traceback (most recent call last):\n  x\nValueError: y\n"}, "foresee"),
        ({"err": "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\n"}, "foresee"),
        ({"err": "unexpected failure, please report it: ValueError: x\n"}, "foresee"),
        ({"out": '{"claims": '}, "no JSON"),
        ({"out": '{"claims": NaN}'}, "no JSON"),
    ],
)
def test_a_bad_ending_is_told(changes, problem: str) -> None:
    assert problem in misbehaviour(LISTING, replace(WELL, **changes), codes={0})


def test_a_refusal_is_a_line_and_nothing_on_standard_output() -> None:
    assert not misbehaviour(LISTING, Ending(2, "", "error: d=1: must be 2\n"), codes={2})
    assert misbehaviour(LISTING, Ending(2, "{}", "error: d=1: must be 2\n"), codes={2})
    assert misbehaviour(LISTING, Ending(2, "", "usage: xorverify\n"), codes={2})


def test_a_traceback_through_our_functions_is_not_pythons_own() -> None:
    ours = '  File "/x/verify/cli.py", line 9, in main\nKeyboardInterrupt\n'
    loading = '  File "/x/verify/__main__.py", line 3, in <module>\nKeyboardInterrupt\n'
    assert is_pythons_own(Ending(-2, "", loading))
    assert not is_pythons_own(Ending(-2, "", ours))
    assert not is_pythons_own(Ending(-2, "{", loading))


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("results.json", json.dumps({"a": [1, 2, 3]}) + "}\n"),
        ("results.json", '{"a": 1}'),
        ("report.html", "<html><p>"),
        ("figure.svg", "<svg><g>"),
        ("trials.csv", "a,b\n1,2\n3"),
        ("trials.csv", "a,b\n1,2\n3\n"),
        ("instance.npz", "PK\x03\x04"),
        ("results.sqlite", "SQLite format 3\0 and no more"),
        ("unknown.bin", ""),
    ],
)
def test_half_a_file_is_told_by_its_format(tmp_path, name: str, whole: str) -> None:
    (tmp_path / name).write_text(whole)
    assert name in half_written(tmp_path, {})


def test_whole_files_are_whole_and_others_are_what_they_may_be(tmp_path) -> None:
    (tmp_path / "results.json").write_text('{"a": 1}\n')
    (tmp_path / "trials.csv").write_text('a,b\n"1,5",2\n')
    connection = sqlite3.connect(tmp_path / "results.sqlite")
    connection.execute("CREATE TABLE trials (x)")
    connection.close()
    (tmp_path / ".trials.csv.0123abcd").write_text("a,")
    assert half_written(tmp_path, {}) == ""
    assert [path.name for path in strays(tmp_path)] == [".trials.csv.0123abcd"]
    assert half_written(tmp_path, {"results.json": (b'{"a": 1}\n', b"old")}) == ""
    assert half_written(tmp_path, {"results.json": (b"new", b"old")})


def test_a_process_that_stays_is_found_and_ended() -> None:
    forks = "import os, time\nif os.fork() == 0:\n    os.closerange(0, 3)\n    time.sleep(60)\n"
    process = subprocess.Popen([sys.executable, "-c", forks], start_new_session=True)
    ending = end_of(process)
    assert ending.code == 0
    assert len(ending.orphans) == 1
    time.sleep(0.1)
    assert members(process.pid) == []


def test_a_process_that_hangs_is_told_and_ended() -> None:
    code = "import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    assert end_of(process, patience=0.5).code is None


@pytest.mark.parametrize("is_stranger", [False, True])
def test_what_a_killed_campaign_has_started_is_killed(is_stranger: bool) -> None:
    code = f"""if True:
        import os, signal, time
        from pathlib import Path
        from campaigns.robustness.programs import Surroundings, is_prepared, members, start
        argv = "theorem2 --d 1e4 --m 1024 --trials 10000 --jobs 2 --json".split()
        process = start(argv, Surroundings(folder=Path("/"), is_stranger={is_stranger}))
        while not is_prepared(process.pid) or len(members(process.pid)) < 3:
            time.sleep(0.05)
        print(process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    limit = time.monotonic() + 10
    while (left := members(int(ended.stdout))) and time.monotonic() < limit:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_signals_are_as_in_a_shell_whoever_attacks(tmp_path) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = start(("list",), Surroundings(folder=tmp_path))
        blocked = f"/proc/{process.pid}/status"
        with open(blocked) as status:
            masks = dict(line.split(":") for line in status.read().splitlines() if ":" in line)
        assert int(masks["SigBlk"], 16) == 0
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        assert end_of(process).code == 0


def test_the_arguments_of_a_command_are_told_where_it_writes(tmp_path) -> None:
    command = Command("x", "instance --d 8 --out {out}", writes="i.npz")
    assert command.argv() == ["instance", "--d", "8", "--out", "i.npz"]
    assert command.argv(tmp_path / "a b.npz")[-1] == os.fspath(tmp_path / "a b.npz")
