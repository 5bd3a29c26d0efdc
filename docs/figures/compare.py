"""Figure and data: attention maps in training, loss against steps, from both starts.

Run ``python docs/figures/compare.py`` with the extra ``figures`` installed (about a minute on one
core); it writes ``compare.csv``, one row a run, and ``compare.svg`` beside itself, and
``compare_losses.csv``, the curves, into ``verify/report/data``, where reports read it. Each run has
the step size that suits it best, by the search of ``xorverify compare``, with at most 1000 steps to
a loss of 0.01; seed 0, 3 starts each.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from numerics.attention_maps import find_map
from numerics.training import descend, population_objective, stopping_loss
from verify.claims.theorem2 import TOLERANCE
from verify.console.progress import Progress
from verify.instances.starts import STARTS, draw_start
from verify.report.figures.attention_training import draw, tables
from verify.report.figures.shipped import DATA
from verify.report.figures.style import drawing, write_figure
from verify.running.pool import Failure, available_cores, run_calls
from verify.seeds import Streams
from verify.trials.comparison import Comparison, compare_trial

SIZES = ((256, 32), (64, 128))
MAPS = ("softmax", "linear", "erf")
SEED = 0
RUNS = 3
STEPS = 1000
GOAL = stopping_loss(TOLERANCE)

Result = tuple[tuple[int, int, str, str, int], Comparison, np.ndarray]


def run(d: int, m: int, start: str, attention: str, trial: int) -> tuple[Comparison, np.ndarray]:
    """Return a run with the losses of its best descent."""
    (chosen,) = (each for each in STARTS if each == start)
    found = compare_trial(
        Streams(SEED),
        trial,
        attention,
        d=d,
        m=m,
        start=chosen,
        law="sphere",
        steps=STEPS,
        tolerance=GOAL,
    )
    instance = draw_start(Streams(SEED).trial(trial), d, m, law="sphere", start=chosen)
    end = descend(
        population_objective(instance.V, instance.support, attention=find_map(attention)),
        instance.theta,
        instance.theta_tilde,
        eta=found.best.eta,
        steps=STEPS,
        tolerance=GOAL,
    )
    return found, end.losses


def main() -> None:
    """Run everything, write the data and draw the figure."""
    calls = [
        (d, m, start, attention, trial)
        for d, m in SIZES
        for start in STARTS
        for attention in MAPS
        for trial in range(RUNS)
    ]
    results: dict[int, tuple[Comparison, np.ndarray]] = {}
    progress = Progress(quiet=False)
    with progress.track(len(calls)):
        for i, found in run_calls(run, calls, jobs=available_cores()):
            if isinstance(found, Failure):
                raise SystemExit(f"the figure needs every run; {found.reason}")
            results[i] = found
            progress.advance("runs")
    ordered = [(calls[i], *results[i]) for i in range(len(calls))]
    _write_runs(ordered)
    _write_losses(ordered)
    with drawing():
        write_figure(Path(__file__).with_suffix(".svg"), draw(tables(0)), ["svg"])


def _write_runs(results: list[Result]) -> None:
    with Path(__file__).with_suffix(".csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            ["d", "m", "start", "attention", "trial", "eta", "steps", "loss", "one_to_one"]
        )
        for (d, m, start, attention, trial), found, _ in results:
            best = found.best
            steps = best.steps if best.reached else ""
            row = (d, m, start, attention, trial, f"{best.eta:.4g}", steps, f"{best.loss:.4g}")
            writer.writerow([*row, int(found.one_to_one)])


def _thinned(count: int) -> list[int]:
    """Return steps that lie evenly on a logarithmic axis, first and last included."""
    steps = {0, count - 1, *(round(10 ** (k / 12)) for k in range(40))}
    return sorted(step for step in steps if step < count)


def _write_losses(results: list[Result]) -> None:
    with (DATA / "compare_losses.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["d", "m", "start", "attention", "trial", "step", "loss"])
        for call, _, losses in results:
            for step in _thinned(len(losses)):
                writer.writerow([*call, step, f"{losses[step]:.4g}"])


if __name__ == "__main__":
    main()
