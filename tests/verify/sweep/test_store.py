import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from numerics.arguments import InvalidArgumentError
from verify.environment import version
from verify.sweep.config import Sweep
from verify.sweep.folder import LOCK, held_folder
from verify.sweep.store import FILE, Store, StoreFailedError, StoreLockedError, read_sweep
from verify.sweep.writer import Writer

WIDTH = 10  # columns of theorem2
CELLS = ("d=4,m=3,eta_scale=0.1", "d=6,m=3,eta_scale=0.1")


def sweep(**changes) -> Sweep:
    config = {"name": "x", "kind": "theorem2", "trials": "10", "seed": "0", **changes}
    grid = {"d": ["4", "6"], "m": ["3"], "eta_scale": ["0.1"], **config.pop("grid", {})}
    return Sweep.from_canonical({**config, "grid": grid})


def good(trial: int, success: int = 1) -> tuple:
    same_position = 0
    return (trial, None, *range(WIDTH - 2), same_position, success)


def bad(trial: int, error: str) -> tuple:
    return (trial, error, *(None for _ in range(WIDTH)))


def test_rows_come_back_by_cell_and_trial(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        store.write([(CELLS[1], [good(3), good(0)]), (CELLS[0], [bad(7, "no")])])
        store.write([(CELLS[0], [good(2, 0)])])
        columns, rows = store.columns, list(store.rows())
        assert list(store.finished()) == [(CELLS[0], 2), (CELLS[1], 0), (CELLS[1], 3)]
    assert columns[:6] == ["cell", "trial", "d", "m", "eta_scale", "law"]
    assert columns[-2:] == ["success", "error"]
    assert [row[:6] for row in rows] == [
        (CELLS[0], 2, 4, 3, 0.1, "sphere"),
        (CELLS[0], 7, 4, 3, 0.1, "sphere"),
        (CELLS[1], 0, 6, 3, 0.1, "sphere"),
        (CELLS[1], 3, 6, 3, 0.1, "sphere"),
    ]
    assert [row[-2:] for row in rows] == [(0, None), (None, "no"), (1, None), (1, None)]


def test_a_result_takes_the_place_of_an_error(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        store.write([(CELLS[0], [bad(1, "no"), bad(2, "no")])])
        store.write([(CELLS[0], [good(1)])])
        counts = store.counts()[CELLS[0]]
        assert (counts.rows, counts.errors, counts.error) == (2, 1, "no")
        assert counts.shares == {"same_position": 0, "success": 1}
        assert list(store.finished()) == [(CELLS[0], 1)]


def test_what_is_written_says_what_it_is(tmp_path) -> None:
    Store.open(tmp_path, sweep()).__exit__(None, None, None)
    connection = sqlite3.connect(tmp_path / FILE)
    facts = dict(connection.execute("SELECT key, value FROM sweep"))
    assert facts == {
        "schema": "1",
        "version": version(),
        "configuration": json.dumps(sweep().canonical()),
    }
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_sweep_can_be_read_by_others_while_it_is_written(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        store.write([(CELLS[0], [good(1)])])
        with read_sweep(tmp_path) as reader:
            assert reader.sweep.canonical() == sweep().canonical()
            assert list(reader.rows()) == list(store.rows())
            assert reader.columns == store.columns
            store.write([(CELLS[0], [good(2)])])
            assert len(list(reader.rows())) == 2
            with pytest.raises(StoreFailedError, match="readonly"):
                reader.write([(CELLS[0], [good(3)])])


def test_a_sweep_can_be_read_where_nothing_can_be_written(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        store.write([(CELLS[0], [good(1)])])
    mounted = subprocess.run(
        f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path}",
        shell=True,
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        tmp_path.chmod(0o500)
    try:
        with read_sweep(tmp_path) as reader:
            assert len(list(reader.rows())) == 1
        if os.geteuid() or not mounted.returncode:
            with (
                pytest.raises(InvalidArgumentError, match="cannot be written"),
                held_folder(tmp_path),
            ):
                pass
    finally:
        if mounted.returncode:
            tmp_path.chmod(0o700)
        else:
            subprocess.run(f"umount --lazy {tmp_path}", shell=True, check=True)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"trials": "11"}, "sweep.trials is 10 there, and 11 here"),
        ({"seed": "1"}, "sweep.seed is 0 there, and 1 here"),
        ({"name": "y"}, "sweep.name is x there, and y here"),
        ({"tolerance": "0.02"}, "sweep.tolerance is 0.01 there, and 0.02 here"),
        ({"grid": {"d": ["4"]}}, "grid.d is 4, 6 there, and 4 here"),
        ({"kind": "corollary3", "grid": {"n": ["9"]}}, "sweep.kind is theorem2 there, and coro"),
    ],
)
def test_another_sweep_is_refused_and_nothing_is_touched(tmp_path, changes, difference) -> None:
    Store.open(tmp_path, sweep()).__exit__(None, None, None)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(InvalidArgumentError) as refused:
        Store.open(tmp_path, sweep(**changes))
    message = str(refused.value)
    assert message.startswith(f"out={tmp_path}: holds another sweep: {difference}")
    assert message.endswith("choose another --out, or delete the folder to start anew")
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize("opened", [read_sweep, lambda out: Store.open(out, sweep(trials="1000"))])
def test_a_page_of_rows_that_is_lost_is_found_before_they_are_read(tmp_path, opened) -> None:
    with Store.open(tmp_path, sweep(trials="1000")) as store:
        store.write([(CELLS[0], [good(trial) for trial in range(1000)])])
    path = tmp_path / FILE
    content = bytearray(path.read_bytes())
    content[-4096:] = bytes(4096)  # one of many pages, and none that says what the database is
    path.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=r"results\.sqlite is damaged \("):
        opened(tmp_path)


