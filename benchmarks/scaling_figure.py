"""The figure of the fitted exponents, and its data, from what the suite `scaling` measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.report.figures.style import COLOURS, drawing, write_csv, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from benchmarks.scaling import Growth

__all__ = ["write"]

_MARKERS = ("o", "s")


def write(growths: Sequence[Growth], folder: Path) -> None:
    """Write ``benchmarks_scaling.csv`` and ``.svg`` into a folder."""
    target = folder / "benchmarks_scaling.svg"
    write_csv(
        target.with_suffix(".csv"),
        [
            {
                "kernel": growth.kernel,
                "size": growth.size,
                "varied": growth.varied,
                "value": f"{size:.6g}",
                "seconds": f"{seconds:.4g}",
            }
            for growth in growths
            for size, seconds in zip(growth.sizes, growth.seconds, strict=True)
        ],
    )
    with drawing():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8.4, 3.8), layout="constrained")
        axes = figure.add_subplot()
        kernels = list(dict.fromkeys(growth.kernel for growth in growths))
        for kernel, colour in zip(kernels, COLOURS, strict=False):
            _draw([each for each in growths if each.kernel == kernel], axes, colour)
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="size, as the legend says of each",
            ylabel="seconds on one core",
        )
        figure.legend(title="dashed: exponent 1", loc="outside right upper")
        axes.grid(visible=True, which="major", alpha=0.3)
        write_figure(target, figure, ["svg"])


def _draw(growths: Sequence[Growth], axes: Axes, colour: str) -> None:
    """Draw a kernel's points, and the line of exponent 1 through their middle."""
    for growth, marker in zip(growths, _MARKERS, strict=False):
        label = f"{growth.kernel}, ${growth.size.replace('log', chr(92) + 'log')}$: {growth.varied}"
        axes.plot(growth.sizes, growth.seconds, marker, color=colour, label=label)
    ends = [min(growths[0].sizes), max(growths[0].sizes)]
    rates = sorted(
        seconds / size for size, seconds in zip(growths[0].sizes, growths[0].seconds, strict=True)
    )
    middle = rates[len(rates) // 2]
    axes.plot(ends, [middle * size for size in ends], "--", color=colour, linewidth=0.8)
