"""The program: the claims at profile quick, and each command that computes, start-up included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.timing import Row, in_words, interleaved
from verify.claims import CLAIMS
from verify.console.progress import Progress
from verify.report.results import results_document, write_report
from verify.runner import run_claims
from verify.running.pool import available_cores

__all__ = ["rows"]

_COMMANDS = {
    "theorem2, 500 trials at (1,024, 256)": "theorem2 --d 1024 --m 256 --trials 500",
    "corollary3, 100 trials of 10,000 samples at (256, 64)": (
        "corollary3 --d 256 --m 64 --n 10000 --trials 100"
    ),
    "compare at (64, 32), three maps, 200 steps": "compare --d 64 --m 32 --steps 200 --seeds 1",
    "gradient to 30 digits at (256, 64)": "gradient {instance} --digits 30",
    "certify at (256, 64)": "certify {instance} --eta 1e9",
    "latex, all formulas": "latex",
    "latex --verify, all formulas": "latex --verify",
}


def rows(*, rounds: int) -> Iterator[Row]:
    """Measure, and yield the table's lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instance = folder / "instance.npz"
        _run(f"instance --d 256 --m 64 --out {instance}")
        for what, arguments in _COMMANDS.items():
            command = arguments.format(instance=instance, folder=folder)
            figure = interleaved({"ours": _call(command)}, rounds=min(rounds, 3), warm=False)
            yield Row(f"xorverify {what}", str(figure["ours"]))
        yield from _run_and_report(folder, min(rounds, 3))


def _run_and_report(folder: Path, rounds: int) -> Iterator[Row]:
    """Time the checks of every claim, once, and the pages made of what they found."""
    start = time.perf_counter()
    run = run_claims(
        list(CLAIMS.values()),
        profile="quick",
        seed=0,
        jobs=available_cores(),
        progress=Progress(quiet=True),
    )
    checked = time.perf_counter() - start
    assert run.exit_code == 0
    yield Row(f"{len(CLAIMS)} claims at profile quick, checked", in_words(checked))
    document = results_document(run)
    figure = interleaved({"ours": lambda: write_report(folder, run, document)}, rounds=rounds)
    yield Row("their report, with its figures", str(figure["ours"]))


def _call(arguments: str) -> Callable[[], object]:
    return lambda: _run(arguments)


def _run(arguments: str) -> None:
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "verify", *arguments.split()],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