@pytest.mark.parametrize("key", ["version", "schema"])
def test_rows_of_another_version_are_not_mixed(tmp_path, key: str) -> None:
    Store.open(tmp_path, sweep()).__exit__(None, None, None)
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE sweep SET value = '0.0' WHERE key = ?", [key])
    connection.commit()
    connection.close()
    with pytest.raises(
        InvalidArgumentError, match=f"was made by version .*, and this is {version()}"
    ):
        Store.open(tmp_path, sweep())
    if key == "schema":
        with pytest.raises(InvalidArgumentError, match=r"^sweep=.*: was laid out by version"):
            read_sweep(tmp_path)
    else:
        read_sweep(tmp_path).__exit__(None, None, None)


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.write_text("cell,trial\n"), "is no SQLite database"),
        (lambda path: path.write_bytes(bytes(5000)), "is no SQLite database"),
        (foreign, "belongs to another program"),
    ],
)
def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path, make, reason: str) -> None:
    make(tmp_path / FILE)
    before = (tmp_path / FILE).read_bytes()
    for use in (lambda: Store.open(tmp_path, sweep()), lambda: read_sweep(tmp_path)):
        with pytest.raises(InvalidArgumentError, match=f"={tmp_path}: {FILE} {reason}"):
            use()
    assert (tmp_path / FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def damage(path: Path, start: int, stop: int | None) -> None:
    content = bytearray(path.read_bytes())
    content[start:stop] = b"\xff" * len(content[start:stop])
    path.write_bytes(content)


@pytest.mark.parametrize("start", [100, 4096])
def test_a_damaged_database_is_refused(tmp_path, start: int) -> None:
    with Store.open(tmp_path, sweep(trials="1000")) as store:
        store.write([(CELLS[0], [good(trial) for trial in range(1000)])])
    damage(tmp_path / FILE, start, None)
    with (
        pytest.raises(InvalidArgumentError, match=f"^out={tmp_path}: {FILE} is damaged"),
        Store.open(tmp_path, sweep(trials="1000")) as store,
    ):
        list(store.finished())


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ("DROP TABLE trials", "a table is missing"),
        ("DROP TABLE sweep", "a table is missing"),
        ("DELETE FROM sweep WHERE key = 'configuration'", "what it is of is missing"),
        ("UPDATE sweep SET value = '{' WHERE key = 'configuration'", "its configuration is none"),
        ("UPDATE sweep SET value = '[]' WHERE key = 'configuration'", "its configuration is none"),
    ],
)
def test_a_database_that_was_edited_is_refused(tmp_path, edit: str, reason: str) -> None:
    Store.open(tmp_path, sweep()).__exit__(None, None, None)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(edit)
    connection.close()
    for use in (lambda: Store.open(tmp_path, sweep()), lambda: read_sweep(tmp_path)):
        with pytest.raises(
            InvalidArgumentError, match=rf"={tmp_path}: {FILE} is damaged \({reason}"
        ):
            use()


