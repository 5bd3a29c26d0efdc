import pytest

from verify.progress import Progress


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
    progress = Progress(quiet=False)
    with progress.track(2):
        progress.advance("a")
        progress.say("[x] wait")
        progress.advance("b")
    progress.say("after")
    shown = capsys.readouterr().err
    assert "[x] wait\n" in shown
    assert shown.endswith("after\n")
