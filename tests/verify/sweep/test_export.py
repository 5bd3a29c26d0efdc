import csv
import math
import sqlite3
import sys
import tracemalloc

import pyarrow.parquet
import pytest

from numerics.arguments import InvalidArgumentError
from verify.cli import main
from verify.sweep import export
from verify.sweep.config import Sweep
from verify.sweep.export import FORMATS, check_export, export_rows
from verify.sweep.kinds import find_kind
from verify.sweep.store import Store

KIND = find_kind("kind", "theorem2")
TYPES = {
    "cell": "TEXT",
    "trial": "INTEGER",
    **{axis: parameter.sql for axis, parameter in KIND.AXES.items()},
    **KIND.COLUMNS,
    "error": "TEXT",
}
# Numbers that a rounding, a text of fixed length or a detour over another type would change.
AWKWARD = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e22, 123456789.12345679, 1.0]


def sweep(trials: int = 8) -> Sweep:
    return Sweep.from_canonical(
        {
            "name": "x",
            "kind": "theorem2",
            "trials": str(trials),
            "seed": "0",
            "grid": {"d": ["4", "10"], "m": ["2"], "eta_scale": ["0.1"]},
        }
    )


def row(trial: int, value: float) -> tuple:
    return (trial, None, 1, 0, 1, 0, 0.5, value, value, value, 0, 1)


def failed(trial: int, error: str) -> tuple:
    return (trial, error, *(None for _ in range(10)))


@pytest.fixture
def store(tmp_path):
    """Return an incomplete sweep: a cell with awkward numbers and an error, another with a row."""
    asked = sweep()
    first, second = (cell.id for cell in asked.cells)
    with Store.open(tmp_path, asked) as opened:
        opened.write([(first, [row(i, value) for i, value in enumerate(AWKWARD[:7])])])
        opened.write([(first, [failed(7, 'ValueError: a "b", c')])])
        opened.write([(second, [row(5, AWKWARD[7])])])
        yield opened


def expected(store: Store) -> list[dict]:
    return [dict(zip(store.columns, found, strict=True)) for found in store.rows()]


def test_csv_has_every_row_by_cell_and_trial_and_gives_numbers_back_exactly(
    store, tmp_path
) -> None:
    exported = export_rows(store, "csv", tmp_path)
    assert exported.path == tmp_path / "trials.csv"
    with exported.path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        assert reader.fieldnames == list(TYPES) == store.columns
        found = list(reader)
    kinds = {"TEXT": str, "INTEGER": int, "REAL": float}
    read = [
        {name: kinds[TYPES[name]](text) if text else None for name, text in each.items()}
        for each in found
    ]
    assert read == expected(store)
    assert [each["sup_loss_upper"] for each in read[1:]] == [*AWKWARD[:7], None]
    assert found[1]["d"] == "4"
    assert found[0]["sup_loss_upper"] == "1.0"
    assert b"\r" not in exported.path.read_bytes()


def test_parquet_has_the_same_rows_with_their_types(store, tmp_path) -> None:
    exported = export_rows(store, "parquet", tmp_path)
    table = pyarrow.parquet.read_table(exported.path)
    assert table.to_pylist() == expected(store)
    arrow = {"TEXT": "string", "INTEGER": "int64", "REAL": "double"}
    assert table.schema.names == list(TYPES)
    assert [str(each) for each in table.schema.types] == [arrow[sql] for sql in TYPES.values()]


