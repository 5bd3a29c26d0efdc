"""Standard streams that are closed, full or unread: what is lost, told, and waited for."""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TextIO

import pytest

from verify.console import streams
from verify.console.interruption import handled, hold


def run(code: str, **options) -> subprocess.CompletedProcess[bytes]:
    start = "import os, sys; from verify.console.streams import take_over; take_over()\n"
    return subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, check=False, **options
    )


def close(*numbers: int):
    return {"preexec_fn": lambda: [os.close(number) for number in numbers]}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_file_gets_the_number_of_a_stream_that_is_closed(number: int) -> None:
    done = run("sys.exit(os.open(os.devnull, os.O_RDONLY) < 3)", **close(number))
    assert done.returncode == 0


def test_a_message_for_nobody_comes_nowhere_else() -> None:
    done = run("print('message', file=sys.stderr); print('result')", **close(2))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"result\n", b"")


def test_standard_output_that_was_closed_is_seen_to_be() -> None:
    assert run("sys.exit(sys.stdout is not None)", **close(1)).returncode == 0


def test_what_an_encoding_does_not_have_is_escaped() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert run("print('θ')", env=environment).stdout == rb"\u03b8" + b"\n"


def stream(number: int, *, is_forgiving: bool):
    with open(number, "w", encoding="utf-8", closefd=False) as before:
        return streams._stream(before, is_forgiving=is_forgiving)


def pipe() -> tuple[int, int]:
    """A pipe that is full."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer


def test_output_fails_once_and_is_not_tried_again() -> None:
    with open("/dev/full", "wb") as full:
        out = stream(full.fileno(), is_forgiving=False)
        out.write("x")
        with pytest.raises(OSError, match="No space left"):
            out.flush()
        out.flush()
        out.close()


def test_messages_that_are_not_taken_are_lost() -> None:
    with open("/dev/full", "wb") as full:
        err = stream(full.fileno(), is_forgiving=True)
        print("x", file=err, flush=True)
        err.close()


def test_a_slow_reader_gets_all_of_it() -> None:
    reader, writer = pipe()
    out = stream(writer, is_forgiving=False)
    text = "0123456789" * 20_000
    got = []

    def read() -> None:
        time.sleep(0.3)
        while piece := os.read(reader, 1 << 16):
            got.append(piece)

    thread = threading.Thread(target=read)
    thread.start()
    out.write(text)
    out.close()
    os.close(writer)
    thread.join()
    os.close(reader)
    assert b"".join(got).lstrip(b"\0").decode() == text


def test_a_reader_who_does_not_read_is_given_up_once_an_interruption_is_remembered() -> None:
    reader, writer = pipe()
    out = stream(writer, is_forgiving=False)
    out.write("x")
    with handled():
        hold()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with pytest.raises(OSError, match="does not read") as failure:
            out.flush()
    assert failure.value.errno == errno.ETIMEDOUT
    out.close()
    os.close(reader)
    os.close(writer)


def test_a_second_interruption_does_not_wait() -> None:
    reader, writer = pipe()
    out = stream(writer, is_forgiving=False)
    out.write("x")
    with handled():
        hold()
        for seconds in (0.2, 0.4):
            threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with pytest.raises(KeyboardInterrupt):
            out.flush()
    # Nor does the end of the process, which flushes again.
    out.close()
    os.close(reader)
    os.close(writer)


def struck_as_it_has_written(out: TextIO, reader: int) -> None:
    """Send a signal just after the call that has written, while nobody has been told how much."""
    struck = False

    def strike(_frame: object, event: str, _function: object) -> None:
        nonlocal struck
        if event == "c_return" and not struck and select.select([reader], (), (), 0)[0]:
            struck = True
            signal.raise_signal(signal.SIGTERM)

    sys.setprofile(strike)
    try:
        out.flush()
    finally:
        sys.setprofile(None)
        assert struck


def test_a_document_that_an_interruption_finds_written_is_not_written_again() -> None:
    reader, writer = pipe()
    os.read(reader, 1 << 20)  # what was put there
    out = stream(writer, is_forgiving=False)
    with handled():
        hold()
        signal.raise_signal(signal.SIGTERM)
        out.write("a document")
        with suppress(KeyboardInterrupt):
            struck_as_it_has_written(out, reader)
    out.close()
    os.close(writer)
    assert os.read(reader, 100) == b"a document"
    os.close(reader)


def test_an_interruption_that_finds_a_message_written_is_raised() -> None:
    reader, writer = pipe()
    os.read(reader, 1 << 20)
    out = stream(writer, is_forgiving=True)
    out.write("a message")
    with handled(), pytest.raises(KeyboardInterrupt):
        struck_as_it_has_written(out, reader)
    out.close()
    for number in (reader, writer):
        os.close(number)
