"""The campaign at its small size finds nothing; what depends on its surroundings, it finds."""

from __future__ import annotations

import os

import pytest

from campaigns.__main__ import main
from campaigns.reproducibility import repeat
from campaigns.reproducibility.subjects import JOBS, Subject, subjects
from campaigns.reproducibility.surroundings import AS_IT_IS, Surroundings, surroundings

RESULTS = """
import json, sys
value, seconds = {value}, {seconds}
evidence = dict(cell="d=2", subject="statement", method="none", grade="sampled", claimed="any")
claim = dict(id="planted", title="t", source="ours", stance="asserted", verdict="sampled")
claim |= dict(evidence=[evidence | dict(computed=str(value))], seconds=seconds)
run = dict(version="1", seed=0, profile="quick", environment=dict(here=seconds), claims=[claim])
json.dump(run, open("results.json", "w"))
"""


def python(code: str, *arguments: str) -> Subject:
    return Subject("planted", [("-c", code, *arguments)])


def lines(subject: Subject, place: Surroundings) -> list[str]:
    """Return what the campaign says of a subject in one other place."""
    (finding,) = repeat([subject], [place], jobs=1)
    assert AS_IT_IS.name not in finding.differing
    return finding.differing.get(place.name, [])


def test_the_small_campaign_finds_nothing(capsys) -> None:
    assert main(["reproducibility", "--jobs", "1"]) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(rows) == len(subjects(full=False, seed=0))
    for row in rows:
        documents, size, places, differing = (each.strip(" |") for each in row[1:])
        # A command that left nothing would be the same everywhere.
        assert int(documents) > 1
        assert int(size.replace(",", "")) > 1000
        assert int(places) == 1 + len(surroundings(full=False))
        assert differing == "none"


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("print(*{'a', 'b', 'c', 'd', 'e', 'f', 'g'})", Surroundings(name="x", hash_seed="1")),
        (
            "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))",
            Surroundings(name="x", threads=2),
        ),
        (
            "from threadpoolctl import threadpool_info; import numpy;"
            "print([pool['num_threads'] for pool in threadpool_info()])",
            Surroundings(name="x", threads=1 if len(os.sched_getaffinity(0)) > 1 else 2),
        ),
        ("import os; print(os.getcwd())", Surroundings(name="x")),
        ("import os; print(os.path.basename(os.getcwd()))", Surroundings(name="x", elsewhere=True)),
        ("import time; print(time.localtime(0).tm_min)", Surroundings(name="x", elsewhere=True)),
        (
            "import matplotlib; print(matplotlib.rcParams['font.size'])",
            Surroundings(name="x", elsewhere=True),
        ),
        ("import time; print(time.time_ns())", Surroundings(name="x")),
    ],
)
def test_what_depends_on_its_surroundings_is_found(code: str, place: Surroundings) -> None:
    if "num_threads" in code and len(os.sched_getaffinity(0)) == 1:
        pytest.skip("on one core a library has one thread whatever it is told")
    (line,) = lines(python(code), place)
    assert ", byte " in line


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="all places have one core")
def test_what_depends_on_the_cores_is_found() -> None:
    code = "import os; print(len(os.sched_getaffinity(0)))"
    assert len(lines(python(code), Surroundings(name="x", one_core=True))) == 1


def test_a_number_of_workers_is_passed_on() -> None:
    code = "import sys; print(sys.argv[1])"
    assert lines(python(code, JOBS), Surroundings(name="x", jobs=3)) == [
        f"output of command 1, -c {code} {{jobs}}: line 1, byte 1: 2 | 3"
    ]


def test_a_difference_of_results_is_told_by_claim_and_cell() -> None:
    code = RESULTS.format(value="len(sys.argv[1]) * 0.5", seconds="id(sys) % 1000") + "print(1)"
    found = lines(python(code, JOBS), Surroundings(name="x", jobs=11))
    assert found == ["results.json: planted/d=2: computed: 0.5 | 1.0"]
    assert lines(python(code, JOBS), Surroundings(name="x", jobs=3)) == []


