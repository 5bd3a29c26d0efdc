"""JSON documents that others wrote: what could be read in two ways is refused.

The standard library takes the last of two entries of one name, and numbers that JSON does not have.
Both would make a comparison say something of a document that another reader does not see.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from numerics.arguments import InvalidArgumentError
from verify.files.reading import read_bytes

__all__ = ["WrittenFloat", "needed_bytes", "parse_json", "read_json"]

_LARGEST_FILE = 1 << 26  # 64 MiB; what this toolkit writes is a thousandth of it
_DEEPEST = 100  # levels; what this toolkit writes has ten, Python's stack a thousand
_LONGEST_INTEGER = 4300  # digits: as many as Python turns back into a text

# Bytes that a document takes while it is parsed, by what makes the values: as measured, rounded
# up, for lists of empty lists, of single ones, of short strings and numbers, objects of any size.
_STRUCTURE = {b"[": 112, b",": 80, b"{": 256, b":": 192}
# The text as bytes, decoded, in the strings of the document, and once more in a copy. A letter
# beyond ASCII, or its escape, can make every other one of its string take four bytes.
_ASCII, _ANY = 4, 16


class WrittenFloat(float):
    """A number that is not written as Python writes its binary64; its ``repr`` is as written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        """Return the number that a text of JSON stands for."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self) -> str:
        """Return the number as it is written."""
        return self.text


def read_json(what: str, path: Path, kind: str) -> Any:
    """Return the document in a file.

    Parameters
    ----------
    what : str
        The argument that named the file, for the refusal.
    path : Path
        Where it is.
    kind : str
        What it should be, for example ``results.json``.

    Returns
    -------
    Any
        The document; two numbers in it have the same ``repr`` if they are written alike.

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, is larger than 64 MiB, or holds anything but one JSON document
        in UTF-8 whose objects name each entry once, whose numbers are finite, whose integers have
        at most 4300 digits, and in which nothing is nested more than 100 levels deep.
    """
    try:
        return parse_json(read_bytes(path, most=_LARGEST_FILE), parse_float=_as_written)
    except OSError as failure:
        reason = failure.strerror or type(failure).__name__
    except ValueError as failure:
        reason = f"not a JSON document: {failure}"
    raise InvalidArgumentError(what, path, f"unreadable {kind}: {reason}") from None


def parse_json(text: bytes, *, parse_float: Callable[[str], float] = float) -> Any:
    """Return the one document in a text; a byte order mark may stand before it.

    Parameters
    ----------
    text : bytes
        UTF-8.
    parse_float : callable
        Makes a number of what is no integer, as it is written.

    Raises
    ------
    ValueError
        If the text is anything else, as `read_json` says.
    """

    def finite(number: str) -> float:
        value = parse_float(number)
        if not math.isfinite(value):
            raise ValueError(f"the number {number[:40]} is beyond binary64")
        return value

    try:
        document = json.loads(
            text.decode("utf-8-sig"),
            object_pairs_hook=_named_once,
            parse_float=finite,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _refuse_unwritable(document)
    return document


def needed_bytes(text: bytes) -> int:
    """Return an upper bound of the memory that it takes to parse a text, the text included."""
    a_character = _ASCII if text.isascii() and b"\\u" not in text else _ANY
    structure = sum(size * text.count(sign) for sign, size in _STRUCTURE.items())
    return a_character * len(text) + structure


def _refuse_unwritable(document: Any) -> None:
    """Refuse what cannot be written again: half a surrogate pair, lists nested without end."""
    level: list[Any] = [[document]]
    for _ in range(_DEEPEST + 1):
        deeper = []
        for each in level:
            values = each
            if isinstance(each, dict):
                _refuse_halves(each)
                values = each.values()
            _refuse_halves(values)
            deeper += [value for value in values if isinstance(value, (dict, list))]
        level = deeper
    if level:
        raise ValueError("it is nested too deeply")


def _refuse_halves(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, str) and not value.isascii():
            value.encode()


def _named_once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in entries:
        if name in found:
            raise ValueError(f"an object has two entries {name[:60]!r}")
        found[name] = value
    return found


def _as_written(text: str) -> float:
    value = float(text)
    return value if repr(value) == text else WrittenFloat(text)


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(f"an integer has {len(text)} digits; at most {_LONGEST_INTEGER} are read")
    return int(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
