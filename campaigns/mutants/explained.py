"""Why mutants that no claim kills are not counted, from ``explained.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["KINDS", "Explanation", "explanations"]

KINDS = ("equivalent", "looser", "unreached")
"""The same numbers; what refuses or proves less; nothing that a claim speaks of."""

_KEYS = {"id", "where", "kind", "reason"}


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a mutant is no false formula.

    Attributes
    ----------
    kind : {"equivalent", "looser", "unreached"}
        Whether it computes the same; or is stricter, so that it refuses or proves less and what it
        proves is still true; or whether it stands in what no statement of a claim speaks of.
    where : str
        File, function and change, for a reader; the id decides.
    reason : str
        What a reader can check.
    """

    kind: str
    where: str
    reason: str


def explanations(file: Path, ids: Collection[str]) -> Mapping[str, Explanation]:
    """Read the explanations, by the ids of their mutants.

    Parameters
    ----------
    file : Path
        A TOML file with a table ``[[mutant]]`` for each.
    ids : collection of str
        The ids of all mutants that there are.

    Raises
    ------
    ValueError
        If an entry is stale, stands there twice, or lacks a key.
    """
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    found: dict[str, Explanation] = {}
    for entry in read.get("mutant", []):
        if set(entry) != _KEYS or not all(isinstance(v, str) and v for v in entry.values()):
            raise ValueError(f"explained={entry.get('id')}: needs the texts {sorted(_KEYS)}")
        id_ = entry.pop("id")
        if entry["kind"] not in KINDS:
            raise ValueError(f"explained={id_}: kind={entry['kind']}: must be one of {KINDS}")
        if id_ in found:
            raise ValueError(f"explained={id_}: stands there twice; keep one")
        if id_ not in ids:
            raise ValueError(f"explained={id_}: no file has this mutant any more; take it out")
        found[id_] = Explanation(**entry)
    return found
