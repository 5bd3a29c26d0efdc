"""The part of threadpoolctl this project uses; it ships no annotations of its own."""

from types import TracebackType
from typing import Any

class threadpool_limits:
    def __init__(self, limits: int | None = None, user_api: str | None = None) -> None: ...
    def __enter__(self) -> threadpool_limits: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

def threadpool_info() -> list[dict[str, Any]]: ...
