"""``diff``: every kind of change is found and named; times and environments are none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verify.claim import Evidence, Grade
from verify.claims import CLAIMS
from verify.cli import main
from verify.report.results import results_document
from verify.runner import ClaimResult, Run

Document = dict[str, Any]


def piece(cell: str, *, grade: Grade = Grade.SAMPLED, computed: str = "1/100") -> Evidence:
    return Evidence(
        cell=cell,
        subject="statement",
        method="none",
        grade=grade,
        computed=computed,
        claimed="P <= 0.1",
        margin=0.5,
        precision="binary64",
        seed=0,
        trials=100,
    )


def document() -> Document:
    cells = {
        "theorem2-loss": [piece("d=2"), piece("d=4", computed="3/100, 95% in [0.0062, 0.0852]")],
        "zero-start": [piece("exact", grade=Grade.EXACT, computed="all steps hold")],
        "near-orthogonality": [piece("d=8")],
    }
    results = [
        ClaimResult(CLAIMS[id_], evidence, seconds)
        for (id_, evidence), seconds in zip(cells.items(), (4.0, 0.5, 3.0), strict=True)
    ]
    return results_document(Run("quick", 0, results))


class Files:
    """Two results.json, of which one was changed."""

    def __init__(self, folder: Path) -> None:
        self.a, self.b = folder / "a.json", folder / "b.json"

    def write(self, change: Callable[[Document], object]) -> None:
        first = document()
        second = copy.deepcopy(first)
        change(second)
        for path, each in ((self.a, first), (self.b, second)):
            path.write_text(json.dumps(each), encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def run(capsys, *argv: object) -> tuple[int, str, str]:
    code = main(["diff", *map(str, argv)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def found(capsys, files: Files, change: Callable[[Document], object]) -> tuple[Document, str]:
    """Return the document and the text of the difference that a change makes."""
    files.write(change)
    code, out, err = run(capsys, files.a, files.b, "--json")
    assert (code, err) == (0, "")
    shown_code, shown, _ = run(capsys, files.a, files.b)
    assert shown_code == 0
    asserted, _, _ = run(capsys, files.a, files.b, "--assert-same")
    answer = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert asserted == (0 if answer["same"] else 1)
    return answer, shown


def evidence(changed: Document, claim: int = 0, cell: int = 1) -> Document:
    entries: Document = changed["claims"][claim]["evidence"][cell]
    return entries


SAME = "the same results: 3 claims, 4 cells compared\n"


def test_equal_results_are_said_to_be_the_same_and_nothing_else(capsys, files) -> None:
    answer, shown = found(capsys, files, lambda _: None)
    assert answer["same"] is True
    assert answer["compared"] == {"claims": 3, "cells": 4}
    assert not any(answer[name] for name in ("run", "only_in_a", "only_in_b", "claims"))
    assert shown == SAME


def test_times_and_environment_are_shown_apart_and_are_no_difference(capsys, files) -> None:
    def change(changed: Document) -> None:
        changed["claims"][0]["seconds"] = 8.5
        changed["claims"][1]["seconds"] = 0.1  # too short to be told from noise
        changed["claims"][2]["seconds"] = 1.4
        changed["environment"]["packages"]["numpy"] = "0.1"
        changed["environment"]["cores"] = 1024
        changed["environment"]["new"] = {"deep": 1}

    answer, shown = found(capsys, files, change)
    assert answer["same"] is True
    assert answer["times"] == {
        "a": 7.5,
        "b": 10.0,
        "factor": 2.0,
        "slower": [{"id": "theorem2-loss", "a": 4.0, "b": 8.5}],
        "faster": [{"id": "near-orthogonality", "a": 3.0, "b": 1.4}],
    }
    assert answer["environment"].keys() == {"packages.numpy", "cores", "new.deep"}
    assert answer["environment"]["packages.numpy"]["b"] == "0.1"
    assert answer["environment"]["new.deep"] == {"b": 1}
    assert shown == SAME


def test_up_to_a_factor_two_times_are_those_of_a_busy_machine(capsys, files) -> None:
    def change(changed: Document) -> None:
        changed["claims"][0]["seconds"] = 8.0
        changed["claims"][2]["seconds"] = 1.5

    answer, _ = found(capsys, files, change)
    assert (answer["times"]["slower"], answer["times"]["faster"]) == ([], [])


def test_numbers_that_changed_are_shown_with_their_relative_size(capsys, files) -> None:
    def change(changed: Document) -> None:
        evidence(changed).update(computed="4/100, 95% in [0.0062, 0.0860]", margin=0.4)

    answer, shown = found(capsys, files, change)
    assert answer["same"] is False
    (claim,) = answer["claims"]
    (cell,) = claim["cells"]
    assert (claim["id"], cell["cell"]) == ("theorem2-loss", "d=4")
    assert claim["changes"] == {}
    assert cell["changes"]["computed"] == {
        "a": "3/100, 95% in [0.0062, 0.0852]",
        "b": "4/100, 95% in [0.0062, 0.0860]",
        "numbers": [
            {"a": "3", "b": "4", "relative": 0.25},
            {"a": "0.0852", "b": "0.0860", "relative": 0.0093},
        ],
    }
    assert cell["changes"]["margin"] == {
        "a": 0.5,
        "b": 0.4,
        "numbers": [{"a": "0.5", "b": "0.4", "relative": 0.2}],
    }
    assert "theorem2-loss/d=4" in shown
    assert "2.5e-01" in shown
    assert "1 of 3 claims differ, 0 in their verdict; 1 of 4 cells differ" in shown


def test_other_words_have_no_relative_size(capsys, files) -> None:
    def change(changed: Document) -> None:
        evidence(changed).update(computed="3/100, 96% within [0.0062, 0.0852]")
        del evidence(changed)["precision"]
        evidence(changed)["later"] = "added"

    answer, _ = found(capsys, files, change)
    changes = answer["claims"][0]["cells"][0]["changes"]
    assert changes["computed"].keys() == {"a", "b"}
    assert changes["precision"] == {"a": "binary64"}
    assert changes["later"] == {"b": "added"}


@pytest.mark.parametrize("key", ["grade", "claimed", "method", "subject", "trials", "reason"])
def test_every_entry_of_evidence_counts(capsys, files, key: str) -> None:
    value = {"grade": "refuted", "trials": 101}.get(key, "other")
    answer, shown = found(capsys, files, lambda changed: evidence(changed).update({key: value}))
    assert answer["same"] is False
    assert answer["claims"][0]["cells"][0]["changes"].keys() == {key}
    assert str(value) in shown


def test_a_verdict_is_said_before_the_evidence(capsys, files) -> None:
    def change(changed: Document) -> None:
        changed["claims"][0]["title"] = "another"
        changed["claims"][2]["verdict"] = "refuted"
        evidence(changed, 2, 0)["grade"] = "refuted"

    answer, shown = found(capsys, files, change)
    assert answer["claims"][1]["changes"] == {"verdict": {"a": "sampled", "b": "refuted"}}
    order = [shown.index(text) for text in ("verdict", "title", "Evidence", "1 in their verdict")]
    assert order == sorted(order)


def test_version_seed_and_profile_are_said_first(capsys, files) -> None:
    def change(changed: Document) -> None:
        changed.update(version="9.9", seed=7, profile="full", later=[1])
        evidence(changed)["seed"] = 7

    answer, shown = found(capsys, files, change)
    assert answer["same"] is False
    assert answer["run"].keys() == {"version", "seed", "profile", "later"}
    assert answer["run"]["seed"] == {"a": 0, "b": 7}
    assert answer["claims"][0]["cells"][0]["changes"].keys() == {"seed"}
    assert shown.startswith("Runs")
    assert shown.count("seed") == 1  # what was said of the runs is not said again of each cell


def test_claims_and_cells_of_one_side_are_named(capsys, files) -> None:
    def change(changed: Document) -> None:
        evidence(changed)["cell"] = "d=5"
        changed["claims"][1]["id"] = "one-start"

    answer, shown = found(capsys, files, change)
    assert answer["compared"] == {"claims": 2, "cells": 2}
    assert (answer["only_in_a"], answer["only_in_b"]) == (["zero-start"], ["one-start"])
    (claim,) = answer["claims"]
    assert (claim["only_in_a"], claim["only_in_b"]) == (["d=4"], ["d=5"])
    assert "Claims only in A: zero-start" in shown
    assert "Cells only in B: theorem2-loss/d=5" in shown


def test_runs_without_a_claim_in_common_leave_nothing_to_compare(capsys, files) -> None:
    def change(changed: Document) -> None:
        changed["seed"] = 7
        for claim in changed["claims"]:
            claim["id"] += "-2"

    answer, shown = found(capsys, files, change)
    assert answer["same"] is False
    assert answer["compared"] == {"claims": 0, "cells": 0}
    runs, nothing = shown.partition("Claims only in A: ")[::2]
    assert "seed" in runs
    assert nothing.splitlines() == [
        "theorem2-loss, zero-start, near-orthogonality",
        "Claims only in B: theorem2-loss-2, zero-start-2, near-orthogonality-2",
        "nothing to compare: the runs have no claim in common",
    ]


def test_the_same_run_of_no_claims_leaves_nothing_to_compare(capsys, files) -> None:
    files.write(lambda _: None)
    empty = json.dumps({**document(), "claims": []})
    for path in (files.a, files.b):
        path.write_text(empty, encoding="utf-8")
    code, shown, _ = run(capsys, files.a, files.b, "--assert-same")
    assert (code, shown) == (0, "nothing to compare: the runs have no claim in common\n")


@pytest.mark.parametrize("which", ["claims", "evidence"])
def test_another_order_is_a_difference(capsys, files, which: str) -> None:
    def change(changed: Document) -> None:
        (changed if which == "claims" else changed["claims"][0])[which].reverse()

    answer, shown = found(capsys, files, change)
    assert (answer["same"], answer["only_order"]) == (False, True)
    assert answer["claims"] == []
    assert "all entries are the same, in another order" in shown


def test_one_is_not_true_and_not_one_point_zero(capsys, files) -> None:
    answer, _ = found(capsys, files, lambda changed: evidence(changed).update(margin=1))
    assert answer["claims"][0]["cells"][0]["changes"]["margin"]["b"] == 1
    for value in (1.0, True):
        files.a.write_text(files.b.read_text())
        changed = json.loads(files.a.read_text())
        changed["later"], value_there = 1, value
        files.a.write_text(json.dumps(changed))
        files.b.write_text(json.dumps({**changed, "later": value_there}))
        code, out, _ = run(capsys, files.a, files.b, "--json")
        assert (code, json.loads(out)["same"]) == (0, False)
        assert json.loads(out)["run"].keys() == {"later"}


def test_a_folder_stands_for_the_results_in_it(capsys, files, tmp_path) -> None:
    files.write(lambda _: None)
    (tmp_path / "report").mkdir()
    files.a.rename(tmp_path / "report" / "results.json")
    assert run(capsys, tmp_path / "report", files.b)[:2] == (0, SAME)


def test_numbers_too_large_for_floats_have_a_relative_size(capsys, files) -> None:
    def change(changed: Document) -> None:
        evidence(changed).update(computed="3/100, 95% in [0.0062, 9e9999]", margin=10**400)

    answer, _ = found(capsys, files, change)
    changes = answer["claims"][0]["cells"][0]["changes"]
    assert changes["computed"]["numbers"][0]["relative"] == 1.0
    assert changes["margin"]["numbers"][0]["relative"] == 1.0


def test_what_steers_a_terminal_is_escaped(capsys, files) -> None:
    _, shown = found(capsys, files, lambda changed: evidence(changed).update(method="\x1b[2J\n[b]"))
    assert r"\x1b[2J\n[b]" in shown
    assert "\x1b" not in shown


def test_a_long_value_is_folded_and_not_cut(capsys, files) -> None:
    _, shown = found(capsys, files, lambda changed: evidence(changed).update(computed="x" * 500))
    assert shown.replace("\n", "").count("x") >= 500


def altered(change: Callable[[Document], object]) -> str:
    changed = document()
    change(changed)
    return json.dumps(changed)


BAD = {
    "foreign": (lambda: '{"format": "other"}', "the document has no entry 'version'"),
    "list": (lambda: "[]", "the document is no object"),
    "twice": (lambda: '{"seed": 1, "seed": 2}', "an object has two entries 'seed'"),
    "nan": (lambda: altered(lambda d: evidence(d).update(margin=float("nan"))), "NaN is no number"),
    "seed": (lambda: altered(lambda d: d.update(seed="0")), "the entry 'seed' of the document is"),
    "bool": (lambda: altered(lambda d: d.update(seed=True)), "the entry 'seed' of the document is"),
    "claims": (
        lambda: altered(lambda d: d.update(claims={})),
        "the entry 'claims' of the document",
    ),
    "claim": (lambda: altered(lambda d: d["claims"].append(1)), "claim 3 is no object"),
    "verdict": (
        lambda: altered(lambda d: d["claims"][0].update(verdict="passed")),
        "the verdict of claim 'theorem2-loss' is none of certified, error, exact",
    ),
    "stance": (
        lambda: altered(lambda d: d["claims"][0].update(stance="believed")),
        "the stance of claim 'theorem2-loss' is none of asserted, disputed",
    ),
    "grade": (
        lambda: altered(lambda d: evidence(d).update(grade="good")),
        "the grade of cell 'd=4' of claim 'theorem2-loss' is none of",
    ),
    "margin": (
        lambda: altered(lambda d: evidence(d).update(margin="0.5")),
        "the entry 'margin' of evidence 1 of claim 'theorem2-loss' is of the wrong kind",
    ),
    "missing": (
        lambda: altered(lambda d: evidence(d).pop("computed")),
        "evidence 1 of claim 'theorem2-loss' has no entry 'computed'",
    ),
    "claim twice": (
        lambda: altered(lambda d: d["claims"].append(d["claims"][0])),
        "the claim 'theorem2-loss' is there twice",
    ),
    "cell twice": (
        lambda: altered(lambda d: evidence(d).update(cell="d=2")),
        "the cell 'd=2' of claim 'theorem2-loss' is there twice",
    ),
    "seconds": (
        lambda: altered(lambda d: d["claims"][0].update(seconds=-1)),
        "the seconds of claim 'theorem2-loss' are no duration",
    ),
    "huge": (
        lambda: altered(lambda d: d["claims"][0].update(seconds=10**400)),
        "the seconds of claim 'theorem2-loss' are no duration",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("extra", [(), ("--json",)])
def test_what_run_did_not_write_is_refused_in_a_line(capsys, files, name: str, extra) -> None:
    text, reason = BAD[name]
    files.write(lambda _: None)
    files.b.write_text(text())
    code, out, err = run(capsys, files.a, files.b, *extra)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: b={files.b}: unreadable results.json: ")
    assert reason in err
    assert err.count("\n") == 1
    # Either side is read before anything is said.
    assert run(capsys, files.b, files.a)[2].startswith(f"error: a={files.b}: ")


def test_a_missing_file_or_folder_is_refused(capsys, files, tmp_path) -> None:
    files.write(lambda _: None)
    for path in (tmp_path / "none", tmp_path):
        code, out, err = run(capsys, files.a, path)
        assert (code, out) == (2, "")
        assert "unreadable results.json: No such file or directory" in err
    assert "File name too long" in run(capsys, files.a, "x" * 5000)[2]
    assert run(capsys, files.a)[0] == 2
    assert run(capsys, files.a, "")[0] == 2


def deep(depth: int) -> str:
    text = json.dumps(document())
    return '{"later": ' + "[" * depth + "]" * depth + ", " + text[1:]


@pytest.mark.parametrize("depth", range(100, 1001, 100))
def test_what_is_nested_without_end_is_refused_in_a_line(capsys, files, depth: int) -> None:
    files.write(lambda _: None)
    files.b.write_text(deep(depth))
    code, out, err = run(capsys, files.a, files.b)
    assert (code, out) == (2, "")
    assert err.endswith("not a JSON document: it is nested too deeply\n")
    assert err.count("\n") == 1


def test_what_varies_has_one_place_each(capsys, files) -> None:
    for name in ("seconds", "environment"):
        answer, _ = found(capsys, files, lambda d, name=name: evidence(d).update({name: "x"}))
        assert answer["same"] is False
        assert answer["claims"][0]["cells"][0]["changes"] == {name: {"b": "x"}}
    answer, _ = found(capsys, files, lambda d: d.update(seconds=1))
    assert (answer["same"], answer["run"]) == (False, {"seconds": {"b": 1}})
    answer, _ = found(capsys, files, lambda d: d["claims"][0].update(environment={}))
    assert answer["claims"][0]["changes"] == {"environment": {"b": {}}}
    answer, _ = found(capsys, files, lambda d: d.update(later={"seconds": 1}))
    assert answer["same"] is False


@pytest.mark.parametrize(
    ("a", "b", "relative"),
    [
        ("0.1", "0.10000000000000000001", 1e-19),
        ("1e-400", "0.0", 1.0),
        ("0.1", "0.10", 0.0),
        ("1e-99998", "1e-99999", None),
    ],
)
def test_numbers_are_compared_as_they_are_written(capsys, files, a, b, relative) -> None:
    text = json.dumps(document())
    for path, number in ((files.a, a), (files.b, b)):
        path.write_text(text.replace('"margin": 0.5', f'"margin": {number}', 1))
    code, out, _ = run(capsys, files.a, files.b, "--json")
    answer = json.loads(out)
    assert (code, answer["same"]) == (0, False)
    change = answer["claims"][0]["cells"][0]["changes"]["margin"]
    # A text where binary64 would not say what is written.
    assert (str(change["a"]), str(change["b"])) == (a, b)
    if relative is None:
        assert "numbers" not in change
    else:
        assert change["numbers"] == [{"a": a, "b": b, "relative": relative}]
    shown = run(capsys, files.a, files.b)[1]
    assert f" {a} " in shown
    assert f" {b} " in shown
    files.b.write_text(files.a.read_text())
    assert json.loads(run(capsys, files.a, files.b, "--json")[1])["same"] is True


def test_an_integer_beyond_reading_is_refused_in_plain_words(capsys, files) -> None:
    files.write(lambda _: None)
    files.b.write_text('{"later": ' + "9" * 4301 + ", " + json.dumps(document())[1:])
    code, _, err = run(capsys, files.a, files.b)
    assert code == 2
    assert err.endswith("an integer has 4301 digits; at most 4300 are read\n")


def test_of_a_text_without_end_the_beginning_is_shown_and_json_has_all(capsys, files) -> None:
    long = "x" * 4_000_000
    answer, shown = found(capsys, files, lambda d: evidence(d).update(computed=long))
    assert answer["claims"][0]["cells"][0]["changes"]["computed"]["b"] == long
    assert 1000 <= shown.count("x") < 1100
    assert "(4,000,000" in shown
    _, shown = found(capsys, files, lambda d: d["claims"][0].update(id=long))
    assert len(shown) < 5000
