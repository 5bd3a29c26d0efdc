"""How wide a formula is once TeX has set it: near enough to decide where it has to break.

The widths are those of Computer Modern at 10 points in display style, each rounded up and with
the spaces around operators counted in, so that an estimate is an upper bound for the formulas of
this project. At 11 and 12 points both the glyphs and the lines of an article grow.
"""

from __future__ import annotations

import re
from collections import deque

__all__ = ["width"]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S")

_SCRIPT = 0.75  # glyphs of 7 points are wider than seven tenths of those of 10 points
_BAR = 4.0
_RADICAL = 10.0
_PARENTHESES = 16.0

_LOWER, _UPPER, _DIGIT, _PARENTHESIS, _COMMAND = 6.0, 8.5, 5.0, 4.0, 7.5
_LETTER_OF_A_NAME, _AROUND_A_NAME = 5.6, 3.4
_RELATION, _OPERATOR = 13.4, 12.3

_NAMES = {
    rf"\{name}" for name in ("arg", "cosh", "exp", "lim", "log", "max", "min", "Pr", "sinh", "sup")
}
_LIMITS = {r"\sum", r"\prod", r"\lim", r"\max", r"\min", r"\sup", r"\Pr"}
"""In a display these carry their scripts above and below, not beside."""

_DRESSINGS = {r"\bar", r"\mathbb", r"\mathcal", r"\mathrm", r"\operatorname", r"\text", r"\tilde"}
"""Commands whose argument is as wide as without them."""

_GLYPHS = {
    **dict.fromkeys(("+", "-", r"\pm"), _OPERATOR),
    **dict.fromkeys(("=", "<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\notin", r"\to"), _RELATION),
    **dict.fromkeys(("(", ")", "[", "]", r"\{", r"\}", "|", "/", r"\langle"), _PARENTHESIS),
    r"\rangle": 6.0,  # with the thin space before a product's next factor
    **dict.fromkeys((r"\left", r"\right", r"\bigl", r"\bigr"), 4.5),
    **dict.fromkeys((",", ";", ":"), 4.6),
    **dict.fromkeys((".", "'"), 3.0),
    r"\cdot": 7.3,
    r"\sum": 18.0,
    r"\prod": 16.5,
    r"\dots": 13.5,
    r"\ldots": 13.5,
    r"\,": 1.7,
    r"\;": 2.8,
    r"\quad": 10.0,
    r"\qquad": 20.0,
}


def width(math: str) -> float:
    """Return an upper estimate of the width in points of `math`, set at 10 points."""
    return _sequence(deque(_TOKEN.findall(math)))


def _sequence(tokens: deque[str]) -> float:
    """Consume tokens up to the end or to the brace that closes a group; return their width."""
    total = 0.0
    while tokens:
        token = tokens.popleft()
        if token == "}":
            break
        nucleus = _atom(token, tokens)
        scripts = 0.0
        while tokens and tokens[0] in {"^", "_"}:
            tokens.popleft()
            scripts = max(scripts, _SCRIPT * _argument(tokens))
        total += max(nucleus, scripts) if token in _LIMITS else nucleus + scripts
    return total


def _argument(tokens: deque[str]) -> float:
    return _atom(tokens.popleft(), tokens) if tokens else 0.0


def _atom(token: str, tokens: deque[str]) -> float:
    """Return the width of what `token` begins; its arguments are consumed."""
    if token == "{":
        return _sequence(tokens)
    if token == r"\frac":
        return max(_argument(tokens), _argument(tokens)) + _BAR
    if token == r"\binom":
        return max(_argument(tokens), _argument(tokens)) + _PARENTHESES
    if token == r"\sqrt":
        return _argument(tokens) + _RADICAL
    if token in _DRESSINGS:
        return _argument(tokens)
    if token in _NAMES:
        return _LETTER_OF_A_NAME * len(token.removeprefix("\\")) + _AROUND_A_NAME
    return _GLYPHS.get(token) or _letter(token)


def _letter(token: str) -> float:
    if token.startswith("\\"):
        return _COMMAND
    if token.isdigit():
        return _DIGIT
    return _UPPER if token.isupper() else _LOWER
