"""What each derivation consists of, in short: known without deriving it, which takes seconds.

``outline.json`` beside this file holds it; ``python -m derivations.outline`` writes that file
again when a derivation has changed, and a test says when it is due.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derivations.proof.ledger import Derivation

__all__ = ["Outline", "outline_of", "outlines"]

_FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A derivation in short.

    Attributes
    ----------
    source : str
        The statement of the paper it belongs to, or "ours".
    steps : mapping of str to int
        How many steps are decided how: by the values of `derivations.proof.ledger.Method`, which
        are left out where there is no such step.
    lemmas : mapping of str to str
        The lemmas that steps rest on, by name, with their sources.
    obligations : tuple of str
        Names of the signs that steps leave to ball arithmetic.
    """

    source: str
    steps: Mapping[str, int]
    lemmas: Mapping[str, str]
    obligations: tuple[str, ...]


def outline_of(derivation: Derivation) -> Outline:
    """Return a derivation in short."""
    from derivations.proof.ledger import Method

    counts = Counter(step.method for step in derivation.steps)
    return Outline(
        source=derivation.source,
        steps={method.value: counts[method] for method in Method if counts[method]},
        lemmas={lemma.name: lemma.source for step in derivation.steps for lemma in step.lemmas},
        obligations=tuple(dict.fromkeys(each.name for each in derivation.obligations)),
    )


@cache
def outlines() -> Mapping[str, Outline]:
    """Return all derivations in short, by name, as they were when they were written down."""
    written = json.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: Outline(**{**fields, "obligations": tuple(fields["obligations"])})
        for name, fields in written.items()
    }


def _write() -> None:
    from derivations.catalogue import load, names

    current = {name: asdict(outline_of(load(name))) for name in names()}
    text = json.dumps(current, indent=2, ensure_ascii=False) + "\n"
    _FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
