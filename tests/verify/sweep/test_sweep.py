"""The command from end to end, in this process and its workers."""

import json
import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from verify.cli import main
from verify.decimals import parse_decimal
from verify.instances.instance import draw_instance
from verify.seeds import Streams
from verify.sweep.store import FILE
from verify.trials.one_step import measure, run_trials, step_size
from verify.trials.samples import run_sample_trials

THEOREM2 = """
[sweep]
name = "small"
kind = "theorem2"
trials = 7
seed = 5
tolerance = 2.5
[grid]
d = [8, 12]
m = [3, 16]
eta_scale = [0.10, 1e3]
"""
COROLLARY3 = """
[sweep]
name = "samples"
kind = "corollary3"
trials = 4
[grid]
d = 8
m = 16
n = [1e2, 2000]
"""


@pytest.fixture
def sweep(tmp_path: Path, capsys):
    """Return a function that runs a configuration and returns code, output and messages."""

    def run(text: str, *options: str, out: str = "out") -> tuple[int, str, str]:
        config = tmp_path / "sweep.toml"
        config.write_text(text)
        capsys.readouterr()
        code = main(["sweep", str(config), "--out", str(tmp_path / out), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def document(result: tuple[int, str, str], code: int = 0) -> dict:
    assert result[0] == code, result[2]
    return json.loads(result[1], parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def table(path: Path) -> tuple[list[str], list[tuple]]:
    connection = sqlite3.connect(path / FILE)
    found = connection.execute("SELECT * FROM trials ORDER BY cell, trial")
    columns, rows = [name for name, *_ in found.description], found.fetchall()
    connection.close()
    return columns, rows


def test_the_document_counts_the_trials_of_each_cell(sweep, tmp_path) -> None:
    found = document(sweep(THEOREM2, "--json", "--quiet"))
    assert {key: found[key] for key in ("name", "kind", "seed", "trials", "out")} == {
        "name": "small",
        "kind": "theorem2",
        "seed": 5,
        "trials": 7,
        "out": str(tmp_path / "out"),
    }
    assert (found["errors"], found["missing"]) == (0, 0)
    assert "reason" not in found
    assert len(found["cells"]) == 8
    first = found["cells"][0]
    assert first["cell"] == "d=8,m=3,eta_scale=0.1"
    assert first["parameters"] == {"d": 8, "m": 3, "eta_scale": "0.10", "law": "sphere"}
    assert (first["done"], first["errors"]) == (7, 0)
    columns, rows = table(tmp_path / "out")
    held = columns.index("success")
    for cell in found["cells"]:
        successes = sum(row[held] for row in rows if row[0] == cell["cell"])
        assert cell["success"]["count"] == successes
        assert cell["success"]["lower"] <= successes / 7 <= cell["success"]["upper"]
        assert cell["success"]["level"] == pytest.approx(0.95)
    assert sum(cell["success"]["count"] for cell in found["cells"]) > 0


def test_rows_are_those_of_the_trials_of_theorem2(sweep, tmp_path) -> None:
    document(sweep(THEOREM2, "--json"))
    columns, rows = table(tmp_path / "out")
    assert len(rows) == 8 * 7
    losses = [row[columns.index("sup_loss_upper")] for row in rows]
    assert any(0.01 < loss <= 2.5 for loss in losses)
    for row in rows:
        found = dict(zip(columns, row, strict=True))
        d, trial = found["d"], found["trial"]
        scale = parse_decimal("eta_scale", "0.1" if "eta_scale" in found["cell"] else "1000")
        streams = Streams(5, found["cell"])
        (expected,) = run_trials(
            streams, range(trial, trial + 1), d, found["m"], eta=step_size(scale, d)
        )
        assert (found["support_a"], found["support_b"]) == expected.support
        assert (found["head"], found["head_tilde"]) == expected.heads
        assert (found["head_attention"], found["head_attention_tilde"]) == expected.attention
        assert (found["sup_loss_lower"], found["sup_loss_upper"]) == (
            expected.lower,
            expected.upper,
        )
        assert found["same_position"] == expected.same_position
        assert found["success"] == (expected.upper <= 2.5)
        assert found["eta_scale"] == float(scale.value)
        assert (found["law"], found["error"]) == ("sphere", None)


def test_streams_follow_cell_and_trial_alone(sweep, tmp_path) -> None:
    document(sweep(THEOREM2, "--json"))
    cell, trial = "d=12,m=16", 6
    key = (zlib.crc32(cell.encode()), trial)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=key))
    expected = measure(draw_instance(rng, 12, 16), eta=1e3 * 12**2)
    columns, rows = table(tmp_path / "out")
    (row,) = (row for row in rows if row[:2] == (cell, trial))
    assert row[columns.index("sup_loss_upper")] == expected.upper


def test_rows_are_those_of_the_trials_of_corollary3(sweep, tmp_path) -> None:
    found = document(sweep(COROLLARY3, "--json"))
    assert [cell["cell"] for cell in found["cells"]] == ["d=8,m=16,n=100", "d=8,m=16,n=2000"]
    columns, rows = table(tmp_path / "out")
    assert len(rows) == 8
    for row in rows:
        found = dict(zip(columns, row, strict=True))
        at = range(found["trial"], found["trial"] + 1)
        (expected,) = run_sample_trials(
            Streams(0, found["cell"]), at, 8, 16, found["n"], eta=64e3, method="exact"
        )
        assert (found["head"], found["head_tilde"]) == expected.heads
        assert found["sup_loss_upper"] == expected.upper
        assert found["both_in_support"] == expected.both_in_support
        assert found["distinct_positions"] == (not expected.same_position)
        assert found["success"] == (expected.upper <= 0.01)
        assert found["method"] == "exact"


def test_rows_depend_neither_on_jobs_nor_on_interruptions(sweep, tmp_path) -> None:
    document(sweep(THEOREM2, "--json", "--jobs", "1", out="one"))
    document(sweep(THEOREM2, "--json", "--jobs", "2", out="two"))
    assert table(tmp_path / "one") == table(tmp_path / "two")
    connection = sqlite3.connect(tmp_path / "two" / FILE)
    connection.execute("DELETE FROM trials WHERE (trial + d) % 3 = 0 OR cell = 'd=8,m=3'")
    connection.execute("UPDATE trials SET error = 'x', success = NULL WHERE trial = 4")
    connection.commit()
    connection.close()
    assert document(sweep(THEOREM2, "--json", out="two"))["missing"] == 0
    assert table(tmp_path / "one") == table(tmp_path / "two")


def test_a_finished_sweep_has_nothing_to_do(sweep, tmp_path) -> None:
    first = document(sweep(THEOREM2, "--json"))
    before = table(tmp_path / "out")
    code, out, err = sweep(THEOREM2, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == first
    assert table(tmp_path / "out") == before


def test_a_cell_that_cannot_be_run_is_recorded_and_stops_no_other(sweep, tmp_path) -> None:
    text = THEOREM2.replace("[8, 12]", "8").replace("[3, 16]", "[3, 1e12, 16]")
    text += 'law = ["orthonormal", "sphere"]\n'
    found = document(sweep(text, "--json"), 3)
    errors = {cell["cell"]: cell["error"] for cell in found["cells"] if cell["errors"]}
    assert errors == {
        **dict.fromkeys(
            ("d=8,m=3,eta_scale=0.1,law=orthonormal", "d=8,m=3,law=orthonormal"),
            "law=orthonormal: needs d <= m, and d = 8, m = 3",
        ),
        **{cell: error for cell, error in errors.items() if "m=1000000000000" in cell},
    }
    assert sum("needs about 5.96e+04 GiB of memory" in error for error in errors.values()) == 4
    assert found["errors"] == 6 * 7
    assert found["reason"] == "42 trials failed; run the same command again to go on from here"
    rows = table(tmp_path / "out")[1]
    assert len(rows) == 12 * 7
    assert sum(row[-1] is None for row in rows) == 6 * 7


def test_a_step_beyond_binary64_is_an_error_of_its_cell(sweep) -> None:
    found = document(sweep(THEOREM2.replace("0.10", "1e307"), "--json"), 3)
    assert {cell["error"] for cell in found["cells"] if cell["errors"]} == {
        "eta_scale=1e307: eta = C d^2 must be a positive binary64 number"
    }


def test_a_file_of_embeddings_is_a_law_as_long_as_it_stays_the_same(sweep, tmp_path) -> None:
    path = tmp_path / "V.npy"
    np.save(path, np.eye(8)[:, :6])
    text = THEOREM2.replace("[8, 12]", "8").replace("[3, 16]", "6") + f'law = "file:{path}"'
    found = document(sweep(text, "--json"))
    assert all("#sha256=" in cell["parameters"]["law"] for cell in found["cells"])
    columns, rows = table(tmp_path / "out")
    (streams,) = {Streams(5, cell["cell"]) for cell in found["cells"][:1]}
    (expected,) = run_trials(streams, range(1), 8, 6, eta=0.1 * 64, law=f"file:{path}")
    assert rows[0][columns.index("sup_loss_upper")] == expected.upper
    np.save(path, np.eye(8)[:, 1:7])
    code, _, err = sweep(text, "--json")
    assert code == 2
    assert "holds another sweep: grid.law is file:" in err


def test_rows_stay_when_their_export_fails(sweep, tmp_path, monkeypatch) -> None:
    def fail(what, path, _):
        raise InvalidArgumentError(what, path, "cannot be written: No space left on device")

    monkeypatch.setattr("verify.sweep.export.write_atomically", fail)
    found = document(sweep(THEOREM2, "--json", "--export", "csv"), 3)
    assert found["reason"].startswith("no export: export=")
    assert (found["missing"], found["errors"]) == (0, 0)
    assert len(table(tmp_path / "out")[1]) == 56
    orthonormal = document(
        sweep(THEOREM2 + 'law = "orthonormal"', "--json", "--export", "csv", out="other"), 3
    )
    assert "trials failed" in orthonormal["reason"]
    assert "no export: export=" in orthonormal["reason"]


@pytest.mark.parametrize("change", [("seed = 5", "seed = 6"), ("trials = 7", "trials = 8")])
def test_another_configuration_is_refused_in_one_line(sweep, tmp_path, change) -> None:
    document(sweep(THEOREM2, "--json"))
    before = table(tmp_path / "out")
    code, out, err = sweep(THEOREM2.replace(*change), "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: out={tmp_path / 'out'}: holds another sweep: sweep.")
    assert err.count("\n") == 1
    assert table(tmp_path / "out") == before
    # What is written otherwise, and asks for the same, is the same.
    document(sweep("# a comment" + THEOREM2.replace("[8, 12]", "[1.2e1, 8]"), "--json"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (THEOREM2.replace("[8, 12]", "[8, 8]"), (), "grid.d=8: stands in the list twice"),
        (THEOREM2 + "n = 3", (), "grid.n=3: kind theorem2 does not read it"),
        (THEOREM2.replace('"small"', '"a\\u001bb"'), (), "sweep.name=a\\x1bb: must be 1 to 200"),
        (THEOREM2, ("--jobs", "0"), "jobs=0: must be in 1..1024"),
        (THEOREM2, ("--export", "xls"), "export=xls: must be one of csv, parquet"),
        (THEOREM2, ("--scheduler", "x:1", "--jobs", "2"), "jobs=2: only without --scheduler"),
        (THEOREM2, ("--scheduler", "nowhere"), "scheduler=nowhere: must read HOST:PORT"),
    ],
)
def test_a_bad_request_is_one_line_and_leaves_nothing(
    sweep, tmp_path, text: str, options: tuple[str, ...], message: str
) -> None:
    code, out, err = sweep(text, "--json", *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]


def test_a_folder_of_another_program_is_left_alone(sweep, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / FILE).write_text("mine")
    code, out, err = sweep(THEOREM2, "--json")
    assert (code, out) == (2, "")
    assert f"{FILE} is no SQLite database" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == [FILE]


def test_a_reader_sees_the_table_and_how_far_it_is(sweep, tmp_path) -> None:
    code, out, err = sweep(THEOREM2)
    assert code == 0
    assert "small: theorem2, 7 trials a cell, seed 5" in out
    assert "d=12,m=16,eta_scale=0.1" in out
    assert str(tmp_path / "out" / FILE) in out
    lines = err.splitlines()
    assert 5 <= len(lines) <= 10
    assert lines[-1].startswith("[56/56] ")
    assert all("left" in line for line in lines[:-1])
    assert sweep(THEOREM2, "--quiet", out="quiet")[2] == ""


def test_rows_can_be_exported_in_the_same_go(sweep) -> None:
    found = document(sweep(THEOREM2, "--json", "--export", "csv"))
    lines = Path(found["export"]).read_text().splitlines()
    assert len(lines) == 1 + 56
    assert lines[0].startswith("cell,trial,d,m,eta_scale,law,")


def test_an_export_of_part_of_the_trials_says_so(sweep, tmp_path) -> None:
    text = THEOREM2 + 'law = ["sphere", "orthonormal"]'
    code, out, err = sweep(text, "--json", "--export", "csv")
    assert code == 3
    errors = json.loads(out)["errors"]
    assert errors > 0
    path = tmp_path / "out" / "trials.csv"
    assert err.splitlines()[-1] == (
        f"{path} holds 112 of 112 trials, {errors} of them with an error for a result"
    )
