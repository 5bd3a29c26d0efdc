"""JSON documents in which one entry is another one, or that are no documents at all."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from campaigns.robustness.attack import Attack
from campaigns.robustness.files.reader import Reader, content

__all__ = ["VALUES", "altered_entries", "no_documents", "rehashed"]

Path: TypeAlias = tuple[str | int, ...]
Mend: TypeAlias = Callable[[Any], object]

_DEEP: Any = []
for _ in range(400):
    _DEEP = [_DEEP]

VALUES: Mapping[str, Any] = {
    "null": None,
    "true": True,
    "0": 0,
    "-1": -1,
    "1.5": 1.5,
    "1e308": 1e308,
    "2^64": 2**64,
    "4000 digits": 10**4000,
    "nothing": "",
    "a word": "x",
    "a number as a string": "3",
    "a long string": "9" * 100_000,
    "not a number": "nan",
    "a NUL byte": "\0",
    "a line break and a colour": "a\n\x1b[31mb",
    "half a letter": "\ud800",
    "a reference": "os:system",
    "a file": "file:/dev/zero",
    "an empty list": [],
    "a list": [1, 2],
    "a list of lists": [[1], [2]],
    "a deep list": _DEEP,
    "an empty object": {},
    "an object": {"shape": [2], "hex": ["0x1.0p+0"]},
}
"""What may stand in the place of an entry, by what it is called."""


def altered_entries(
    reader: Reader, rng: np.random.Generator, *, most: int, mend: Mend | None = None
) -> Iterator[Attack]:
    """Yield attacks in which an entry of the document is missing, or another value.

    Parameters
    ----------
    reader : Reader
        What is attacked.
    rng : numpy.random.Generator
        Chooses among the entries and values.
    most : int
        How many attacks.
    mend : callable
        Changes the altered document in place, so that it fits together again.
    """
    document = json.loads(reader.original())
    choices: list[tuple[Path, str]] = [
        (path, name) for path in _paths(document) for name in ("missing", *VALUES)
    ]
    for number in sorted(rng.permutation(len(choices))[:most].tolist()):
        path, name = choices[number]
        altered = copy.deepcopy(document)
        parent = altered
        for step in path[:-1]:
            parent = parent[step]
        if name == "missing":
            del parent[path[-1]]
        else:
            parent[path[-1]] = VALUES[name]
        if mend is not None:
            mend(altered)
        where = ".".join(map(str, path))
        mended = "" if mend is None else ", mended"
        yield content(reader, f"{where}: {name}{mended}", json.dumps(altered).encode())


def rehashed(document: Any) -> None:
    """Give a bundle the hash that its inputs have."""
    if isinstance(document.get("inputs"), dict) and isinstance(document.get("sha256"), dict):
        text = json.dumps(document["inputs"], sort_keys=True)
        document["sha256"]["inputs"] = hashlib.sha256(text.encode()).hexdigest()


def no_documents(reader: Reader) -> Iterator[Attack]:
    """Yield attacks with texts that are no JSON, or no document that anyone would write."""
    good = reader.original()
    name = next(iter(json.loads(good)))
    for depth in range(100, 1001, 100):
        nested = b'{"deep": %b, ' % (b"[" * depth + b"]" * depth) + good.lstrip()[1:]
        yield content(reader, f"an entry more, nested {depth} deep", nested)
    texts = {
        "100,000 brackets": b"[" * 100_000,
        "100,000 objects": b'{"a":' * 100_000,
        "100,000 brackets that close": b"[" * 100_000 + b"]" * 100_000,
        "900 brackets that close": b"[" * 900 + b"]" * 900,
        "an entry of 100,000 letters": b'{"%b": 1, ' % (b"x" * 100_000) + good.lstrip()[1:],
        "NaN": b"NaN",
        "Infinity": b'{"%b": -Infinity}' % name.encode(),
        "a number of 100,000 digits": b"9" * 100_000,
        "a number beyond binary64": b'{"%b": 1e999}' % name.encode(),
        "an exponent of 100,000 digits": b"1e" + b"9" * 100_000,
        "YAML": b"inputs:\n  V: !!python/object/apply:os.system ['touch executed']\n",
        "single quotes": good.replace(b'"', b"'"),
        "comments": good + b"\n// a comment\n",
        "a comma too many": good.rstrip()[:-1] + b",}",
        "a lone surrogate": b'"\\ud800"',
        "a string without end": b'"' + b"x" * 100_000,
        "a million empty lists": b"[" + b"[]," * 10**6 + b"[]]",
        "a list at the top": b"[]",
        "a string at the top": b'"x"',
        "null": b"null",
    }
    for kind, text in texts.items():
        yield content(reader, kind, text)


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where the entries of a document are, the first two of each list."""
    entries: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    if isinstance(value, list):
        entries = [*enumerate(value[:2])]
    for key, inner in entries:
        yield (*path, key)
        yield from _paths(inner, (*path, key))
