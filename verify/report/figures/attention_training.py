"""Loss against steps of softmax, linear and erf attention, from both starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from verify.report.figures.shipped import Row, Tables, read_shipped
from verify.report.figures.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "NAME", "SHIPPED", "TITLE", "caption", "command", "draw", "tables"]

NAME = "attention_training"
TITLE = "Softmax, linear and erf attention in training"
CLAIMS: Sequence[str] = (
    "softmax-is-necessary",
    "softmax-necessary-for-narrow",
    "independent-starts-learn",
    "concave-attention-floor",
    "antisymmetric-half",
)
SHIPPED = True

_LOSSES = "compare_losses"
_STYLES = {"softmax": (COLOURS[0], "-"), "linear": (COLOURS[1], "--"), "erf": (COLOURS[2], "-.")}
_STEPS, _LOWEST, _HIGHEST = 1000, 4e-3, 300


def tables(_seed: int) -> Tables:
    """Return the shipped results."""
    return {_LOSSES: read_shipped(_LOSSES)}


def draw(tables: Tables) -> Figure:
    """Draw a panel for each size and start, a line for each run."""
    from matplotlib.figure import Figure

    rows = tables[_LOSSES]
    sizes = list(dict.fromkeys(_size(row) for row in rows))
    starts = list(dict.fromkeys(row["start"] for row in rows))
    figure = Figure(figsize=(7.4, 5.2), layout="constrained")
    grid = figure.subplots(len(sizes), len(starts), sharex=True, sharey=True, squeeze=False)
    for (size, start, attention, trial), group in groupby(rows, key=_run):
        steps, losses = zip(
            # A loss of nothing has no logarithm: it is drawn below the axis.
            *((int(row["step"]), max(float(row["loss"]), _LOWEST / 10)) for row in group),
            strict=True,
        )
        axes = grid[sizes.index(size)][starts.index(start)]
        colour, line = _STYLES[attention]
        label = attention if trial == "0" else None
        axes.plot(steps, losses, line, color=colour, linewidth=1.2, label=label)
    for panels, (d, m) in zip(grid, sizes, strict=True):
        panels[0].set_ylabel("population loss")
        for axes, start in zip(panels, starts, strict=True):
            axes.axhline(0.01, color="0.35", linestyle=":")
            axes.set(xscale="symlog", yscale="log", xlim=(0, _STEPS), ylim=(_LOWEST, _HIGHEST))
            axes.set_title(f"$d = {d}$, $m = {m}$, {start} start")
            axes.grid(visible=True, which="major", alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("steps")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def caption(tables: Tables, _seed: int) -> str:
    """Say what is drawn."""
    runs = len({row["trial"] for row in tables[_LOSSES]})
    return (
        f"Population loss of gradient descent, $n = {runs}$ draws for each map, size and start, "
        "seed 0, each at the step size that suits it best, until the loss is at most $0.01$ "
        f"(dotted) or {_STEPS} steps are done. Every run is drawn, so there is no interval. Where "
        "$m$ is small against $d$ (above) only softmax learns; where $m = 2d$ and the starts are "
        "independent all three do."
    )


def command(_seed: int) -> str:
    """Return what computes the shipped results again."""
    return "python docs/figures/compare.py"


def _size(row: Row) -> tuple[int, int]:
    return int(row["d"]), int(row["m"])


def _run(row: Row) -> tuple[tuple[int, int], str, str, str]:
    return _size(row), row["start"], row["attention"], row["trial"]
