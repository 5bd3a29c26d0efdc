"""Bundles about many steps with another map: the ones that are shipped, and damaged ones."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from verify.claims.softmax import WITNESSES, witness_question
from verify.cli import main
from verify.decimals import parse_positive
from verify.decisions.bundle import _text_digest, load_bundle, save_bundle
from verify.decisions.question import DescentQuestion, Question
from verify.seeds import Streams
from verify.testing.hard_instances import instance_at

SHIPPED = Path(__file__).parents[3] / "docs" / "witnesses"
FILES = {witness.attention: witness for witness in WITNESSES.values()}


def replay(capsys, path: Path, *options: str) -> tuple[int, dict]:
    code = main(["replay", str(path), *options, "--json"])
    return code, json.loads(capsys.readouterr().out)


def question(*, tolerance: str = "0.01", steps: int = 100, start="independent") -> DescentQuestion:
    instance = instance_at(d=8, m=24, seed=0, support=(2, 5), start=start)
    eta = parse_positive("eta", "0.2")
    return DescentQuestion(instance, eta, parse_positive("tolerance", tolerance), "linear", steps)


def test_a_bundle_that_would_not_fit_in_memory_is_refused_before_the_decision(
    capsys, monkeypatch
) -> None:
    path = SHIPPED / "linear_attention.json"
    d, m = FILES["linear"].d, FILES["linear"].m
    needed = 120 * d * m + 1600 * d
    monkeypatch.setattr("verify.decisions.bundle.refuse_beyond_memory", lambda *_: None)
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: needed)
    assert replay(capsys, path)[0] == 0
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: needed - 1)
    monkeypatch.setattr("verify.decisions.descent.decide_descent", lambda *_: pytest.fail("it was"))
    assert main(["replay", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"error: bundle={path}: needs about ")


@pytest.mark.parametrize("attention", FILES)
def test_the_shipped_witnesses_are_those_of_the_claim(attention: str) -> None:
    kept, recorded = load_bundle(SHIPPED / f"{attention}_attention.json")
    witness = FILES[attention]
    made = witness_question(witness, Streams(0, f"softmax-is-necessary/{witness.name}"), 0)
    assert recorded == "certified"
    assert isinstance(kept, DescentQuestion)
    assert (kept.attention, kept.steps) == (made.attention, made.steps)
    assert (kept.eta, kept.tolerance) == (made.eta, made.tolerance)
    assert kept.instance.support == made.instance.support
    for name in ("V", "theta", "theta_tilde"):
        assert (getattr(kept.instance, name) == getattr(made.instance, name)).all()


def test_a_shipped_witness_replays(capsys) -> None:
    code, found = replay(capsys, SHIPPED / "linear_attention.json")
    assert code == 0
    assert found["verdict"] == found["recorded_verdict"] == "certified"
    assert float(found["sup_loss"]["upper"]) < 1e-6
    assert (found["attention"], found["steps"], found["eta"]) == ("linear", 150, "0.2")


def test_a_shipped_witness_is_read_out(capsys) -> None:
    assert main(["replay", str(SHIPPED / "linear_attention.json")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("certified: the loss of every input after 150 steps of linear attention")
    assert "d=32, m=64" in text


@pytest.mark.parametrize(
    ("made", "verdict", "code"),
    [
        (question(), "certified", 0),
        (question(start="antisymmetric", tolerance="0.49"), "refuted", 1),
    ],
)
def test_a_bundle_is_decided_again_and_not_believed(capsys, tmp_path, made, verdict, code) -> None:
    path = tmp_path / "bundle.json"
    wrong = "refuted" if verdict == "certified" else "certified"
    save_bundle(path, made, {"verdict": wrong})
    found_code, found = replay(capsys, path)
    assert (found_code, found["verdict"], found["recorded_verdict"]) == (code, verdict, wrong)


def test_what_little_precision_leaves_open_is_said(capsys, tmp_path) -> None:
    path = tmp_path / "bundle.json"
    save_bundle(path, question(), {"verdict": "certified"})
    code, found = replay(capsys, path, "--max-bits", "30")
    assert (code, found["verdict"]) == (3, "undecided")
    assert found["mean_loss"] is None
    assert found["reason"] == "at 30 bits the balls are too wide"


def refusal(capsys, path: Path, change, *, forge: bool) -> str:
    """Return what is said of a changed bundle; a forger mends the hash as well."""
    save_bundle(path, question(), {"verdict": "certified"})
    document = json.loads(path.read_text())
    change(document)
    if forge:
        document["sha256"]["inputs"] = _text_digest(document["inputs"])
    path.write_text(json.dumps(document))
    assert main(["replay", str(path), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: each["inputs"].update(steps=99), "the inputs do not fit their hash"),
        (lambda each: each["inputs"].update(attention="erf"), "the inputs do not fit their hash"),
        (lambda each: each.update(claim="kernels"), "no bundle belongs to the claim kernels"),
        (lambda each: each.update(claim=[1]), "no bundle belongs to the claim"),
    ],
)
def test_damaged_bundles_are_refused(capsys, tmp_path, change, message) -> None:
    assert message in refusal(capsys, tmp_path / "bundle.json", change, forge=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 10**9}, "steps must be in 0..100000"),
        ({"steps": -1}, "steps must be in 0..100000"),
        ({"steps": "100"}, "attention must be a name and steps an integer"),
        ({"steps": True}, "attention must be a name and steps an integer"),
        ({"attention": 3}, "attention must be a name and steps an integer"),
        ({"attention": "cubic"}, "attention=cubic: must be one of linear, erf, tanh"),
    ],
)
def test_forged_bundles_are_refused(capsys, tmp_path, change, message) -> None:
    def forge(document) -> None:
        document["inputs"].update(change)

    assert message in refusal(capsys, tmp_path / "bundle.json", forge, forge=True)


def test_a_bundle_cannot_pass_for_one_about_another_question(capsys, tmp_path) -> None:
    def relabel(document) -> None:
        document["claim"] = "theorem2-instances"

    said = refusal(capsys, tmp_path / "bundle.json", relabel, forge=False)
    assert "the claim theorem2-instances has no input attention" in said


@pytest.mark.parametrize("inputs", [[], "support", None, 3])
def test_inputs_of_another_kind_are_refused(capsys, tmp_path, inputs) -> None:
    def replace_inputs(document) -> None:
        document["inputs"] = inputs

    said = refusal(capsys, tmp_path / "bundle.json", replace_inputs, forge=True)
    assert "of the wrong kind" in said


def test_a_bundle_without_steps_is_refused(capsys, tmp_path) -> None:
    def forget(document) -> None:
        del document["inputs"]["steps"]

    assert "missing" in refusal(capsys, tmp_path / "bundle.json", forget, forge=True)


def test_the_other_question_keeps_its_kind(tmp_path) -> None:
    path = tmp_path / "bundle.json"
    made = question()
    save_bundle(path, Question(made.instance, made.eta, made.tolerance), {"verdict": "refuted"})
    kept, _ = load_bundle(path)
    assert type(kept) is Question


def test_the_script_writes_what_is_shipped(tmp_path, monkeypatch) -> None:
    spec = importlib.util.spec_from_file_location("write", SHIPPED / "write.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    linear = {each.name: each for each in WITNESSES.values() if each.attention == "linear"}
    monkeypatch.setattr(script, "WITNESSES", linear)
    monkeypatch.setattr(script, "__file__", str(tmp_path / "write.py"))
    script.main()
    written, kept = (
        json.loads((folder / "linear_attention.json").read_text()) for folder in (tmp_path, SHIPPED)
    )
    # The versions of the libraries are those of whoever wrote it.
    assert {**written, "versions": None} == {**kept, "versions": None}


def test_the_example_of_the_page_makes_a_bundle_that_replays(capsys, tmp_path) -> None:
    page = (SHIPPED.parent / "rivals.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    subprocess.run([sys.executable, "-c", example], cwd=tmp_path, check=True)
    code, found = replay(capsys, tmp_path / "witness.json")
    assert (code, found["verdict"], found["recorded_verdict"]) == (0, "certified", "certified")
