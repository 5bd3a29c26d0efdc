"""Standard streams that are closed, full, or left by their reader, and terminals that go away."""

from __future__ import annotations

import os
import pty
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from campaigns.robustness.attack import OK, Attack, Found, failed
from campaigns.robustness.commands import CHEAP, COMMANDS, Command, surroundings
from campaigns.robustness.endings import difference, half_written, misbehaviour, strays
from campaigns.robustness.programs import Ending, end_of, members, run, seconds_of, start

__all__ = ["attacks"]

_OUT, _ERR, _IN, _TERMINAL = "standard output", "standard error", "standard input", "terminals"

# After a signal a process is gone in a second or two; on a busy machine it takes longer.
_GRACE = 60.0
_STILL_SECONDS = 1.0  # without using the processor: it waits


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks on the standard streams."""
    return [
        Attack(group, f"{command.name}: {name}", partial(attack, command))
        for (group, name), attack in _ATTACKS.items()
        for command in (COMMANDS if full else CHEAP)
        if full or command.name in _SMALL[group]
    ]


_SMALL = {
    _OUT: ("list", "instance", "derivations"),
    _ERR: ("a refusal", "theorem2"),
    _IN: ("theorem2",),
    _TERMINAL: ("theorem2",),
}


def _close_out(command: Command, folder: Path, _: int) -> Found:
    around = replace(surroundings(command, folder), before=partial(os.close, 1))
    return _without_output(command, folder, run(command.argv(), around))


def _fill_out(command: Command, folder: Path, _: int) -> Found:
    with Path("/dev/full").open("wb") as full:
        ending = run(command.argv(), replace(surroundings(command, folder), stdout=full))
    return _without_output(command, folder, ending)


def _leave_out(command: Command, folder: Path, _: int) -> Found:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        ending = run(command.argv(), replace(surroundings(command, folder), stdout=pipe))
    return _without_output(command, folder, ending)


def _leave_out_midway(command: Command, folder: Path, _: int) -> Found:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as pipe:
        process = start(command.argv(), replace(surroundings(command, folder), stdout=pipe))
    os.read(reader, 1)
    os.close(reader)
    ending = end_of(process)
    return _found(command, folder, ending, codes={command.code, 3})


def _never_read_out(command: Command, folder: Path, _: int) -> Found:
    reader, writer = _full_pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb") as pipe:
        process = start(command.argv(), replace(surroundings(command, folder), stdout=pipe))
        ending = _terminate_when_it_waits(process.pid, lambda: end_of(process, patience=_GRACE))
    return _found(command, folder, ending, codes={3, 2} if command.code == 2 else {3})


def _close_err(command: Command, folder: Path, _: int) -> Found:
    around = replace(surroundings(command, folder), before=partial(os.close, 2))
    return _all_the_same(command, run(command.argv(), around))


def _fill_err(command: Command, folder: Path, _: int) -> Found:
    with Path("/dev/full").open("wb") as full:
        ending = run(command.argv(), replace(surroundings(command, folder), stderr=full))
    return _all_the_same(command, ending)


def _leave_err(command: Command, folder: Path, _: int) -> Found:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        ending = run(command.argv(), replace(surroundings(command, folder), stderr=pipe))
    return _all_the_same(command, ending)


def _never_read_err(command: Command, folder: Path, _: int) -> Found:
    reader, writer = _full_pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb") as pipe:
        process = start(command.argv(), replace(surroundings(command, folder), stderr=pipe))
        ending = _terminate_when_it_waits(process.pid, lambda: end_of(process, patience=_GRACE))
    # What it could not say is lost, and so may be the exit code of a refusal.
    return _found(command, folder, ending, codes={command.code, 3})


def _close_in(command: Command, folder: Path, _: int) -> Found:
    around = replace(surroundings(command, folder), before=partial(os.close, 0))
    return _all_the_same(command, run(command.argv(), around))


def _close_all(command: Command, folder: Path, _: int) -> Found:
    around = replace(surroundings(command, folder), before=partial(os.closerange, 0, 3))
    return _without_output(command, folder, run(command.argv(), around), says=False)


def _on_a_terminal(
    command: Command, folder: Path, _: int, *, environment: dict[str, str], leaving: bool = False
) -> Found:
    """Run with standard error on a terminal, which may be hung up midway."""
    ours, theirs = pty.openpty()
    with ExitStack() as stack:
        terminal = stack.enter_context(os.fdopen(theirs, "wb", buffering=0))
        around = replace(
            surroundings(command, folder),
            stderr=terminal,
            environment={**os.environ, "TERM": "xterm", **environment},
        )
        process = start(command.argv(), around)
    shown: list[bytes] = []
    watcher = threading.Thread(target=_watch, args=(ours, shown, leaving), daemon=True)
    watcher.start()
    ending = end_of(process)
    watcher.join()
    text = b"".join(shown)
    ending = replace(ending, err=text.decode("utf-8", "backslashreplace"))
    if leaving:
        return _found(command, folder, ending, codes={command.code, 3})
    if text.rfind(b"\x1b[?25l") > text.rfind(b"\x1b[?25h"):
        return failed("it left the terminal without a cursor", command.argv())
    return _all_the_same(command, ending)


def _watch(terminal: int, shown: list[bytes], leaving: bool) -> None:
    with suppress(OSError):  # the other side has been closed
        while printed := os.read(terminal, 1 << 16):
            shown.append(printed)
            if leaving:
                break
    os.close(terminal)


_ATTACKS: dict[tuple[str, str], Callable[[Command, Path, int], Found]] = {
    (_OUT, "closed"): _close_out,
    (_OUT, "a full device"): _fill_out,
    (_OUT, "a reader who leaves at once"): _leave_out,
    (_OUT, "a reader who leaves midway"): _leave_out_midway,
    (_OUT, "a reader who does not read"): _never_read_out,
    (_ERR, "closed"): _close_err,
    (_ERR, "a full device"): _fill_err,
    (_ERR, "a reader who leaves at once"): _leave_err,
    (_ERR, "a reader who does not read"): _never_read_err,
    (_IN, "closed"): _close_in,
    (_IN, "closed, and all others too"): _close_all,
    (_TERMINAL, "one column"): partial(_on_a_terminal, environment={"COLUMNS": "1"}),
    (_TERMINAL, "very wide"): partial(_on_a_terminal, environment={"COLUMNS": "100000"}),
    (_TERMINAL, "no number of columns"): partial(_on_a_terminal, environment={"COLUMNS": "x"}),
    (_TERMINAL, "dumb"): partial(_on_a_terminal, environment={"TERM": "dumb"}),
    (_TERMINAL, "without colours"): partial(_on_a_terminal, environment={"NO_COLOR": "1"}),
    (_TERMINAL, "hung up midway"): partial(_on_a_terminal, environment={}, leaving=True),
}


def _without_output(command: Command, folder: Path, ending: Ending, *, says: bool = True) -> Found:
    """Judge a command that cannot print: it says so, and a refusal needs no output."""
    found = _found(command, folder, ending, codes={2 if command.code == 2 else 3})
    if found.ok and says and ending.code == 3 and len(ending.err.splitlines()) > 20:
        return failed("it has more to say than that it cannot print", command.argv())
    return found


def _all_the_same(command: Command, ending: Ending) -> Found:
    """Judge a command that can do all it should, and only has nobody to talk to."""
    if command.code == 2 and not ending.err:
        ending = replace(ending, err="error: ")
    problem = difference(command, ending)
    return failed(problem, command.argv()) if problem else OK


def _found(command: Command, folder: Path, ending: Ending, *, codes: set[int]) -> Found:
    if command.code == 2 and not ending.err:
        ending = replace(ending, err="error: ")
    problem = misbehaviour(command, ending, codes=codes)
    problem = problem or half_written(folder, {})
    if not problem and (left := strays(folder)):
        problem = f"it left {left[0].name}"
    return failed(problem, command.argv()) if problem else OK


def _full_pipe() -> tuple[int, int]:
    """Return both ends of a pipe that takes nothing more."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    return reader, writer


def _terminate_when_it_waits(leader: int, end: Callable[[], Ending]) -> Ending:
    """Let a process run until it stands still or is done; then SIGTERM has to end it."""
    spent, since = -1.0, time.monotonic()
    while time.monotonic() - since < _STILL_SECONDS and members(leader):
        now = sum(map(seconds_of, members(leader)))
        if now != spent:
            spent, since = now, time.monotonic()
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.kill(leader, signal.SIGTERM)
    return end()
