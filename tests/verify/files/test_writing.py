import os
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.files.writing import check_writable, prepare_folder, write_atomically


def test_an_interrupted_write_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted(stream) -> None:
        stream.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically("out", path, interrupted)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_a_refusal_and_leaves_nothing(tmp_path: Path) -> None:
    def full(_) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InvalidArgumentError, match="No space left on device"):
        write_atomically("out", tmp_path / "file", full)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_as_readable_as_the_umask_says(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomically("out", tmp_path / "file", lambda stream: stream.write(b"x"))
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(old)


def test_a_pipe_is_not_replaced_and_a_link_stays_a_link(tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    for check in (check_writable, lambda what, path: write_atomically(what, path, print)):
        with pytest.raises(InvalidArgumentError, match="is no regular file"):
            check("out", pipe)
    assert pipe.is_fifo()
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically("out", link, lambda stream: stream.write(b"new"))
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    prepare_folder("out", tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for bad in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        with pytest.raises(InvalidArgumentError, match=r"^out=.*cannot be written"):
            prepare_folder("out", bad)


def test_a_file_that_may_only_be_read_is_not_replaced(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(*_: object) -> int:  # as the system does, but for root
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    for write in (check_writable, lambda what, path: write_atomically(what, path, print)):
        with pytest.raises(InvalidArgumentError, match="Permission denied"):
            write("out", path)
    assert path.read_bytes() == b"old"


def test_who_may_read_the_old_file_may_read_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o600)
    write_atomically("out", path, lambda stream: stream.write(b"new"))
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("moment", ["open", "chmod", "replace"])
def test_an_interruption_at_any_moment_leaves_no_half(tmp_path: Path, monkeypatch, moment) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    original = getattr(Path, moment)

    def interrupted(*given: object, **options: object) -> object:
        found = original(*given, **options)
        if moment == "open":
            found.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically("out", path, lambda stream: stream.write(b"new"))
    monkeypatch.undo()
    assert path.read_bytes() in (b"old", b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for letter, count in (("x", 255), ("\N{GRINNING FACE}", 63)):
        path = tmp_path / (letter * count)
        write_atomically("out", path, lambda stream: stream.write(b"new"))
        assert path.read_bytes() == b"new"


def test_links_in_a_circle_and_names_too_long_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for bad in (tmp_path / "loop", tmp_path / ("x" * 256)):
        for check in (check_writable, lambda what, path: write_atomically(what, path, print)):
            with pytest.raises(InvalidArgumentError, match="cannot be written"):
                check("out", bad)


def test_a_working_folder_that_is_gone_is_refused(tmp_path: Path, monkeypatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidArgumentError, match="cannot be written"):
        check_writable("out", Path("file"))
