"""Databases that someone has been at: refused in a line, and left as they are."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from verify.cli import main

CONFIGURATION = """[sweep]
name = "n"
kind = "theorem2"
trials = 2
[grid]
d = [4, 8]
m = 3
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "c.toml").write_text(CONFIGURATION)
    argv = ["sweep", str(folder / "c.toml"), "--out", str(folder / "s"), "--jobs", "1", "--quiet"]
    assert main(argv) == 0
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def change(folder: Path, query: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "s" / "results.sqlite", isolation_level=None)) as at:
        at.execute(query, values)


def refused(capsys, folder: Path, *argv: str) -> str:
    before = {path.name: path.read_bytes() for path in (folder / "s").iterdir()}
    code = main([*argv, "--jobs", "1", "--quiet", "--json"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in (folder / "s").iterdir()} == before
    return err


FIGURES, SWEEP = ("figures", "s"), ("sweep", "c.toml", "--out", "s")


@pytest.mark.parametrize("argv", [FIGURES, SWEEP])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("UPDATE sweep SET value = x'00' WHERE key = 'configuration'", "what it is of is missing"),
        ("UPDATE sweep SET value = '5' WHERE key = 'configuration'", "its configuration is none"),
        (
            "UPDATE sweep SET value = json_set(value, '$.seed', 5) WHERE key = 'configuration'",
            "its configuration is none",
        ),
        (
            "UPDATE sweep SET value = json_set(value, '$.grid.d', '4') WHERE key = 'configuration'",
            "its configuration is none",
        ),
        ("PRAGMA application_id = 7", "belongs to another program"),
    ],
)
def test_a_database_with_other_facts(capsys, folder, argv, query: str, message: str) -> None:
    change(folder, query)
    assert message in refused(capsys, folder, *argv)


@pytest.mark.parametrize("argv", [FIGURES, SWEEP])
@pytest.mark.parametrize(
    "query",
    [
        "ALTER TABLE trials DROP COLUMN success",
        "ALTER TABLE trials RENAME COLUMN success TO other",
        "ALTER TABLE trials ADD COLUMN more",
    ],
)
def test_a_database_with_other_columns(capsys, folder, argv, query: str) -> None:
    change(folder, query)
    assert "its columns are others" in refused(capsys, folder, *argv)


@pytest.mark.parametrize("argv", [FIGURES, SWEEP])
def test_a_database_that_was_cut_short(capsys, folder, argv) -> None:
    path = folder / "s" / "results.sqlite"
    path.write_bytes(path.read_bytes()[:-4096])
    assert "is damaged" in refused(capsys, folder, *argv)


@pytest.mark.parametrize("argv", [FIGURES, SWEEP])
def test_a_database_whose_damage_has_a_name_that_is_no_text(capsys, folder, argv) -> None:
    path = folder / "s" / "results.sqlite"
    # SQLite finds no index of this name, and names it in its message, byte by byte.
    path.write_bytes(path.read_bytes().replace(b"sqlite_autoindex", b"sqlite_n5\x91onde"))
    assert "a name in it is no text" in refused(capsys, folder, *argv)


@pytest.mark.parametrize("trial", [2**63 - 1, 2, -1])
def test_a_trial_that_nobody_asked_for(capsys, folder, trial: int) -> None:
    change(folder, "UPDATE trials SET trial = ? WHERE cell = 'd=4,m=3' AND trial = 1", trial)
    assert "a row is of no trial" in refused(capsys, folder, *SWEEP)


def test_shares_that_no_trials_can_have(capsys, folder) -> None:
    change(folder, "UPDATE trials SET success = 1e308")
    assert main([*SWEEP, "--jobs", "1", "--quiet", "--json"]) == 3
    assert "no such trials" in json.loads(capsys.readouterr().out)["reason"]
