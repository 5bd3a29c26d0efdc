"""A results.json read back: strictly, and without what varies from run to run.

Two runs of one seed write the same bytes, but for the seconds that things took and the environment
they ran in. Both have one place each; entries of these names elsewhere count like all others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from numerics.arguments import InvalidArgumentError
from verify.claim import Grade
from verify.files.strict_json import read_json
from verify.report import FILES

__all__ = ["RecordedClaim", "RecordedRun", "canonical", "load_results"]

# Where a document holds what may differ between two runs of the same: when, and how long.
_OF_A_RUN, _OF_A_CLAIM = "environment", "seconds"

_Kinds: TypeAlias = Mapping[str, type | tuple[type, ...]]

_RUN: _Kinds = {"version": str, "seed": int, "profile": str, "environment": dict, "claims": list}
_CLAIM: _Kinds = {
    "id": str,
    "title": str,
    "source": str,
    "stance": str,
    "verdict": str,
    "evidence": list,
    "seconds": (int, float),
}
_EVIDENCE: _Kinds = {
    "cell": str,
    "subject": str,
    "method": str,
    "grade": str,
    "computed": str,
    "claimed": str,
}
# What a piece of evidence need not have.
_OPTIONAL: _Kinds = {
    "margin": (int, float),
    "precision": str,
    "seed": int,
    "trials": int,
    "met": int,
    "reason": str,
}
_GRADES = frozenset(map(str, Grade))
_STANCES = frozenset({"asserted", "disputed"})
_LONGEST = 1e12  # seconds


@dataclass(frozen=True)
class RecordedClaim:
    """What a run recorded of a claim.

    Parameters
    ----------
    entries : mapping
        All entries but the id, the evidence and what varies; those that a later version added too.
    cells : mapping
        The entries of each piece of evidence, by the name of its cell.
    seconds : float
        How long the cells took together.
    """

    entries: Mapping[str, Any]
    cells: Mapping[str, Mapping[str, Any]]
    seconds: float


@dataclass(frozen=True)
class RecordedRun:
    """What a run recorded.

    Parameters
    ----------
    entries : mapping
        Version, seed, profile, and what a later version added, but for what varies.
    claims : mapping
        The claims by their id.
    environment : mapping
        What it was computed with.
    text : str
        The document but for what varies, every number as it is written. Two of these texts are the
        same if the documents are, the order of entries included.
    """

    entries: Mapping[str, Any]
    claims: Mapping[str, RecordedClaim]
    environment: Mapping[str, Any]
    text: str


def canonical(document: object) -> bytes:
    """Return a JSON document without what varies from run to run, in the form it is written in.

    What varies is the entry ``environment`` of the document, and the entry ``seconds`` of each of
    its ``claims``. Any document of this toolkit can be compared in this form: those that are no
    results of a run have no such entries. The order of entries is kept, as it depends on nothing.

    Parameters
    ----------
    document : object
        What ``--json`` prints, or what results.json holds.

    Returns
    -------
    bytes
        UTF-8.
    """
    text = json.dumps(_constant(document), indent=2, allow_nan=False, ensure_ascii=False)
    return (text + "\n").encode()


def load_results(what: str, path: Path) -> RecordedRun:
    """Read the results of a run.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        A results.json, under any name, or a folder that holds one. Entries that are not known here
        are kept: later versions add some.

    Raises
    ------
    InvalidArgumentError
        As `verify.files.strict_json.read_json`; or if the document is not what ``run`` writes.
    """
    # Path.is_dir fails where a name is too long.
    file = path / FILES[0] if os.path.isdir(path) else path
    document = read_json(what, file, FILES[0])
    try:
        return _read_run(document)
    except _ForeignError as foreign:
        reason = f"unreadable {FILES[0]}: not what run writes: {foreign}"
        raise InvalidArgumentError(what, file, reason) from None


class _ForeignError(Exception):
    """The document is not what ``run`` writes, and why."""


def _constant(document: Any) -> Any:
    """Return a document without the entries that vary."""
    if not isinstance(document, dict):
        return document
    constant = _without(document, _OF_A_RUN)
    claims = constant.get("claims")
    if isinstance(claims, list):
        constant["claims"] = [
            _without(claim, _OF_A_CLAIM) if isinstance(claim, dict) else claim for claim in claims
        ]
    return constant


def _without(entries: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in entries.items() if name not in names}


def _read_run(document: Any) -> RecordedRun:
    _check("the document", document, _RUN)
    claims: dict[str, RecordedClaim] = {}
    for each in document["claims"]:
        _check(f"claim {len(claims)}", each, _CLAIM)
        if each["id"] in claims:
            raise _ForeignError(f"the claim {each['id'][:60]!r} is there twice")
        claims[each["id"]] = _read_claim(each)
    entries = _without(document, _OF_A_RUN, "claims")
    # Python's own text tells lists, objects, texts and numbers apart as well as JSON would.
    return RecordedRun(entries, claims, document[_OF_A_RUN], repr(_constant(document)))


def _read_claim(claim: Mapping[str, Any]) -> RecordedClaim:
    where = f"claim {claim['id'][:60]!r}"
    _among(where, "stance", claim["stance"], _STANCES)
    _among(where, "verdict", claim["verdict"], _GRADES)
    cells: dict[str, Mapping[str, Any]] = {}
    for piece in claim["evidence"]:
        _check(f"evidence {len(cells)} of {where}", piece, _EVIDENCE, _OPTIONAL)
        name = piece["cell"]
        _among(f"cell {name[:60]!r} of {where}", "grade", piece["grade"], _GRADES)
        if name in cells:
            raise _ForeignError(f"the cell {name[:60]!r} of {where} is there twice")
        cells[name] = _without(piece, "cell")
    if not 0 <= claim["seconds"] <= _LONGEST:
        raise _ForeignError(f"the seconds of {where} are no duration")
    entries = _without(claim, "id", "evidence", _OF_A_CLAIM)
    return RecordedClaim(entries, cells, float(claim["seconds"]))


def _check(
    where: str,
    found: object,
    required: _Kinds,
    optional: _Kinds = MappingProxyType({}),
) -> None:
    """Refuse what is no object, or lacks an entry, or has one of the wrong kind."""
    if not isinstance(found, dict):
        raise _ForeignError(f"{where} is no object")
    for name, kind in {**required, **optional}.items():
        if name not in found:
            if name in required:
                raise _ForeignError(f"{where} has no entry {name!r}")
        # true and false are integers to Python, and to nobody else.
        elif not isinstance(found[name], kind) or isinstance(found[name], bool):
            raise _ForeignError(f"the entry {name!r} of {where} is of the wrong kind")


def _among(where: str, name: str, value: str, known: frozenset[str]) -> None:
    if value not in known:
        raise _ForeignError(f"the {name} of {where} is none of {', '.join(sorted(known))}")
