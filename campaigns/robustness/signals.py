"""Signals at random moments of a command's life, to it alone and to all of its processes.

A command is interrupted by SIGINT, SIGTERM, SIGHUP and SIGQUIT: it keeps what is finished and ends
with code 3, or is through and ends as ever. What a file is to hold when it is written anew stands
there whole, or what stood there before does. Only SIGKILL may leave a file that is half written,
under a name that shows what it is.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found, failed
from campaigns.robustness.commands import (
    CHEAP,
    COMMANDS,
    Command,
    surroundings,
    undisturbed,
    written,
)
from campaigns.robustness.endings import (
    difference,
    half_written,
    is_pythons_own,
    misbehaviour,
    strays,
)
from campaigns.robustness.programs import Ending, end_of, is_prepared, members, seconds_of, start

__all__ = ["attacks"]

_SIGNALS, _PAUSES, _DEATHS = "signals", "pauses", "deaths"

_INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_AFTERWARDS = 1.1  # of a life, so that some signals come when all is over
_TWICE_SECONDS = 0.05  # between two signals of somebody impatient, at most
_REACTION = 60.0  # seconds, on a busy machine
_PAUSE_SECONDS = 0.5
_LONGEST_START = 300.0  # seconds, on a busy machine
_BEGINNING_SECONDS = 2.0  # of a processor, in which workers begin

_LONG = Command("theorem2", "theorem2 --d 1e4 --m 1024 --trials 10000 --jobs 2 --json")

# Files whose bytes are the same every time; the others are checked for being complete.
_REPRODUCIBLE = (".npz", ".tex", ".csv", ".svg")


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks by signals."""
    commands = COMMANDS if full else [each for each in CHEAP if each.name in _SMALL]
    made: list[Attack] = []
    for command in commands:
        made += [
            Attack(_SIGNALS, f"{command.name}: {i}", partial(_interrupt, command))
            for i in range(16 if full else 3)
        ]
        made.append(Attack(_SIGNALS, f"{command.name}: SIGPIPE", partial(_ignore, command)))
        made.append(Attack(_PAUSES, f"{command.name}", partial(_pause, command)))
        made += [
            Attack(_DEATHS, f"{command.name}: {i}", partial(_kill, command))
            for i in range(4 if full else 1)
        ]
        if command.name == "theorem2":
            made.append(Attack(_DEATHS, "theorem2: with workers in long calls", _kill_at_work))
        if "--jobs" in command.line:
            made += [
                Attack(_DEATHS, f"{command.name}: a worker, {i}", partial(_kill_worker, command))
                for i in range(3 if full else 1)
            ]
    return made if full else [each for each in made if not _is_dear(each)]


_SMALL = ("instance", "certify", "theorem2", "sweep", "derivations")


def _is_dear(attack: Attack) -> bool:
    """Whether the small campaign leaves an attack to the full one."""
    is_pause = attack.group == _PAUSES and attack.name != "theorem2"
    return is_pause or attack.name.endswith("SIGPIPE")


def _interrupt(command: Command, folder: Path, seed: int) -> Found:
    """Send one of four signals, or one of them twice, to the process or to all of its group."""
    rng = np.random.default_rng(seed)
    number = _INTERRUPTIONS[int(rng.integers(len(_INTERRUPTIONS)))]
    to_all, twice = bool(rng.integers(2)), bool(rng.integers(3) == 0)
    moment, pause = float(rng.uniform(0, _AFTERWARDS)), float(rng.uniform(0, _TWICE_SECONDS))
    old = _put_old_file(command, folder) if rng.integers(2) else {}
    send = os.killpg if to_all else os.kill
    process = start(command.argv(), surroundings(command, folder))
    time.sleep(moment * _life(command))
    was_prepared = is_prepared(process.pid)
    with suppress(ProcessLookupError):
        send(process.pid, number)
        if twice:
            time.sleep(pause)
            send(process.pid, number)
    ending = end_of(process, patience=_REACTION)
    problem = _wrong(command, ending, number, was_prepared=was_prepared)
    problem = problem or half_written(folder, _allowed(command, old))
    if not problem and (left := strays(folder)):
        problem = f"it left {left[0].name}"
    if not problem:
        return OK
    what = f"{number.name}{' twice' if twice else ''} to {'all' if to_all else 'it'}"
    return failed(f"{what} after {moment:.3f} of its life: {problem}", command.argv())


