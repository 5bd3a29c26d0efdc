import os
import signal
import subprocess
import sys

import pytest

from derivations import command
from derivations.catalogue import TITLES, names
from derivations.proof.ledger import Derivation, Step


def _run(*arguments, module="derivations", seed="0", stdout=subprocess.PIPE, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", module, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
        **options,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
    )


def _derivation(check):
    return Derivation(
        name="zero",
        title="Example",
        source="ours",
        setting="",
        steps=(Step(statement="1 = 1", reason="why", check=check),),
        formulas=(),
    )


def test_the_list(capsys):
    assert command.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [list(item) for item in TITLES.items()]


def test_a_derivation_prints_every_step(capsys):
    assert command.main(["zero"]) == 0
    shown = capsys.readouterr().out
    assert " 1. L = 1 - 1/d^2 - 2/d^3" in shown
    assert "[proved]" not in shown
    assert command.main(["zero", "--check"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("[proved]") == 2
    assert shown.count("[agrees]") == 2
    assert shown.endswith("4 steps: 2 proved, 2 agrees, 0 failed\n")


def test_latex_with_checks_keeps_the_results_in_comments(capsys):
    assert command.main(["zero", "--latex", "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "% proved" in lines
    assert lines[-1] == "% 4 steps: 2 proved, 2 agrees, 0 failed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["foo"], f"error: NAME=foo: must be one of {', '.join(names())}"),
        (["foo", "--check"], f"error: NAME=foo: must be one of {', '.join(names())}"),
        (["a\nb"], f"error: NAME='a\\nb': must be one of {', '.join(names())}"),
        (["zero", "--bogus"], "error: arguments=zero --bogus: unrecognized arguments: --bogus"),
        (["--che"], "error: arguments=--che: unrecognized arguments: --che"),
        (["zero", "one"], "error: arguments=zero one: unrecognized arguments: one"),
    ],
)
def test_bad_requests(arguments, message):
    done = _run(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode() == message + "\n"


def test_a_failed_check_is_exit_one(capsys, monkeypatch):
    def refuse():
        raise ValueError("not so")

    monkeypatch.setattr(command, "load", lambda _: _derivation(refuse))
    assert command.main(["zero", "--check"]) == 1
    assert "[failed: ValueError: not so]" in capsys.readouterr().out
    assert command.main(["zero"]) == 0


def test_a_derivation_that_cannot_be_written_down_is_exit_one(capsys, monkeypatch):
    def broken(name):
        raise ValueError(f"{name} is broken")

    monkeypatch.setattr(command, "load", broken)
    assert command.main(["--check"]) == 1
    assert "zero: failed: ValueError: zero is broken" in capsys.readouterr().out


def test_an_interrupt_is_exit_three(capsys, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "load", lambda _: _derivation(interrupt))
    assert command.main(["--check"]) == 3
    assert capsys.readouterr().err == "interrupted\n"


def test_modules_run_like_the_package():
    assert _run("--latex", module="derivations.zero").stdout == _run("zero", "--latex").stdout
    done = _run("--check", module="derivations.zero")
    assert (done.returncode, done.stderr) == (0, b"")


def test_bytes_do_not_depend_on_the_hash_seed():
    assert _run("--latex", seed="1").stdout == _run("--latex", seed="2").stdout
    assert _run("moments", seed="3").stdout == _run("moments", seed="4").stdout


def test_a_reader_that_stops_early_is_no_failed_check():
    process = subprocess.Popen(
        [sys.executable, "-m", "derivations", "moments", "--latex"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    _, errors = process.stderr, process.stderr.read()
    process.stderr.close()
    assert process.wait() == 3
    assert errors == b""


ARGUMENTS = pytest.mark.parametrize("arguments", [[], ["--help"], ["zero"], ["zero", "--check"]])


@ARGUMENTS
def test_a_full_disk_is_no_failed_check(arguments):
    with open("/dev/full", "wb") as full:
        done = _run(*arguments, stdout=full)
    assert done.returncode == 3
    assert done.stderr == b"standard output failed: No space left on device\n"


@ARGUMENTS
def test_a_closed_output_is_no_failed_check(arguments):
    done = _run(*arguments, preexec_fn=lambda: os.close(1))
    assert done.returncode == 3
    assert done.stderr == b"standard output is closed\n"


def test_a_bad_request_needs_no_output():
    assert _run("foo", preexec_fn=lambda: os.close(1)).returncode == 2


@pytest.mark.parametrize("missing", ["derivations.command", "sympy"])
def test_an_interrupt_while_loading_is_exit_three(missing):
    code = f"""
import runpy, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {missing!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("derivations.__main__", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run([sys.executable, "-c", code, "zero"], capture_output=True, check=False)
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
def test_whatever_interrupts_is_exit_three(number):
    code = f"""
import os, sys
from derivations import command
command.load = lambda name: os.kill(os.getpid(), {int(number)})
sys.argv = ["derivations", "zero"]
command.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"interrupted\n")


def test_a_message_for_nobody_comes_nowhere_else():
    done = _run("foo", preexec_fn=lambda: os.close(2))
    assert (done.returncode, done.stdout) == (2, b"")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "derivations", "foo"], stderr=full, check=False
        )
    assert done.returncode == 2


def test_out_of_memory_is_no_failed_check(capsys, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(command, "load", lambda _: _derivation(exhausted))
    assert command.main(["--check"]) == 3
    assert capsys.readouterr().err == "cannot go on: out of memory\n"
    monkeypatch.setattr(command, "load", exhausted)
    assert command.main(["zero"]) == 3


def test_an_interruption_amid_a_text_that_is_executed_is_exit_three(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from derivations import command\n"
        "command.load = lambda name: exec('raise KeyboardInterrupt')\n"
        "sys.argv = ['derivations', 'zero']\n"
        "command.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"interrupted\n")
