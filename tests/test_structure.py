"""Who imports whom: the wings are apart, the rooms have an order, and no module stands idle."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import derivations
import numerics
import verify
from derivations.catalogue import TITLES

WINGS = ("derivations", "numerics", "verify")
FOLDERS = {each.__name__: Path(each.__path__[0]) for each in (derivations, numerics, verify)}

# A package imports the modules that it lists; any other one imports nothing.
REGISTRIES = {"verify.claims", "verify.commands", "verify.sweep.kinds"}

# What nothing imports, as it is where something begins: `python -m`, a derivation that is found by
# its name, and what tests of a user's own import.
ENTRIES = {
    "derivations.__main__",
    "verify.__main__",
    "derivations.outline",
    "verify.testing.strategies",
    *(f"derivations.{name}" for name in TITLES),
}

COMMON_TO_DERIVATIONS = {
    f"derivations.{room}"
    for room in (
        "__main__",
        "calculus",
        "catalogue",
        "command",
        "notation",
        "outline",
        "printing",
        "proof",
    )
}

# Lines; a module that needs more has two ideas.
LONGEST = 400

# From the ground up, as docs/structure.md has them.
ROOMS_OF_VERIFY = (
    *("seeds", "decimals", "environment", "ledgers", "console", "running", "files", "instances"),
    *("claim", "decisions", "trials", "evidence", "testing", "claims", "sweep", "latex", "runner"),
    *("report", "commands", "cli", "__main__"),
)


@cache
def modules() -> Mapping[str, Path]:
    """Every module of the three wings, by its name."""
    found = {}
    for wing, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            parts = [wing, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def imported(module: str) -> frozenset[str]:
    """Everything that a module imports, wherever in it: modules of ours, and roots of others."""
    return frozenset(_names(ast.parse(modules()[module].read_text(encoding="utf-8"))))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield each.name if each.name in modules() else each.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            package = str(node.module)
            for each in node.names:
                if f"{package}.{each.name}" in modules():
                    yield f"{package}.{each.name}"
                else:
                    yield package if package in modules() else package.partition(".")[0]


def roots(module: str) -> set[str]:
    return {name.partition(".")[0] for name in imported(module)}


@pytest.mark.parametrize(
    ("wing", "forbidden"),
    [
        ("derivations", {"numerics", "verify", "numpy", "scipy", "flint"}),
        ("numerics", {"derivations", "verify", "sympy"}),
        ("verify", set()),
    ],
)
def test_the_wings_are_apart(wing: str, forbidden: set[str]) -> None:
    # What stands beside the wheel may import it, and is imported by nothing.
    beside = {"benchmarks", "campaigns", "docs", "tests"}
    inside = [module for module in modules() if module.partition(".")[0] == wing]
    assert len(inside) > 50
    for module in inside:
        assert not roots(module) & (forbidden | beside), module


def test_no_module_imports_itself_by_a_detour() -> None:
    TopologicalSorter(
        {module: imported(module) & modules().keys() for module in modules()}
    ).prepare()


@pytest.mark.parametrize("wing", WINGS)
def test_the_rooms_have_an_order(wing: str) -> None:
    """Whatever a room imports lies below it: no two rooms, by a detour either, need each other."""
    below: dict[str, set[str]] = {}
    for module in modules():
        if module.partition(".")[0] == wing:
            room = _room(module)
            below.setdefault(room, set()).update(
                _room(name) for name in imported(module) if name.startswith(f"{wing}.")
            )
            below[room].discard(room)
    TopologicalSorter(below).prepare()


def test_no_room_of_the_roof_imports_one_above_it() -> None:
    for module in modules():
        if module.startswith("verify."):
            height = ROOMS_OF_VERIFY.index(module.split(".")[1])
            for name in imported(module):
                if name.startswith("verify."):
                    assert ROOMS_OF_VERIFY.index(name.split(".")[1]) <= height, (module, name)


def _room(module: str) -> str:
    room = ".".join(module.split(".")[:2])
    # A derivation and the folder of its longer parts are one: they name each other's steps.
    apart = room in COMMON_TO_DERIVATIONS or not room.startswith("derivations.")
    return room if apart else "derivations, each with its parts"


def test_packages_import_nothing_but_what_they_list() -> None:
    packages = [module for module, path in modules().items() if path.name == "__init__.py"]
    importing = {each for each in packages if imported(each) & modules().keys()}
    assert importing == REGISTRIES
    for package in set(packages) - REGISTRIES:
        assert not imported(package), package


def test_every_module_is_used_or_is_where_something_begins() -> None:
    used = {name for module in modules() for name in imported(module)}
    idle = {
        module
        for module, path in modules().items()
        if module not in used and path.name != "__init__.py"
    }
    assert idle <= ENTRIES
    assert modules().keys() >= ENTRIES


def test_a_module_is_short_enough_to_be_read_at_one_sitting() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_a_room_says_in_a_line_what_it_is() -> None:
    for module, path in modules().items():
        found = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert found, module
        assert found.partition("\n")[0].endswith("."), module
