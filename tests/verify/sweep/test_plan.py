from dataclasses import replace

import pytest

from verify.running.pool import Failure
from verify.sweep.chunk import ChunkResult, Place
from verify.sweep.config import Sweep
from verify.sweep.kinds import find_kind
from verify.sweep.plan import MOST_DEATHS, Plan

DEATH = Failure("the worker process died (exit code -9)", died=True)
CONFIG = {"name": "x", "kind": "theorem2", "trials": "10", "seed": "0"}


def sweep(trials: int, d: tuple[str, ...] = ("4", "6")) -> Sweep:
    return Sweep.from_canonical(
        {**CONFIG, "trials": str(trials), "grid": {"d": list(d), "m": ["3"]}}
    )


def nowhere(_):
    raise AssertionError("nothing is executed here")


def plan(trials: int, finished=(), *, slots: int = 2, memory=None, **options) -> Plan:
    place = Place(execute=nowhere, slots=lambda: slots, memory=memory)
    return Plan(sweep(trials, **options), finished, place=place)


def result(chunk, seconds: float = 0.0) -> ChunkResult:
    return ChunkResult([(trial, None) for trial in chunk.trials], seconds)


def run(to_do: Plan, outcome=result, *, held: int = 2) -> list[tuple]:
    """Run a plan with up to `held` chunks at a time, and return its rows."""
    rows, chunks = [], []
    while True:
        while len(chunks) < held and (chunk := to_do.take()) is not None:
            chunks.append(chunk)
        if not chunks:
            return rows
        chunk = chunks.pop(0)
        rows += [(chunk.cell, *row) for row in to_do.settle(chunk, outcome(chunk))]


def test_everything_is_handed_out_once() -> None:
    rows = run(plan(100))
    assert sorted(rows) == [(f"d={d},m=3", trial, None) for d in (4, 6) for trial in range(100)]


def test_what_is_finished_is_not_handed_out() -> None:
    cell, other = "d=4,m=3", "d=6,m=3"
    finished = [(cell, trial) for trial in (0, 1, 4, 9)] + [(other, trial) for trial in range(10)]
    to_do = plan(10, finished)
    assert to_do.unassigned == 6
    assert sorted(run(to_do)) == [(cell, trial, None) for trial in (2, 3, 5, 6, 7, 8)]
    assert plan(10, [(cell, trial) for trial in range(10)]).unassigned == 10


def test_chunks_grow_to_about_a_second_and_shrink_again() -> None:
    sizes = []

    def slow(chunk):
        sizes.append(len(chunk.trials))
        return result(chunk, 0.01 * len(chunk.trials))

    run(plan(1000, d=("4",), slots=1), slow, held=1)
    # A hundred trials of 0.01 s are a second; at the end, half of what is left.
    assert sizes[:4] == [1, 8, 64, 100]
    assert max(sizes) == 100
    assert sizes[-4:] == [8, 4, 2, 1]


def test_a_slow_trial_is_a_chunk_of_its_own() -> None:
    sizes = []

    def very_slow(chunk):
        sizes.append(len(chunk.trials))
        return result(chunk, 30.0 * len(chunk.trials))

    run(plan(5), very_slow)
    assert sizes == [1] * 10


@pytest.mark.parametrize("deadly", [0, 13, 99])
def test_the_trial_that_kills_is_found_among_many(deadly: int) -> None:
    alone = 0

    def outcome(chunk):
        nonlocal alone
        if chunk.cell == "d=4,m=3" and deadly in chunk.trials:
            alone += len(chunk.trials) == 1
            return DEATH
        return result(chunk)

    rows = run(plan(100), outcome)
    assert len(rows) == 200
    (failed,) = [row for row in rows if row[2] is not None]
    assert failed[:2] == ("d=4,m=3", deadly)
    assert failed[2] == "the worker process died (exit code -9), 3 times on this trial"
    assert failed[3:] == (None,) * len(find_kind("kind", "theorem2").COLUMNS)
    assert alone == MOST_DEATHS == 3


def test_a_death_by_chance_leaves_no_trace() -> None:
    deaths = {1, 2, 7, 11}
    count = 0

    def outcome(chunk):
        nonlocal count
        count += 1
        return DEATH if count in deaths else result(chunk)

    assert {row[2] for row in run(plan(30), outcome)} == {None}


def test_a_chunk_that_cannot_be_run_has_its_reason_in_each_row() -> None:
    rows = run(plan(7), lambda _: Failure("ImportError: no such module"))
    assert len(rows) == 14
    assert {row[2] for row in rows} == {"ImportError: no such module"}


def test_chunks_wait_for_memory_but_never_all_of_them() -> None:
    needed = find_kind("kind", "theorem2").worker_bytes(sweep(1).cells[0].parameters, {})
    to_do = plan(10, memory=int(2.5 * needed), slots=9)
    first, second, third = to_do.take(), to_do.take(), to_do.take()
    assert first is not None
    assert second is not None
    assert third is None
    to_do.settle(first, result(first))
    assert to_do.take() is not None
    assert to_do.take() is None
    tight = plan(10, memory=1)
    assert tight.take() is not None
    assert tight.take() is None


def test_a_cell_whose_memory_is_not_known_waits_for_none() -> None:
    config = {**CONFIG, "kind": "corollary3", "method": "exact"}
    grid = {"d": ["4"], "m": ["3"], "n": [str(10**18)]}
    impossible = Sweep.from_canonical({**config, "grid": grid})
    place = Place(execute=nowhere, slots=lambda: 2, memory=1)
    to_do = Plan(impossible, (), place=place)
    assert to_do.take() is not None
    assert to_do.take() is not None


def test_the_order_of_cells_is_that_of_the_grid() -> None:
    given = replace(sweep(1), grid={**sweep(1).grid, "d": [6, 4]})
    to_do = Plan(given, (), place=Place(nowhere, lambda: 1))
    assert [to_do.take().cell for _ in range(2)] == ["d=6,m=3", "d=4,m=3"]
