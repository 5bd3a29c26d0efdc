"""Random streams that depend on what is drawn, never on who draws it or when."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

__all__ = ["Streams"]


@dataclass(frozen=True)
class Streams:
    """The independent streams of a run's trials.

    Parameters
    ----------
    seed : int
        Root seed of the run.
    cell : str, optional
        Id of the claim cell (or sweep cell) the trials belong to; absent for the commands that
        have a single cell.

    Notes
    -----
    Trial ``i`` draws from ``SeedSequence(seed, spawn_key=(i,))``, or from
    ``SeedSequence(seed, spawn_key=(crc32(cell), i))`` within a named cell. Neither the order of
    the trials nor the number of workers enters.
    """

    seed: int
    cell: str | None = None

    def trial(self, i: int) -> np.random.Generator:
        """Return a fresh generator at the start of trial `i`."""
        prefix = () if self.cell is None else (zlib.crc32(self.cell.encode()),)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*prefix, i)))
