"""The figures of a page are those of a whole campaign."""

from pathlib import Path

import pytest

from campaigns.__main__ import main
from campaigns.soundness.attack import Outcome
from campaigns.soundness.campaign import Campaign


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["mutants", "--only", "0c31dd64a1"], "only"),
        (["mutants", "--file", "derivations/softmax.py"], "file"),
        (["mutants", "--count", "5"], "count"),
        (["mutants", "--list"], "list"),
        (["soundness", "--cases", "5"], "cases"),
        (["soundness", "--case", "0"], "case"),
        (["robustness", "--part", "documents"], "part"),
        (["reproducibility", "--subject", "verify"], "subject"),
    ],
)
def test_a_part_of_the_work_is_not_written_into_the_page(
    arguments: list[str], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ending:
        main([*arguments, "--docs", "--size", "full"])
    assert ending.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1] == (
        f"campaigns {arguments[0]}: error: --docs needs the whole campaign: "
        f"nothing is written with --{option}"
    )


@pytest.mark.parametrize("name", ["mutants", "soundness", "robustness", "reproducibility"])
def test_the_whole_work_is_begun(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    monkeypatch.setattr(f"campaigns.{name}.execute", lambda options: begun.append(options) or 0)
    assert main([name, "--docs", "--size", "full", "--seed", "1"]) == 0
    assert begun[0].docs


def test_an_interrupted_soundness_is_not_written_into_the_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(self: Campaign, **_: object) -> None:
        self.count([Outcome("sphere", 0, "refuted", ())])

    monkeypatch.setattr(Campaign, "run", interrupted)
    monkeypatch.setattr("campaigns.page._DOCS", tmp_path)  # without a page: writing would fail
    assert main(["soundness", "--docs"]) == 1
    told = capsys.readouterr().err
    assert told == "docs: the campaign is not finished: nothing is written\n"


@pytest.mark.parametrize("cases", ["0", "-3"])
def test_a_soundness_of_no_cases_is_refused(cases: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soundness", "--cases", cases]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"cases={cases}: must be at least 1\n")
