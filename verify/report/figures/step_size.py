"""The largest loss of a trial against the step size, with the least certified step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.balls.arithmetic.exact import upper_digits
from verify.report.figures.cells import Slice, SweepResult, describe
from verify.report.figures.certified import Computation, least_step
from verify.report.figures.panels import Size, by_size, legend_below, panels
from verify.report.figures.style import COLOURS, write_csv, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NAME", "NEEDS", "SHOWS", "draw", "make", "plotted_rows", "possible"]

NAME = "step_size"
SHOWS: Sequence[str] = ("d", "m", "eta_scale")
NEEDS: Sequence[str] = ("eta_scale",)

# Where the band of quantiles begins and ends, and the middle.
_QUANTILES = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
_LOSSES = {"sup_loss_upper": r"largest loss $(f - y)^2$ of an input"}
_FLOOR = 1e-12  # smaller losses are drawn here; after a large step they are exp(-10^6) and less
# Where the axis would leave binary64: nobody takes such a step to learn from it.
_LEAST_SCALE, _LARGEST_SCALE = Fraction(1, 10**100), Fraction(10**100)
_CEILING = 1e12  # larger ones are drawn here; those of a diverging descent end where binary64 does

Step = tuple[Fraction, Fraction]
"""A certified C, for eta >= C d^2, and the probability of failure from there on."""


def possible(result: SweepResult) -> bool:
    """Whether the trials of a sweep end with a loss."""
    return any(cell.losses for cell in result.cells)


def make(
    result: SweepResult,
    part: Slice,
    path: Path,
    computation: Computation,
    formats: Sequence[str],
) -> list[Path]:
    """Write the figure and its data; certified is what Theorem 2 speaks of, its law included."""
    certified: dict[Size, Step] = {}
    law = part.cells[0].cell.parameters.get("law")
    tolerance = result.tolerance.value
    if result.sweep.kind == "theorem2" and law == "sphere":
        sizes = list(by_size(part, "eta_scale"))
        steps = computation.run(least_step, [(d, m, tolerance) for d, m in sizes])
        certified = {size: step for size, step in zip(sizes, steps, strict=True) if step}
    title = describe(result, part, SHOWS)
    loss = _LOSSES.get(result.loss or "", "loss in the end")
    figure = draw(part, certified, title=title, loss=loss, tolerance=tolerance)
    drawn = write_figure(path, figure, formats)
    write_csv(path.with_suffix(".csv"), plotted_rows(part, certified))
    return [*drawn, path.with_suffix(".csv")]


def plotted_rows(part: Slice, certified: Mapping[Size, Step]) -> list[dict[str, object]]:
    """Return the data: quantiles of the loss, and the certified step at the same (d, m)."""
    rows: list[dict[str, object]] = []
    for (d, m), cells in by_size(part, "eta_scale").items():
        scale, failure = certified.get((d, m), (None, None))
        for cell in cells:
            low, median, high = _quantiles(cell.losses) if cell.losses else (None, None, None)
            rows.append(
                {
                    "d": d,
                    "m": m,
                    "eta_scale": float(cell.number("eta_scale")),
                    "trials": cell.trials,
                    "loss_q10": low,
                    "loss_median": median,
                    "loss_q90": high,
                    "eta_scale_certified": None if scale is None else upper_digits(scale, 6),
                    "failure_upper": None if failure is None else upper_digits(failure, 6),
                }
            )
    return rows


def draw(
    part: Slice, certified: Mapping[Size, Step], *, title: str, loss: str, tolerance: Fraction
) -> Figure:
    """Draw a panel for each (d, m): median and central 80% of the loss against eta / d^2.

    Parameters
    ----------
    part : Slice
        The cells.
    certified : mapping of (d, m) to Step
        The least certified step, where there is one.
    title, loss : str
        What the cells have in common; what the loss is.
    tolerance : Fraction
        The largest loss of a success.
    """
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    found = by_size(part, "eta_scale")
    labels = {"x": r"step size $\eta / d^2$", "y": loss}
    for size, axes in panels(figure, list(found), **labels, title=title):
        known = [cell for cell in found[size] if cell.losses]
        scales = [
            float(min(max(cell.number("eta_scale"), _LEAST_SCALE), _LARGEST_SCALE))
            for cell in known
        ]
        bands = [
            [min(max(loss, _FLOOR), _CEILING) for loss in _quantiles(cell.losses)] for cell in known
        ]
        if known:
            low, median, high = zip(*bands, strict=True)
            style: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.25, "linewidth": 0}
            axes.fill_between(scales, low, high, **style, label="from 10% to 90% of the draws")
            label = rf"median (beyond {_FLOOR:g} or {_CEILING:g} drawn there)"
            axes.plot(scales, median, "o-", color=COLOURS[0], markersize=3.5, label=label)
        axes.axhline(
            float(tolerance), color="0.35", linestyle=":", label=rf"$T = {float(tolerance):g}$"
        )
        if size in certified:
            scale, failure = certified[size]
            axes.axvline(
                float(scale), color="black", label=r"certified: loss $\leq T$ from this step on"
            )
            axes.annotate(
                rf"P(failure) $\leq$ {upper_digits(failure, 2)}",
                (float(scale), 0.04),
                xycoords=axes.get_xaxis_transform(),
                xytext=(-2, 0),
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="bottom",
                fontsize=7,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
    legend_below(figure, columns=2)
    return figure


def _quantiles(losses: Sequence[float]) -> list[float]:
    """Return members of an ascending sample such that the shares of it are at or below them."""
    return [losses[-(-len(losses) * share // 1) - 1] for share in _QUANTILES]
