"""Places that are shared: two commands at once, links, folders that go away meanwhile."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found, failed
from campaigns.robustness.commands import CHEAP, WRITING, Command, surroundings, undisturbed
from campaigns.robustness.endings import difference, half_written, misbehaviour, strays
from campaigns.robustness.programs import end_of, run, start

__all__ = ["attacks"]

_AT_ONCE, _LINKS, _CHANGES = "two commands at once", "links and pipes", "folders that change"


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks on places that are shared."""
    made: list[Attack] = []
    for command in WRITING if full else [each for each in CHEAP if each.writes]:
        for (group, name), attack in _ATTACKS.items():
            if full or command.name in _SMALL[group]:
                made.append(Attack(group, f"{command.name}: {name}", partial(attack, command)))
    return made


_SMALL = {_AT_ONCE: ("certify", "sweep"), _LINKS: ("instance",), _CHANGES: ("latex",)}


def _twice(command: Command, folder: Path, seed: int) -> Found:
    """Start a command twice in one place: both succeed, or one is refused."""
    pause = float(np.random.default_rng(seed).uniform(0, 0.5))
    first = start(command.argv(), surroundings(command, folder))
    time.sleep(pause * undisturbed(command).seconds)
    second = start(command.argv(), surroundings(command, folder))
    endings = [end_of(second), end_of(first)]
    problems = [misbehaviour(command, each, codes={command.code, 2}) for each in endings]
    problem = next(filter(None, problems), "")
    if not problem and all(each.code == 2 for each in endings):
        problem = "each of the two is refused"
    problem = problem or half_written(folder, {})
    if not problem and (left := strays(folder)):
        problem = f"it left {left[0].name}"
    return failed(problem, command.argv()) if problem else OK


def _through_a_link(command: Command, folder: Path, _: int) -> Found:
    """Write through a link: it stays, and what it leads to is what is written."""
    (folder / "elsewhere").mkdir()
    target, link = folder / "elsewhere" / command.writes, folder / command.writes
    if command.writes_file:
        target.write_bytes(b"old")
    else:
        target.mkdir()
    link.symlink_to(target)
    problem = difference(command, run(command.argv(), surroundings(command, folder)))
    if not problem and not link.is_symlink():
        problem = "the link was replaced"
    if not problem and (target.read_bytes() == b"old" if command.writes_file else _empty(target)):
        problem = "nothing came where the link leads to"
    problem = problem or half_written(folder, {})
    return failed(problem, command.argv()) if problem else OK


def _through_a_link_to_nothing(command: Command, folder: Path, _: int) -> Found:
    """Write through a link to nothing: a file is made there, and a folder is refused."""
    link, target = folder / command.writes, folder / "target"
    link.symlink_to(target)
    ending = run(command.argv(), surroundings(command, folder))
    if command.writes_file:
        problem = difference(command, ending)
        if not problem and not (link.is_symlink() and target.is_file()):
            problem = "the file is not where the link leads to"
    else:
        problem = misbehaviour(command, ending, codes={2})
    return failed(problem, command.argv()) if problem else OK


def _into_a_pipe(command: Command, folder: Path, _: int) -> Found:
    """Name a pipe as where to write: it is refused, and is not waited for."""
    os.mkfifo(folder / command.writes)
    ending = run(command.argv(), surroundings(command, folder))
    problem = misbehaviour(command, ending, codes={2})
    if not problem and not (folder / command.writes).is_fifo():
        problem = "the pipe was replaced"
    return failed(problem, command.argv()) if problem else OK


def _while_it_changes(
    command: Command, folder: Path, seed: int, *, change: Callable[[Path], None]
) -> Found:
    """Change the folder in which a command writes, at a random moment."""
    place = folder / "place"
    place.mkdir()
    moment = float(np.random.default_rng(seed).uniform(0.2, 1))
    process = start(command.argv(place / command.writes), surroundings(command, folder))
    timer = threading.Timer(moment * undisturbed(command).seconds, change, (place,))
    timer.start()
    ending = end_of(process)
    timer.join()
    problem = misbehaviour(command, ending, codes={command.code, 2, 3})
    problem = problem or half_written(folder, {})
    return failed(f"after {moment:.3f} of its life: {problem}", command.argv()) if problem else OK


def _delete(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)


def _replace_by_a_link(place: Path) -> None:
    elsewhere = place.with_name("elsewhere")
    elsewhere.mkdir()
    with suppress(OSError):
        place.rename(place.with_name("before"))
        place.symlink_to(elsewhere)


def _replace_by_a_file(place: Path) -> None:
    with suppress(OSError):
        place.rename(place.with_name("before"))
        place.with_name("place").write_text("")


def _empty(folder: Path) -> bool:
    return not any(folder.iterdir())


_ATTACKS: dict[tuple[str, str], Callable[[Command, Path, int], Found]] = {
    (_AT_ONCE, "the same command"): _twice,
    (_LINKS, "a link"): _through_a_link,
    (_LINKS, "a link to nothing"): _through_a_link_to_nothing,
    (_LINKS, "a pipe"): _into_a_pipe,
    (_CHANGES, "deleted"): partial(_while_it_changes, change=_delete),
    (_CHANGES, "replaced by a link"): partial(_while_it_changes, change=_replace_by_a_link),
    (_CHANGES, "replaced by a file"): partial(_while_it_changes, change=_replace_by_a_file),
}
