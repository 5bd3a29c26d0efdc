r"""Formulas in displays of their own, broken into lines that fit the text of an article.

A line ends before a sign or a relation that stands outside all brackets, and the lines that
follow start below the right-hand side. Only amsmath is needed.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable

from verify.latex.width import MARK, width

__all__ = ["LINE", "display", "paragraph", "rows"]

LINE = 300.0
"""Points that a line may take of the 345 in an article's text: the rest is the number's."""

# Below the left-hand side only the last line carries the number. In an article at 12 points,
# whose text is 390 points wide, such a line is 390 points wide as well.
_LINE_BELOW = 325.0
_INDENT = r"\quad"
_MOST_LINES_KEPT_TOGETHER = 10
_COLUMNS = 88

_OPENING = {"{", "(", "[", r"\{", r"\langle", r"\left"}
_CLOSING = {"}", ")", "]", r"\}", r"\rangle", r"\right"}
_SIGNS = {"+", "-"}
_RELATIONS = {"=", "<", ">", r"\approx", r"\ge", r"\in", r"\le", r"\ne", r"\notin", r"\to"}
_NO_OPERAND = {*_OPENING, *_SIGNS, *_RELATIONS, ",", ";", ":", r"\cdot", r"\quad", r"\qquad"}


def display(formula: str, *, label: str | None = None) -> list[str]:
    """Return the source lines of a display.

    Parameters
    ----------
    formula : str
        The formula with its punctuation, for math mode, on one line.
    label : str, optional
        The display is numbered and carries this label; without it, it has no number.

    Returns
    -------
    list of str
        An ``equation``; for a formula of several lines a ``split`` inside it; for one of many
        lines, or with a long left-hand side, an ``align`` that may break over pages.
    """
    star = "*" if label is None else ""
    tag = [] if label is None else [rf"\label{{{label}}}"]
    lines = rows(formula)
    if len(lines) == 1:
        return _environment(f"equation{star}", [*tag, *_source(lines[0])])
    if not lines[0][0].startswith("&"):
        return _environment(
            f"equation{star}", [*tag, *_environment("split", _ended(lines, r" \\"))]
        )
    end = r" \\" if label is None else r" \notag \\"
    return [
        r"\begingroup",
        r"\allowdisplaybreaks",
        *_environment(f"align{star}", [*_ended(lines, end), *tag]),
        r"\endgroup",
    ]


def rows(formula: str) -> list[list[str]]:
    """Return the lines of a display, each in pieces; several have marks ``&`` to be aligned at.

    They are aligned at the right-hand side; or, if there are many or the left-hand side is long,
    below it: then every line starts with the mark, and the first is the left-hand side alone.
    """
    lead, pieces = _cut(formula)
    if width(formula) <= LINE:
        return [[f"{lead} {pieces[0]}".lstrip(), *pieces[1:]]]
    room = LINE - width(lead)
    lines = _filled(pieces, room, _points)
    if room < LINE / 2 or len(lines) > _MOST_LINES_KEPT_TOGETHER:
        # Beside a long left-hand side the lines would be short, and a long formula has many.
        lines = _balanced(_filled(pieces, _LINE_BELOW - width(_INDENT), _points))
        left_hand_side = [[f"& {lead}"]] if lead else []
        return [
            *left_hand_side,
            *([f"& {_INDENT} {first}", *rest] for first, *rest in lines),
        ]
    (first, *rest), *others = _balanced(lines)
    return [
        [f"{lead} {{}} & {first}".lstrip(), *rest],
        *([f"& {first}", *rest] for first, *rest in others),
    ]


def paragraph(prose: str) -> list[str]:
    """Return the source lines of prose with math between dollars, which no line cuts apart."""
    glued = re.sub(r"\$[^$]*\$", lambda found: found[0].replace(" ", "\0"), prose.strip())
    lines = textwrap.wrap(glued, _COLUMNS, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def _environment(name: str, body: list[str]) -> list[str]:
    return [rf"\begin{{{name}}}", *(f"  {line}" for line in body), rf"\end{{{name}}}"]


def _ended(lines: list[list[str]], end: str) -> list[str]:
    """Return the source of the lines of a display, with `end` behind each but the last."""
    sources = [_source(line) for line in lines]
    for source in sources[:-1]:
        source[-1] += end
    return [line for source in sources for line in source]


def _source(line: list[str]) -> list[str]:
    parts = _filled(line, _COLUMNS, lambda pieces: len(" ".join(pieces)))
    return [" ".join(part) for part in parts]


def _points(pieces: list[str]) -> float:
    return sum(map(width, pieces))


def _filled(
    pieces: list[str], room: float, measure: Callable[[list[str]], float]
) -> list[list[str]]:
    """Distribute pieces over as few lines as hold them in order."""
    lines = [[pieces[0]]]
    for piece in pieces[1:]:
        if measure([*lines[-1], piece]) <= room:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return lines


def _balanced(lines: list[list[str]]) -> list[list[str]]:
    """Return the same pieces in as many lines, the widest of them as narrow as can be."""
    pieces = [piece for line in lines for piece in line]
    widest = max(map(_points, lines))
    while True:
        narrower = _filled(pieces, math.nextafter(widest, 0), _points)
        width_of_narrower = max(map(_points, narrower))
        if len(narrower) > len(lines) or width_of_narrower >= widest:
            return lines
        lines, widest = narrower, width_of_narrower


def _cut(formula: str) -> tuple[str, list[str]]:
    """Return the left-hand side with its relation, and the pieces at which a line may start.

    The left-hand side ends with the first relation outside all brackets; without one it is empty.
    A piece starts with a sign that joins two terms, or with a further relation.
    """
    start = 0
    cuts = []
    depth, in_bars, after_operand = 0, False, False
    for found in MARK.finditer(formula):
        mark = found[0]
        depth += (mark in _OPENING) - (mark in _CLOSING)
        in_bars ^= mark == "|"
        if depth == 0 and not in_bars:
            if mark in _RELATIONS and start == 0:
                start = found.end()
                cuts = [start]
            elif mark in _RELATIONS or (mark in _SIGNS and after_operand):
                cuts.append(found.start())
        after_operand = mark not in _NO_OPERAND
    if start == 0:
        cuts.insert(0, 0)
    pieces = [formula[i:j].strip() for i, j in zip(cuts, [*cuts[1:], len(formula)], strict=True)]
    return formula[:start].strip(), pieces
