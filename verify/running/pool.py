"""Independent calls on worker processes; one that dies takes only its own call with it.

Every worker has a pipe of its own, whose far end it alone holds, and one call at a time. So a
worker that is killed, be it in the middle of a message, can neither block the others nor leave it
open which call it was at. That is why no pool of a library serves here: an executor of the standard
library holds both ends of its pipes, and waits for ever for the rest of a message whose sender was
killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from types import TracebackType
from typing import Any, Generic, TypeVar

from verify.console.interruption import SIGNALS
from verify.running.threads import use_one_thread

__all__ = [
    "Failure",
    "WorkersLostError",
    "available_cores",
    "describe",
    "run_calls",
    "stream_calls",
]

Call = TypeVar("Call")
Result = TypeVar("Result")

_EXIT_SECONDS = 5.0  # that a process may take to end after it has closed its pipe
_SAFE_PATH = "PYTHONSAFEPATH"
_MOST_FALSE_STARTS = 5  # workers in a row that die before they begin: then none ever will


@dataclass(frozen=True)
class Failure:
    """A call that produced no result.

    Parameters
    ----------
    reason : str
        Why, in a line.
    died : bool
        Whether its worker process died, and the call with it.
    """

    reason: str
    died: bool = False


class WorkersLostError(RuntimeError):
    """Worker processes die before they can do anything."""


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_calls(
    function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], *, jobs: int
) -> Iterator[tuple[int, Result | Failure]]:
    """Yield ``(index, result)`` as the calls complete.

    Parameters
    ----------
    function : callable
        Importable by name; it and its arguments travel to another process.
    calls : sequence of tuple
        The positional arguments of each call. They are started in this order.
    jobs : int
        Number of worker processes.

    Yields
    ------
    tuple
        Index into `calls`, and the result; or a `Failure` if the call raised or its worker died.

    Raises
    ------
    WorkersLostError
        As `stream_calls`, whose notes hold here too.
    """
    waiting = iter(enumerate(calls))
    each = stream_calls(partial(_apply, function), lambda: next(waiting, None), jobs=jobs)
    with closing(each):
        for (index, _), outcome in each:
            yield index, outcome


def stream_calls(
    function: Callable[[Call], Result], take: Callable[[], Call | None], *, jobs: int
) -> Generator[tuple[Call, Result | Failure], None, None]:
    """Yield ``(call, result)`` as the calls complete, which are asked for as workers come free.

    Parameters
    ----------
    function : callable
        Importable by name; it and its argument travel to another process.
    take : callable
        Returns the argument of the next call, or None if there is none for now. It is asked
        again after each result; when no call runs and it returns None, that is the end.
    jobs : int
        Number of worker processes, and of calls that run at a time.

    Yields
    ------
    tuple
        The argument, and the result; or a `Failure` if the call raised or its worker died.

    Raises
    ------
    WorkersLostError
        If no worker can be started, or five in a row die before they begin a call, while no other
        is at work. Those that are at work are enough otherwise.

    Notes
    -----
    Workers are started afresh (never forked), leave Ctrl-C and its like to the parent, and use one
    thread for linear algebra, so that results do not depend on the number of cores. When the
    consumer stops early, the workers are ended; when this process itself is killed, they end by
    themselves.
    """
    with _Crew(function) as crew:
        while True:
            while crew.running < min(jobs, crew.most):
                call = crew.take_back()
                if call is None:
                    call = take()
                if call is None:
                    break
                crew.begin(call)
            if not crew.running:
                return
            yield from crew.finished()


def describe(failure: BaseException) -> str:
    """Return what an exception says, in a line."""
    return f"{type(failure).__name__}: {' '.join(str(failure).split())}"


def _apply(function: Callable[..., Result], call: tuple[int, tuple[Any, ...]]) -> Result:
    return function(*call[1])


class _Crew(Generic[Call, Result]):
    """The workers of one stream of calls, and the calls they are at."""

    def __init__(self, function: Callable[[Call], Result]) -> None:
        self._function = function
        self._idle: list[_Worker] = []
        self._at_work: dict[object, tuple[_Worker, Call]] = {}
        self._taken_back: list[Call] = []
        self._false_starts = 0
        self.most = sys.maxsize
        """How many workers the system allows, as far as is known."""

    def __enter__(self) -> _Crew[Call, Result]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in (*self._idle, *(worker for worker, _ in self._at_work.values())):
            worker.end()

    @property
    def running(self) -> int:
        """How many calls are running."""
        return len(self._at_work)

    def begin(self, call: Call) -> None:
        """Hand a call to an idle worker, or to a new one; without any, keep it for later.

        Raises
        ------
        WorkersLostError
            If no worker can be started and none is at work.
        """
        try:
            worker = self._idle.pop() if self._idle else _Worker()
        except OSError as failure:
            if not self._at_work:
                raise WorkersLostError(f"no worker process can be started: {failure}") from None
            # No more files, processes or memory: those that are there do the work.
            self._taken_back.append(call)
            self.most = len(self._at_work)
            return
        self._at_work[worker.connection] = (worker, call)
        worker.send((self._function, call))

    def take_back(self) -> Call | None:
        """Return a call whose worker died before it began, if there is one."""
        return self._taken_back.pop() if self._taken_back else None

    def finished(self) -> Iterator[tuple[Call, Result | Failure]]:
        """Wait until something happens, and yield the calls that have ended."""
        for connection in wait([worker.connection for worker, _ in self._at_work.values()]):
            worker, call = self._at_work[connection]
            try:
                outcome = worker.receive()
            except (EOFError, OSError):
                del self._at_work[connection]
                death = f"the worker process died (exit code {worker.wait_for_end()})"
                if worker.begun:
                    yield call, Failure(death, died=True)
                else:
                    self._taken_back.append(call)
                    self._count_false_start(death)
                continue
            except Exception as failure:  # a result that nobody can read here
                outcome = Failure(describe(failure))
            if worker.begun:
                del self._at_work[connection]
                self._idle.append(worker)
                yield call, outcome
            else:
                worker.begun, self._false_starts = True, 0

    def _count_false_start(self, death: str) -> None:
        self._false_starts += 1
        if self._false_starts == _MOST_FALSE_STARTS:
            if not self._at_work:
                raise WorkersLostError(
                    f"{death} before it began, {self._false_starts} times in a row"
                )
            self.most, self._false_starts = len(self._at_work), 0


class _Worker:
    """A worker process and this end of its pipe.

    It answers a call twice: that it has begun, and with the result.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.begun = False
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        # It unblocks some of what is blocked when it is started, so it is started before.
        with _own_start():
            resource_tracker.ensure_running()
        with _own_start(), _nameable_folder():
            self._process.start()
        # Only the worker holds that end now, so that its death closes the pipe.
        theirs.close()

    def send(self, message: object) -> None:
        """Send a call; that the worker is dead shows when its answer is awaited."""
        self.begun = False
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(message)

    def receive(self) -> Any:
        """Return the worker's next message; EOFError or OSError if it died, even amid one."""
        return self.connection.recv()

    def wait_for_end(self) -> int | None:
        """Return the exit code of a worker that has closed its pipe, as it does when it ends."""
        self._process.join(_EXIT_SECONDS)
        self.end()
        return self._process.exitcode

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.connection.close()


