"""Success against (d, m): what was simulated, on what is certified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from numerics.balls.arithmetic.exact import upper_digits
from verify.evidence.sampling import Proportion
from verify.report.figures.cells import CellResult, Slice, SweepResult, describe
from verify.report.figures.certified import LEVELS, CertifiedColumn, Computation, certified_column
from verify.report.figures.style import size_ticks, write_csv, write_figure
from verify.sweep.parameters import canonical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = ["NAME", "NEEDS", "SHOWS", "certified_rows", "draw", "make", "plotted_rows", "possible"]

NAME = "phase_diagram"
SHOWS: Sequence[str] = ("d", "m")
NEEDS: Sequence[str] = ("d", "m")

_LINES = {Fraction(1, 10): "-", Fraction(1, 4): "--", Fraction(1, 2): ":"}

# Inches: between two sizes that are next to each other, of an axis at most and at least, and what
# the labels and the bar of colours take beside and below.
_PITCH, _MOST, _LEAST = 0.55, 8.0, 2.8
_BESIDE, _BELOW = 2.0, 1.3
_POINTS_PER_INCH = 72
# So few that the bar of colours is drawn as shapes: matplotlib makes a longer one an image, which
# a PGF file cannot hold.
_COLOURS = 40
_SHARE_OF_PITCH = 0.48  # what a disc takes of the distance to the next


def possible(result: SweepResult) -> bool:
    """Whether the trials of a sweep succeed or fail."""
    return result.success is not None


def make(
    result: SweepResult,
    part: Slice,
    path: Path,
    computation: Computation,
    formats: Sequence[str],
) -> list[Path]:
    """Write the figure and its data; certified is what Theorem 2 speaks of, its law included."""
    columns: list[CertifiedColumn] = []
    first = part.cells[0].cell.parameters
    if result.sweep.kind == "theorem2" and first.name("law") == "sphere":
        sizes = tuple(sorted({cell.integer("m") for cell in part.cells}))
        scale, tolerance = first.exact("eta_scale").value, result.tolerance.value
        calls = [
            (d, sizes, scale, tolerance) for d in sorted({cell.integer("d") for cell in part.cells})
        ]
        columns = [each for each in computation.run(certified_column, calls) if each is not None]
    success = result.success or ""
    figure = draw(part, columns, success=success, title=describe(result, part, SHOWS))
    drawn = write_figure(path, figure, formats)
    data = path.with_suffix(".csv")
    write_csv(data, plotted_rows(part, columns, success=success))
    edges = certified_rows(columns)
    if not edges:
        return [*drawn, data]
    write_csv(path.with_name(f"{path.stem}_certified.csv"), edges)
    return [*drawn, data, path.with_name(f"{path.stem}_certified.csv")]


def plotted_rows(
    part: Slice, columns: Sequence[CertifiedColumn], *, success: str
) -> list[dict[str, object]]:
    """Return the data of the points: how often trials succeeded, and the certified bound there."""
    proved = {
        (column.d, m): upper_digits(bound, 6)
        for column in columns
        for m, bound in column.nodes.items()
    }
    rows: list[dict[str, object]] = []
    for cell in part.cells:
        d, m = cell.integer("d"), cell.integer("m")
        share = cell.share(success)
        lower, upper = (None, None) if share is None else share.interval
        rows.append(
            {
                "d": d,
                "m": m,
                "trials": cell.trials,
                "successes": cell.counts[success],
                "lower": lower,
                "upper": upper,
                "failure_upper": proved.get((d, m)),
            }
        )
    return rows


def certified_rows(columns: Sequence[CertifiedColumn]) -> list[dict[str, object]]:
    """Return the data of the lines: points at the edges of the certified regions."""
    return [
        {
            "level": float(edge.level),
            "side": edge.side,
            "d": edge.d,
            "m": edge.m,
            "failure_upper": upper_digits(edge.failure_upper, 6),
        }
        for column in columns
        for edge in column.edges
    ]


def draw(part: Slice, columns: Sequence[CertifiedColumn], *, success: str, title: str) -> Figure:
    """Draw the diagram.

    A disc is a cell: its left half has the colour of the lower end of the 95% interval of the
    share of successes, its right half that of the upper end, so that a disc of one colour is a
    share that is known well.

    Parameters
    ----------
    part : Slice
        The cells.
    columns : sequence of CertifiedColumn
        What is certified, d by d; empty if nothing is.
    success, title : str
        Which of the kind's shares is shown; what the cells have in common.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    positions = sorted({cell.integer("d") for cell in part.cells})
    dimensions = sorted({cell.integer("m") for cell in part.cells})
    width, height = _inches(positions), _inches(dimensions)
    figure = Figure(figsize=(width + _BESIDE, height + _BELOW), layout="constrained")
    axes = figure.add_subplot()
    size_ticks(axes, "x", positions, "number of positions $d$")
    size_ticks(axes, "y", dimensions, "embedding dimension $m$")
    axes.set_xlim(*_reach(positions))
    axes.set_ylim(*_reach(dimensions))
    axes.set_title(title, parse_math=False)
    _draw_regions(axes, columns)
    colours = ScalarMappable(cmap=colormaps["cividis"].resampled(_COLOURS))
    colours.set_clim(0, 1)
    gap = min(width / _steps(positions), height / _steps(dimensions))
    for cell in part.cells:
        _draw_disc(
            axes,
            cell,
            cell.share(success),
            colours,
            _POINTS_PER_INCH * _SHARE_OF_PITCH * min(gap, _PITCH),
        )
    bar = figure.colorbar(colours, ax=axes, pad=0.02)
    for shapes in bar.ax.collections:
        shapes.set_edgecolor("face")  # or the page shows through between two of them
    bar.set_label("share of draws that succeed\nleft half: lower, right half: upper 95% limit")
    if axes.get_legend_handles_labels()[0]:
        scale = canonical(part.cells[0].cell.parameters["eta_scale"])
        legend = rf"certified for every $\eta \geq {scale}\, d^2$: P(failure)"
        figure.legend(title=legend, loc="outside lower center", ncols=len(LEVELS), frameon=False)
    return figure


