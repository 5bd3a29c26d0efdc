"""Docstrings as they are written here, plain prose with backticks, made safe for reStructuredText.

In a formula of a docstring |v| is no substitution, a * b no emphasis and x_ no reference; an
indented block before the first section is a formula, whose lines stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from sphinx.application import Sphinx

_BEFORE_NAPOLEON = 400
_QUOTED = re.compile(r"(``.*?``|`[^`]*`)", flags=re.DOTALL)
_MARKUP = re.compile(r"[|*\\]|(?<=\w)_(?!\w)")
_UNDERLINE = re.compile(r"-{3,}$")


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite every docstring before its sections are read."""
    app.connect("autodoc-process-docstring", _rewrite, priority=_BEFORE_NAPOLEON)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rewrite(
    _app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    # Napoleon takes what stands before a colon, in the first line about a value, for its type; an
    # empty comment in that place is invisible.
    first = ["..", ""] if what in {"attribute", "data", "property"} else []
    lines[:] = [*first, *_safe(lines)]


def _safe(lines: Sequence[str]) -> Iterator[str]:
    in_sections = announced = False
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        paragraph = list(group)
        in_sections = in_sections or any(_UNDERLINE.match(line) for line in paragraph)
        if blank:
            yield from paragraph
        elif not in_sections and all(line.startswith("    ") for line in paragraph):
            yield from [*([] if announced else ["::", ""]), *paragraph]
            announced = True  # paragraphs of one block
        else:
            yield from _escaped("\n".join(paragraph)).split("\n")
            announced = paragraph[-1].endswith("::")


def _escaped(text: str) -> str:
    parts = _QUOTED.split(text)
    return "".join(
        part if number % 2 else _MARKUP.sub(r"\\\g<0>", part) for number, part in enumerate(parts)
    )
