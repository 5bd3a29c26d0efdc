"""Which figures a sweep has, and making them, each with what it shows as CSV beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from verify.console.progress import Progress
from verify.report.figures import phase_diagram, samples, step_size
from verify.report.figures.cells import Slice, SweepResult, describe, slices
from verify.report.figures.certified import Computation
from verify.report.figures.style import drawing

__all__ = ["FIGURES", "Drawn", "SweepFigure", "make_figures", "missing_for"]


class SweepFigure(Protocol):
    """What is expected of a figure's module.

    Attributes
    ----------
    NAME : str
        Name of the figure, and of its files.
    SHOWS : sequence of str
        The axes of the grid that one figure shows; of the others it shows one value each.
    NEEDS : sequence of str
        Those among them that must have several values.
    """

    NAME: str
    SHOWS: Sequence[str]
    NEEDS: Sequence[str]

    def possible(self, result: SweepResult) -> bool:
        """Whether the trials of a sweep found what the figure shows."""

    def make(
        self,
        result: SweepResult,
        part: Slice,
        path: Path,
        computation: Computation,
        formats: Sequence[str],
    ) -> list[Path]:
        """Write the figure and its data, an SVG at `path`, the rest beside it."""


FIGURES: tuple[SweepFigure, ...] = (phase_diagram, samples, step_size)


@dataclass(frozen=True)
class Drawn:
    """A figure that was made: its name, what its cells have in common, its drawings and data."""

    name: str
    title: str
    files: list[Path]


def missing_for(figure: SweepFigure, result: SweepResult) -> str | None:
    """Return what a sweep lacks for a figure, in a line; None if it can be made."""
    still = [axis for axis in figure.NEEDS if not result.varies(axis)]
    if still:
        return f"{figure.NAME} needs several values of {' and '.join(still)}"
    return None if figure.possible(result) else f"{figure.NAME} needs trials of another kind"


def make_figures(
    result: SweepResult,
    folder: Path,
    *,
    jobs: int,
    progress: Progress,
    formats: Sequence[str] = ("svg",),
) -> tuple[list[Drawn], list[str]]:
    """Make every figure that a sweep has.

    Parameters
    ----------
    result : SweepResult
        The sweep.
    folder : Path
        Where the files go, which exists.
    jobs : int
        Worker processes for the certified values.
    progress : Progress
        Told of each certified value.
    formats : sequence of str
        Members of `verify.report.figures.style.FORMATS`.

    Returns
    -------
    list of Drawn
        The figures.
    list of str
        Why certified values are missing in them, if any are.
    """
    computation = Computation(jobs=jobs, progress=progress)
    drawn = []
    for figure in FIGURES:
        if missing_for(figure, result) is not None:
            continue
        for part in slices(result, figure.SHOWS):
            path = folder / f"{figure.NAME}{part.suffix}.svg"
            with drawing():
                files = figure.make(result, part, path, computation, formats)
            drawn.append(Drawn(figure.NAME, describe(result, part, figure.SHOWS), files))
    return drawn, computation.reasons