def test_an_incomplete_sweep_is_exported_and_said_to_be_so(store, tmp_path) -> None:
    exported = export_rows(store, "csv", tmp_path)
    assert (exported.rows, exported.errors, exported.expected) == (9, 1, 16)
    assert exported.incomplete == (
        f"{tmp_path / 'trials.csv'} holds 9 of 16 trials, 1 of them with an error for a result"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_sweep_without_rows_is_a_table_without_rows(tmp_path, form: str) -> None:
    with Store.open(tmp_path, sweep()) as empty:
        exported = export_rows(empty, form, tmp_path)
    assert exported.rows == 0
    if form == "csv":
        assert exported.path.read_text() == f"{','.join(TYPES)}\n"
    else:
        assert pyarrow.parquet.read_table(exported.path).schema.names == list(TYPES)


def test_a_complete_sweep_lacks_nothing(tmp_path) -> None:
    asked = sweep(1)
    with Store.open(tmp_path, asked) as complete:
        complete.write([(cell.id, [row(0, 0.5)]) for cell in asked.cells])
        assert export_rows(complete, "csv", tmp_path).incomplete is None


def test_equal_rows_are_equal_bytes(store, tmp_path) -> None:
    first = export_rows(store, "csv", tmp_path).path.read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    with Store.open(other, sweep()) as again:
        for cell, trial, *_, error in reversed(list(store.rows())):
            index = next(i for i, each in enumerate(store.rows()) if each[:2] == (cell, trial))
            value = list(store.rows())[index][store.columns.index("sup_loss_upper")]
            again.write([(cell, [failed(trial, error) if error else row(trial, value)])])
        assert export_rows(again, "csv", other).path.read_bytes() == first


@pytest.mark.parametrize("form", FORMATS)
def test_a_failure_midway_leaves_the_file_that_was_there(
    store, tmp_path, monkeypatch, form: str
) -> None:
    path = export_rows(store, form, tmp_path).path
    before, names = path.read_bytes(), sorted(each.name for each in tmp_path.iterdir())
    whole = list(store.rows())

    def broken():
        yield from whole[:3]
        raise sqlite3.OperationalError("the disk is gone")

    monkeypatch.setattr(store, "rows", broken)
    with pytest.raises(sqlite3.OperationalError):
        export_rows(store, form, tmp_path)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == names


@pytest.mark.parametrize("form", FORMATS)
def test_many_rows_need_no_more_memory_than_a_few(tmp_path, monkeypatch, form: str) -> None:
    monkeypatch.setattr(export, "_BATCH", 4_000)
    with Store.open(tmp_path, sweep(10**6)) as many:
        cell = many.sweep.cells[0].id
        values = {"TEXT": "sphere", "INTEGER": 1, "REAL": math.pi}
        found = (cell, 0, *[values[sql] for sql in list(TYPES.values())[2:-1]], None)
        peaks = []
        for count in (8_000, 32_000):
            rows = (found for _ in range(count))
            monkeypatch.setattr(many, "rows", lambda rows=rows: rows)
            tracemalloc.start()
            assert export_rows(many, form, tmp_path).rows == count
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    # Held in memory, the rows would take four times as much.
    assert peaks[1] < 1.3 * peaks[0]


def test_without_pyarrow_parquet_is_refused_before_any_work(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidArgumentError) as refusal:
        check_export("parquet", tmp_path)
    assert str(refusal.value) == (
        "export=parquet: needs pyarrow; pip install 'xorverify[parquet]', or export to csv"
    )
    check_export("csv", tmp_path)


@pytest.mark.parametrize("form", FORMATS)
def test_a_place_that_takes_no_file_is_refused_before_any_work(tmp_path, form: str) -> None:
    (tmp_path / f"trials.{form}").mkdir()
    with pytest.raises(InvalidArgumentError, match=r"export=.*is a folder; name a file"):
        check_export(form, tmp_path)


def test_the_command_exports_what_the_database_holds(tmp_path, capsys) -> None:
    config, out = tmp_path / "sweep.toml", tmp_path / "out"
    config.write_text('[sweep]\nname = "x"\nkind = "theorem2"\ntrials = 3\n[grid]\nd = 8\nm = 4\n')
    arguments = ["sweep", str(config), "--out", str(out), "--jobs", "1", "--quiet"]
    assert main([*arguments, "--export", "csv"]) == 0
    assert main([*arguments, "--export", "parquet"]) == 0
    capsys.readouterr()
    with (out / "trials.csv").open(newline="") as stream:
        texts = list(csv.DictReader(stream))
    typed = pyarrow.parquet.read_table(out / "trials.parquet").to_pylist()
    assert [float(each["sup_loss_upper"]) for each in texts] == [
        each["sup_loss_upper"] for each in typed
    ]
    assert len(texts) == 3
    assert main([*arguments, "--export", "xlsx"]) == 2
    assert capsys.readouterr().err == "error: export=xlsx: must be one of csv, parquet\n"


@pytest.mark.parametrize("form", FORMATS)
def test_the_half_of_a_file_that_a_killed_run_left_is_removed(store, form, tmp_path) -> None:
    (tmp_path / f".trials.{form}.a1b2c3").write_text("half")
    export_rows(store, form, tmp_path)
    assert not list(tmp_path.glob(".trials*"))
