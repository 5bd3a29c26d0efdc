"""What a sweep found, cell by cell: the numbers that its figures plot."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import TypeAlias

from verify.decimals import ExactDecimal
from verify.evidence.sampling import Proportion
from verify.sweep.config import Cell, Sweep
from verify.sweep.parameters import Value, canonical
from verify.sweep.store import Store

__all__ = ["CellResult", "Slice", "SweepResult", "describe", "read_results", "slices"]

# What kinds of trials call a success, and the loss in the end; the first that a kind has counts.
_SUCCESSES = ("success", "reached")
_LOSSES = ("sup_loss_upper", "population_loss", "final_loss")

# What stands in the name of a file as it is; a law may be the path of a file itself, and long.
_SHORT_NAME = re.compile(r"[\w.+:-]{1,60}", re.ASCII)

_Found: TypeAlias = tuple[int, dict[str, int], list[float]]


@dataclass(frozen=True)
class CellResult:
    """One cell of a sweep.

    Parameters
    ----------
    cell : Cell
        Its id and parameters.
    trials : int
        Trials with a result.
    counts : mapping of str to int
        For each of the kind's shares, in how many of them it holds.
    losses : list of float
        What each trial's loss came to, ascending; empty if the kind has none.
    """

    cell: Cell
    trials: int
    counts: Mapping[str, int]
    losses: list[float]

    def integer(self, axis: str) -> int:
        """Return a parameter that is an integer."""
        return self.cell.parameters.integer(axis)

    def number(self, axis: str) -> Fraction:
        """Return a parameter that is a number, exactly."""
        value = self.cell.parameters[axis]
        return value.value if isinstance(value, ExactDecimal) else Fraction(value)

    def share(self, name: str) -> Proportion | None:
        """Return how often something held, with its interval; None without any trial."""
        return Proportion(self.counts[name], self.trials) if self.trials else None


@dataclass(frozen=True)
class SweepResult:
    """A sweep, complete or not.

    Parameters
    ----------
    sweep : Sweep
        What was asked for.
    cells : list of CellResult
        One for each point of the grid, in its order.
    success, loss : str or None
        The kind's share that counts as success, and the column of the loss in the end.
    """

    sweep: Sweep
    cells: list[CellResult]
    success: str | None
    loss: str | None

    @property
    def done(self) -> int:
        """Number of trials with a result."""
        return sum(cell.trials for cell in self.cells)

    @property
    def expected(self) -> int:
        """Number of trials of the complete sweep."""
        return len(self.cells) * self.sweep.trials

    def varies(self, axis: str) -> bool:
        """Whether the grid has several values of an axis."""
        return len(self.sweep.grid.get(axis, ())) > 1

    @property
    def tolerance(self) -> ExactDecimal:
        """The largest loss of a success."""
        return self.sweep.settings.exact("tolerance")


@dataclass(frozen=True)
class Slice:
    """The cells that share what a figure does not show, and what they share."""

    shared: Mapping[str, Value]
    cells: list[CellResult] = field(default_factory=list)

    @property
    def suffix(self) -> str:
        """What the cells share, for the name of a file; empty if the sweep has no other cells."""
        return "".join(f"_{axis}_{_in_a_name(value)}" for axis, value in self.shared.items())


def read_results(store: Store) -> SweepResult:
    """Read the trials with a result from an open database."""
    columns = store.columns
    at = {name: columns.index(name) for name in ("cell", "error", *store.kind.SHARES)}
    loss = next((name for name in _LOSSES if name in columns), None)
    loss_at = None if loss is None else columns.index(loss)
    found: dict[object, _Found] = {}
    for cell, rows in groupby(store.rows(), key=lambda row: row[at["cell"]]):
        trials, losses = 0, []
        counts = dict.fromkeys(store.kind.SHARES, 0)
        for row in rows:
            if row[at["error"]] is not None:
                continue
            trials += 1
            for name in counts:
                counts[name] += bool(row[at[name]])
            found_loss = None if loss_at is None else row[loss_at]
            if isinstance(found_loss, float):
                losses.append(found_loss)
        found[cell] = (trials, counts, sorted(losses))
    nothing: _Found = (0, dict.fromkeys(store.kind.SHARES, 0), [])
    return SweepResult(
        sweep=store.sweep,
        cells=[CellResult(cell, *found.get(cell.id, nothing)) for cell in store.sweep.cells],
        success=next((name for name in _SUCCESSES if name in store.kind.SHARES), None),
        loss=loss,
    )


def describe(result: SweepResult, part: Slice, shown: Sequence[str]) -> str:
    """Return a title: the kind of trial, and what all of its cells have in common."""
    values = part.cells[0].cell.parameters
    common = {axis: value for axis, value in values.items() if axis not in shown}
    scale = common.pop("eta_scale", None)
    words = [f"{axis} {canonical(value)}" for axis, value in common.items()]
    if scale is not None:
        words.append(f"η = {canonical(scale)} d²")
    return ", ".join([result.sweep.kind, *words, f"T = {result.tolerance}"])


def slices(result: SweepResult, shown: Sequence[str]) -> Iterator[Slice]:
    """Yield the parts of a sweep that differ in nothing but the axes that a figure shows."""
    shared = [axis for axis in result.sweep.grid if axis not in shown and result.varies(axis)]
    parts: dict[tuple[str, ...], Slice] = {}
    for cell in result.cells:
        values = {axis: cell.cell.parameters[axis] for axis in shared}
        key = tuple(canonical(value) for value in values.values())
        parts.setdefault(key, Slice(values)).cells.append(cell)
    yield from parts.values()


def _in_a_name(value: Value) -> str:
    """Return a value as a part of a file's name, another one for every value."""
    text = canonical(value)
    if _SHORT_NAME.fullmatch(text):
        return text
    law, _, _ = text.partition("#")
    stem = re.sub(r"[^A-Za-z0-9]+", "-", law.rpartition("/")[2])[:40].strip("-")
    return f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}".lstrip("-")
