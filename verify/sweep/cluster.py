"""Chunks on the workers of a Dask cluster, which was there before the sweep and stays after it.

The cluster gets a bounded number of chunks at a time and sends back rows; nothing of the sweep is
kept there. A worker that is lost costs what it was at, which Dask gives to another one. A chunk
that takes several workers with it comes back as such, to be divided; a single trial is blamed for
that only if it does so again while nothing else is running, as the death of a worker with several
threads says nothing about which of its trials was at fault.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import secrets
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from numerics.arguments import InvalidArgumentError
from verify.environment import describe_blas
from verify.running.pool import Failure, describe
from verify.sweep.chunk import Chunk, ChunkResult, ExecutorLostError, Outcome, run_chunk
from verify.sweep.cluster_workers import Environment, difference, environment

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Cluster", "connect"]

_PATIENCE = 10.0
"""Seconds within which a scheduler must answer."""

_GLANCE = 2.0
"""Seconds between looks at how many workers there are, while chunks are awaited."""

_ALONE = 5.0
"""Seconds without any worker before the user is told: those that die are back within some."""

_CHUNKS_PER_THREAD = 2
"""One that runs and one that waits, so that no worker is idle while rows travel."""

_ADDRESS = re.compile(
    r"(?:(?:tcp|tls|ucx|wss?)://)?(?:[^\s/:\[\]]+|\[[0-9a-fA-F:.%]+\]):([0-9]{1,5})"
)

Note: TypeAlias = Callable[[str], object]
# What a worker sends back: the result of a chunk, or in which way it is not ours to use.
_Answer: TypeAlias = ChunkResult | str


@contextmanager
def connect(address: str, *, note: Note) -> Iterator[Cluster]:
    """Connect to the scheduler of a Dask cluster; what is yielded has an executor on its workers.

    Waits for a first worker. What Dask logs in this process is silenced until the end.

    Parameters
    ----------
    address : str
        ``HOST:PORT`` or ``tcp://HOST:PORT``, or another protocol that Dask knows.
    note : callable
        Is told what the user should know: that there are no workers, or other processors.

    Raises
    ------
    InvalidArgumentError
        If Dask is missing, `address` is malformed, no scheduler answers there within 10 s or it is
        lost before there is a worker, or a worker has another version of Python, of this toolkit or
        of what it computes with.
    """
    _check_address(address)
    try:
        import distributed
    except ImportError:
        raise InvalidArgumentError(
            "scheduler", address, "needs distributed; pip install 'xorverify[cluster]'"
        ) from None
    with _silence():
        _refuse_unanswered(address)
        try:
            client = distributed.Client(
                address, timeout=_PATIENCE, set_as_default=False, name="xorverify"
            )
        except (OSError, ValueError) as failure:
            raise _no_answer(address, failure) from None
        try:
            cluster = Cluster(client, address, note)
            try:
                cluster.check_workers()
            except ExecutorLostError as failure:
                raise _no_answer(address, ConnectionError(str(failure))) from None
            yield cluster
        finally:
            # What is still held there goes with this connection; a chunk that runs is finished.
            client.close(timeout=_PATIENCE)


class Cluster:
    """A connected cluster.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    address : str
        As the user wrote it.
    note : callable
        As for `connect`.
    """

    def __init__(self, client: Client, address: str, note: Note) -> None:
        self._client = client
        self._address = address
        self._note = note
        self._threads = 0
        self._seen = time.monotonic()  # when there last were workers
        self._told = False  # whether the user knows that there are none
        self._looked = -float("inf")

    @property
    def slots(self) -> int:
        """How many chunks are handed over at a time; it follows the workers as they come and go."""
        return max(1, _CHUNKS_PER_THREAD * self._threads)

    def check_workers(self) -> None:
        """Wait for a worker, and refuse workers whose rows would not be those of this machine."""
        while not self._count_threads():
            time.sleep(_GLANCE / 4)
        ours = environment()
        with self._or_lost():
            found = self._client.run(environment, on_error="return")
            kernels = self._client.run(describe_blas, on_error="return")
        for worker, theirs in found.items():
            reason = _worker_difference(theirs, ours)
            if reason is not None:
                raise InvalidArgumentError(
                    "scheduler",
                    self._address,
                    f"worker {worker} {reason}; install the same versions on both",
                )
        others = {str(blas) for blas in kernels.values()} - {describe_blas()}
        if others:
            self._note(
                f"scheduler={self._address}: workers use other kernels of linear algebra "
                f"({'; '.join(sorted(others))}) than this machine ({describe_blas()}): the last "
                "digits of real columns may differ from those of a local run"
            )

    def execute(
        self, take: Callable[[], Chunk | None]
    ) -> Generator[tuple[Chunk, Outcome], None, None]:
        """Run chunks on the workers, as `verify.sweep.chunk.Execute` says."""
        held: dict[str, tuple[Future[_Answer], Chunk]] = {}
        arrived: SimpleQueue[Future[_Answer]] = SimpleQueue()
        suspects: deque[Chunk] = deque()  # single trials that workers died with
        on_trial = False  # whether the one chunk held is such a trial, by itself
        names = (f"xorverify-{secrets.token_hex(8)}-{i}" for i in itertools.count())

        def hand_over(chunk: Chunk) -> None:
            future = self._client.submit(_answer, chunk, environment(), key=next(names), pure=False)
            future.add_done_callback(arrived.put)
            held[future.key] = future, chunk

        while True:
            while not on_trial and len(held) < self.slots:
                chunk = take()
                if chunk is None:
                    break
                hand_over(chunk)
            if not held:
                if not suspects:
                    return
                on_trial = True
                hand_over(suspects.popleft())
            self._look(held.values())
            try:
                future = arrived.get(timeout=_GLANCE)
            except Empty:
                continue
            outcome = self._fetch(future)
            if outcome is None:
                # It was lost with its worker after it was done, and is being done again.
                future.add_done_callback(arrived.put)
                continue
            _, chunk = held.pop(future.key)
            if isinstance(outcome, Failure) and len(chunk.trials) == 1:
                if not on_trial:
                    suspects.append(chunk)
                    continue
                # Nothing else was running each time: it need not be tried again.
                outcome = replace(outcome, died=False)
            on_trial = False
            yield chunk, outcome

    def _fetch(self, future: Future[_Answer]) -> Outcome | None:
        """Return what came of a chunk; None if it is not known after all."""
        from distributed import KilledWorker

        try:
            answer = future.result(timeout=_PATIENCE)
        except KilledWorker:
            return Failure("the worker process died, and so did others that tried", died=True)
        except TimeoutError:
            return None
        except Exception as failure:
            if future.cancelled() or self._client.status != "running":
                raise self._lost() from None
            # The connection is fine: it is the chunk that a worker cannot even begin.
            reason = f"a worker cannot run chunks: {describe(failure)}"
            raise ExecutorLostError(f"scheduler={self._address}: {reason}") from None
        if isinstance(answer, str):
            raise ExecutorLostError(f"scheduler={self._address}: a new worker {answer}")
        return answer

    def _look(self, held: Iterable[tuple[Future[_Answer], Chunk]]) -> None:
        """See from time to time that the scheduler is there, and how many workers it has."""
        now = time.monotonic()
        if now < self._looked + _GLANCE:
            return
        self._looked = now
        if self._client.status != "running" or any(future.cancelled() for future, _ in held):
            raise self._lost()
        self._count_threads()

    def _count_threads(self) -> int:
        with self._or_lost():
            self._threads = sum(self._client.nthreads().values())
        now = time.monotonic()
        if self._threads:
            self._seen, self._told = now, False
        elif now > self._seen + _ALONE and not self._told:
            self._note(f"scheduler={self._address}: there are no workers; waiting for some to join")
            self._told = True
        return self._threads

    @contextmanager
    def _or_lost(self) -> Iterator[None]:
        """Turn whatever a broken connection raises into `ExecutorLostError`."""
        try:
            yield
        except Exception:
            raise self._lost() from None

    def _lost(self) -> ExecutorLostError:
        return ExecutorLostError(
            f"scheduler={self._address}: the connection was lost, and what arrived is kept"
        )


def _answer(chunk: Chunk, ours: Environment) -> _Answer:
    """Run a chunk on a worker, which may have joined after the others were looked at."""
    return difference(environment(), ours) or run_chunk(chunk)


def _worker_difference(theirs: Environment | BaseException, ours: Environment) -> str | None:
    if isinstance(theirs, BaseException):
        return f"has no xorverify {ours['xorverify']} to import ({describe(theirs)})"
    return difference(theirs, ours)


def _check_address(address: str) -> None:
    match = _ADDRESS.fullmatch(address)
    if match is None or not 1 <= int(match[1]) <= 65535:
        raise InvalidArgumentError(
            "scheduler",
            address,
            "must read HOST:PORT or tcp://HOST:PORT, as `dask scheduler` prints it",
        )


def _refuse_unanswered(address: str) -> None:
    """Refuse an address at which nothing answers as a scheduler does.

    It is asked before a client is made: one that finds no scheduler, or something else in its
    place, leaves threads and messages behind.
    """
    from distributed import Security, rpc

    async def ask() -> object:
        arguments = Security().get_connection_args("client")
        async with rpc(address, timeout=_PATIENCE, connection_args=arguments) as there:
            return (await there.identity()).get("type")

    async def ask_in_time() -> object:
        return await asyncio.wait_for(ask(), _PATIENCE)

    try:
        role = asyncio.run(ask_in_time())
    # What is no scheduler may send anything; MemoryError is one of the things that come of it.
    except Exception as failure:
        raise _no_answer(address, failure) from None
    if role != "Scheduler":
        raise InvalidArgumentError(
            "scheduler", address, f"is a {role} of Dask; give the address of its scheduler"
        )


def _no_answer(address: str, failure: Exception) -> InvalidArgumentError:
    fix = "start one with `dask scheduler`, or give another address"
    if isinstance(failure, OSError):
        return InvalidArgumentError(
            "scheduler", address, f"no scheduler answers there within {_PATIENCE:g} s; {fix}"
        )
    return InvalidArgumentError(
        "scheduler",
        address,
        f"no Dask scheduler can be talked to there ({describe(failure)}); {fix}",
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what Dask logs in this process from standard error; trials run in other processes."""
    found = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # Versions are compared here, and more of them.
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(found)
