"""Success against the number of samples, with the thresholds of Corollary 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.claims.corollary3 import sample_unit
from verify.claims.corollary3_draws import support_samples
from verify.report.figures.cells import CellResult, Slice, SweepResult, describe
from verify.report.figures.certified import SAMPLE_FAILURE, Computation, sufficient_samples
from verify.report.figures.panels import Size, by_size, legend_below, panels
from verify.report.figures.style import COLOURS, write_csv, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NAME", "NEEDS", "SHOWS", "draw", "make", "plotted_rows", "possible"]

NAME = "samples"
SHOWS: Sequence[str] = ("d", "m", "n")
NEEDS: Sequence[str] = ("n",)

# Share, label, colour, marker, and a shift along n that keeps series apart that lie on each other.
_SERIES = (
    ("both_in_support", "both heads in the support", COLOURS[0], "s", 0.96),
    ("distinct_positions", "heads on different positions", COLOURS[2], "^", 1.04),
    ("success", "success: the loss of every input is small", COLOURS[1], "o", 1.0),
    ("one_to_one", "one head on each position of the support", COLOURS[2], "^", 1.04),
    ("reached", "success: the loss came to be small", COLOURS[1], "o", 1.0),
)
_FINDING = r"finding the support: $4 (d + d^2/m) \ln d$"
_PARTING = r"parting the heads: $d^2 + d m$"
_CERTIFIED = rf"certified, P(failure) $\leq$ {float(SAMPLE_FAILURE):g} for large $\eta$"


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
    """Write the figure and its data; certified is one step from n samples, by Corollary 3."""
    certified: dict[Size, int] = {}
    if result.sweep.kind == "corollary3":
        sizes = list(_by_size(part))
        counts = computation.run(sufficient_samples, sizes)
        certified = {size: n for size, n in zip(sizes, counts, strict=True) if n is not None}
    figure = draw(part, certified, title=describe(result, part, SHOWS))
    drawn = write_figure(path, figure, formats)
    write_csv(path.with_suffix(".csv"), plotted_rows(part, certified))
    return [*drawn, path.with_suffix(".csv")]


def plotted_rows(part: Slice, certified: Mapping[Size, int]) -> list[dict[str, object]]:
    """Return the data: shares with their intervals, and the thresholds at the same (d, m)."""
    rows = []
    for (d, m), cells in _by_size(part).items():
        for cell in cells:
            row: dict[str, object] = {"d": d, "m": m, "n": cell.integer("n"), "trials": cell.trials}
            for name in cell.counts:
                share = cell.share(name)
                row[name] = cell.counts[name]
                row[f"{name}_lower"], row[f"{name}_upper"] = share.interval if share else ("", "")
            row["n_finding"], row["n_parting"] = support_samples(d, m), sample_unit(d, m)
            row["n_sufficient"] = certified.get((d, m))
            rows.append(row)
    return rows


def draw(part: Slice, certified: Mapping[Size, int], *, title: str) -> Figure:
    """Draw a panel for each (d, m): shares against n with 95% intervals, and the thresholds.

    Parameters
    ----------
    part : Slice
        The cells.
    certified : mapping of (d, m) to int
        How many samples are certified to suffice, where some number is.
    title : str
        What the cells share.
    """
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    found = _by_size(part)
    labels = {"x": "number of samples $n$", "y": "share of draws, 95% intervals"}
    for (d, m), axes in panels(figure, list(found), **labels, title=title):
        for name, label, colour, marker, shift in _SERIES:
            _draw_share(axes, found[d, m], name, shift, fmt=f"{marker}-", color=colour, label=label)
        axes.axvline(support_samples(d, m), color="0.35", linestyle=":", label=_FINDING)
        axes.axvline(sample_unit(d, m), color="0.35", linestyle="--", label=_PARTING)
        if (d, m) in certified:
            axes.axvline(certified[d, m], color="black", label=_CERTIFIED)
        axes.set_xscale("log")
        axes.set_ylim(-0.04, 1.04)
    legend_below(figure, columns=2)
    return figure


def _by_size(part: Slice) -> dict[Size, list[CellResult]]:
    """Return the cells by (d, m) and n, but for those without samples, whose n is 0."""
    return {
        size: [cell for cell in cells if cell.integer("n") > 0]
        for size, cells in by_size(part, "n").items()
    }


def _draw_share(
    axes: Axes, cells: Sequence[CellResult], name: str, shift: float, **style: Any
) -> None:
    """Draw a share against n, if the kind of trial has it."""
    known = [
        (cell.integer("n") * shift, share)
        for cell in cells
        if name in cell.counts and (share := cell.share(name)) is not None
    ]
    if not known:
        return
    points = [share.count / share.trials for _, share in known]
    lower = [point - share.interval[0] for point, (_, share) in zip(points, known, strict=True)]
    upper = [share.interval[1] - point for point, (_, share) in zip(points, known, strict=True)]
    axes.errorbar(
        [n for n, _ in known],
        points,
        yerr=(lower, upper),
        markersize=3.5,
        linewidth=0.8,
        capsize=2,
        **style,
    )
