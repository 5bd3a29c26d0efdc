"""The commands that are attacked, each at a size that takes a second, and what they should find."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from campaigns.robustness.material import CONFIGURATION, material
from campaigns.robustness.programs import Ending, Surroundings, run

__all__ = [
    "CHEAP",
    "COMMANDS",
    "WRITING",
    "Command",
    "findings",
    "surroundings",
    "undisturbed",
    "written",
]

# What differs from run to run, or from folder to folder.
_VOLATILE = frozenset({"seconds", "environment", "out", "export", "files", "file"})


@dataclass(frozen=True)
class Command:
    """A command with its arguments.

    Parameters
    ----------
    name : str
        What the table calls it.
    line : str
        Its arguments, in which ``{out}`` stands for where it writes and other names in braces for
        the files that it reads.
    writes : str
        The name of the file that it writes, or of the folder; empty if it writes none.
    module : str
        The module that is started; the console script if empty.
    code : int
        Its exit code where nothing disturbs it.
    keeps : bool
        Whether an interruption leaves a document of what is finished.
    """

    name: str
    line: str
    writes: str = ""
    module: str = ""
    code: int = 0
    keeps: bool = False

    @property
    def prints_json(self) -> bool:
        """Whether standard output is for a program."""
        return "--json" in self.line

    @property
    def writes_file(self) -> bool:
        """Whether it writes one file, and no folder of them."""
        return "." in self.writes

    def argv(self, out: Path | None = None) -> list[str]:
        """Return the arguments, with `out` as where it writes, else in the working folder."""
        places = {"{out}": str(out or self.writes)}
        return [
            places.get(word) or (str(_made(word[1:-1])) if word.startswith("{") else word)
            for word in self.line.split()
        ]


COMMANDS = (
    Command("list", "list --json"),
    Command("list as text", "list"),
    Command("show", "show zero-start"),
    Command("help", "theorem2 --help"),
    Command("version", "--version"),
    Command("a refusal", "theorem2 --d 1 --m 2 --json", code=2),
    Command("instance", "instance --d 8 --m 4 --out {out}", writes="instance.npz"),
    Command("gradient", "gradient {instance} --json"),
    Command("certify", "certify {instance} --eta 1e9 --bundle {out} --json", writes="bundle.json"),
    Command("replay", "replay {bundle}"),
    Command("theorem2", "theorem2 --d 8 --m 4 --trials 8 --jobs 2 --json", keeps=True),
    Command("theorem2 --bound", "theorem2 --bound --d 1e4 --m 512 --eta-scale 1e6 --json"),
    Command(
        "corollary3",
        "corollary3 --d 8 --m 4 --n 100 --trials 4 --jobs 2 --json",
        keeps=True,
    ),
    Command("corollary3 --bound", "corollary3 --bound --d 3 --m 6 --json", code=3),
    Command("compare", "compare --d 8 --m 8 --steps 5 --seeds 1 --jobs 2 --json", keeps=True),
    Command(
        "sweep",
        "sweep {configuration} --out {out} --jobs 2 --export csv --json",
        writes="folder",
        keeps=True,
    ),
    Command("figures", "figures {sweep} --out {out} --jobs 1 --json", writes="folder"),
    Command(
        "run",
        "run --profile quick --claim parameter-count --out {out} --jobs 1 --json",
        writes="folder",
        keeps=True,
    ),
    Command(
        "run as text",
        "run --profile quick --claim parameter-count --out {out} --jobs 1",
        writes="folder",
        keeps=True,
    ),
    Command("latex", "latex zero.loss --out {out} --json", writes="folder"),
    Command("latex --proof", "latex --proof zero --out {out} --json", writes="folder"),
    Command("derivations", "zero", module="derivations"),
    Command("derivations --check", "zero --check --latex", module="derivations"),
)

_CHEAP = ("list", "a refusal", "instance", "certify", "theorem2", "sweep", "latex", "derivations")

CHEAP = tuple(each for each in COMMANDS if each.name in _CHEAP)
"""Those of the small campaign."""

WRITING = tuple(each for each in COMMANDS if each.writes)
"""Those that write files."""


def findings(printed: str) -> object:
    """Return the document on standard output without what differs from run to run.

    Raises
    ------
    ValueError
        If it is no strict JSON.
    """
    return _settled(json.loads(printed, parse_constant=_refuse))


@cache
def undisturbed(command: Command) -> Ending:
    """Return how a command ends where nothing disturbs it."""
    ending = run(command.argv(_place(command)), surroundings(command, material()))
    if ending.code != command.code:
        raise RuntimeError(f"{command.name} ends with {ending.code}: {ending.err}")
    return ending


def surroundings(command: Command, folder: Path) -> Surroundings:
    """Return ordinary surroundings for a command."""
    return Surroundings(folder=folder, module=command.module)


def written(command: Command) -> dict[str, bytes]:
    """Return the files that a command writes where nothing disturbs it, by their names."""
    undisturbed(command)
    place = _place(command)
    if command.writes_file:
        return {command.writes: place.read_bytes()}
    found = (path for path in place.rglob("*") if path.is_file())
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


def _place(command: Command) -> Path:
    folder = material() / "undisturbed" / command.name.replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / command.writes


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _settled(value: object) -> object:
    if isinstance(value, dict):
        return {name: _settled(each) for name, each in value.items() if name not in _VOLATILE}
    if isinstance(value, list):
        return [_settled(each) for each in value]
    return value


@cache
def _made(name: str) -> Path:
    """Return one of the files that commands read, made by the verifier itself."""
    path = material() / name
    _MADE[name](path)
    return path


def _by_running(line: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        ending = run(Command("", line).argv(path), Surroundings(folder=material()))
        if ending.code != 0:
            raise RuntimeError(f"{line}: {ending.err}")

    return make


def _write_configuration(path: Path) -> None:
    path.write_text(CONFIGURATION)


_MADE: dict[str, Callable[[Path], None]] = {
    "instance": _by_running("instance --d 8 --m 4 --out {out}"),
    "bundle": _by_running("certify {instance} --eta 1e9 --bundle {out}"),
    "configuration": _write_configuration,
    "sweep": _by_running("sweep {configuration} --out {out} --jobs 1"),
}
