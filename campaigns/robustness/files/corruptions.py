"""Damage that can happen to any file: to its bytes, and to what stands in its place."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import Attack, Found
from campaigns.robustness.files.reader import Reader, attack, observe

__all__ = ["damaged_bytes", "other_things", "unsteady_files"]

Damage = Callable[[bytes, np.random.Generator], bytes]

_BOM = b"\xef\xbb\xbf"


def damaged_bytes(reader: Reader, *, flips: int, cuts: int) -> Iterator[Attack]:
    """Yield attacks on the bytes of a file.

    Parameters
    ----------
    reader : Reader
        What is attacked.
    flips : int
        How many attacks change one bit each, and how many a few bytes.
    cuts : int
        How many attacks cut the file short.
    """
    damages: dict[str, Damage] = {
        "empty": lambda _content, _rng: b"",
        "one byte": lambda content, _: content[:1],
        "without its last byte": lambda content, _: content[:-1],
        "a byte more": lambda content, _: content + b"\0",
        "twice": lambda content, _: content + content,
        "junk before": lambda content, rng: rng.bytes(64) + content,
        "junk behind": lambda content, rng: content + rng.bytes(64),
        "NUL bytes alone": lambda content, _: bytes(len(content)),
        "random bytes": lambda content, rng: rng.bytes(len(content)),
        "backwards": lambda content, _: content[::-1],
        "with a byte order mark": lambda content, _: _BOM + content,
        "in UTF-16": lambda content, _: content.decode("latin-1").encode("utf-16"),
        "lines ended by CR LF": lambda content, _: content.replace(b"\n", b"\r\n"),
        "letters beyond ASCII": lambda content, _: content.replace(b"e", b"\xe9"),
        "a NUL byte inside": lambda content, _: content.replace(b"e", b"\0", 1),
        "a million spaces behind": lambda content, _: content + b" " * 10**6,
    }
    for number in range(cuts):
        damages[f"cut short, {number}"] = _cut
    for number in range(flips):
        damages[f"one bit, {number}"] = _flip
        damages[f"some bytes, {number}"] = _overwrite
    for name, damage in damages.items():
        yield _on_bytes(reader, name, damage)


def _on_bytes(reader: Reader, name: str, damage: Damage) -> Attack:
    def place(path: Path, rng: np.random.Generator) -> None:
        path.write_bytes(damage(reader.original(), rng))

    return attack(reader, name, place, may_differ=not reader.has_checksums)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    changed[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _overwrite(content: bytes, rng: np.random.Generator) -> bytes:
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 17))
    return content[:start] + rng.bytes(length) + content[start + length :]


def other_things(reader: Reader) -> Iterator[Attack]:
    """Yield attacks in which something else stands where the file belongs."""

    def link(target: str) -> Callable[[Path, np.random.Generator], None]:
        return lambda path, _: path.symlink_to(target)

    places: dict[str, Callable[[Path, np.random.Generator], str | None]] = {
        "nothing": lambda _path, _rng: None,
        "a folder": lambda path, _: path.mkdir(),
        "a pipe that nobody writes to": lambda path, _: os.mkfifo(path),
        "a socket": lambda path, _: _bind(path),
        "a link to nothing": link("nowhere"),
        "a link to itself": link(Path(reader.file).name),
        "a link to a folder": link("."),
        "a link to zeros without end": link("/dev/zero"),
        "a link to random bytes without end": link("/dev/urandom"),
        "a link to nothing at all": link("/dev/null"),
        "a link to a terminal": link("/dev/ptmx"),
        "a link to the memory of this process": link("/proc/self/mem"),
    }
    for name, place in places.items():
        yield attack(reader, name, place)

    def moved(name: str) -> Callable[[Path, np.random.Generator], str]:
        def place(path: Path, _: np.random.Generator) -> str:
            target = path.with_name(name)
            target.write_bytes(reader.original())
            return str(Path(reader.file).with_name(name))

        return place

    def named(name: str) -> Callable[[Path, np.random.Generator], str]:
        return lambda _path, _rng: name

    def linked(path: Path, _: np.random.Generator) -> None:
        (path.parent / "original").write_bytes(reader.original())
        path.symlink_to("original")

    def piped(path: Path, _: np.random.Generator) -> None:
        os.mkfifo(path)
        threading.Thread(target=_write_once, args=(path, reader.original()), daemon=True).start()

    yield attack(reader, "a link to the file", linked, may_differ=False)
    yield attack(reader, "a pipe of its content", piped, may_differ=False)
    if "/" in reader.file:
        return
    names = {
        "spaces": " a b ",
        "a line break": "a\nb",
        "a colour": "a\x1b[31mb",
        "letters": "été ∂θ.x",
        "no letters": "a\udcff\udc80b",
        "markup": "[red]a",
        "a dash": "-x",
        "an equals sign": "a=b: c",
    }
    for kind, name in names.items():
        yield attack(reader, f"its name has {kind}", moved(name), may_differ=False)
    others = {
        "too long": "x" * 300,
        "far too long": "x/" * 3000,
        "empty": "",
        "with a NUL byte": "a\0b",
        "the folder": ".",
        "the root": "/",
        "below a device": "/dev/null/x",
        "one of the system": "/proc/self/cmdline",
    }
    for kind, name in others.items():
        yield attack(reader, f"its name is {kind}", named(name))


def _write_once(path: Path, content: bytes) -> None:
    # Who refuses pipes is gone before all of it is written; who never opens it leaves this waiting.
    with suppress(OSError), path.open("wb") as stream:
        stream.write(content)


def _bind(path: Path) -> None:
    # The address of a socket has a hundred letters at most; the folder may have more.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as stream:
            stream.bind(path.name)
    finally:
        os.chdir(here)


def unsteady_files(reader: Reader, *, rounds: int) -> Iterator[Attack]:
    """Yield attacks in which the file is another from moment to moment while it is read."""

    def replaced(path: Path, content: bytes, rng: np.random.Generator) -> None:
        other = path.with_name("other")
        other.write_bytes(_cut(content, rng) if rng.integers(2) else content)
        other.replace(path)

    def shrinking(path: Path, content: bytes, rng: np.random.Generator) -> None:
        if rng.integers(2):
            path.write_bytes(content)
        else:
            os.truncate(path, int(rng.integers(len(content))))

    def vanishing(path: Path, content: bytes, rng: np.random.Generator) -> None:
        if rng.integers(2):
            path.write_bytes(content)
        else:
            path.unlink(missing_ok=True)

    for change in (replaced, shrinking, vanishing):
        run = partial(_unsteady, reader, change, rounds)
        yield Attack(reader.name, f"{change.__name__} while it is read", run)


def _unsteady(
    reader: Reader,
    change: Callable[[Path, bytes, np.random.Generator], None],
    rounds: int,
    folder: Path,
    seed: int,
) -> Found:
    # The file is outside of the folder whose content is compared.
    inside, outside = folder / "inside", folder / "outside"
    for each in (inside, outside):
        each.mkdir()
    path = outside / "file"
    path.write_bytes(reader.original())
    reader.lay_out(inside)
    done = threading.Event()

    def keep_changing() -> None:
        rng = np.random.default_rng(seed)
        while not done.is_set():
            with suppress(OSError):
                change(path, reader.original(), rng)

    thread = threading.Thread(target=keep_changing)
    thread.start()
    try:
        for _ in range(rounds):
            found = observe(reader, inside, str(path), may_differ=not reader.has_checksums)
            if not found.ok:
                break
    finally:
        done.set()
        thread.join()
    return found
