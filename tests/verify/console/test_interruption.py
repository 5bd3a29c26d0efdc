"""Ctrl-C and SIGTERM at chosen moments: what is finished is kept, and the document is printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from pkgutil import resolve_name

import pytest

from verify.claim import Evidence, Grade
from verify.cli import main
from verify.console.interruption import awaited, handled, hold, interruptible, is_remembered

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@BOTH
def test_without_hold_both_signals_are_raised_at_once(number: int) -> None:
    with handled(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@BOTH
def test_what_is_held_back_is_raised_where_the_work_begins(number: int) -> None:
    reached = []
    with handled():
        hold()
        signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt), interruptible():
            reached.append("the work")
        # It was raised once, and that is that.
        with interruptible():
            reached.append("other work")
    assert reached == ["other work"]


def test_what_arrives_during_the_work_is_raised_and_winding_up_is_left_alone() -> None:
    wound_up = []

    def work() -> None:
        with interruptible():
            try:
                with interruptible():
                    signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGTERM)
                wound_up.append(True)

    with handled():
        hold()
        with pytest.raises(KeyboardInterrupt):
            work()
    assert wound_up


def test_a_second_signal_is_raised_wherever_it_strikes() -> None:
    with handled():
        hold()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        # And the one after that is the first again.
        signal.raise_signal(signal.SIGINT)


def test_a_block_within_a_block_does_not_end_the_outer_one() -> None:
    def work() -> None:
        with interruptible():
            with interruptible():
                pass
            signal.raise_signal(signal.SIGINT)

    with handled():
        hold()
        with pytest.raises(KeyboardInterrupt):
            work()
        signal.raise_signal(signal.SIGINT)


def test_awaited_results_are_interrupted_between_one_another_and_nowhere_else() -> None:
    kept = []

    def work() -> None:
        for result in awaited(iter(range(5))):
            if result == 2:
                signal.raise_signal(signal.SIGINT)
            kept.append(result)

    with handled():
        hold()
        with pytest.raises(KeyboardInterrupt):
            work()
    assert kept == [0, 1, 2]
    assert list(awaited(iter("abc"))) == ["a", "b", "c"]


def test_the_handlers_from_before_are_there_again_and_nothing_is_held_any_more() -> None:
    def mine(*_: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with handled():
            hold()
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with interruptible():
            pass
        with handled(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_the_process_was_started_to_ignore_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with handled():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_the_signals_are_left_alone() -> None:
    seen = []

    def elsewhere() -> None:
        with handled():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


EXACT = Evidence(
    cell="any", subject="statement", method="none", grade=Grade.EXACT, computed="1", claimed="1"
)
SWEEP = """
[sweep]
name = "small"
kind = "theorem2"
trials = 4
[grid]
d = [8]
m = [4]
"""

COMMANDS = {
    "theorem2": "theorem2 --d 8 --m 4 --trials 4 --jobs 1",
    "corollary3": "corollary3 --d 8 --m 4 --n 10 --trials 4 --jobs 1",
    "compare": "compare --d 6 --m 6 --attention softmax --steps 3 --seeds 2 --jobs 1",
    "run": "run --profile quick --claim zero-start parameter-count --out OUT --jobs 1",
    "sweep": "sweep CONFIG --out OUT --jobs 1",
}
PARTS = {"theorem2": 4, "corollary3": 4, "compare": 2, "run": 4, "sweep": 4}
# Where a signal strikes: a function that the command calls there, and only there.
BEFORE = {
    "theorem2": "verify.running.memory.refuse_beyond_memory",
    "corollary3": "verify.running.memory.refuse_beyond_memory",
    "compare": "verify.running.memory.refuse_beyond_memory",
    "run": "verify.files.writing.prepare_folder",
    "sweep": "verify.sweep.config.read_config",
}
AFTER = {
    "theorem2": "verify.commands.monte_carlo._sup_loss",
    "corollary3": "verify.commands.monte_carlo._sup_loss",
    "compare": "verify.commands.compare._summary",
    "run": "verify.report.results.results_document",
    "sweep": "verify.sweep.summary.summarise",
}


@pytest.fixture
def command(in_this_process, tmp_path: Path, monkeypatch, capsys):
    """Run a command, with its trials, in this process; return its exit code and its document."""
    del in_this_process
    monkeypatch.setattr("verify.runner.check_cell", lambda *_: (EXACT, 0.0))
    config = tmp_path / "sweep.toml"
    config.write_text(SWEEP)

    def run(name: str) -> tuple[int, dict]:
        words = {"CONFIG": str(config), "OUT": str(tmp_path / "out")}
        argv = [words.get(word, word) for word in COMMANDS[name].split()]
        code = main([*argv, "--json", "--quiet"])
        return code, json.loads(capsys.readouterr().out)

    return run


def strike(monkeypatch, target: str, *, times: int = 1) -> list[str]:
    """Let a signal arrive when `target` is called, the first few times."""
    function = resolve_name(target)
    struck: list[str] = []

    def struck_function(*arguments: object, **options: object) -> object:
        if len(struck) < times:
            struck.append(target)
            signal.raise_signal(signal.SIGINT)
        return function(*arguments, **options)

    monkeypatch.setattr(target, struck_function)
    return struck


def finished(name: str, document: dict) -> int:
    """How many parts of the work the document holds."""
    if name == "run":
        pieces = [piece for claim in document["claims"] for piece in claim["evidence"]]
        return sum("reason" not in piece for piece in pieces)
    if name == "sweep":
        return document["cells"][0]["done"]
    return len(document["runs"]) if name == "compare" else document["trials"]


def is_interrupted(name: str, document: dict) -> bool:
    """Whether the document says that something is missing because it was interrupted."""
    if name == "run":
        pieces = [piece for claim in document["claims"] for piece in claim["evidence"]]
        return any("interrupted" in piece.get("reason", "") for piece in pieces)
    return document.get("reason", "").startswith("interrupted")


@pytest.mark.parametrize("name", COMMANDS)
def test_before_the_work_nothing_is_done_and_the_document_says_so(
    command, monkeypatch, name: str
) -> None:
    struck = strike(monkeypatch, BEFORE[name])
    code, document = command(name)
    assert struck
    assert code == 3
    assert is_interrupted(name, document)
    assert finished(name, document) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_after_the_work_nothing_is_missing_and_nobody_would_know(
    command, monkeypatch, name: str
) -> None:
    struck = strike(monkeypatch, AFTER[name])
    code, document = command(name)
    assert struck
    assert code == 0
    assert not is_interrupted(name, document)
    assert finished(name, document) == PARTS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_with_the_first_result_that_result_is_kept(command, monkeypatch, name: str) -> None:
    struck = strike(monkeypatch, "verify.console.progress.Progress.advance")
    code, document = command(name)
    assert struck
    assert code == 3
    assert is_interrupted(name, document)
    assert finished(name, document) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_with_the_last_result_nothing_is_missing(command, monkeypatch, name: str) -> None:
    from verify.console.progress import Progress

    advance, done = Progress.advance, []

    def last(self: Progress, what: str, *, count: int = 1) -> None:
        advance(self, what, count=count)
        done.append(self._done)
        if self._done == self._total:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "advance", last)
    code, document = command(name)
    assert done
    assert code == 0
    assert not is_interrupted(name, document)
    assert finished(name, document) == PARTS[name]


def test_one_that_strikes_the_printing_does_not_stop_it(monkeypatch, capsys) -> None:
    struck = strike(monkeypatch, "json.dumps")
    assert main(["list", "--json"]) == 0
    assert struck
    assert json.loads(capsys.readouterr().out)["claims"]


def test_an_export_that_was_stopped_is_missed(command, monkeypatch) -> None:
    monkeypatch.setitem(COMMANDS, "sweep", COMMANDS["sweep"] + " --export csv")
    struck = strike(monkeypatch, "verify.sweep.export.write_atomically")
    code, document = command("sweep")
    assert struck
    assert code == 3
    assert document["reason"] == "no export: interrupted"
    assert document["missing"] == 0


def test_a_command_without_parts_says_in_its_document_that_it_was_stopped(
    monkeypatch, capsys
) -> None:
    strike(monkeypatch, "verify.claims.find_claim")
    assert main(["show", "zero-start", "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out) == {"reason": "interrupted"}
    assert err == "interrupted\n"


def test_asked_twice_before_the_work_it_ends_at_once(monkeypatch, capsys) -> None:
    strike(monkeypatch, "verify.running.memory.refuse_beyond_memory")
    strike(monkeypatch, "verify.trials.one_step.step_size")
    assert main([*COMMANDS["theorem2"].split(), "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == {"reason": "interrupted"}


@BOTH
def test_a_real_run_keeps_its_finished_parts(tmp_path: Path, number: int) -> None:
    argv = "theorem2 --d 600 --m 60 --trials 800 --jobs 1 --json"
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "verify", *argv.split()],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            deadline = time.monotonic() + 60
            while "parts of the trials" not in log.read_text():
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(number)
            out, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    document = json.loads(out)
    assert process.returncode == 3
    assert document["reason"] == "interrupted"
    assert 0 < document["trials"] < 800


def test_waiting_for_a_locked_database_can_be_cut_short() -> None:
    from verify.sweep.store import StoreLockedError
    from verify.sweep.writer import Writer

    class Locked:
        struck = False

        def write(self, _: object) -> None:
            if not self.struck:
                self.struck = True
                signal.raise_signal(signal.SIGINT)
            raise StoreLockedError("it is locked")

    with handled():
        hold()
        # Rows that wait are no reason to wait for the lock here.
        writer = Writer(Locked(), say=lambda _: None, patience=0.5)
        writer.add("cell", [(0, None)])
        with pytest.raises(KeyboardInterrupt):
            writer.finish()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
def test_a_terminal_that_goes_away_is_an_interruption_too(number: int) -> None:
    with handled(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_what_was_remembered_before_a_block_is_remembered_in_it() -> None:
    with handled():
        hold()
        signal.raise_signal(signal.SIGTERM)
        with handled():
            assert is_remembered()
            with pytest.raises(KeyboardInterrupt), interruptible():
                pass
        assert not is_remembered()


def test_winding_up_is_left_alone_even_without_hold() -> None:
    with handled():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert is_remembered()


def test_while_libraries_are_loaded_nothing_is_raised() -> None:
    code = """
import os, signal
from verify.console.interruption import handled, interruptible, take_over
take_over()
for _ in range(3):
    os.kill(os.getpid(), signal.SIGINT)
with handled():
    try:
        with interruptible():
            print("not reached")
    except KeyboardInterrupt:
        print("raised")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "raised\n")


def test_an_interruption_that_comes_out_as_another_error_is_one(capsys, monkeypatch) -> None:
    from verify.commands import listing

    def broken(_) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("half loaded") from None

    monkeypatch.setattr(listing, "execute", broken)
    assert main(["list"]) == 3
    assert capsys.readouterr().err == "interrupted\n"
