"""Worker processes replaced by this one, where a test is about something else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def in_this_process(monkeypatch) -> None:
    """Let calls for worker processes run here, one after the other."""

    def stream_here(function, take, **_: int) -> Iterator[tuple[object, object]]:
        while (call := take()) is not None:
            yield call, function(call)

    monkeypatch.setattr("verify.running.pool.stream_calls", stream_here)
    monkeypatch.setattr("verify.sweep.local.stream_calls", stream_here)
    monkeypatch.setattr("verify.sweep.chunk.use_one_thread", lambda: None)
