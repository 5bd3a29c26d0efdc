"""Figure of the README: how often one population step fails, against the number of positions.

Run ``python docs/figures/failure_against_d.py`` with the extra ``docs`` installed (about two
minutes on two cores); it draws ``failure_against_d.svg`` beside itself. The curve is
(2/pi) arctan(1/sqrt d): the chance that the noise of the other positions beats the head's own
lean, when both are Gaussian and the step is large.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from verify.console.progress import Progress
from verify.evidence.sampling import Proportion
from verify.running.monte_carlo import simulate
from verify.running.pool import available_cores
from verify.seeds import Streams
from verify.trials.one_step import run_trials

DIMENSIONS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
EMBEDDING_DIMENSIONS = {64: "o", 256: "s"}
SCALE = 1e6
TOLERANCE = Fraction(1, 100)
TRIALS = 2000


def failure(d: int, m: int) -> Proportion:
    """Estimate the failure probability at one (d, m)."""
    run = partial(run_trials, Streams(0, f"figure/{d}/{m}"), d=d, m=m, eta=SCALE * d**2)
    found = simulate(run, TRIALS, jobs=available_cores(), progress=Progress(quiet=False))
    if found.reason is not None:
        raise SystemExit(f"the figure needs every trial; {found.reason}")
    failures = sum(not trial.succeeds(TOLERANCE) for trial in found.trials)
    return Proportion(failures, len(found.trials))


def main() -> None:
    """Draw the figure."""
    mpl.rcParams["svg.hashsalt"] = "failure_against_d"
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    curve = [2**k for k in range(4, 14)]
    axes.plot(
        curve,
        [2 / math.pi * math.atan(1 / math.sqrt(d)) for d in curve],
        color="0.5",
        label=r"$(2/\pi)\,\arctan(1/\sqrt{d})$",
    )
    for m, marker in EMBEDDING_DIMENSIONS.items():
        found = [failure(d, m) for d in DIMENSIONS]
        points = [each.count / each.trials for each in found]
        lower = [point - each.interval[0] for point, each in zip(points, found, strict=True)]
        upper = [each.interval[1] - point for point, each in zip(points, found, strict=True)]
        axes.errorbar(
            DIMENSIONS, points, yerr=(lower, upper), fmt=marker, capsize=3, label=f"$m = {m}$"
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="number of positions $d$",
        ylabel="P(some input keeps loss > 0.01)",
    )
    axes.legend()
    axes.grid(visible=True, which="both", alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
