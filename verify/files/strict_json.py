"""JSON documents that others wrote: what could be read in two ways is refused.

The standard library takes the last of two entries of one name, and numbers that JSON does not have.
Both would make a comparison say something of a document that another reader does not see.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from numerics.arguments import InvalidArgumentError
from verify.files.reading import read_bytes

__all__ = ["parse_json", "read_json"]

_LARGEST_FILE = 1 << 26  # 64 MiB; what this toolkit writes is a thousandth of it


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

    Raises
    ------
    InvalidArgumentError
        If the file cannot be read, is larger than 64 MiB, or holds anything but one JSON document
        in UTF-8 whose objects name each entry once and whose numbers are finite.
    """
    try:
        return parse_json(read_bytes(path, most=_LARGEST_FILE))
    except OSError as failure:
        reason = failure.strerror or type(failure).__name__
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as failure:
        reason = f"not a JSON document: {failure}"
    raise InvalidArgumentError(what, path, f"unreadable {kind}: {reason}") from None


def parse_json(text: bytes) -> Any:
    """Return the one document in a text.

    Raises
    ------
    ValueError, RecursionError
        If the text is anything else, as `read_json` says; or nested too deeply.
    """
    document = json.loads(
        text.decode("utf-8"),
        object_pairs_hook=_named_once,
        parse_float=_finite,
        parse_constant=_no_constant,
    )
    # Half a surrogate pair is a text that cannot be written; what can be, passes here.
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    return document


def _named_once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in entries:
        if name in found:
            raise ValueError(f"an object has two entries {name[:60]!r}")
        found[name] = value
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is beyond binary64")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
