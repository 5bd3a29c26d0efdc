"""Chunks on worker processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator

from verify.running.memory import usable_bytes
from verify.running.pool import WorkersLostError, stream_calls
from verify.sweep.chunk import Chunk, ExecutorLostError, Outcome, Place, run_chunk

__all__ = ["this_machine"]


def this_machine(jobs: int) -> Place:
    """Return the place that runs `jobs` chunks at a time, each on a worker process of its own.

    A worker that dies takes only its own chunk with it; all of them end with this process.
    """

    def execute(
        take: Callable[[], Chunk | None],
    ) -> Generator[tuple[Chunk, Outcome], None, None]:
        try:
            yield from stream_calls(run_chunk, take, jobs=jobs)
        except WorkersLostError as lost:
            raise ExecutorLostError(str(lost)) from None

    return Place(execute, lambda: jobs, usable_bytes())