def test_times_of_documents_and_reports_may_differ() -> None:
    code = (
        "import json, sys, pathlib; time = len(sys.argv[1]);"
        "print(json.dumps({'environment': time, 'claims': [{'seconds': time, 'value': 1}]}));"
        "pathlib.Path('report.md').write_text(f'| claim | {time}.0 |\\n');"
        "pathlib.Path('report.html').write_text(f'<p><small>{time}.0 s</small></p>')"
    )
    place = Surroundings(name="x", jobs=11)
    assert lines(python(code, JOBS), place) == []
    assert len(lines(python(code.replace("'value': 1", "'value': time"), JOBS), place)) == 1
    # Only where a time stands.
    assert len(lines(python(code.replace("'claims'", "'pieces'"), JOBS), place)) == 1
    assert (
        len(lines(python(code.replace("'value': 1", "'value': {'seconds': time}"), JOBS), place))
        == 1
    )
    assert len(lines(python(code.replace("| claim |", "| claim"), JOBS), place)) == 1
    assert len(lines(python(code.replace("<p>", "<p>{time}"), JOBS), place)) == 1


def test_the_order_in_which_rows_were_stored_is_no_difference() -> None:
    code = (
        "import sqlite3, sys; base = sqlite3.connect('results.sqlite');"
        "base.execute('CREATE TABLE trials (cell, trial, loss)');"
        "rows = [('a', 0, .1), ('a', 1, .2), ('b', 0, .3)][::1 if sys.argv[1] == '2' else -1];"
        "base.executemany('INSERT INTO trials VALUES (?, ?, ?)', rows); base.commit(); print(1)"
    )
    place = Surroundings(name="x", jobs=3)
    assert lines(python(code, JOBS), place) == []
    assert len(lines(python(code.replace(".2", ".2 + int(sys.argv[1])"), JOBS), place)) == 1


def test_a_file_that_only_one_place_has_is_found() -> None:
    code = "import pathlib, sys; print(pathlib.Path(sys.argv[1]).write_text(''))"
    assert lines(python(code, JOBS), Surroundings(name="x", jobs=3)) == [
        "2: only as it is",
        "3: only there",
    ]


def test_an_exit_code_is_compared() -> None:
    code = "import sys; print('some'); sys.exit(int(sys.argv[1]))"
    (line,) = lines(python(code, JOBS), Surroundings(name="x", jobs=3))
    assert line.endswith("line 2, byte 11: exit code 2 | exit code 3")


def test_a_command_that_fails_everywhere_is_no_success() -> None:
    (finding,) = repeat([python("raise SystemExit('no')")], [Surroundings(name="x")], jobs=1)
    assert finding.differing.keys() == {AS_IT_IS.name, "x"}
    assert finding.differing["x"] == ["-c raise SystemExit('no') ended with 1: no"]


def test_a_difference_ends_the_campaign_with_1_and_is_written(
    monkeypatch, capsys, tmp_path
) -> None:
    page = tmp_path / "reproducibility.md"
    page.write_text("before\n<!-- figures -->\n<!-- /figures -->\nafter\n")
    monkeypatch.setattr("campaigns.page._DOCS", tmp_path)
    planted = python("print(*{'a', 'b', 'c', 'd', 'e', 'f', 'g'})")
    monkeypatch.setattr("campaigns.reproducibility.subjects", lambda **_: [planted])
    assert main(["reproducibility", "--docs"]) == 1
    out = capsys.readouterr().out
    assert "planted, 1 worker, 1 thread, hash seed 1: output of command 1" in out
    table = out[out.index("| commands") :].strip()
    assert "| planted | 1 | 26 | 3 | 1 worker, 1 thread, hash seed 1; 3 workers, 4" in table
    assert f"Size small, seed 0.\n\n{table}\n" in page.read_text()


def test_subjects_and_surroundings_of_the_full_size_have_names_of_their_own() -> None:
    chosen = subjects(full=True, seed=3)
    assert len({subject.name for subject in chosen}) == len(chosen)
    places = (AS_IT_IS, *surroundings(full=True))
    assert len({place.name for place in places}) == len(places)
    # All that is drawn is drawn from the seed of the campaign.
    words = [word for subject in chosen for command in subject.commands for word in command]
    assert "{seed}" not in "".join(words)
    assert {words[i + 1] for i, word in enumerate(words) if word == "--seed"} == {"3"}
