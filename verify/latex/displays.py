r"""Formulas in displays of their own, broken into lines that fit the text of an article.

A line ends before a sign or a relation that stands outside all brackets, and the lines that
follow start below the right-hand side. Only amsmath is needed.
"""

from __future__ import annotations

import re
import textwrap

from verify.latex.width import width

__all__ = ["LINE", "display", "source_lines"]

LINE = 300.0
"""Points that a line may take of the 345 in an article's text: the rest is the number's."""

_ROWS_ON_ONE_PAGE = 16
_SOURCE_WIDTH = 88

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")
_OPENING = {"{", "(", "[", r"\{", r"\langle", r"\left"}
_CLOSING = {"}", ")", "]", r"\}", r"\rangle", r"\right"}
_SIGNS = {"+", "-"}
_RELATIONS = {
    *("=", "<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\notin", r"\to", r"\mapsto", r"\approx"),
}
_NO_OPERAND = _OPENING | _SIGNS | _RELATIONS | {",", ";", ":", r"\cdot", r"\quad", r"\qquad"}


def display(math: str, *, label: str | None = None) -> list[str]:
    """Return the source lines of a display.

    Parameters
    ----------
    math : str
        The formula with its punctuation, in math mode, on one line.
    label : str, optional
        The display is numbered and carries this label; without it, it has no number.

    Returns
    -------
    list of str
        An ``equation``; for a formula of several lines a ``split`` inside it; for one that is
        longer than half a page an ``align`` that may break over pages.
    """
    rows = _rows(math)
    star = "*" if label is None else ""
    tag = [] if label is None else [rf"\label{{{label}}}"]
    if len(rows) == 1:
        return _environment(f"equation{star}", [*tag, *source_lines(rows[0])])
    if len(rows) <= _ROWS_ON_ONE_PAGE:
        return _environment(f"equation{star}", [*tag, *_environment("split", _ended(rows))])
    unnumbered = "" if label is None else r" \notag"
    body = [*_ended(rows, unnumbered), *tag]
    return [r"\begingroup", r"\allowdisplaybreaks", *_environment(f"align{star}", body)] + [
        r"\endgroup"
    ]


def source_lines(text: str) -> list[str]:
    """Return `text` in lines of the source; TeX does not see where they end."""
    return textwrap.wrap(
        text, _SOURCE_WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=""
    )


def _environment(name: str, body: list[str]) -> list[str]:
    return [rf"\begin{{{name}}}", *(f"  {line}" for line in body), rf"\end{{{name}}}"]


def _ended(rows: list[str], before: str = "") -> list[str]:
    """Return the source lines of rows, each row but the last ended."""
    ended = [rf"{row}{before} \\" for row in rows[:-1]]
    return [line for row in (*ended, rows[-1]) for line in source_lines(row)]


def _rows(math: str) -> list[str]:
    """Return the rows of a display: one, or several with a mark where they are aligned."""
    if width(math) <= LINE:
        return [math]
    relation, cuts = _breaks(math)
    lead = math[:relation].rstrip()
    ends = [*(cut for cut in cuts if cut > relation), len(math)]
    starts = [relation, *ends[:-1]]
    pieces = [math[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    room = LINE - width(lead)
    if room < LINE / 2:
        # A left-hand side this long would push all else to the right margin.
        indent = r"\qquad"
        lines = _filled(pieces, LINE - width(indent))
        return [f"& {lead}", *(rf"& {indent} {line}" for line in lines)]
    first, *others = _filled(pieces, room)
    return [f"{lead} {{}} & {first}".lstrip(), *(f"& {line}" for line in others)]


def _filled(pieces: list[str], room: float) -> list[str]:
    """Join pieces into as few lines as fit."""
    lines = [pieces[0]]
    for piece in pieces[1:]:
        joined = f"{lines[-1]} {piece}"
        if width(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(piece)
    return lines


def _breaks(math: str) -> tuple[int, list[int]]:
    """Return where the right-hand side starts, and where a line may start.

    The right-hand side starts behind the first relation outside all brackets, or at 0. A line may
    start with a sign that joins two terms, or with a further relation.
    """
    right_hand_side = 0
    cuts = []
    depth, in_bars, after_operand = 0, False, False
    for match in _TOKEN.finditer(math):
        token = match[0]
        depth += (token in _OPENING) - (token in _CLOSING)
        in_bars ^= token == "|"
        if depth == 0 and not in_bars:
            if token in _RELATIONS and right_hand_side == 0:
                right_hand_side = match.end()
            elif token in _RELATIONS or (token in _SIGNS and after_operand):
                cuts.append(match.start())
        after_operand = token not in _NO_OPERAND
    return right_hand_side, cuts
