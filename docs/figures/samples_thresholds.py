"""Figure and data: the two thresholds of Corollary 3 in the number of samples.

Run ``python docs/figures/samples_thresholds.py`` with the extra ``docs`` installed (about ten
minutes on two cores); it writes ``samples_thresholds.csv``, with every count and its 95%
Clopper-Pearson interval, into ``verify/report/data``, where reports read it, and
``samples_exponents.csv``, with the fits, and ``samples_thresholds.svg`` beside itself. One step of
size eta = 10^6 d^2 is taken from n samples, drawn and streamed, 300 trials at each (d, m, n), seed
0. A threshold is where a share crosses 1/2, by interpolation in ln n; an exponent is the slope of a
line through the thresholds, both logarithmic. Intervals of thresholds and exponents are from 2000
resamplings of the trials.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from verify.claims.corollary3 import sample_unit
from verify.claims.corollary3_draws import distinct_positions_law
from verify.console.progress import Progress
from verify.evidence.sampling import Proportion
from verify.report.figures.sample_thresholds import FAMILIES, NAME, finding_unit, thresholds
from verify.report.figures.shipped import DATA, read_shipped
from verify.running.pool import Failure, available_cores, run_calls
from verify.seeds import Streams
from verify.trials.samples import run_sample_trials

TRIALS = 300
SEED = 0
SCALE = 1e6
POSITIONS = (64, 128, 256, 512)
MARKERS = dict(zip(FAMILIES, "o^s", strict=True))
# n over (d + d^2/m) ln d, and over d^2 + d m.
FINDING = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0, 4.0)
PARTING = (0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 1.0)

Size = tuple[int, int]


@dataclass(frozen=True)
class Point:
    """How often, at one n, both heads were in the support, and one on each of its positions."""

    n: int
    found: int
    parted: int


def measure(d: int, m: int, n: int) -> Point:
    """Run the trials at one size."""
    streams = Streams(SEED, f"samples/{d}/{m}/{n}")
    trials = run_sample_trials(streams, range(TRIALS), d, m, n, eta=SCALE * d**2, method="exact")
    return Point(
        n, sum(each.both_in_support for each in trials), sum(each.one_to_one for each in trials)
    )


def measure_all() -> dict[Size, list[Point]]:
    """Run the trials at all sizes, the costliest first."""
    sizes = sorted({(d, rule(d)) for rule in FAMILIES.values() for d in POSITIONS})
    calls = [(d, m, n) for d, m in sizes for n in _samples(d, m)]
    calls.sort(key=lambda call: call[0] * (call[1] + call[2]), reverse=True)
    points: dict[Size, list[Point]] = {size: [] for size in sizes}
    progress = Progress(quiet=False)
    with progress.track(len(calls)):
        for i, found in run_calls(measure, calls, jobs=available_cores()):
            if isinstance(found, Failure):
                raise SystemExit(f"the figure needs every trial; {found.reason}")
            points[calls[i][:2]].append(found)
            progress.advance("sizes")
    return {size: sorted(row, key=lambda point: point.n) for size, row in points.items()}


def _samples(d: int, m: int) -> set[int]:
    finding = {math.ceil(times * finding_unit(d, m)) for times in FINDING}
    return finding | {math.ceil(times * sample_unit(d, m)) for times in PARTING}


@dataclass(frozen=True)
class Fit:
    """A slope through thresholds, against a measure of size."""

    threshold: str
    sizes: str
    against: str
    expected: float
    slopes: np.ndarray
    constants: np.ndarray


def fit(label: tuple[str, str, str], x: np.ndarray, y: np.ndarray, expected: float) -> Fit:
    """Fit ln y = slope ln x + ..., and with the slope as expected, to each column of y.

    The first column is that of the trials, the others are those of the resamplings.
    """
    slopes = np.polyfit(np.log(x), np.log(y), 1)[0]
    constants = np.exp(np.mean(np.log(y) - expected * np.log(x)[:, np.newaxis], axis=0))
    return Fit(*label, expected, slopes, constants)


def fits(found: dict[str, dict[Size, np.ndarray]]) -> list[Fit]:
    """Fit both thresholds, family by family and all together."""
    rows = []
    for name, unit, logarithm in (
        ("both in the support", lambda d, m: d + d * d / m, math.log),
        ("on both positions", sample_unit, lambda _: 1.0),
    ):
        scaled = {size: y / logarithm(size[0]) for size, y in found[name].items()}
        over = "n" if name == "on both positions" else "n / ln d"
        power = 2.0 if name == "on both positions" else 1.0
        for family, rule in FAMILIES.items():
            if family != "m = 64":
                chosen = [(d, rule(d)) for d in POSITIONS]
                d_values = np.array([float(d) for d, _ in chosen])
                y = np.array([scaled[size] for size in chosen])
                rows.append(fit((name, family, f"{over} against d"), d_values, y, power))
        sizes = list(scaled)
        x = np.array([float(unit(*size)) for size in sizes])
        y = np.array([scaled[size] for size in sizes])
        against = "d^2 + d m" if name == "on both positions" else "d + d^2/m"
        rows.append(fit((name, "all", f"{over} against {against}"), x, y, 1.0))
    return rows


def main() -> None:
    """Measure, fit, write the data and draw the figure."""
    points = measure_all()
    _write_points(points)
    rows = read_shipped(NAME)
    rng = np.random.default_rng(SEED)
    found = {
        name: thresholds(rows, column, rng)
        for name, column in (("both in the support", "found"), ("on both positions", "parted"))
    }
    _write_fits(fits(found))
    _draw(points, found["both in the support"])


def _write_points(points: dict[Size, list[Point]]) -> None:
    with (DATA / f"{NAME}.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        shares = [f"{name}{end}" for name in ("found", "parted") for end in ("", "_low", "_high")]
        writer.writerow(["d", "m", "n", "seed", "trials", *shares, "law"])
        for (d, m), row in points.items():
            for point in row:
                ends = [
                    text
                    for count in (point.found, point.parted)
                    for text in (count, *(f"{end:.4f}" for end in _interval(count)))
                ]
                law = f"{distinct_positions_law(d, m, point.n):.4f}"
                writer.writerow([d, m, point.n, SEED, TRIALS, *ends, law])


def _write_fits(rows: list[Fit]) -> None:
    with Path(__file__).with_name("samples_exponents.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        numbers = [
            f"{name}{end}" for name in ("slope", "constant") for end in ("", "_low", "_high")
        ]
        writer.writerow(["threshold", "sizes", "fitted", "expected", *numbers])
        for each in rows:
            texts = [
                f"{number:.3f}"
                for values in (each.slopes, each.constants)
                for number in (values[0], *np.quantile(values[1:], [0.025, 0.975]))
            ]
            writer.writerow(
                [each.threshold, each.sizes, each.against, f"{each.expected:g}", *texts]
            )


def _interval(count: int) -> tuple[float, float]:
    return Proportion(count, TRIALS).interval


def _draw(points: dict[Size, list[Point]], found: dict[Size, np.ndarray]) -> None:
    mpl.rcParams["svg.hashsalt"] = "samples_thresholds"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for family, rule in FAMILIES.items():
        x = [finding_unit(d, rule(d)) for d in POSITIONS]
        rows = [found[d, rule(d)] for d in POSITIONS]
        low, high = np.quantile([row[1:] for row in rows], [0.025, 0.975], axis=1)
        y = np.array([row[0] for row in rows])
        marker = MARKERS[family]
        left.errorbar(x, y, yerr=(y - low, high - y), fmt=marker, capsize=3, label=f"${family}$")
    line = np.array([finding_unit(64, 256), finding_unit(512, 64)])
    left.plot(line, line, color="0.5", label=r"$n = (d + d^2/m) \ln d$")
    left.set(
        xscale="log",
        yscale="log",
        xlabel=r"$(d + d^2/m) \ln d$",
        ylabel="n: support found in half of the draws",
    )
    for color, (family, rule) in zip(("C0", "C1", "C2"), FAMILIES.items(), strict=True):
        for d in POSITIONS:
            m = rule(d)
            for point in points[d, m]:
                right.plot(
                    point.n / sample_unit(d, m),
                    point.parted / TRIALS,
                    MARKERS[family],
                    color=color,
                    markerfacecolor=color if point.found >= 0.9 * TRIALS else "none",
                    markersize=4,
                )
    ratios = np.geomspace(0.004, 1, 200)
    right.plot(
        ratios,
        1 - 2 / np.pi * np.arctan(np.sqrt(1 / 512 + 1 / (4 * ratios))),
        color="0.5",
        label=r"the law at $d = 512$",
    )
    right.set(
        xscale="log",
        xlabel=r"$n / (d^2 + d m)$",
        ylabel="one head on each position",
        title="filled: support found in 90 % of the draws",
    )
    for axes in (left, right):
        axes.legend()
        axes.grid(visible=True, which="major", alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
