r"""The statement of a step as one numbered display, whatever it is made of.

A statement is written for math mode on one line: formulas with ``\quad`` between them, conditions
in ``\text``, a long right-hand side in ``aligned``. Here it is taken apart and laid out anew, so
that every line fits the text of an article.
"""

from __future__ import annotations

import re

from verify.latex.displays import LINE, display, rows
from verify.latex.width import MARK, width

__all__ = ["flat", "laid_out", "listed"]

_OPENING = {"{", "(", "[", r"\{", r"\langle", r"\left"}
_CLOSING = {"}", ")", "]", r"\}", r"\rangle", r"\right"}
_MOST_ROWS_KEPT_TOGETHER = 10
_DEEPEST = 3
_INDENT = r"\quad"
_WIDEST = LINE + width(_INDENT)

# Where a statement is taken apart, the next kind only if its line would still be too wide.
_SPACES = (r"\quad", r"\qquad", r"\\")
_WORDS = (r"\text", r"\Rightarrow")
_COMMAS = (",", ";")


def laid_out(statement: str, *, label: str = "", tag: str = "") -> list[str]:
    """Return the source lines of a display.

    Parameters
    ----------
    statement : str
        LaTeX for math mode, with its punctuation.
    label : str, optional
        The display is numbered and carries this label; without it, it has no number.
    tag : str, optional
        What stands in the place of the number.
    """
    lines = _lines(flat(statement))
    if len(lines) == 1 and len(lines[0]) == 1 and not tag:
        return display(lines[0][0], label=label or None)
    name = "equation" if label else "equation*"
    marks = [*([rf"\tag{{{tag}}}"] if tag else []), *([rf"\label{{{label}}}"] if label else [])]
    if sum(map(len, lines)) > _MOST_ROWS_KEPT_TOGETHER:
        star = name.removeprefix("equation")
        end = r" \\" if star else r" \notag \\"
        flush = [row for line in lines for row in _flush(line)]
        return [
            r"\begingroup",
            r"\allowdisplaybreaks",
            rf"\begin{{align{star}}}",
            *(f"  {row}{end}" for row in flush[:-1]),
            *(f"  {each}" for each in (flush[-1], *marks)),
            rf"\end{{align{star}}}",
            r"\endgroup",
        ]
    body = [row for line in lines for row in _block(line)]
    if len(lines) > 1:
        blocks = [_block(line) for line in lines]
        for block in blocks[:-1]:
            block[-1] += r" \\"
        inner = [f"  {row}" for block in blocks for row in block]
        body = [r"\begin{gathered}", *inner, r"\end{gathered}"]
    return [rf"\begin{{{name}}}", *(f"  {each}" for each in (*marks, *body)), rf"\end{{{name}}}"]


def listed(formulas: list[str]) -> list[str]:
    """Return a display without a number of many formulas, several on a line where they fit."""
    return laid_out(r", \quad ".join(formulas) + ".")


def flat(statement: str) -> str:
    """Return a statement without the alignment it was written with."""
    inside = re.sub(
        r"\\begin\{aligned\}(.*?)\\end\{aligned\}",
        lambda found: re.sub(r"\\\\|(?<!\\)&", " ", found[1]),
        statement,
        flags=re.DOTALL,
    )
    # Braces that SymPy puts into bars; without them the bars can be opened.
    return re.sub(r"\\left\|\{(.*?)\}\\right\|", r"\\left| \1 \\right|", " ".join(inside.split()))


def _lines(statement: str) -> list[list[str]]:
    """Return the lines; each is one row, or the rows of a formula that has to be broken."""
    lines: list[list[str]] = []
    for part in _filled(_parts(statement, _SPACES), r" \quad "):
        for clause in _filled(_parts_if_wide(part, _WORDS), " "):
            broken = [" ".join(row) for row in rows(clause)]
            if width(clause) <= LINE:
                lines.append([clause])
            elif len(broken) > 1 and all(width(row) <= _WIDEST for row in broken):
                lines.append(broken)
            else:
                pieces = _filled(_parts(clause, _COMMAS), " ")
                lines += [[each] if width(each) <= LINE else _rows(each) for each in pieces]
    return lines


def _parts_if_wide(part: str, marks: tuple[str, ...]) -> list[str]:
    return _parts(part, marks) if width(part) > LINE else [part]


