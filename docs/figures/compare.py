"""Figure and data: attention maps in training, loss against steps, from both starts.

Run ``python docs/figures/compare.py`` with the extra ``figures`` installed (about a minute on one
core); it writes ``compare.csv``, one row a run, ``compare_losses.csv``, the curves, and
``compare.svg`` beside itself. Each run has the step size that suits it best, by the search of
``xorverify compare``, with at most 1000 steps to a loss of 0.01; seed 0, 3 starts each.
"""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from numerics.attention_maps import find_map
from numerics.training import descend, population_objective
from verify.claims.theorem2 import TOLERANCE
from verify.comparison import STARTS, Comparison, compare_trial, draw_start, stopping_loss
from verify.pool import Failure, available_cores, run_calls
from verify.progress import Progress
from verify.seeds import Streams

SIZES = ((256, 32), (64, 128))
COLOURS = {"softmax": "C0", "linear": "C1", "erf": "C2"}
SEED = 0
RUNS = 3
STEPS = 1000
LOWEST = 4e-3
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
        for attention in COLOURS
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
    _draw(ordered)


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


def _write_losses(
    results: list[Result],
) -> None:
    with Path(__file__).with_name("compare_losses.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["d", "m", "start", "attention", "trial", "step", "loss"])
        for call, _, losses in results:
            for step in _thinned(len(losses)):
                writer.writerow([*call, step, f"{losses[step]:.4g}"])


def _draw(results: list[Result]) -> None:
    mpl.rcParams["svg.hashsalt"] = "compare"
    figure, grid = plt.subplots(
        len(SIZES), len(STARTS), figsize=(8, 5.6), sharex=True, sharey=True, layout="constrained"
    )
    places = {
        (*size, start): grid[row, column]
        for row, size in enumerate(SIZES)
        for column, start in enumerate(STARTS)
    }
    for (d, m, start, attention, trial), _, losses in results:
        steps = _thinned(len(losses))
        places[d, m, start].plot(
            steps,
            # A loss of nothing has no logarithm: it is drawn below the axis.
            np.maximum(losses[steps], LOWEST / 10),
            color=COLOURS[attention],
            label=attention if trial == 0 else None,
            linewidth=1.2,
        )
    for (d, m, start), axes in places.items():
        axes.axhline(float(TOLERANCE), color="0.5", linestyle=":")
        axes.set(
            xscale="symlog",
            yscale="log",
            xlim=(0, STEPS),
            ylim=(LOWEST, 300),
            title=f"d = {d}, m = {m}, {start} start",
        )
        axes.grid(visible=True, which="major", alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("steps")
    for axes in grid[:, 0]:
        axes.set_ylabel("population loss")
    grid[0, 0].legend()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
