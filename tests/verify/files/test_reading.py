import os
import signal
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from verify.console.interruption import SIGNALS, handled, hold
from verify.files.reading import read_bytes, regular_file


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * (1 << 20))
    assert read_bytes(path, most=1 << 20) == b"x" * (1 << 20)
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="longer than 1 MiB"):
        read_bytes(path, most=1 << 20)


def test_a_file_takes_the_memory_of_its_length_and_not_of_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (1, 1 << 24):
        path.write_bytes(b"x" * size)
        tracemalloc.start()
        try:
            assert len(read_bytes(path, most=1 << 30)) == size
            # What grows piece by piece is an eighth longer than what it holds, at most.
            assert tracemalloc.get_traced_memory()[1] < 1.2 * size + (1 << 20)
        finally:
            tracemalloc.stop()


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


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def writing(path: Path, *pieces: bytes, pause: float = 0.0) -> threading.Thread:
    def write() -> None:
        with path.open("wb", buffering=0) as stream:
            for piece in pieces:
                time.sleep(pause)
                stream.write(piece)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end_and_its_writer_waited_for(fifo: Path) -> None:
    content = os.urandom(300_000)
    for pause in (0.0, 0.7):
        thread = writing(fifo, content[:1], content[1:], pause=pause)
        assert read_bytes(fifo, most=1 << 20) == content
        thread.join()


def test_a_pipe_by_its_number_is_read_though_its_writer_is_gone() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"content")
    os.close(writer)
    try:
        assert read_bytes(Path(f"/dev/fd/{reader}"), most=1 << 20) == b"content"
    finally:
        os.close(reader)


def test_a_pipe_without_end_is_read_up_to_the_limit(fifo: Path) -> None:
    thread = writing(fifo, bytes(1 << 20), b"x")
    with pytest.raises(OSError, match="longer than 1 MiB"):
        read_bytes(fifo, most=1 << 20)
    thread.join()


def test_a_pipe_that_nobody_writes_to_is_empty(fifo: Path) -> None:
    assert read_bytes(fifo, most=1 << 20) == b""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_wait_for_a_writer(fifo: Path, number: signal.Signals) -> None:
    # Open at both ends, it is a writer of which nothing comes.
    silent = os.open(fifo, os.O_RDWR)
    timers = [threading.Timer(0.3, os.kill, (os.getpid(), number))]
    try:
        with handled():
            hold()  # as in commands that keep what is finished
            timers[0].start()
            # It ends the test where the signal does not.
            timers.append(threading.Timer(5.0, os.write, (silent, bytes((1 << 20) + 1))))
            timers[1].start()
            with pytest.raises(KeyboardInterrupt):
                read_bytes(fifo, most=1 << 20)
    finally:
        timers[1].cancel()
        timers[0].join()
        os.close(silent)


def test_only_files_and_pipes_are_read(tmp_path: Path) -> None:
    for path in (Path("/dev/zero"), Path("/dev/null"), tmp_path):
        with pytest.raises(OSError, match="neither a regular file nor a pipe"):
            read_bytes(path, most=1 << 20)
