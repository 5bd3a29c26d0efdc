"""TOML files that others wrote: one table, or a reason why there is none."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verify.files.reading import read_bytes

__all__ = ["read_toml"]

_LARGEST_FILE = 1 << 20

# The parser keeps every beginning of a key: those of a few thousand names would fill the memory.
_DEEP_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){30}")


def read_toml(path: Path, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the table in a file.

    Parameters
    ----------
    path : Path
        Where it is.
    parse_float : callable
        Makes a value of a float as it is written.

    Raises
    ------
    OSError
        As `verify.files.reading.read_bytes`; a file may have 1 MiB.
    ValueError
        If the file is no TOML, or nested deeper than anything that is read here.
    """
    content = read_bytes(path, most=_LARGEST_FILE)
    try:
        # Some editors begin a file with a byte order mark.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not encoded in UTF-8") from None
    if _DEEP_KEY.search(text):
        raise ValueError("a key is nested too deeply")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("a value is nested too deeply") from None
