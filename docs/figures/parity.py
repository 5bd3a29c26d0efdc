"""Figure and data: parity of k bits, against the length of the queries, m, and the steps taken.

Run ``python docs/figures/parity.py`` with the extra ``figures`` installed (about two minutes on one
core); it writes ``parity.csv`` and ``parity.svg``, the figure, ``parity_dimensions.csv``, unit
queries beside the prediction, and ``parity_steps.csv``, several steps, all beside itself. Every
count is of exact population steps, with its 95% Clopper-Pearson interval, seed 0.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from numerics.parity.prediction import common_shock, distinct_probability, draw_distinct
from numerics.parity.signal import draw_signal_choices
from verify.evidence.sampling import Proportion
from verify.seeds import Streams
from verify.trials.parity import ParitySetting, descend, draw_parity

SEED = 0
SCALE = 1e6
TOLERANCE = 0.01
DRAWS = 40_000

HEADS = {2: "o", 3: "s", 4: "^"}
D, M = 256, 128
LENGTHS = (0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 16)
TRIALS = 500

DIMENSIONS = (128, 512, 2048)
DIMENSION_TRIALS = 2000

SCALES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 1000.0)
STEPS = 40
STEP_TRIALS = 100


def parted(setting: ParitySetting, trials: int) -> tuple[Proportion, Proportion]:
    """Return how often the heads part in one large step, and how often the loss falls to 0.01."""
    streams = Streams(SEED, f"parity/{setting}")
    distinct = learned = 0
    for i in range(trials):
        at = draw_parity(streams.trial(i), setting)
        step = at.step(SCALE)
        distinct += step.one_to_one(at.support)
        learned += step.loss <= TOLERANCE
    return Proportion(distinct, trials), Proportion(learned, trials)


def signal(setting: ParitySetting) -> float:
    """Return how often the signal alone sends the heads to k positions, at this m and d = inf."""
    choices = draw_signal_choices(
        np.random.default_rng(SEED),
        setting.k,
        setting.m,
        start=setting.start,
        norm=setting.norm,
        draws=DRAWS,
    )
    return float((np.sort(choices, axis=1) == np.arange(setting.k)).all(axis=1).mean())


def first_order(setting: ParitySetting) -> float:
    """Return the first-order chance at this d and m = inf, from draws of the utilities."""
    found = draw_distinct(
        np.random.default_rng(SEED),
        setting.k,
        d=setting.d,
        start=setting.start,
        norm=setting.norm,
        draws=DRAWS,
    )
    return found / DRAWS


def _row(found: Proportion) -> list[str]:
    return [str(found.count), *(f"{end:.4f}" for end in found.interval)]


def _write(name: str, header: list[str], rows: Iterable[list[object]]) -> None:
    with Path(__file__).with_name(name).open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_lengths() -> dict[int, list[tuple[Proportion, float, float]]]:
    """Measure against the length of the queries, and write what was found."""
    found = {}
    for k in HEADS:
        settings = [ParitySetting(k, D, M, norm=float(norm)) for norm in LENGTHS]
        found[k] = [(parted(each, TRIALS), signal(each), first_order(each)) for each in settings]
    _write(
        "parity.csv",
        [
            *("k", "d", "m", "norm", "seed", "trials", "parted", "parted_low", "parted_high"),
            *("learned", "learned_low", "learned_high", "signal", "first_order"),
        ],
        (
            [k, D, M, norm, SEED, TRIALS, *_row(distinct), *_row(learned), f"{s:.4f}", f"{f:.4f}"]
            for k, row in found.items()
            for norm, ((distinct, learned), s, f) in zip(LENGTHS, row, strict=True)
        ),
    )
    return {k: [(distinct, s, f) for (distinct, _), s, f in row] for k, row in found.items()}


def write_dimensions() -> None:
    """Measure from unit queries, against m and the prediction."""
    rows: list[list[object]] = []
    for k in HEADS:
        for start in ("simplex", "independent"):
            for m in DIMENSIONS:
                setting = ParitySetting(k, 64, m, start)
                distinct, learned = parted(setting, DIMENSION_TRIALS)
                limit = distinct_probability(k, common_shock(k, start=start))
                at_d = distinct_probability(k, common_shock(k, d=64, start=start))
                predicted = (signal(setting), at_d, limit)
                counted = (*_row(distinct), *_row(learned))
                row: list[object] = [k, start, 64, m, SEED, DIMENSION_TRIALS, *counted]
                rows.append([*row, *(f"{chance:.4f}" for chance in predicted)])
    _write(
        "parity_dimensions.csv",
        [
            *("k", "start", "d", "m", "seed", "trials", "parted", "parted_low", "parted_high"),
            *("learned", "learned_low", "learned_high", "signal", "first_order", "limit"),
        ],
        rows,
    )


def write_steps() -> None:
    """Count in how many draws some of the first steps bring the loss to 0.01."""
    rows: list[list[object]] = []
    for k in (3, 4):
        setting = ParitySetting(k, 64, 64)
        streams = Streams(SEED, f"parity steps/{k}")
        instances = [draw_parity(streams.trial(i), setting) for i in range(STEP_TRIALS)]
        for scale in SCALES:
            taken = [descend(at, scale, steps=STEPS, tolerance=TOLERANCE) for at in instances]
            hits = sorted(steps for steps in taken if steps is not None)
            found = Proportion(len(hits), STEP_TRIALS)
            median: object = hits[len(hits) // 2] if hits else ""
            rows.append([k, 64, 64, scale, STEPS, SEED, STEP_TRIALS, *_row(found), median])
    _write(
        "parity_steps.csv",
        [
            *("k", "d", "m", "eta_scale", "most_steps", "seed", "trials"),
            *("learned", "learned_low", "learned_high", "median_steps"),
        ],
        rows,
    )


def draw(found: dict[int, list[tuple[Proportion, float, float]]]) -> None:
    """Draw the chance that the heads part against the length of the queries."""
    mpl.rcParams["svg.hashsalt"] = "parity"
    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    x = [norm / math.sqrt(M) for norm in LENGTHS]
    for color, (k, marker) in zip(("C0", "C1", "C2"), HEADS.items(), strict=True):
        counts = [each for each, _, _ in found[k]]
        points = [each.count / each.trials for each in counts]
        lower = [point - each.interval[0] for point, each in zip(points, counts, strict=True)]
        upper = [each.interval[1] - point for point, each in zip(points, counts, strict=True)]
        axes.errorbar(
            x, points, yerr=(lower, upper), fmt=marker, color=color, capsize=3, label=f"$k = {k}$"
        )
        axes.plot(x, [signal for _, signal, _ in found[k]], color=color)
        axes.plot(x, [first for _, _, first in found[k]], color=color, linestyle=":")
    axes.set(
        xscale="log",
        xlabel=r"length of the queries over $\sqrt{m}$",
        ylabel="P(one head on each relevant position)",
        ylim=(0, 1.03),
    )
    axes.legend(title=f"$d = {D}$, $m = {M}$")
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def main() -> None:
    """Measure, write the data and draw the figure."""
    draw(write_lengths())
    write_dimensions()
    write_steps()


if __name__ == "__main__":
    main()
