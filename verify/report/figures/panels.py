"""A panel for each (d, m) of a sweep, on common axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from verify.report.figures.cells import CellResult, Slice

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Size", "by_size", "legend_below", "panels"]

Size = tuple[int, int]
"""A pair (d, m)."""

# Inches: a panel, and what the labels and the legend take.
_WIDTH, _HEIGHT, _LEAST_WIDTH, _BELOW = 2.3, 1.9, 6.0, 1.1


def by_size(part: Slice, axis: str) -> dict[Size, list[CellResult]]:
    """Return the cells of each (d, m), sorted along an axis; d ascends, and m for each d."""
    found: dict[Size, list[CellResult]] = {}
    for cell in part.cells:
        found.setdefault((cell.integer("d"), cell.integer("m")), []).append(cell)
    return {size: sorted(found[size], key=lambda cell: cell.number(axis)) for size in sorted(found)}


def panels(
    figure: Figure, sizes: list[Size], *, x: str, y: str, title: str
) -> Iterator[tuple[Size, Axes]]:
    """Size a figure and yield a panel for each (d, m): a column for each d, a row for each m.

    Parameters
    ----------
    figure : Figure
        The empty figure.
    sizes : list of Size
        All pairs of some d and some m.
    x, y, title : str
        Labels of the common axes, and what the panels share.
    """
    positions = sorted({d for d, _ in sizes})
    dimensions = sorted({m for _, m in sizes})
    figure.set_size_inches(
        max(_LEAST_WIDTH, _WIDTH * len(positions)), _HEIGHT * len(dimensions) + _BELOW
    )
    figure.suptitle(title, fontsize=9, parse_math=False)
    figure.supylabel(y, fontsize=9)
    grid = figure.subplots(len(dimensions), len(positions), sharex=True, sharey=True, squeeze=False)
    for row, m in zip(grid, dimensions, strict=True):
        for axes, d in zip(row, positions, strict=True):
            axes.set_title(f"$d = {d}$, $m = {m}$")
            axes.grid(visible=True, which="major", alpha=0.3)
            if m == dimensions[-1]:
                axes.set_xlabel(x)
            yield (d, m), axes


def legend_below(figure: Figure, *, columns: int) -> None:
    """Put one legend under all panels: each label once, from whichever panels have it."""
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(), list(handles), loc="outside lower center", ncols=columns, frameon=False
    )
