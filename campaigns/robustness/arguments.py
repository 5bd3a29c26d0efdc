"""Attacks on the arguments of every command: strange values and orders, sizes beyond measure."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from campaigns.robustness.attack import OK, Attack, Found
from campaigns.robustness.files import originals
from campaigns.robustness.programs import Surroundings, run
from campaigns.robustness.rule import broken
from campaigns.robustness.watched import Ran, contents, run_here
from verify.commands import COMMANDS, Command

__all__ = ["attacks"]

_REFUSED_WITHIN = 2.0
"""Seconds of processor time in which what would not fit is refused, in a process that is awake."""

VALUES = (
    *(
        "",
        " ",
        "\t",
        "\n",
        "0",
        "1",
        "2",
        "-1",
        "-0",
        "+5",
        " 5",
        "5 ",
        "05",
        "1.0",
        "2.5",
        ".5",
        "5.",
    ),
    *("1e0", "1E1", "1e400", "1e-400", "-1e-3", "1e5000000", "1e-5000000", "1e+", "e5", "1_000"),
    *("0x10", "0b1", "１２", "٣", "²", "1,5", "1 000", "nan", "-nan", "inf", "-inf", "Infinity"),
    *("true", "None", "null", "''", "$(touch executed)", "`touch executed`", "; touch executed"),
    *(
        "--",
        "-",
        "--json",
        "--out",
        "-h5",
        "@/etc/passwd",
        "%s%n",
        "{}",
        "a\0b",
        "a\nb",
        "\x1b[31m",
    ),
    *("été", "\udc80\udcff", "😀", "/", ".", "..", "~", "/dev/null", "/dev/zero", "/proc/self/mem"),
    *("no/such/folder/x", "i.npz", "folder", "i.npz/x", "x" * 300, "x/" * 3000, "x" * 1_000_000),
    *("9" * 19, "9" * 400, "9" * 5000, "9" * 1_000_000, "1e" + "9" * 100_000, "0." + "0" * 10_000),
    *("softmax", "sphere", "zero-start", "quick", "csv", "exact"),
)
"""What may stand where a value is expected."""

_SMALL = ("--d", "4", "--m", "3")
_ALONE = ("--jobs", "1", "--quiet", "--json")
# A request of each command that is good, takes a moment, and has a place for the options.
GOOD: Mapping[str, Sequence[str]] = {
    "run": ("--profile", "quick", "--claim", "parameter-count", "--out", "r", *_ALONE),
    "list": ("--json",),
    "show": ("zero-start", "--json"),
    "diff": ("r.json", "r.json", "--json"),
    "instance": (*_SMALL, "--out", "o.npz"),
    "gradient": ("i.npz", "--json"),
    "certify": ("i.npz", "--eta", "10", "--json"),
    "replay": ("b.json", "--json"),
    "theorem2": (*_SMALL, "--trials", "2", *_ALONE),
    "corollary3": (*_SMALL, "--n", "5", "--trials", "2", *_ALONE),
    "compare": (*_SMALL, "--steps", "2", "--seeds", "1", *_ALONE),
    "latex": ("theorem2-loss", "--json"),
    "sweep": ("c.toml", "--out", "s", *_ALONE),
    "figures": ("folder", *_ALONE),
}
# With these a good request takes longer than an attack may.
_LONG = frozenset({("latex", "--compile"), ("latex", "--verify"), ("sweep", "--scheduler")})
_FOREIGN = ("--eta", "--digits", "--law", "--bound", "--check")
_MANY_TRIALS = frozenset({"--trials", "--seeds", "--steps", "--n"})


def attacks(*, full: bool) -> list[Attack]:
    """Return the attacks, at the small or the full size."""
    found: list[Attack] = []
    for command in COMMANDS:
        found += _on_command(command.NAME, _options(command), count=150 if full else 25)
    found += [
        Attack("arguments in a process", f"{number}", _in_a_process)
        for number in range(100 if full else 4)
    ]
    found += [
        Attack("sizes beyond measure", shlex.join(argv), partial(_refused_in_advance, argv))
        for argv in BEYOND
    ]
    return found


def _options(command: Command) -> list[argparse.Action]:
    """Return the arguments that a command declares."""
    parser = argparse.ArgumentParser(add_help=False)
    command.add_arguments(parser)
    return parser._actions


def _on_command(name: str, options: Sequence[argparse.Action], *, count: int) -> Iterator[Attack]:
    group = f"arguments of {name}"
    for option in options:
        for value in ("", "nan", "9" * 1_000_000, "\udc80\n", "1e5000000", "folder"):
            label = f"{(option.option_strings or [option.dest])[0]} {value[:12]!r} ({len(value)})"
            argv = _with(name, option, [value])
            yield Attack(group, label, partial(_fixed, argv))
        for flag in option.option_strings:
            yield Attack(group, f"{flag} at the end", partial(_fixed, [name, *GOOD[name], flag]))
            yield Attack(group, f"{flag} first", partial(_fixed, [name, flag, *GOOD[name]]))
            short = [name, *GOOD[name], flag[:-1], "1"]
            yield Attack(group, f"{flag} abbreviated", partial(_fixed, short))
            glued = [name, *GOOD[name], f"{flag}=", f"{flag}=="]
            yield Attack(group, f"{flag} without a value", partial(_fixed, glued))
    for number in range(count):
        yield Attack(group, f"mixed, {number}", partial(_mixed, name, options))


def _with(name: str, option: argparse.Action, values: Sequence[str]) -> list[str]:
    """Return a good request in which an option has other values."""
    good = list(GOOD[name])
    flag = option.option_strings[0] if option.option_strings else ""
    if not flag:
        return [name, *values, *good[1:]]
    if (name, flag) in _LONG or option.nargs == 0:
        return [name, *good, *values]
    if flag in good:
        place = good.index(flag)
        return [name, *good[: place + 1], *values, *good[place + 2 :]]
    # With an equals sign, what looks like an option is a value.
    return [name, *good, f"{flag}={values[0]}", *values[1:]]


def _mixed(name: str, options: Sequence[argparse.Action], folder: Path, seed: int) -> Found:
    return _fixed(_drawn(name, options, np.random.default_rng(seed)), folder, seed)


def _drawn(name: str, options: Sequence[argparse.Action], rng: np.random.Generator) -> list[str]:
    """Return a good request with one to three strange things done to it."""
    argv = [name, *GOOD[name]]
    for _ in range(int(rng.integers(1, 4))):
        value = VALUES[int(rng.integers(len(VALUES)))]
        place = int(rng.integers(1, len(argv) + 1))
        option = options[int(rng.integers(len(options)))]
        flag = option.option_strings[0] if option.option_strings else ""
        match int(rng.integers(5)):
            case 0:  # a strange word in between
                argv.insert(place, value)
            case 1 if place < len(argv) and not argv[place].startswith("--"):  # another value
                argv[place] = _bounded(argv[place - 1], value)
            case 2 if flag and (name, flag) not in _LONG:  # an option, once more or for once
                argv += [flag] if option.nargs == 0 else [flag, _bounded(flag, value)]
            case 3:  # an option of another command
                argv += [
                    str(rng.choice(["--eta", "--digits", "--law", "--bound", "--check"])),
                    value,
                ]
            case _:  # two words change places
                other = int(rng.integers(1, len(argv)))
                place = int(rng.integers(1, len(argv)))
                argv[place], argv[other] = argv[other], argv[place]
    return argv


def _bounded(flag: str, value: str) -> str:
    """Return a value that does not ask for hours of honest work."""
    return "3" if flag in _MANY_TRIALS and value in ("9" * 19,) else value


def _lay_out(folder: Path) -> None:
    (folder / "i.npz").write_bytes(originals.instance())
    (folder / "b.json").write_bytes(originals.bundle())
    (folder / "r.json").write_bytes(originals.results())
    (folder / "c.toml").write_bytes(originals.TRAINING)
    (folder / "folder").mkdir()


def _fixed(argv: Sequence[str], folder: Path, _: int) -> Found:
    _lay_out(folder)
    problem = broken(run_here(argv, folder))
    return _found(problem, argv, folder)


def _found(problem: str, argv: Sequence[str], folder: Path) -> Found:
    if not problem:
        return OK
    shown = (word if len(word) <= 200 else f"{word[:100]}...({len(word)})" for word in argv)
    return Found(problem, f"cd {folder} && xorverify {shlex.join(shown)!a}")


def _in_a_process(folder: Path, seed: int) -> Found:
    """Run a strange request in a process of its own."""
    _lay_out(folder)
    rng = np.random.default_rng(seed)
    command = COMMANDS[int(rng.integers(len(COMMANDS)))]
    argv = _drawn(command.NAME, _options(command), rng)
    # The system itself refuses arguments with NUL bytes, and longer ones.
    argv = [word.replace("\0", "")[:100_000] for word in argv]
    before = contents(folder)
    ended = run(argv, Surroundings(folder=folder, module="verify"))
    ran = Ran(argv, ended.code, ended.out, ended.err, "", before, contents(folder))
    return _found(broken(ran), argv, folder)


_HUGE = "9223372036854775807"
_TRIALS = ("--trials", "1", "--jobs", "1", "--quiet", "--json")
BEYOND: Sequence[Sequence[str]] = (
    *(
        ("instance", "--d", d, "--m", m, "--out", "o.npz")
        for d, m in (("1e6", "1e6"), (_HUGE, "1"))
    ),
    ("instance", "--d", "2", "--m", _HUGE, "--out", "o.npz"),
    ("instance", "--d", "1e9", "--m", "1e9", "--law", "orthonormal", "--out", "o.npz"),
    ("theorem2", "--d", "1e6", "--m", "1e6", *_TRIALS),
    ("theorem2", "--d", _HUGE, "--m", _HUGE, *_TRIALS),
    ("theorem2", "--d", "1e5", "--m", "1e4", "--trials", "1e6", "--jobs", "1024", "--json"),
    ("corollary3", "--d", "1e6", "--m", "1e6", "--n", "5", *_TRIALS),
    ("corollary3", "--d", "4", "--m", "1e6", "--n", "1e18", *_TRIALS),
    ("corollary3", "--d", _HUGE, "--m", _HUGE, "--n", _HUGE, *_TRIALS),
    ("corollary3", "--d", "64", "--m", "4", "--n", "1e15", "--method", "exact", *_TRIALS),
    ("compare", "--d", "1e6", "--m", "1e6", "--seeds", "1", "--jobs", "1", "--json"),
    ("compare", *_SMALL, "--steps", "1e9", "--seeds", "1e6", "--jobs", "1024", "--json"),
    ("compare", "--d", _HUGE, "--m", "1", "--seeds", "1", "--jobs", "1", "--json"),
    ("gradient", "i.npz", "--digits", "1001", "--json"),
    ("certify", "i.npz", "--eta", "1", "--max-bits", "65537", "--json"),
    ("theorem2", "--bound", "--d", "1e16", "--m", "64", "--json"),
    ("corollary3", "--bound", "--d", "1e16", "--m", "64", "--json"),
    ("theorem2", "--d", "4", "--m", "3", "--trials", "1000001", "--json"),
    ("theorem2", "--d", "4", "--m", "3", "--jobs", "1025", "--json"),
    ("instance", "--d", "4", "--m", "3", "--trial", "4294967296", "--out", "o.npz"),
)
"""Requests that would not fit."""


def _refused_in_advance(argv: Sequence[str], folder: Path, _: int) -> Found:
    _lay_out(folder)
    run_here(["list"], folder)  # what every command loads is loaded
    begun = time.process_time()
    ran = run_here(argv, folder)
    seconds = time.process_time() - begun
    problem = broken(ran)
    if not problem and ran.code != 2:
        problem = f"it was not refused; the exit code is {ran.code}"
    if not problem and seconds > _REFUSED_WITHIN:
        problem = f"it was refused after {seconds:.1f} s"
    return _found(problem, argv, folder)
