import os
from pathlib import Path

import pytest

from verify.files.reading import read_bytes, regular_file


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * (1 << 20))
    assert read_bytes(path, most=1 << 20) == b"x" * (1 << 20)
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="longer than 1 MiB"):
        read_bytes(path, most=1 << 20)


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)  # opened the usual way, it would wait for a writer
    link.symlink_to("/dev/zero")
    for path in (pipe, link, tmp_path):
        with pytest.raises(OSError, match="no regular file"), regular_file(path):
            pytest.fail("it was opened")


def test_every_handle_is_closed(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(OSError, match=r"regular|No such"):
            read_bytes(path, most=1 << 20)
    assert len(os.listdir("/proc/self/fd")) == before
