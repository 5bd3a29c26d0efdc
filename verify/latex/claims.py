r"""A claim as a fragment: statement, stance, source, assumptions and what it rests on.

No theorem environment is used, so a paste works whatever the paper calls its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from verify.claim import ASSERTED, Claim
from verify.latex.displays import LINE, display, paragraph
from verify.latex.fragment import Fragment
from verify.latex.notation import OWN, Notation
from verify.latex.width import width

__all__ = ["claim_fragment", "escaped"]

# TeX cannot break every formula in a line of text; wider ones are displayed.
_WIDEST_INLINE = 0.45 * LINE

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    **{character: f"\\{character}" for character in "#$%&_{}"},
}


def claim_fragment(claim: Claim, notation: Notation = OWN) -> Fragment:
    """Return the fragment of a claim."""
    lines = [
        rf"\paragraph{{Claim {escaped(claim.id)}.}}",
        *_with_displays(notation.prose(claim.statement, claim.id)),
        r"\par\smallskip\noindent\begingroup\small\sloppy",
        *paragraph(notation.prose(" ".join(_remarks(claim)), claim.id)),
        r"\par\endgroup",
    ]
    return Fragment(name=claim.id, title=claim.title, source=claim.source, body="\n".join(lines))


def escaped(text: str) -> str:
    """Return plain text as LaTeX that prints it."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _with_displays(statement: str) -> list[str]:
    """Return a statement with its wide formulas displayed, each with the punctuation behind it."""
    lines: list[str] = []
    text, *rest = re.split(r"\$([^$]*)\$([.,;:]?)", statement)
    for math, mark, following in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if width(math) > _WIDEST_INLINE:
            lines += [*paragraph(text), *display(math + mark)]
            text = following
        else:
            text += f"${math}${mark}{following}"
    return [*lines, *paragraph(text)]


def _remarks(claim: Claim) -> list[str]:
    stance = (
        "Asserted"
        if claim.stance == ASSERTED
        else "Disputed (a literal wording that the evidence contradicts)"
    )
    remarks = [f"{stance}; source: {escaped(claim.source)}."]
    if claim.assumptions:
        each = [f"{escaped(one.name)} ({one.statement})" for one in claim.assumptions]
        remarks.append(f"Assumes {_enumerated(each)}.")
    if claim.dependencies:
        noun = "claim" if len(claim.dependencies) == 1 else "claims"
        remarks.append(f"Rests on the {noun} {_enumerated(map(escaped, claim.dependencies))}.")
    return remarks


def _enumerated(items: Iterable[str]) -> str:
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last
