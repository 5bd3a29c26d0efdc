"""The largest loss of an input after one step, against the step size, at draws of a run's seed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING

from verify.evidence.sampling import Proportion
from verify.report.figures.shipped import Tables
from verify.report.figures.style import COLOURS
from verify.seeds import Streams
from verify.trials.one_step import run_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "NAME", "SHIPPED", "TITLE", "caption", "command", "draw", "tables"]

NAME = "loss_against_step"
TITLE = "Largest loss against the step size"
CLAIMS: Sequence[str] = ("theorem2-loss", "theorem2-explicit")
SHIPPED = False

_D, _M, _DRAWS = 128, 128, 32
_SCALES = ("0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000", "3000", "10000")
_TOLERANCE = Fraction(1, 100)
# After a large step the loss is exp(-10^6) and less: such losses are drawn on the lowest line.
_FLOOR = 1e-10


def tables(seed: int) -> Tables:
    """Take steps of every size from the same draws; an upper end of the largest loss of each."""
    streams = Streams(seed)
    found = {
        scale: run_trials(streams, range(_DRAWS), _D, _M, eta=float(scale) * _D**2)
        for scale in _SCALES
    }
    return {
        NAME: [
            {
                "eta_scale": scale,
                "trial": str(trial),
                "sup_loss_upper": repr(each.upper),
                "same_position": str(int(each.same_position)),
            }
            for scale, trials in found.items()
            for trial, each in enumerate(trials)
        ]
    }


def draw(tables: Tables) -> Figure:
    """Draw a line for each draw, their median, and the tolerance."""
    from matplotlib.figure import Figure

    losses = _losses(tables)
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    scales = [float(scale) for scale in losses]
    for trial in range(_DRAWS):
        axes.plot(
            scales,
            [max(row[trial], _FLOOR) for row in losses.values()],
            color=COLOURS[0],
            alpha=0.4,
            linewidth=0.8,
            label=None if trial else "each draw",
        )
    axes.plot(
        scales,
        [max(median(row), _FLOOR) for row in losses.values()],
        "o-",
        color=COLOURS[1],
        markersize=4,
        label="median",
    )
    axes.axhline(float(_TOLERANCE), color="0.35", linestyle=":", label="$T = 0.01$")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel=r"step size $\eta / d^2$",
        ylabel=r"largest loss $(f - y)^2$ of an input",
    )
    axes.grid(visible=True, which="major", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def caption(tables: Tables, seed: int) -> str:
    """Say what is drawn, and how often the largest step succeeds."""
    last = [row for row in tables[NAME] if row["eta_scale"] == _SCALES[-1]]
    failed = [row for row in last if Fraction(float(row["sup_loss_upper"])) > _TOLERANCE]
    same = sum(row["same_position"] == "1" for row in failed)
    share = Proportion(len(last) - len(failed), len(last))
    low, high = share.interval
    others = f"; of the others {same} of {len(failed)} have both heads on the same position"
    return (
        rf"The same $n = {_DRAWS}$ draws (seed {seed}) at every step size, $d = {_D}$, $m = {_M}$: "
        r"an upper end of $\sup_x (f(x) - y)^2$ after one population step. At "
        rf"$\eta = {_SCALES[-1]} d^2$ it is at most $0.01$ in {share.count} of {share.trials} "
        f"draws, 95% Clopper-Pearson interval from {low:.3f} to {high:.3f}"
        rf"{others if failed else ''}. Losses below $10^{{-10}}$ are drawn there."
    )


def command(seed: int) -> str:
    """Return what repeats the last column of points."""
    return (
        f"xorverify theorem2 --d {_D} --m {_M} --eta-scale {_SCALES[-1]} --trials {_DRAWS} "
        f"--seed {seed}"
    )


def _losses(tables: Tables) -> dict[str, list[float]]:
    """Return the losses by step size, in the order of the draws."""
    found: dict[str, list[float]] = {scale: [] for scale in _SCALES}
    for row in tables[NAME]:
        found[row["eta_scale"]].append(float(row["sup_loss_upper"]))
    return found
