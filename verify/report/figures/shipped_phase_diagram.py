"""The phase diagram of a report: a shipped sweep, drawn as the figure of any sweep is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.decimals import parse_positive
from verify.report.figures import phase_diagram
from verify.report.figures.cells import CellResult, Slice
from verify.report.figures.certified import CertifiedColumn, Edge
from verify.report.figures.shipped import Row, Tables, read_shipped
from verify.sweep.config import Cell
from verify.sweep.parameters import Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CLAIMS", "NAME", "SHIPPED", "TITLE", "caption", "command", "draw", "tables"]

NAME = "phase_diagram"
TITLE = "Phase diagram with the certified region"
CLAIMS: Sequence[str] = ("theorem2-loss", "theorem2-explicit", "theorem2-logarithmic-width")
SHIPPED = True

_CERTIFIED = "phase_diagram_certified"
_SCALE = parse_positive("eta_scale", "1000")
_SUCCESS = "success"


def tables(_seed: int) -> Tables:
    """Return the shipped results: the shares, and the edges of the certified regions."""
    return {name: read_shipped(name) for name in (NAME, _CERTIFIED)}


def draw(tables: Tables) -> Figure:
    """Draw the diagram."""
    part = Slice({}, [_cell(row) for row in tables[NAME]])
    return phase_diagram.draw(part, _columns(tables), success=_SUCCESS, title="")


def caption(tables: Tables, _seed: int) -> str:
    """Say what is drawn."""
    (trials,) = {int(row["trials"]) for row in tables[NAME]}
    return (
        rf"Share of draws in which one population step of $\eta = {_SCALE} d^2$ brings the loss of "
        f"every input to $0.01$ or less, $n = {trials}$ draws a point, seed 0. A disc's left half "
        "has the colour of the lower end of the 95% Clopper-Pearson interval, its right half that "
        "of the upper end. Shaded: failure is proved to have at most the stated probability for "
        rf"every $\eta \ge {_SCALE} d^2$; lines join the points at which the bound was evaluated."
    )


def command(_seed: int) -> str:
    """Return what computes the shipped results again."""
    return (
        "xorverify sweep examples/phase-diagram.toml --out phase-diagram\n"
        "xorverify figures phase-diagram"
    )


def _cell(row: Row) -> CellResult:
    d, m = int(row["d"]), int(row["m"])
    cell = Cell(f"{d}/{m}", Values(d=d, m=m, eta_scale=_SCALE))
    return CellResult(cell, int(row["trials"]), {_SUCCESS: int(row["successes"])}, [])


def _columns(tables: Tables) -> list[CertifiedColumn]:
    found: dict[int, CertifiedColumn] = {}
    for row in tables[NAME]:
        d = int(row["d"])
        column = found.setdefault(d, CertifiedColumn(d, {}, []))
        column.nodes[int(row["m"])] = Fraction(row["failure_upper"])
    for row in tables[_CERTIFIED]:
        d, m = int(row["d"]), int(row["m"])
        edge = Edge(d, m, Fraction(row["level"]), Fraction(row["failure_upper"]), row["side"])
        found[d].edges.append(edge)
    return list(found.values())