def _draw_regions(axes: Axes, columns: Sequence[CertifiedColumn]) -> None:
    """Shade what is certified at each level, with its edges where the grid shows them.

    Between the positions of the grid an edge is a straight line, of which nothing is certified.
    """
    bottom, top = axes.get_ylim()
    positions = [column.d for column in columns]
    for level, line in _LINES.items():
        extents = [_extent(column, level, bottom, top) for column in columns]
        if all(math.isnan(low) for low, _ in extents):
            continue
        lows, highs = [low for low, _ in extents], [high for _, high in extents]
        axes.fill_between(positions, lows, highs, color="0.5", alpha=0.16, linewidth=0, zorder=0)
        for ends, shown, label in (
            (lows, [low > bottom for low in lows], rf"$\leq$ {float(level):g}"),
            (highs, [high < top for high in highs], None),
        ):
            edge = [end if seen else math.nan for end, seen in zip(ends, shown, strict=True)]
            axes.plot(positions, edge, color="black", linestyle=line, label=label, zorder=2)


def _extent(
    column: CertifiedColumn, level: Fraction, bottom: float, top: float
) -> tuple[float, float]:
    """Return from where to where failure is certified to be rare enough; NaN if nowhere."""
    if all(bound > level for bound in column.nodes.values()):
        return math.nan, math.nan
    edges = {edge.side: edge.m for edge in reversed(column.edges) if edge.level == level}
    return edges.get("lower", bottom), edges.get("upper", top)


def _draw_disc(
    axes: Axes, cell: CellResult, share: Proportion | None, colours: ScalarMappable, size: float
) -> None:
    d, m = cell.integer("d"), cell.integer("m")
    if share is None:
        axes.plot(d, m, "x", color="0.4", markersize=size / 2)
        return
    lower, upper = colours.to_rgba(np.array(share.interval))
    axes.plot(
        d,
        m,
        "o",
        fillstyle="left",
        markerfacecolor=lower,
        markerfacecoloralt=upper,
        markeredgecolor="0.2",
        markeredgewidth=0.6,
        markersize=size,
        zorder=3,
    )


def _steps(sizes: Sequence[int]) -> float:
    """Return how often the ratio of the nearest two sizes fits into the axis."""
    low, high = _reach(sizes)
    nearest = min((b / a for a, b in pairwise(sizes)), default=2.0)
    return math.log(high / low) / math.log(nearest)


def _reach(sizes: Sequence[int]) -> tuple[float, float]:
    """Return limits of an axis, half a step beyond the first and the last size."""
    step = math.sqrt(min((b / a for a, b in pairwise(sizes)), default=2.0))
    return sizes[0] / step, sizes[-1] * step


def _inches(sizes: Sequence[int]) -> float:
    return min(max(_PITCH * _steps(sizes), _LEAST), _MOST)
