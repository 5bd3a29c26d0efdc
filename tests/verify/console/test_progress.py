import json

import pytest

from verify.cli import main
from verify.console.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand; the calendar's is of no interest."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.time", lambda: pytest.fail("this clock may jump"))
    return now


def test_each_tenth_says_how_long_the_rest_takes(capsys, clock) -> None:
    progress = Progress(quiet=False)
    with progress.track(40):
        for i in range(40):
            clock[0] += 30
            progress.advance(f"part {i}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "[4/40] part 3, about 18 min left"
    assert lines[8] == "[36/40] part 35, about 2 min left"
    assert lines[9] == "[40/40] part 39"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.01, "about 1 s"),
        (11.0, "about 99 s"),
        (14.0, "about 2.1 min"),
        (1200.0, "about 3 h"),
        (30_000.0, "about 3.1 days"),
    ],
)
def test_the_time_left_is_told_in_the_unit_that_suits_it(
    capsys, clock, seconds: float, words: str
) -> None:
    progress = Progress(quiet=False)
    with progress.track(1000):
        clock[0] += seconds
        progress.advance("x", count=100)
    assert capsys.readouterr().err == f"[100/1000] x, {words} left\n"


def test_many_pieces_at_once_are_one_line_and_none_are_no_line(capsys) -> None:
    progress = Progress(quiet=False)
    with progress.track(10):
        progress.advance("a", count=5)
        progress.advance("b", count=0)
        progress.advance("c", count=5)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "[5/10] a",
        "[10/10] c",
    ]


def test_what_else_is_said_is_a_line_unless_it_is_to_be_quiet(capsys) -> None:
    Progress(quiet=False).say("[x] wait")
    Progress(quiet=True).say("[x] wait")
    assert capsys.readouterr().err == "[x] wait\n"


def test_on_a_terminal_a_message_does_not_spoil_the_bar(capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress(quiet=False)
    with progress.track(2):
        progress.advance("a")
        progress.say("[x] wait")
        progress.advance("b")
    progress.say("after")
    shown = capsys.readouterr().err
    assert "[x] wait\n" in shown
    assert shown.endswith("after\n")


def test_the_bar_tells_the_time_left_of_pieces_that_take_long(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress(quiet=False)
    with progress.track(10):
        for _ in range(3):
            now[0] += 100
            progress.advance("a piece")
        (task,) = progress._bar.tasks
        assert task.time_remaining == pytest.approx(700, rel=0.01)


SWEEP = """
[sweep]
name = "small"
kind = "theorem2"
trials = 4
[grid]
d = [8]
m = [4]
"""


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("command", "terminal"),
    [
        ("theorem2 --d 8 --m 4 --trials 4 --jobs 1", True),
        ("theorem2 --d 8 --m 4 --trials 4 --jobs 1", False),
        ("corollary3 --d 8 --m 4 --n 10 --trials 4 --jobs 1", True),
        ("compare --d 6 --m 6 --attention softmax --steps 3 --seeds 2 --jobs 1", True),
        ("run --profile quick --claim parameter-count --out OUT --jobs 1", True),
        ("sweep CONFIG --out OUT --jobs 1", True),
    ],
)
def test_progress_is_on_standard_error_alone_and_quiet_drops_it(
    capsys, monkeypatch, tmp_path, command: str, terminal: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    config = tmp_path / "sweep.toml"
    config.write_text(SWEEP)
    loud, quiet = [], []
    for kept, extra in ((loud, []), (quiet, ["--quiet"])):
        words = {"CONFIG": str(config), "OUT": str(tmp_path / f"out{len(extra)}")}
        argv = [words.get(word, word) for word in command.split()]
        monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
        assert main([*argv, "--json", *extra]) == 0
        out, err = capsys.readouterr()
        json.loads(out)
        kept.append(err)
    assert loud[0]
    assert quiet == [""]


def test_latex_shows_a_bar_on_a_terminal_and_fills_no_log(capsys, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for terminal, extra, silent in (
        (True, [], False),
        (True, ["--quiet"], True),
        (False, [], True),
    ):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal)
        assert main(["latex", "zero-start", "moment-rule", *extra]) == 0
        out, err = capsys.readouterr()
        assert out.startswith("% xorverify ")
        assert (err == "") == silent


def test_work_of_unknown_length_turns_a_spinner_on_a_terminal_only(capsys, monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    argv = ["theorem2", "--bound", "--d", "1e4", "--m", "512", "--eta-scale", "1e6", "--json"]
    for terminal, extra, silent in (
        (True, [], False),
        (True, ["--quiet"], True),
        (False, [], True),
    ):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal)
        assert main([*argv, *extra]) == 0
        out, err = capsys.readouterr()
        json.loads(out)
        assert (err == "") == silent
        assert ("bounding the probability of failure" in err) != silent
        assert err.rfind("\x1b[?25l") <= err.rfind("\x1b[?25h")