def _wrong(command: Command, ending: Ending, number: signal.Signals, *, was_prepared: bool) -> str:
    # Python has just been started: it dies of the signal, or says where it was.
    allowed = (-number, 1, 130, 3, command.code)
    if not was_prepared and is_pythons_own(ending) and ending.code in allowed:
        return f"it left processes behind: {ending.orphans}" if ending.orphans else ""
    return misbehaviour(command, ending, codes={command.code, 3})


def _ignore(command: Command, folder: Path, seed: int) -> Found:
    process = start(command.argv(), surroundings(command, folder))
    for moment in np.random.default_rng(seed).uniform(0, 0.5, 3):
        time.sleep(float(moment) * _life(command))
        if is_prepared(process.pid):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGPIPE)
    problem = difference(command, end_of(process)) or half_written(folder, {})
    return failed(f"SIGPIPE: {problem}", command.argv()) if problem else OK


def _pause(command: Command, folder: Path, seed: int) -> Found:
    """Stop all processes for a moment, and let them go on."""
    process = start(command.argv(), surroundings(command, folder))
    for moment in np.random.default_rng(seed).uniform(0, 0.5, 2):
        time.sleep(float(moment) * _life(command))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(_PAUSE_SECONDS)
            os.killpg(process.pid, signal.SIGCONT)
    problem = difference(command, end_of(process)) or half_written(folder, {})
    return failed(f"stopped and continued: {problem}", command.argv()) if problem else OK


def _kill(command: Command, folder: Path, seed: int) -> Found:
    """Kill the process: its workers follow, and every file is whole or shows that it is not."""
    rng = np.random.default_rng(seed)
    old = _put_old_file(command, folder)
    process = start(command.argv(), surroundings(command, folder))
    time.sleep(float(rng.uniform(0, 1)) * _life(command))
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    ending = end_of(process)
    problem = ""
    if ending.orphans:
        problem = f"processes survive it: {'; '.join(ending.orphans)}"
    problem = problem or half_written(folder, _allowed(command, old))
    return failed(f"SIGKILL: {problem}", command.argv()) if problem else OK


def _kill_at_work(folder: Path, _: int) -> Found:
    """Kill a process whose workers are at calls that take them half a minute and more."""
    process = start(_LONG.argv(), surroundings(_LONG, folder))
    limit = time.monotonic() + _LONGEST_START
    has_begun = False
    # Two workers are past their beginning when they have worked for longer than that takes.
    while not has_begun and time.monotonic() < limit:
        time.sleep(0.05)
        busy = [pid for pid in members(process.pid) if seconds_of(pid) > _BEGINNING_SECONDS]
        has_begun = len(set(busy) - {process.pid}) >= 2
    os.kill(process.pid, signal.SIGKILL)
    ending = end_of(process)
    if not has_begun:
        return failed("its workers have not begun in minutes", _LONG.argv())
    if ending.orphans:
        return failed(f"SIGKILL: processes survive it: {'; '.join(ending.orphans)}", _LONG.argv())
    return OK


def _kill_worker(command: Command, folder: Path, seed: int) -> Found:
    """Kill one of the processes that a command has started, whichever it is."""
    rng = np.random.default_rng(seed)
    process = start(command.argv(), surroundings(command, folder))
    limit = time.monotonic() + _life(command)
    while time.monotonic() < limit and len(members(process.pid)) < 3:
        time.sleep(0.01)
    time.sleep(float(rng.uniform(0, 0.5)) * _life(command))
    started = [pid for pid in members(process.pid) if pid != process.pid]
    if started:
        with suppress(ProcessLookupError):
            os.kill(int(rng.choice(started)), signal.SIGKILL)
    ending = end_of(process)
    problem = misbehaviour(command, ending, codes={command.code, 3})
    problem = problem or half_written(folder, {})
    return failed(f"a worker is killed: {problem}", command.argv()) if problem else OK


def _put_old_file(command: Command, folder: Path) -> dict[str, bytes]:
    """Write an old file where a new one is to come, if the command writes one file."""
    if not command.writes_file:
        return {}
    old = {command.writes: b"old"}
    (folder / command.writes).write_bytes(old[command.writes])
    return old


def _allowed(command: Command, old: dict[str, bytes]) -> dict[str, tuple[bytes, ...]]:
    """Return what the files may hold whose bytes are known."""
    if not command.writes:
        return {}
    new = {
        Path(name).name: found
        for name, found in written(command).items()
        if name.endswith(_REPRODUCIBLE) or command.writes_file
    }
    return {name: (found, *((old[name],) if name in old else ())) for name, found in new.items()}


def _life(command: Command) -> float:
    """Return about how many seconds a command takes where nothing disturbs it."""
    return undisturbed(command).seconds
