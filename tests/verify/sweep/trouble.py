"""The program with one more kind of trials: they take their time, and make trouble on request.

Worker processes import this file too, as the main module of the process that starts them.
"""

import os
import signal
import sys
import time
from types import SimpleNamespace

from verify.cli import main
from verify.sweep.kinds import KINDS
from verify.sweep.parameters import choice, integer, positive

MODES = ("calm", "raising", "nan", "incomplete", "deadly", "doomed", "endless")
TROUBLED = 3  # the trial that makes trouble


def run_trial(streams, trial, parameters, settings):
    mode = parameters.name("mode")
    time.sleep(float(settings.exact("pause").value))
    found = {"uniform": float(streams.trial(trial).random()), "success": int(trial % 2 == 0)}
    if mode == "deadly" and trial == TROUBLED:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "endless" and trial >= TROUBLED:
        time.sleep(600)
    if mode == "raising" and trial == TROUBLED:
        raise ValueError("two\nlines")
    if mode == "nan" and trial == TROUBLED:
        found["uniform"] = float("nan")
    if mode == "incomplete" and trial == TROUBLED:
        del found["uniform"]
    return found


def worker_bytes(parameters, _):
    return 10**16 if parameters.name("mode") == "doomed" else 1


KINDS["trouble"] = SimpleNamespace(
    NAME="trouble",
    AXES={"d": integer(least=1), "mode": choice(MODES, default="calm")},
    SETTINGS={"pause": positive(default="0.002")},
    COLUMNS={"uniform": "REAL", "success": "INTEGER"},
    SHARES=("success",),
    check=lambda *_: None,
    run_trial=run_trial,
    worker_bytes=worker_bytes,
)

if __name__ == "__main__":
    sys.exit(main())
