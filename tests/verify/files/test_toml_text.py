import time
from pathlib import Path

import pytest

from verify.files.toml_text import read_toml


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(b"\xef\xbb\xbfx = 1.50\n")
    assert read_toml(path, parse_float=str) == {"x": "1.50"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff", "not encoded in UTF-8"),
        (b".".join([b"a"] * 100_000) + b" = 1", "a key is nested too deeply"),
        (b"[" + b" . ".join([b'"a"'] * 1000) + b"]", "a key is nested too deeply"),
        (b"x = " + b"[" * 100_000, "a value is nested too deeply"),
        (b"x = " + b"9" * 100_000, "4300 digits"),
        (b"k" * 500_000 + b" = ", "Invalid value"),
        (b"x = 1\nx = 2", "Cannot overwrite"),
    ],
)
def test_what_is_no_table_is_refused_at_once(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(text)
    begun = time.process_time()
    with pytest.raises(ValueError, match=message):
        read_toml(path)
    assert time.process_time() - begun < 2


def test_deep_is_not_what_has_many_dots(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f"x = [{', '.join(['1.5'] * 100)}]\na.b.c = '...{'.' * 100}'\n")
    assert len(read_toml(path)["x"]) == 100
