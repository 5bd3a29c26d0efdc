"""Which figures a report has, and making them: files for papers, and drawings for its page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from verify.files.writing import prepare_folder
from verify.report.figures import (
    attention_step,
    attention_training,
    certified_and_simulated,
    loss_against_step,
    parameters_against_d,
    sample_thresholds,
    shipped_phase_diagram,
)
from verify.report.figures.shipped import Tables
from verify.report.figures.style import drawing, write_csv, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "ReportFigure", "ReportedFigure", "make_report_figures"]


class ReportFigure(Protocol):
    """What is expected of a figure's module.

    Attributes
    ----------
    NAME, TITLE : str
        Name of the figure and of its files; what it shows, in a line.
    CLAIMS : sequence of str
        Ids of the claims that it illustrates: it is in the report of a run that has one of them.
    SHIPPED : bool
        Whether it shows results that the toolkit ships, and nothing of the run.
    """

    NAME: str
    TITLE: str
    CLAIMS: Sequence[str]
    SHIPPED: bool

    def tables(self, seed: int, /) -> Tables:
        """Return the data of the figure, computed from the seed of a run or shipped."""

    def draw(self, tables: Tables, /) -> Figure:
        """Draw the data, and nothing else."""

    def caption(self, tables: Tables, seed: int, /) -> str:
        """Return what is drawn, of how many draws, seed and intervals; math delimited by ``$``."""

    def command(self, seed: int, /) -> str:
        """Return the commands, one a line, that give what is drawn or compute it again."""


FIGURES: tuple[ReportFigure, ...] = (
    attention_step,
    loss_against_step,
    shipped_phase_diagram,
    sample_thresholds,
    certified_and_simulated,
    attention_training,
    parameters_against_d,
)


@dataclass(frozen=True, kw_only=True)
class ReportedFigure:
    """A figure that was made.

    Parameters
    ----------
    name, title, caption, command : str
        As its module says.
    shipped : bool
        Whether it shows nothing of the run.
    claims : sequence of str
        The claims of the run that it illustrates.
    svg : str
        The drawing.
    files : sequence of Path
        What was written: drawings first, data last.
    """

    name: str
    title: str
    caption: str
    command: str
    shipped: bool
    claims: Sequence[str]
    svg: str
    files: Sequence[Path]


def make_report_figures(
    folder: Path, claims: Collection[str], *, seed: int, formats: Sequence[str]
) -> list[ReportedFigure]:
    """Make the figures that some claims have.

    Parameters
    ----------
    folder : Path
        Where the files go; made if there is a figure.
    claims : collection of str
        Ids of the claims of a run.
    seed : int
        Its root seed.
    formats : sequence of str
        What is written beside the SVG, members of `verify.report.figures.style.FORMATS`.

    Raises
    ------
    InvalidArgumentError
        If a file cannot be written.
    """
    made = []
    for figure in FIGURES:
        shown = [id_ for id_ in figure.CLAIMS if id_ in claims]
        if not shown:
            continue
        prepare_folder("out", folder)
        tables = figure.tables(seed)
        path = folder / f"{figure.NAME}.svg"
        with drawing():
            drawn = write_figure(path, figure.draw(tables), dict.fromkeys(("svg", *formats)))
        data = [path.with_name(f"{name}.csv") for name in tables]
        for target, rows in zip(data, tables.values(), strict=True):
            write_csv(target, rows)
        made.append(
            ReportedFigure(
                name=figure.NAME,
                title=figure.TITLE,
                caption=figure.caption(tables, seed),
                command=figure.command(seed),
                shipped=figure.SHIPPED,
                claims=shown,
                svg=path.read_text(encoding="utf-8"),
                files=[*drawn, *data],
            )
        )
    return made