def _rows(formula: str) -> list[str]:
    """Return the rows of a formula, broken inside brackets where nothing else helps."""
    broken: list[str] = []
    for row in (" ".join(pieces) for pieces in rows(formula)):
        if width(row) <= _WIDEST:
            broken.append(row)
            continue
        left, _, right = row.rpartition("& ")
        start, room = f"{left}& ", LINE - width(_INDENT)
        if left and (width(right) <= room or width(left) > LINE / 2):
            broken.append(f"& {left.removesuffix('{} ')}")
            start = rf"& {_INDENT} "
        first, *others = _inside(right, room - width(start))
        broken += [f"{start}{first}", *(rf"& {_INDENT} {each}" for each in others)]
    if len(broken) == 1:
        return [broken[0].replace("{} & ", "", 1).removeprefix("& ")]
    return broken


def _inside(formula: str, room: float) -> list[str]:
    """Break a formula inside its brackets, no deeper than is needed to fit the room."""
    lines = [_of_fixed_size(formula)] if width(formula) > room else [formula]
    for depth in range(1, _DEEPEST + 1):
        pieces = [each for line in lines for each in _pieces_inside(line, depth, room)]
        lines = _filled(pieces, " ", room)
        if all(width(line) <= room for line in lines):
            break
    return lines


def _of_fixed_size(formula: str) -> str:
    """Return a formula with brackets that do not grow: TeX wants those that do on one line."""
    depth, fixed, end = 0, "", 0
    for found in MARK.finditer(formula):
        mark = found[0]
        depth += (mark == "{") - (mark == "}")
        if depth == 0:
            mark = {r"\left": r"\Bigl", r"\right": r"\Bigr"}.get(mark, mark)
        fixed += formula[end : found.start()] + mark
        end = found.end()
    return fixed


def _pieces_inside(formula: str, depth: int, room: float) -> list[str]:
    """Cut a line that is too wide before the signs and behind the commas at a depth of brackets.

    What stands in braces is never cut.
    """
    if width(formula) <= room:
        return [formula]
    opened: list[str] = []
    cuts, after_operand = [0], False
    for found in MARK.finditer(formula):
        mark = found[0]
        may_cut = "{" not in opened and 0 < len(opened) <= depth
        if may_cut and mark in {"+", "-"} and after_operand:
            cuts.append(found.start())
        if may_cut and mark == ",":
            cuts.append(found.end())
        if mark in _OPENING - {r"\left"}:
            opened.append(mark)
        elif mark in _CLOSING - {r"\right"} and opened:
            opened.pop()
        after_operand = mark not in {*_OPENING, "+", "-", ",", "=", r"\cdot"}
    pieces = [formula[i:j] for i, j in zip(cuts, [*cuts[1:], len(formula)], strict=True)]
    return [piece.strip() for piece in pieces if piece.strip()]


def _parts(statement: str, breaks: tuple[str, ...]) -> list[str]:
    """Cut a statement at the marks that stand outside all brackets.

    A space is dropped; a comma ends the part before it; words start the part that follows, if they
    are a clause of their own and no name in the formula.
    """
    depth, start = 0, 0
    parts = []
    for found in MARK.finditer(statement):
        mark = found[0]
        is_name = mark == r"\text" and not statement.startswith("{ ", found.end())
        if depth == 0 and mark in breaks and not is_name:
            end = found.end() if mark in {",", ";"} else found.start()
            parts.append(statement[start:end])
            start = end if mark in {",", ";", r"\text", r"\Rightarrow"} else found.end()
        depth += (mark in _OPENING) - (mark in _CLOSING)
    parts.append(statement[start:])
    return [part.strip() for part in parts if part.strip()]


def _filled(parts: list[str], between: str, room: float = LINE) -> list[str]:
    """Put parts side by side as long as they fit the room."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}{between}{part}" if lines else part
        if lines and width(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def _block(line: list[str]) -> list[str]:
    if len(line) == 1:
        return list(line)
    ended = [f"  {row} \\\\" for row in line[:-1]] + [f"  {line[-1]}"]
    return [r"\begin{aligned}", *ended, r"\end{aligned}"]


def _flush(line: list[str]) -> list[str]:
    """Return rows that are flush left, for a display that may break over pages."""
    first, *others = line
    first = first.replace("{} & ", "", 1).removeprefix("& ")
    return [f"& {first}", *(rf"& {_INDENT} {row.removeprefix('& ')}" for row in others)]
