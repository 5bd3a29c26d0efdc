"""How often large steps fail, over the law: certified from both sides, and simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verify.report.figures.shipped import Tables, read_shipped
from verify.report.figures.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "NAME", "SHIPPED", "TITLE", "caption", "command", "draw", "tables"]

NAME = "certified_and_simulated"
TITLE = "Failure of large steps, certified and simulated"
CLAIMS: Sequence[str] = ("theorem2-law", "theorem2-explicit", "theorem2-converse")
SHIPPED = True

_LAW = r"$(2/\pi)\,\arctan(1/\sqrt{d})$"


def tables(_seed: int) -> Tables:
    """Return the shipped results."""
    return {NAME: read_shipped(NAME)}


def draw(tables: Tables) -> Figure:
    """Draw a panel for each m: the certified band and the simulated intervals, over the law."""
    from matplotlib.figure import Figure

    rows = tables[NAME]
    dimensions = sorted({int(row["m"]) for row in rows})
    figure = Figure(figsize=(7.4, 3.4), layout="constrained")
    panels = figure.subplots(1, len(dimensions), sharey=True, squeeze=False)[0]
    for axes, m in zip(panels, dimensions, strict=True):
        chosen = [row for row in rows if int(row["m"]) == m]
        sizes = [int(row["d"]) for row in chosen]
        over = {
            name: [float(row[name]) / float(row["law"]) for row in chosen]
            for name in ("failure_lower", "failure_limit", "point", "lower", "upper")
        }
        axes.fill_between(
            sizes,
            over["failure_lower"],
            over["failure_limit"],
            color=COLOURS[0],
            alpha=0.25,
            linewidth=0,
            label="certified",
        )
        axes.errorbar(
            sizes,
            over["point"],
            yerr=(
                [point - low for point, low in zip(over["point"], over["lower"], strict=True)],
                [high - point for point, high in zip(over["point"], over["upper"], strict=True)],
            ),
            fmt="o",
            color=COLOURS[1],
            markersize=4,
            capsize=3,
            label="simulated, 95%",
        )
        axes.axhline(1, color="0.35", linestyle=":", label=f"the law {_LAW}")
        axes.set(xscale="log", xlabel="number of positions $d$", title=f"$m = {m}$")
        axes.set_ylim(0.2, 1.8)
        axes.grid(visible=True, which="major", alpha=0.3)
    panels[0].set_ylabel("P(large steps fail), over the law")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def caption(tables: Tables, _seed: int) -> str:
    """Say what is drawn."""
    trials = [int(row["trials"]) for row in tables[NAME]]
    return (
        "How often, as the step grows, both heads prefer the same position of the support, divided "
        rf"by $\frac{{2}}{{\pi}} \arctan (1/\sqrt{{d}})$. The band is proved in ball arithmetic; "
        rf"points are simulated, $n$ from {min(trials)} to {max(trials)} draws each, seed 0, with "
        "95% Clopper-Pearson intervals."
    )


def command(_seed: int) -> str:
    """Return what computes the shipped results again."""
    return "python docs/figures/certified_and_simulated.py"
