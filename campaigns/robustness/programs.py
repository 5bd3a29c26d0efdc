"""The verifier as a process of its own: started in given surroundings, watched to its end.

Processes are found in ``/proc``, so these attacks are made on Linux.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

__all__ = [
    "STRANGER",
    "Ending",
    "Surroundings",
    "end_of",
    "is_prepared",
    "members",
    "run",
    "seconds_of",
    "start",
]

_ROOT = Path(__file__).parents[2]  # where the verifier stands that is attacked

STRANGER = 65534
"""Number of a user to whom nothing belongs."""

_SYSTEM = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # as <linux/prctl.h> has it

_PATIENCE = 120.0  # seconds in which every command of the attacks ends, on a busy machine too
_GLANCE_SECONDS = 0.05
_ORPHAN_SECONDS = 10.0  # in which every process must be gone that the command has started

# What pip writes for the console script, but for the name of the interpreter.
_SCRIPT = """import sys
from verify.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
"""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a process finds when it starts.

    Parameters
    ----------
    folder : Path
        Its working folder.
    environment : mapping, optional
        All of its environment variables but PYTHONPATH; by default those of this process.
    stdin, stdout, stderr : int or file
        As `subprocess.Popen` takes them.
    python : sequence of str
        Options of the interpreter.
    module : str
        What is started: a module, or the console script if empty.
    before : callable
        Called in the new process before it becomes the program: closes streams, sets limits.
    is_stranger : bool
        Whether it is run by a user to whom no file belongs, and who may read all of them.
    """

    folder: Path
    environment: Mapping[str, str] | None = None
    stdin: int | IO[bytes] = subprocess.DEVNULL
    stdout: int | IO[bytes] = subprocess.PIPE
    stderr: int | IO[bytes] = subprocess.PIPE
    python: Sequence[str] = ()
    module: str = ""
    before: Callable[[], None] = field(default=lambda: None)
    is_stranger: bool = False


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Parameters
    ----------
    code : int or None
        Its exit code, -n if signal n ended it, None if it did not end in time.
    out, err : str
        What it printed.
    orphans : sequence of str
        Command lines of the processes that were still there some seconds later.
    seconds : float
        How long it was waited for.
    """

    code: int | None
    out: str
    err: str
    orphans: Sequence[str] = ()
    seconds: float = 0.0


def start(argv: Sequence[str], surroundings: Surroundings) -> subprocess.Popen[bytes]:
    """Start the verifier, as the leader of a session of its own, which ends with this thread."""
    environment = dict(os.environ if surroundings.environment is None else surroundings.environment)
    environment["PYTHONPATH"] = str(_ROOT)
    environment.pop("PYTHONSAFEPATH", None)  # as workers have it, and this may be one
    program = ("-m", surroundings.module) if surroundings.module else (str(_script()),)
    command = [sys.executable, *surroundings.python, *program, *argv]
    if surroundings.is_stranger:
        command = [*_as_stranger(), *command]
    return subprocess.Popen(  # noqa: S603 - the verifier, with arguments of our own
        command,
        cwd=surroundings.folder,
        env=environment,
        stdin=surroundings.stdin,
        stdout=surroundings.stdout,
        stderr=surroundings.stderr,
        start_new_session=True,
        preexec_fn=partial(_prepare, surroundings.before, os.getpid()),
    )


def end_of(process: subprocess.Popen[bytes], *, patience: float = _PATIENCE) -> Ending:
    """Wait for the end of a process and of all that it started, which are killed if need be."""
    since = time.monotonic()
    while process.poll() is None and time.monotonic() < since + patience:
        _drain(process)
    code = process.returncode
    seconds = time.monotonic() - since
    # What it has started may hold its output open: that does not end before they do.
    limit = time.monotonic() + (0 if code is None else _ORPHAN_SECONDS)
    while (left := members(process.pid)) and time.monotonic() < limit:
        _drain(process)
    orphans = () if code is None else tuple(map(_command_line, left))
    _kill(process.pid)
    out, err = process.communicate()
    return Ending(code, _text(out), _text(err), orphans, seconds)


def run(argv: Sequence[str], surroundings: Surroundings, *, patience: float = _PATIENCE) -> Ending:
    """Start the verifier and wait for its end."""
    return end_of(start(argv, surroundings), patience=patience)


def members(leader: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(stat.parent.name))
    return sorted(found)


def seconds_of(pid: int) -> float:
    """Return how long a process has used a processor."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def is_prepared(pid: int) -> bool:
    """Whether a process is past the first lines of ours: it does as it likes with SIGTERM.

    Before them the interpreter starts, and signals do what they do to any program.
    """
    masks = ("SigCgt", "SigIgn")
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, mask = line.partition(":")
            if name in masks and int(mask, 16) >> (signal.SIGTERM - 1) & 1:
                return True
    return False


def _prepare(before: Callable[[], None], attacker: int) -> None:
    """Let signals do what they do in a shell, whatever holds for the process that attacks.

    A campaign that is killed leaves nothing at work: the system then kills what it has started.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # ignored by what a shell starts in the background
    _SYSTEM.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != attacker:  # it was killed before that line
        os.kill(os.getpid(), signal.SIGKILL)
    before()


def _as_stranger() -> list[str]:
    """Return how a command is run by a stranger: root gives up all it has but reading."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise RuntimeError("setpriv=missing: root gives up its privileges by it; use util-linux")
    reading = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    user = (f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups")
    # Who becomes somebody else would outlive this process again.
    return ["setpriv", *user, *reading, "--pdeathsig=KILL"]


def _script() -> Path:
    """Return the console script, which stands alone in its folder as in a fresh environment."""
    from campaigns.robustness.material import material

    path = material() / "bin" / "xorverify"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(_SCRIPT)
    return path


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Take what a process prints, for a moment; it is kept for later."""
    with suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_GLANCE_SECONDS)
        # There is nothing to wait for at its end if its streams are not ours.
        time.sleep(_GLANCE_SECONDS)


def _kill(leader: int) -> None:
    for pid in members(leader):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return str(pid)


def _text(printed: bytes | None) -> str:
    return (printed or b"").decode("utf-8", "backslashreplace")
