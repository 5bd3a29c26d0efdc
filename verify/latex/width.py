"""How wide a formula is once TeX has set it: near enough to decide where it has to break.

The widths are those of Computer Modern at 10 points in display style, each rounded up and with
the spaces around operators counted in, so that an estimate is an upper bound for the formulas of
this project. At 11 and 12 points both the glyphs and the lines of an article grow.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from functools import cache

__all__ = ["MARK", "width"]

MARK = re.compile(r"\\[A-Za-z]+|\\.|\S")
"""What TeX reads as one token in math mode: a command or a character; spaces do not count."""

_TEXT = re.compile(r"\\text\{[^{}]*\}")
_STACKED = {r"\frac": 4.0, r"\binom": 16.0}
_RADICAL = 10.0
_LETTER_OF_A_NAME, _AROUND_A_NAME = 5.6, 3.4

_NAMES = {
    rf"\{name}"
    for name in (
        "arctan",
        "arg",
        "cos",
        "cosh",
        "exp",
        "lim",
        "ln",
        "log",
        "max",
        "min",
        "Pr",
        "sin",
        "sinh",
        "sup",
        "tanh",
    )
}
_LIMITS = {r"\sum", r"\prod", r"\lim", r"\max", r"\min", r"\sup", r"\Pr"}
"""In a display these carry their scripts above and below, not beside."""

_DRESSINGS = {
    *(r"\bar", r"\hat", r"\tilde", r"\vec", r"\widehat", r"\widetilde"),
    *(r"\boldsymbol", r"\mathbb", r"\mathbf", r"\mathcal", r"\mathfrak", r"\mathit", r"\mathrm"),
    *(r"\mathsf", r"\operatorname", r"\text"),
}
"""Commands whose argument is as wide as without them."""

_GLYPHS = {
    **dict.fromkeys("ijlt", 4.2),
    **dict.fromkeys("bceqrsz", 4.8),
    **dict.fromkeys("mw", 8.8),
    **dict.fromkeys(("+", "-", r"\pm"), 12.3),
    **dict.fromkeys(("=", "<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\notin"), 13.4),
    **dict.fromkeys((r"\to", r"\mapsto", r"\Rightarrow", r"\leftrightarrow"), 15.6),
    **dict.fromkeys(("(", ")", "[", "]", "|", r"\langle", r"\rangle"), 3.9),
    **dict.fromkeys((r"\{", r"\}", "/"), 5.1),
    **dict.fromkeys((r"\left", r"\right", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr"), 4.5),
    **dict.fromkeys((",", ";", ":"), 4.6),
    **dict.fromkeys((".", "'"), 3.0),
    r"\cdot": 7.3,
    r"\infty": 10.1,
    r"\sum": 16.2,  # with the thin space before what is summed
    r"\prod": 14.6,
    r"\dots": 13.5,
    r"\ldots": 13.5,
    r"\,": 1.7,
    r"\;": 2.8,
    r"\quad": 10.0,
    r"\qquad": 20.0,
}
# In scripts there are no spaces around operators and relations.
_GLYPHS_OF_SCRIPTS = {**_GLYPHS, **dict.fromkeys("+-=<>", 7.8), **dict.fromkeys(",;:", 2.8)}
_LOWER, _UPPER, _DIGIT, _COMMAND = 6.0, 8.8, 5.1, 7.5


@cache
def width(math: str) -> float:
    """Return an upper estimate of the width in points of `math`, set at 10 points."""
    return _sequence(deque(MARK.findall(_TEXT.sub(_spaced, math))), _GLYPHS)


def _spaced(text: re.Match[str]) -> str:
    """Return words with spaces that count, about as wide as TeX sets them."""
    return text[0].replace(" ", r"\;\,")


def _sequence(marks: deque[str], glyphs: Mapping[str, float]) -> float:
    """Consume marks up to the end or to the brace that closes a group; return their width."""
    total = 0.0
    while marks:
        mark = marks.popleft()
        if mark == "}":
            break
        nucleus = _atom(mark, marks, glyphs)
        scripts = 0.0
        while marks and marks[0] in {"^", "_"}:
            marks.popleft()
            # Glyphs of 7 points are wider than seven tenths of those of 10; half a point follows.
            scripts = max(scripts, 0.8 * _argument(marks, _GLYPHS_OF_SCRIPTS) + 0.5)
        total += max(nucleus, scripts) if mark in _LIMITS else nucleus + scripts
    return total


def _argument(marks: deque[str], glyphs: Mapping[str, float]) -> float:
    return _atom(marks.popleft(), marks, glyphs) if marks else 0.0


def _atom(mark: str, marks: deque[str], glyphs: Mapping[str, float]) -> float:
    """Return the width of what `mark` begins; its arguments are consumed."""
    if mark == "{":
        return _sequence(marks, glyphs)
    if mark in _STACKED:
        widest = max(_argument(marks, glyphs), _argument(marks, glyphs))
        # In a script, what is stacked goes down to 5 points.
        return (0.8 if glyphs is _GLYPHS_OF_SCRIPTS else 1.0) * widest + _STACKED[mark]
    if mark == r"\sqrt":
        return _argument(marks, glyphs) + _RADICAL
    if mark in _DRESSINGS:
        return _argument(marks, glyphs)
    if mark in _NAMES:
        return _LETTER_OF_A_NAME * len(mark.removeprefix("\\")) + _AROUND_A_NAME
    return glyphs[mark] if mark in glyphs else _other(mark)


def _other(mark: str) -> float:
    if mark.startswith("\\"):
        return _COMMAND
    if mark.isdigit():
        return _DIGIT
    return _UPPER if mark.isupper() else _LOWER
