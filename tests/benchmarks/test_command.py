import json
from importlib.util import find_spec

import pytest

from benchmarks import __main__ as command
from benchmarks.timing import Row

PAGE = """# Title

<!-- gradient on 1 core -->

old

<!-- end of gradient on 1 core -->

Words.

<!-- gradient on 2 cores -->

stays

<!-- end of gradient on 2 cores -->
"""


def test_every_suite_has_a_module_and_a_place_on_the_page():
    page = command._PAGE.read_text()
    for name in command._SUITES:
        assert find_spec(f"benchmarks.{name}") is not None
        places = ["1 core", *(["2 cores"] if name in command._PARALLEL else [])]
        for on in places:
            assert page.count(f"<!-- {name} on {on} -->") == 1
            assert page.count(f"<!-- end of {name} on {on} -->") == 1


def test_tables_go_to_their_places_and_the_rest_of_the_page_stays(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text(PAGE)
    monkeypatch.setattr(command, "_PAGE", page)
    rows = [Row("a", "1 s", "<= 2 s", True), Row("b", "3 s", "<= 2 s", False), Row("c", "4 s")]
    command._write_page({"gradient": rows}, "1 core")
    text = page.read_text()
    assert "| a | 1 s | <= 2 s | met |\n| b | 3 s | <= 2 s | missed |\n| c | 4 s |  |  |" in text
    assert "old" not in text
    assert text[text.index("<!-- end of") :] == PAGE[PAGE.index("<!-- end of") :]
    command._write_page({"gradient": rows}, "1 core")
    assert page.read_text() == text


def test_by_default_one_core_does_all_and_two_what_they_have_work_in(tmp_path, monkeypatch):
    asked = []

    class Fresh:
        def __init__(self, workers, *, mp_context):
            assert (workers, mp_context.get_start_method()) == (1, "spawn")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, measure, suites, cores, rounds):
            assert measure is command.measure
            asked.append((list(suites), cores, rounds))
            return self

        def result(self):
            return {"trials": [Row("a", "1 s")]} if asked[-1][1] == 1 else None

    monkeypatch.setattr(command, "ProcessPoolExecutor", Fresh)
    file = tmp_path / "figures.json"
    arguments = ["trials", "empirical", "--rounds", "3", "--json", str(file)]
    assert command.main(arguments) == 0
    assert asked == [(["trials", "empirical"], 1, 3), (["empirical"], 2, 3)]
    document = json.loads(file.read_text())
    assert document == {
        "1 core": {"trials": [{"what": "a", "measured": "1 s", "goal": "", "met": None}]}
    }
    asked.clear()
    assert command.main(["trials", "--cores", "4"]) == 0
    assert asked == [(["trials"], 4, 11)]


def test_an_unknown_suite_is_refused_by_name(capsys):
    with pytest.raises(SystemExit):
        command.main(["gradients"])
    assert "no suite gradients; there are start_up, gradient," in capsys.readouterr().err


def test_what_has_no_work_for_a_second_core_is_not_run_on_two(monkeypatch):
    asked = []

    def measure(_suites, cores, _rounds):
        asked.append(cores)
        return {}

    monkeypatch.setattr(command, "_in_a_process_of_its_own", measure)
    assert command.main(["trials"]) == 0
    assert asked == [1]


def test_a_suite_runs_in_the_process_that_is_confined_for_it():
    found = command._in_a_process_of_its_own([], 1, 1)
    assert found == {}
    assert command._in_a_process_of_its_own([], 10**6, 1) is None
