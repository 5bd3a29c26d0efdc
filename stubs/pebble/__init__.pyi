"""The part of Pebble this project uses; its own annotations leave some methods untyped."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from multiprocessing.context import SpawnContext
from typing import Any, TypeVar

Result = TypeVar("Result")

class ProcessExpired(OSError):
    exitcode: int

class ProcessPool:
    def __init__(
        self,
        max_workers: int = ...,
        *,
        initializer: Callable[[], None] | None = None,
        context: SpawnContext = ...,
    ) -> None: ...
    def schedule(
        self, function: Callable[..., Result], args: Iterable[Any] = ()
    ) -> Future[Result]: ...
    def close(self) -> None: ...
    def stop(self) -> None: ...
    def join(self) -> None: ...
