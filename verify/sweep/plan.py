"""What a sweep has still to do, cut into chunks as they are asked for."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from verify.running.pool import Failure
from verify.sweep.chunk import Chunk, Outcome, Place, Row
from verify.sweep.config import Sweep
from verify.sweep.kinds import find_kind
from verify.sweep.parameters import Values

__all__ = ["MOST_DEATHS", "Plan"]

MOST_DEATHS = 3
"""Workers that may die running a trial alone, before that becomes the trial's error."""

# Long beside the handing over of a chunk, some milliseconds; short for what Ctrl-C may lose.
_CHUNK_SECONDS = 1.0
# The first trials of a cell also load what the worker needs: sizes grow step by step.
_GROWTH = 8


class Plan:
    """The trials without a result, handed out cell by cell, and taken back when a worker dies.

    Which chunks they are cut into depends on how long trials take; the rows do not.

    Parameters
    ----------
    sweep : Sweep
        What is to be done.
    finished : iterable of (str, int)
        Cell and number of the trials that have a result, sorted by cell and trial.
    place : Place
        Where the chunks will run. One alone may always run, whatever memory it needs.
    folder : Path, optional
        Where long trials may leave their state; a setting of theirs by that name.
    """

    def __init__(
        self,
        sweep: Sweep,
        finished: Iterable[tuple[str, int]],
        *,
        place: Place,
        folder: Path | None = None,
    ) -> None:
        self._kind = find_kind("kind", sweep.kind)
        self._place = place
        self._waiting = deque(_missing(sweep, finished, folder))
        self._unassigned = sum(len(chunk.trials) for chunk in self._waiting)
        self._size: dict[str, int] = {}
        self._deaths: Counter[tuple[str, int]] = Counter()
        self._bytes_at_work = 0

    @property
    def unassigned(self) -> int:
        """Number of trials that wait to be handed out."""
        return self._unassigned

    def take(self) -> Chunk | None:
        """Return the next chunk, or None if there is none for now."""
        if not self._waiting:
            return None
        first = self._waiting[0]
        needed = self._bytes(first)
        limit = self._place.memory
        if limit is not None and 0 < self._bytes_at_work > limit - needed:
            return None
        self._waiting.popleft()
        # Towards the end smaller chunks let all workers finish at about the same time.
        share = -(-self._unassigned // (2 * self._place.slots()))
        size = min(self._size.get(first.cell, 1), share, len(first.trials))
        if size < len(first.trials):
            self._waiting.appendleft(replace(first, trials=first.trials[size:]))
        self._unassigned -= size
        self._bytes_at_work += needed
        return replace(first, trials=first.trials[:size])

    def settle(self, chunk: Chunk, outcome: Outcome) -> list[Row]:
        """Return the rows that a chunk earns; what has to be run again is taken back."""
        self._bytes_at_work -= self._bytes(chunk)
        if not isinstance(outcome, Failure):
            each = max(outcome.seconds, 1e-9) / len(chunk.trials)
            fitting = int(_CHUNK_SECONDS / each)
            self._size[chunk.cell] = max(1, min(fitting, _GROWTH * len(chunk.trials)))
            return outcome.rows
        if not outcome.died:
            return self._errors(chunk, outcome.reason)
        if len(chunk.trials) == 1:
            self._deaths[chunk.cell, chunk.trials.start] += 1
            if self._deaths[chunk.cell, chunk.trials.start] == MOST_DEATHS:
                return self._errors(chunk, f"{outcome.reason}, {MOST_DEATHS} times on this trial")
        self._take_back(chunk)
        return []

    def _take_back(self, chunk: Chunk) -> None:
        """Put a chunk first again, in halves: one of them is without the trial that kills."""
        middle = len(chunk.trials) // 2
        for trials in (chunk.trials[middle:], chunk.trials[:middle]):
            if trials:
                self._waiting.appendleft(replace(chunk, trials=trials))
        self._unassigned += len(chunk.trials)

    def _errors(self, chunk: Chunk, reason: str) -> list[Row]:
        return [(trial, reason, *(None for _ in self._kind.COLUMNS)) for trial in chunk.trials]

    def _bytes(self, chunk: Chunk) -> int:
        try:
            return self._kind.worker_bytes(chunk.parameters, chunk.settings)
        except InvalidArgumentError:
            return 0  # the worker will say so, in a row


def _missing(
    sweep: Sweep, finished: Iterable[tuple[str, int]], folder: Path | None
) -> Iterator[Chunk]:
    """Yield the runs of trials without a result, as chunks of any length, in the grid's order."""
    gaps = {
        cell: list(_gaps((trial for _, trial in group), sweep.trials))
        for cell, group in groupby(finished, key=itemgetter(0))
    }
    settings = Values(sweep.settings)
    if folder is not None:
        settings["folder"] = str(folder.resolve())
    for cell in sweep.cells:
        for trials in gaps.get(cell.id, [range(sweep.trials)]):
            yield Chunk(sweep.kind, cell.id, cell.parameters, settings, sweep.seed, trials)


def _gaps(numbers: Iterable[int], count: int) -> Iterator[range]:
    """Yield the ranges of ``0..count-1`` between sorted numbers."""
    start = 0
    for number in numbers:
        if start < number:
            yield range(start, number)
        start = number + 1
    if start < count:
        yield range(start, count)
