"""Colours on terminals that have them and nowhere else: through a pseudo-terminal and a pipe."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

COLOUR = re.compile(r"\x1b\[[\d;]*[1-9][\d;]*m")
# What every command prints with Rich, one after the other.
EVERYTHING = """
import sys, time
from pathlib import Path
from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.console.progress import Progress
from verify.report.claim_page import print_claim
from verify.report.tables import print_results
from verify.runner import ClaimResult, Run
from verify.sweep.summary import show_summary

piece = Evidence(
    cell="made up", subject="statement", method="none", grade=Grade.EXACT, computed="1", claimed="1"
)
print_results(Run("quick", 0, [ClaimResult(CLAIMS["zero-start"], [piece])]), Path("report"))
print("CLAIM", flush=True)
print_claim(CLAIMS["zero-start"])
print("SWEEP", flush=True)
cell = dict(cell="d=2", done=1, errors=1, error="no", success=None, same_position=None)
cells = [cell]
show_summary(dict(kind="theorem2", trials=2, seed=0, name="s", out=".", cells=cells))
progress = Progress(quiet="quiet" in sys.argv)
with progress.track(20):
    for i in range(20):
        time.sleep(0.02)
        progress.advance(f"part {i}")
"""


def read_all(descriptor: int) -> bytes:
    """Read what is written to the other end of a pseudo-terminal until it is closed."""
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            return found
        if not piece:
            return found
        found += piece


def run(argv: list[str], *, terminal: bool, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what a process writes to standard output and to standard error."""
    unset = {"NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM", "COLUMNS"}
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    command = [sys.executable, *argv]
    environment = {**clean, "TERM": "xterm-256color", **env}
    if not terminal:
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        return ended.stdout, ended.stderr
    ours, theirs = zip(pty.openpty(), pty.openpty(), strict=True)
    process = subprocess.Popen(command, stdout=theirs[0], stderr=theirs[1], env=environment)
    for descriptor in theirs:
        os.close(descriptor)
    with ThreadPoolExecutor() as readers:
        out, err = (each.decode() for each in readers.map(read_all, ours))
    for descriptor in ours:
        os.close(descriptor)
    assert process.wait() == 0, err
    return out, err


CASES = [
    (True, {}, True),
    (True, {"NO_COLOR": "1"}, False),
    (True, {"TERM": "dumb"}, False),
    (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, False),
    (False, {}, False),
    (False, {"FORCE_COLOR": "1"}, True),
    (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, False),
    (False, {"NO_COLOR": "", "FORCE_COLOR": ""}, False),
]


@pytest.mark.parametrize(("terminal", "env", "coloured"), CASES)
def test_colours(terminal: bool, env: dict[str, str], coloured: bool) -> None:
    out, err = run(["-c", EVERYTHING], terminal=terminal, env=env)
    table, _, rest = out.partition("CLAIM")
    claim, _, sweep = rest.partition("SWEEP")
    for part, word in ((table, "zero-start"), (claim, "derivation zero"), (sweep, "d=2")):
        assert word in part
        assert bool(COLOUR.search(part)) == coloured
        assert coloured or "\x1b" not in part
    # A line of more than eighty characters, which is broken on terminals alone.
    (statement,) = [line for line in claim.splitlines() if line.startswith("At θ = θ̃ = 0: L =")]
    assert statement.strip().endswith("(v_a + v_b - 2 v̄).") != terminal
    moves = terminal and env.get("TERM") != "dumb"
    assert ("\x1b[" in err) == moves
    if moves:
        assert re.search(r"\d:\d\d:\d\d", err)
        assert bool(COLOUR.search(err)) == coloured
    else:
        assert re.search(r"^\[4/20\] part 3, about \d+ s left\r?$", err, re.MULTILINE)
    assert "part" not in out


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_leaves_nothing_of_the_progress(terminal: bool) -> None:
    _, err = run(["-c", EVERYTHING, "quiet"], terminal=terminal, env={})
    assert err == ""


def test_a_command_knows_its_terminal() -> None:
    argv = ["-m", "verify", "show", "moment-rule"]
    on_terminal, _ = run(argv, terminal=True, env={})
    in_pipe, _ = run(argv, terminal=False, env={})
    assert COLOUR.search(on_terminal)
    assert "\x1b" not in in_pipe
    # Eighty columns, but for what is there to be copied.
    narrow = re.sub(r"\x1b\[[\d;]*m", "", on_terminal).splitlines()
    assert max(len(line) for line in narrow if "\\" not in line) <= 80
    assert any(len(line) > 160 for line in in_pipe.splitlines())
