"""Results that the toolkit ships: what a report shows but would take minutes to compute again.

Each file is written by the script of the same figure in ``docs/figures``, or by ``xorverify
figures``, and read from here alone; figures and pages are drawn from it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

__all__ = ["DATA", "Row", "Tables", "read_shipped"]

DATA = Path(__file__).parents[1] / "data"
"""Folder of the files."""

Row: TypeAlias = Mapping[str, str]
"""A row of plotted data, as it is written: text by the name of its column."""

Tables: TypeAlias = Mapping[str, Sequence[Row]]
"""The data of a figure: rows by the name of their file, without its ending."""


def read_shipped(name: str) -> list[Row]:
    """Return the rows of a file, by its name without the ending."""
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