def test_a_column_too_many_is_refused_before_any_work(tmp_path) -> None:
    Store.open(tmp_path, sweep()).__exit__(None, None, None)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("ALTER TABLE trials ADD COLUMN note TEXT")
    connection.close()
    with pytest.raises(InvalidArgumentError, match="its columns are others"):
        Store.open(tmp_path, sweep())


def test_a_foreign_file_with_a_journal_beside_it_is_refused(tmp_path) -> None:
    foreign(tmp_path / FILE)
    (tmp_path / f"{FILE}-journal").touch()
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(InvalidArgumentError, match="a table is missing"):
        Store.open(tmp_path, sweep())
    assert (tmp_path / FILE).read_bytes() == before


def test_a_creation_that_was_cut_short_is_begun_again(tmp_path) -> None:
    # SQLite makes the file before it writes a page.
    (tmp_path / FILE).touch()
    with pytest.raises(InvalidArgumentError, match="is still empty; run the sweep"):
        read_sweep(tmp_path)
    with Store.open(tmp_path, sweep()) as store:
        assert list(store.rows()) == []


@pytest.mark.parametrize("path", ["missing", "."])
def test_a_folder_without_a_sweep_is_refused(tmp_path, path: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^sweep=.*: holds no {FILE}"):
        read_sweep(tmp_path / path)


def test_a_failed_batch_leaves_no_row(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        store.write([(CELLS[0], [good(0)])])
        with pytest.raises(KeyError):
            store.write([(CELLS[0], [good(1)]), ("no such cell", [good(2)])])
        assert [row[1] for row in store.rows()] == [0]
        store.write([(CELLS[0], [good(1)])])
        assert [row[1] for row in store.rows()] == [0, 1]


class Lock:
    """Another program's transaction."""

    def __init__(self, out: Path) -> None:
        self.connection = sqlite3.connect(out / FILE, isolation_level=None)
        self.connection.execute("BEGIN IMMEDIATE")

    def release(self) -> None:
        self.connection.execute("ROLLBACK")
        self.connection.close()


def test_a_locked_database_takes_nothing(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        lock = Lock(tmp_path)
        with pytest.raises(StoreLockedError, match="is locked by another program"):
            store.write([(CELLS[0], [good(0)])])
        lock.release()
        store.write([(CELLS[0], [good(0)])])


def test_rows_wait_for_a_lock_and_are_written_in_the_end(tmp_path) -> None:
    said: list[str] = []
    with Store.open(tmp_path, sweep()) as store:
        writer = Writer(store, say=said.append, patience=0.3)
        lock = Lock(tmp_path)
        writer.add(CELLS[0], [good(0)])
        writer.add(CELLS[0], [good(1)])
        with pytest.raises(StoreLockedError, match=r"stayed locked .*; 2 rows are not written"):
            writer.finish()
        lock.release()
        writer.add(CELLS[0], [])
        assert [row[1] for row in store.rows()] == [0, 1]
        writer.finish()
    assert [line.partition(": ")[2] for line in said] == [
        "rows wait in memory until it is free",
        "all rows are written",
    ]


def test_no_more_rows_wait_than_memory_should_hold(tmp_path) -> None:
    with Store.open(tmp_path, sweep()) as store:
        writer = Writer(store, say=lambda _: None, patience=0.1, most_rows=3)
        lock = Lock(tmp_path)
        writer.add(CELLS[0], [good(0), good(1)])
        with pytest.raises(StoreLockedError, match="3 rows are not written"):
            writer.add(CELLS[0], [good(2)])
        lock.release()


def test_a_folder_is_held_by_one_run_and_free_after_it(tmp_path) -> None:
    out = tmp_path / "new"
    with held_folder(out):
        with (
            pytest.raises(InvalidArgumentError, match="another sweep is running"),
            held_folder(out),
        ):
            pass
        assert (out / LOCK).exists()
    with held_folder(out):
        pass


def test_a_refused_request_leaves_no_folder_behind(tmp_path) -> None:
    def refuse() -> None:
        raise InvalidArgumentError("x", 1, "no")

    for out in (tmp_path / "new", tmp_path / "new" / "and" / "within"):
        with pytest.raises(InvalidArgumentError), held_folder(out):
            refuse()
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidArgumentError), held_folder(tmp_path):
        refuse()
    assert list(tmp_path.iterdir()) == []
