"""Documents are read strictly: what two readers could read differently is refused in a line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.files import strict_json
from verify.files.strict_json import read_json


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "document.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_document_is_what_the_standard_library_reads(tmp_path) -> None:
    text = '{"a": [1, 1.5, -2e-3, "é", null, true], "b": {"a": {}}}'
    assert read_json("file", written(tmp_path, text), "document") == json.loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a JSON document"),
        ("{", "not a JSON document"),
        ("[1] [2]", "not a JSON document"),
        ('{"a": 1, "a": 1}', "not a JSON document: an object has two entries 'a'"),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', "an object has two entries 'a'"),
        ("[NaN]", "NaN is no number of JSON"),
        ("[-Infinity]", "-Infinity is no number of JSON"),
        ("[1e400]", "the number 1e400 is beyond binary64"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "not a JSON document: Exceeds the limit"),
        (b'["\xff"]', "not a JSON document"),
        ('["\\ud800"]', "not a JSON document"),
        ("\ufeff[]", "not a JSON document"),
    ],
)
def test_what_is_read_in_two_ways_or_in_none_is_refused(tmp_path, text, reason: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InvalidArgumentError) as refused:
        read_json("file", path, "document")
    assert str(refused.value).startswith(f"file={path}: unreadable document: ")
    assert reason in str(refused.value)
    assert len(str(refused.value)) < len(str(path)) + 300


def test_what_is_no_file_or_too_long_is_refused_and_not_waited_for(tmp_path, monkeypatch) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(InvalidArgumentError, match="no regular file"):
        read_json("file", fifo, "document")
    with pytest.raises(InvalidArgumentError, match="No such file or directory"):
        read_json("file", tmp_path / "missing", "document")
    monkeypatch.setattr(strict_json, "_LARGEST_FILE", 4)
    assert read_json("file", written(tmp_path, "1234"), "document") == 1234
    with pytest.raises(InvalidArgumentError, match="it is longer than 0 MiB"):
        read_json("file", written(tmp_path, "12345"), "document")
