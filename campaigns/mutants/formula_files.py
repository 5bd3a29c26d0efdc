"""Which files of the three wings hold formulas: all but those that are named here, with why."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import MappingProxyType

__all__ = ["EXCLUDED", "WINGS", "formula_files", "sources_of", "wing"]

WINGS = ("derivations", "numerics", "verify")

_SEARCH = "searches thresholds, part of no proof: a worse search finds a looser bound"

EXCLUDED: Mapping[str, str] = MappingProxyType(
    {
        "derivations/proof": "the machinery of proof: what a step is, and how it is checked",
        "derivations/printing": "printing",
        "derivations/catalogue.py": "names and titles",
        "derivations/command.py": "the command line",
        "numerics/arguments.py": "reads arguments and refuses",
        "numerics/balls/bounds/corollary3_search.py": _SEARCH,
        "numerics/balls/bounds/simplex.py": _SEARCH,
        "numerics/balls/bounds/theorem2_search.py": _SEARCH,
        "numerics/decimals.py": "printing",
        "numerics/plug_ins.py": "loads modules of users",
        "verify/claim.py": "says what a claim is, and adds up grades",
        "verify/cli.py": "the command line",
        "verify/claims": "claims state the inequalities, and give the verdict on all others",
        "verify/commands": "the command line",
        "verify/console": "the terminal",
        "verify/decimals.py": "reads arguments",
        "verify/decisions": "puts what numerics decides into documents",
        "verify/environment.py": "names versions",
        "verify/evidence/assumptions.py": "names assumptions",
        "verify/evidence/derivation.py": "counts steps that hold",
        "verify/files": "reads and writes files",
        "verify/instances/instance.py": "reads files; what it draws is drawn by numerics",
        "verify/instances/laws.py": "reads files and names of laws",
        "verify/instances/origin.py": "describes an instance in words",
        "verify/latex": "printing",
        "verify/report": "printing and figures",
        "verify/runner.py": "processes and progress",
        "verify/running": "processes and progress",
        "verify/sweep": "files, processes and tables; its trials are those of verify/trials",
        "verify/testing": "instances for tests; no verdict rests on them",
    }
)
"""Folders and files without formulas, each with the reason."""

_WITHOUT_FORMULAS = frozenset({"__init__.py", "__main__.py"})


def wing(file: str) -> str:
    """Return the wing of a file, the first folder of its path."""
    return PurePosixPath(file).parts[0]


def sources_of(root: Path) -> Path:
    """Return the folder of the wings: the root of the repository, or where they are installed.

    The tests of a release have the repository without its wings.
    """
    if (root / WINGS[0]).is_dir():
        return root
    return Path(str(import_module(WINGS[0]).__file__)).parents[1]


def formula_files(root: Path) -> tuple[str, ...]:
    """Return the paths of the files with formulas, from `root`, with slashes, sorted.

    Raises
    ------
    ValueError
        If an exclusion names nothing that there is.
    """
    gone = [name for name in EXCLUDED if not (root / name).exists()]
    if gone:
        raise ValueError(f"exclusion={gone[0]}: there is no such file or folder; take it out")
    found = (
        path.relative_to(root).as_posix()
        for name in WINGS
        for path in (root / name).rglob("*.py")
        if path.name not in _WITHOUT_FORMULAS
    )
    return tuple(sorted(file for file in found if not _is_excluded(file)))


def _is_excluded(file: str) -> bool:
    path = PurePosixPath(file)
    return any(str(part) in EXCLUDED for part in (path, *path.parents))
