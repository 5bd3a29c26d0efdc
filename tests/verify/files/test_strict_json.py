"""Documents are read strictly: what two readers could read differently is refused in a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.files import strict_json
from verify.files.strict_json import WrittenFloat, needed_bytes, parse_json, read_json


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
        ("[" * 100 + "[]" + "]" * 100, "nested too deeply"),
        ('{"a":' * 100 + "[]" + "}" * 100, "nested too deeply"),
        ("[[], 1, " + "[" * 900 + "]" * 900 + "]", "nested too deeply"),
        ("9" * 5000, "an integer has 5000 digits; at most 4300 are read"),
        (b'["\xff"]', "not a JSON document"),
        ('["\\ud800"]', "not a JSON document"),
        ('[{"b": ["\\udfff"]}]', "not a JSON document"),
        ('{"a": {"\\ud800": 1}}', "not a JSON document"),
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
    with pytest.raises(InvalidArgumentError, match="not a JSON document"):
        read_json("file", fifo, "document")
    with pytest.raises(InvalidArgumentError, match="neither a regular file nor a pipe"):
        read_json("file", Path("/dev/zero"), "document")
    with pytest.raises(InvalidArgumentError, match="No such file or directory"):
        read_json("file", tmp_path / "missing", "document")
    monkeypatch.setattr(strict_json, "_LARGEST_FILE", 4)
    assert read_json("file", written(tmp_path, "1234"), "document") == 1234
    with pytest.raises(InvalidArgumentError, match="it is longer than 0 MiB"):
        read_json("file", written(tmp_path, "12345"), "document")


def test_a_hundred_levels_an_integer_of_4300_digits_and_a_byte_order_mark_are_read() -> None:
    assert parse_json(b"[" * 100 + b"]" * 100) == json.loads("[" * 100 + "]" * 100)
    assert parse_json(b'{"a":' * 100 + b"1" + b"}" * 100)
    assert parse_json(b"9" * 4300) == 10**4300 - 1
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]
    assert parse_json(b'["\\ud83d\\ude00"]') == ["\U0001f600"]


@pytest.mark.parametrize("text", ["0.5", "0.50", "5e-1", "1e-400", "0.0", "-0.0", "1E5", "0.1"])
def test_numbers_keep_the_form_in_which_they_are_written(tmp_path, text: str) -> None:
    (number,) = read_json("file", written(tmp_path, f"[{text}]"), "document")
    assert repr(number) == text
    assert float(number).hex() == float(text).hex()
    assert isinstance(number, WrittenFloat) is (repr(float(text)) != text)
    # Other readers have plain numbers.
    assert type(parse_json(f"[{text}]".encode())[0]) is float


# What is in memory when most is: the text, its decoded form and the document.
_PEAK = """
import sys
from verify.files.strict_json import needed_bytes, parse_json
text = ({text}).encode()
def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) << 10
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
before = status("VmRSS")
parse_json(text)
print(needed_bytes(text), status("VmHWM") - before + len(text))
"""


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("'[' + '[],' * 300_000 + '1]'", 2.5),
        ("'[' + ('[' * 90 + ']' * 90 + ',') * 4000 + '1]'", 2.0),
        ("'[' + '{\"a\":1},' * 200_000 + '1]'", 3.5),
        ("'[' + '\"ab\",' * 500_000 + '1]'", 2.0),
        ("'[' + '\"0x1.0123456789abcp+1\",' * 300_000 + '1]'", 2.0),
        ("'{' + ','.join(f'\"{i}\":[]' for i in range(300_000)) + '}'", 2.5),
        ("'\"' + chr(0x1f600) + 'x' * 10_000_000 + '\"'", 2.5),
        ("'\"\\\\ud83d\\\\ude00' + 'x' * 10_000_000 + '\"'", 4.0),
    ],
)
def test_the_memory_of_a_text_is_bounded_from_above_and_not_by_far(text: str, most: float) -> None:
    code = _PEAK.replace("{text}", text)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    bound, peak = map(int, found.stdout.split())
    assert peak <= bound <= most * peak


def test_a_megabyte_of_numbers_in_hexadecimal_needs_a_few_megabytes() -> None:
    assert needed_bytes(b'"0x1.0123456789abcp+1",\n' * 1000) == 1000 * (4 * 24 + 80)
