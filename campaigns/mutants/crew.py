"""Several sandboxes at work side by side."""

from __future__ import annotations

import queue
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from campaigns.mutants.sandbox import Sandbox

__all__ = ["Crew"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Crew:
    """Sandboxes that share the work; a context manager, which removes them.

    Parameters
    ----------
    source : Path
        The root of what is copied, once for each.
    jobs : int
        How many work at a time.

    Raises
    ------
    RuntimeError
        If the claims of the copies cannot be imported.
    """

    def __init__(self, source: Path, *, jobs: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True)
        root = Path(self._folder.name).resolve()
        self._sandboxes = [Sandbox(source, root / str(number)) for number in range(max(1, jobs))]
        self._idle: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        for sandbox in self._sandboxes:
            sandbox.cells("quick")  # or else whatever is broken would be laid to the mutants
            self._idle.put(sandbox)

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for sandbox in self._sandboxes:
            sandbox.close()
        self._folder.cleanup()

    def each(
        self, function: Callable[[Sandbox, Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """Yield ``function(sandbox, item)`` for each item, as they are done; begun in order."""

        def work(item: Item) -> Result:
            sandbox = self._idle.get()
            try:
                return function(sandbox, item)
            finally:
                self._idle.put(sandbox)

        threads = ThreadPoolExecutor(len(self._sandboxes))
        try:
            for future in as_completed([threads.submit(work, item) for item in items]):
                yield future.result()
        finally:
            # When the consumer stops early, what has not begun never does; what has, ends when
            # its sandbox is closed.
            threads.shutdown(wait=False, cancel_futures=True)
