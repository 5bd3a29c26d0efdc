"""The two thresholds of Corollary 3 in the number of samples, against the number of positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verify.claims.corollary3 import sample_unit
from verify.report.figures.shipped import Row, Tables, read_shipped
from verify.report.figures.style import COLOURS, size_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "CLAIMS",
    "FAMILIES",
    "NAME",
    "SHIPPED",
    "TITLE",
    "caption",
    "command",
    "draw",
    "finding_unit",
    "tables",
    "thresholds",
]

NAME = "samples_thresholds"
TITLE = "Samples against positions, with both thresholds"
CLAIMS: Sequence[str] = (
    "corollary3-support-found",
    "corollary3-distinct-positions",
    "corollary3-linear-samples",
)
SHIPPED = True

FAMILIES: Mapping[str, Callable[[int], int]] = {
    "m = 64": lambda _: 64,
    "m = d": lambda d: d,
    "m = 4 d": lambda d: 4 * d,
}
"""How m follows d."""

_RESAMPLINGS = 2000
_QUANTILES = (0.025, 0.975)
# Column, label, colour, marker.
_SERIES = (
    ("found", "both heads in the support, in half of the draws", COLOURS[0], "s"),
    ("parted", "one head on each of its positions, in half of the draws", COLOURS[1], "o"),
)

Size = tuple[int, int]


def tables(_seed: int) -> Tables:
    """Return the shipped results."""
    return {NAME: read_shipped(NAME)}


def finding_unit(d: int, m: int) -> float:
    """Return (d + d^2/m) ln d."""
    return (d + d * d / m) * math.log(d)


def thresholds(
    rows: Sequence[Row], column: str, rng: np.random.Generator
) -> dict[Size, NDArray[np.float64]]:
    """Return, for each (d, m), where a share crosses 1/2, and where it does in resamplings.

    Parameters
    ----------
    rows : sequence of Row
        Counts at every (d, m, n).
    column : str
        Whose share.
    rng : Generator
        Source of the resamplings of the trials.

    Returns
    -------
    dict of (d, m) to ndarray
        The n of the trials first, then those of the resamplings: by interpolation in ln n, of
        shares that are made nondecreasing.
    """
    found = {}
    for size in dict.fromkeys((int(row["d"]), int(row["m"])) for row in rows):
        chosen = [row for row in rows if (int(row["d"]), int(row["m"])) == size]
        n = np.array([int(row["n"]) for row in chosen])
        trials = np.array([int(row["trials"]) for row in chosen])
        counts = np.array([int(row[column]) for row in chosen])
        resampled = rng.binomial(trials, counts / trials, size=(_RESAMPLINGS, len(chosen)))
        found[size] = _crossing(n, np.vstack([counts, resampled]) / trials)
    return found


def _crossing(n: NDArray[np.int_], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where each row of shares, made nondecreasing, crosses 1/2."""
    rising = np.maximum.accumulate(shares, axis=1)
    return np.array([np.exp(np.interp(0.5, row, np.log(n))) for row in rising])


def draw(tables: Tables) -> Figure:
    """Draw a panel for each rule by which m follows d: thresholds, and their orders as lines."""
    from matplotlib.figure import Figure

    rows = tables[NAME]
    rng = np.random.default_rng(0)
    measured = {column: thresholds(rows, column, rng) for column, *_ in _SERIES}
    positions = sorted({int(row["d"]) for row in rows})
    figure = Figure(figsize=(7.4, 3.8), layout="constrained")
    panels = figure.subplots(1, len(FAMILIES), sharey=True, squeeze=False)[0]
    for axes, (family, rule) in zip(panels, FAMILIES.items(), strict=True):
        for column, label, colour, marker in _SERIES:
            found = [measured[column][d, rule(d)] for d in positions]
            n = np.array([each[0] for each in found])
            low, high = np.quantile([each[1:] for each in found], _QUANTILES, axis=1)
            style = {"color": colour, "markersize": 4, "capsize": 3, "label": label}
            axes.errorbar(positions, n, yerr=(n - low, high - n), fmt=marker, **style)
        axes.plot(
            positions,
            [finding_unit(d, rule(d)) for d in positions],
            color=COLOURS[0],
            linestyle="--",
            label=r"$(d + d^2/m)\,\ln d$",
        )
        axes.plot(
            positions,
            [sample_unit(d, rule(d)) / 4 for d in positions],
            color=COLOURS[1],
            linestyle=":",
            label=r"$(d^2 + d m) / 4$",
        )
        size_ticks(axes, "x", positions, "number of positions $d$")
        axes.set_yscale("log")
        axes.set_title(f"${family}$")
        axes.grid(visible=True, which="major", alpha=0.3)
    panels[0].set_ylabel("number of samples $n$")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def caption(tables: Tables, _seed: int) -> str:
    """Say what is drawn."""
    (trials,) = {int(row["trials"]) for row in tables[NAME]}
    return (
        r"Numbers of samples at which one step of $\eta = 10^6 d^2$ puts both heads into the "
        "support, and at which it puts one head on each of its positions, in half of the draws: "
        rf"{trials} draws at each $(d, m, n)$, seed 0, interpolated in $\ln n$. Bars are 95% "
        f"intervals from {_RESAMPLINGS} resamplings of the draws. The lines are the orders of the "
        "two thresholds, with these constants, not fits."
    )


def command(_seed: int) -> str:
    """Return what computes the shipped results again."""
    return "python docs/figures/samples_thresholds.py"