@contextmanager
def _own_start() -> Iterator[None]:
    """Start a process within the block that is disturbed by no signal, and no file that lies about.

    What is blocked here is blocked there from the first moment on: what a terminal sends to all is
    for the parent. The interpreter of a worker is started by a line of code, and looks for modules
    in the working folder first unless it is told not to.
    """
    path = os.environ.get(_SAFE_PATH)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        os.environ[_SAFE_PATH] = "1"
        yield
    finally:
        if path is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = path
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextmanager
def _nameable_folder() -> Iterator[None]:
    """Let the working folder have a name within the block, even if it was deleted.

    A worker inherits the folder, but is not started without a name of it; nor can some libraries be
    loaded. Whoever writes there fails as before.
    """
    try:
        os.getcwd()
    except FileNotFoundError:
        getcwd, os.getcwd = os.getcwd, lambda: os.curdir
        try:
            yield
        finally:
            os.getcwd = getcwd
    else:
        yield


def _serve(connection: Connection) -> None:
    """Answer calls as long as the parent is there; this is what a worker runs."""
    # A worker that somebody asks to end does so, and its call is told to have failed.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _end_with_parent()
    use_one_thread()
    with _nameable_folder(), suppress(EOFError, OSError):
        while True:
            call = connection.recv_bytes()
            connection.send(None)
            connection.send_bytes(_answer(call))


def _answer(message: bytes) -> bytes:
    try:
        function, call = ForkingPickler.loads(message)
        return bytes(ForkingPickler.dumps(function(call)))
    except Exception as failure:  # whatever a call raises becomes the record of that call
        return bytes(ForkingPickler.dumps(Failure(describe(failure))))


def _end_with_parent() -> None:
    """End this process when its parent is gone, whatever it is doing."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
