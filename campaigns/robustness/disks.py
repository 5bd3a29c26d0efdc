"""Places that take no file, and disks that are full or fill up."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found, failed
from campaigns.robustness.commands import CHEAP, WRITING, Command, surroundings
from campaigns.robustness.endings import half_written, misbehaviour, strays
from campaigns.robustness.programs import run

__all__ = ["attacks"]

_REFUSED, _FULL = "places that take no file", "full disks"

_DISK = 256 << 10  # bytes
_PAGE = 4 << 10
_MOST_FREE = 40  # pages; by then all that the commands write has found room


@dataclass(frozen=True)
class _Place:
    """Where a command is to write, and as whom."""

    out: Path
    is_stranger: bool = False


_Way = Callable[[Path, Command], AbstractContextManager[_Place]]
_Disk = Callable[[Path, int], AbstractContextManager[Callable[[], None]]]


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks on where commands write."""
    commands = WRITING if full else [each for each in CHEAP if each.writes]
    refused = [
        Attack(_REFUSED, f"{command.name}: {name}", partial(_be_refused, command, way))
        for name, way in _WAYS.items()
        for command in (commands if full else commands[:1])
        if command.writes_file or way not in (_protected, _immutable)
    ]
    filled = [
        Attack(_FULL, f"{command.name}: {name}, {i}", partial(_fill, command, disk))
        for command in commands
        for name, disk in _DISKS.items()
        for i in range(5 if full else 1)
    ]
    return refused + filled


def _be_refused(command: Command, way: _Way, folder: Path, _: int) -> Found:
    with way(folder, command) as place:
        argv = command.argv(place.out)
        before = _listing(folder)
        around = replace(surroundings(command, folder), is_stranger=place.is_stranger)
        problem = misbehaviour(command, run(argv, around), codes={2})
        if not problem and _listing(folder) != before:
            problem = "a refused command changed something"
    return failed(problem, argv) if problem else OK


def _fill(command: Command, disk: _Disk, folder: Path, seed: int) -> Found:
    # No room at all is the case that is met most often.
    free = _PAGE * max(0, int(np.random.default_rng(seed).integers(-8, _MOST_FREE)))
    work = folder / "disk" / "work"
    with disk(work, free) as limited:
        argv = command.argv(work / command.writes)
        ending = run(argv, replace(surroundings(command, folder), before=limited))
        problem = misbehaviour(command, ending, codes={command.code, 2, 3})
        if not problem and ending.code == 2 and list(work.iterdir()):
            problem = "a refused command wrote something"
        if not problem and (left := strays(work)):
            problem = f"it left {left[0].name}"
        # SQLite needs some room to look at a database.
        (work.parent / "filler").unlink(missing_ok=True)
        problem = problem or half_written(work, {})
    return failed(f"with {free} bytes free: {problem}", argv) if problem else OK


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all there is below a folder, with what changes when it is written to."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        found[str(path)] = status.st_ino, status.st_size
    return found


@contextmanager
def _somebody_elses(folder: Path, command: Command) -> Iterator[_Place]:
    yield _Place(folder / command.writes, is_stranger=True)


@contextmanager
def _read_only(folder: Path, command: Command) -> Iterator[_Place]:
    disk = folder / "disk"
    disk.mkdir()
    with _mounted(disk, "ro") as is_mounted:
        # Where nothing may be mounted, the folder is one that its owner may not write to.
        if not is_mounted:
            disk.chmod(0o555)
        yield _Place(disk / command.writes, is_stranger=not is_mounted)


@contextmanager
def _file_in_its_place(folder: Path, command: Command) -> Iterator[_Place]:
    (folder / "file").touch()
    yield _Place(folder / "file" / command.writes)


@contextmanager
def _kernels_own(_: Path, __: Command) -> Iterator[_Place]:
    yield _Place(Path("/proc/out"))


@contextmanager
def _device(_: Path, __: Command) -> Iterator[_Place]:
    yield _Place(Path("/dev/full"))


@contextmanager
def _link_to_itself(folder: Path, _: Command) -> Iterator[_Place]:
    (folder / "loop").symlink_to("loop")
    yield _Place(folder / "loop")


@contextmanager
def _long_name(folder: Path, _: Command) -> Iterator[_Place]:
    yield _Place(folder / ("x" * 300))


@contextmanager
def _protected(folder: Path, command: Command) -> Iterator[_Place]:
    """Make a file that may only be read, in a folder that may be written to."""
    own = folder / "own"
    own.mkdir()
    (own / command.writes).write_bytes(b"old")
    own.chmod(0o777)
    (own / command.writes).chmod(0o444)
    yield _Place(own / command.writes, is_stranger=True)


@contextmanager
def _immutable(folder: Path, command: Command) -> Iterator[_Place]:
    path = folder / command.writes
    path.write_bytes(b"old")
    if _did("chattr", "+i", str(path)):
        try:
            yield _Place(path)
        finally:
            _did("chattr", "-i", str(path))
    else:
        path.unlink()
        with _protected(folder, command) as place:
            yield place


_WAYS: dict[str, _Way] = {
    "a folder of somebody else": _somebody_elses,
    "a file system to read from": _read_only,
    "below a file": _file_in_its_place,
    "below /proc": _kernels_own,
    "a device": _device,
    "a link to itself": _link_to_itself,
    "a name too long": _long_name,
    "a file to read from": _protected,
    "a file that cannot be changed": _immutable,
}


@contextmanager
def _small_disk(work: Path, free: int) -> Iterator[Callable[[], None]]:
    """Mount a small file system and fill it but for some bytes; where none can be, set a limit."""
    disk = work.parent
    disk.mkdir()
    with _mounted(disk, f"size={_DISK}") as is_mounted:
        work.mkdir()
        if is_mounted:
            # Its root and `work` take no room; blocks are pages.
            (disk / "filler").write_bytes(bytes(_DISK - free))
            yield lambda: None
        else:
            with _limited(work, free) as limited:
                yield limited


@contextmanager
def _limited(work: Path, free: int) -> Iterator[Callable[[], None]]:
    """No file may grow beyond some bytes; Python is told of it as of a full disk."""
    work.mkdir(parents=True, exist_ok=True)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (free, free))


_DISKS: dict[str, _Disk] = {"a small disk": _small_disk, "a limit for files": _limited}


@contextmanager
def _mounted(folder: Path, options: str) -> Iterator[bool]:
    """Mount a file system in memory, if that is allowed, and say whether it is."""
    is_mounted = _did("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield is_mounted
    finally:
        if is_mounted:
            _did("umount", "--lazy", str(folder))


def _did(*command: str) -> bool:
    try:
        finished = subprocess.run(  # noqa: S603 - three programs of the system, for a scratch folder
            command, capture_output=True, check=False
        )
    except FileNotFoundError:
        return False
    return finished.returncode == 0
