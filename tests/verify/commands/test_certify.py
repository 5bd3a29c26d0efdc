import copy
import json
import os
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.enumeration import enumerate_loss
from verify.cli import main


def run(capsys, *argv: object) -> tuple[int, str, str]:
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def decide(capsys, *argv: object) -> tuple[int, dict]:
    code, out, _ = run(capsys, *argv, "--json")
    return code, json.loads(out)


@pytest.fixture
def learned(capsys, tmp_path: Path) -> Path:
    """An instance that one large step learns."""
    path = tmp_path / "learned.npz"
    run(capsys, "instance", "--d", 200, "--m", 64, "--seed", 3, "--out", path)
    return path


@pytest.fixture
def orthonormal(tmp_path: Path) -> Path:
    """Four orthonormal embeddings, written by hand, with a step size of their own."""
    path = tmp_path / "orthonormal.npz"
    np.savez(
        path, V=np.eye(4), theta=np.array([0.6, 0.0, 0.8, 0.0]), support=[0, 1], eta=np.float64(0.1)
    )
    return path


def test_a_large_step_is_certified(capsys, learned) -> None:
    code, found = decide(capsys, "certify", learned, "--eta", "1e8")
    assert code == 0
    assert found["verdict"] == "certified"
    assert (found["tolerance"], found["eta"]) == ("0.01", "1e8")
    assert {found["heads"]["theta"], found["heads"]["theta_tilde"]} == set(found["support"])
    assert (
        Decimal(found["sup_loss"]["lower"]) <= Decimal(found["sup_loss"]["upper"]) < Decimal("0.01")
    )
    assert Decimal(found["attention"]["theta"]["lower"]) > Decimal("0.99")
    assert found["witness"] is None
    assert found["margin_bits"] > 0


def test_a_step_size_in_the_file_is_taken_exactly(capsys, orthonormal) -> None:
    code, found = decide(capsys, "certify", orthonormal)
    assert code == 1
    assert Fraction(found["eta"]) == Fraction(0.1)
    assert found["eta"] != "0.1"
    exact = decide(capsys, "certify", orthonormal, "--eta", "0.1")[1]
    assert exact["eta"] == "0.1"


def test_a_refutation_hands_over_an_input_that_exceeds_the_tolerance(capsys, orthonormal) -> None:
    code, found = decide(capsys, "certify", orthonormal, "--eta", "0.1", "--tolerance", "0.5")
    assert code == 1
    assert set(found["witness"]) <= {-1, 1}
    assert len(found["witness"]) == 4
    assert Decimal(found["sup_loss"]["lower"]) > Decimal("0.5")


def test_more_precision_decides_what_little_could_not(capsys, learned) -> None:
    low, found = decide(capsys, "certify", learned, "--eta", "1e8", "--max-bits", 4)
    assert low == 3
    assert found["verdict"] == "undecided"
    assert found["reason"]
    assert found["bits"] == 4
    assert decide(capsys, "certify", learned, "--eta", "1e8", "--max-bits", 256)[0] == 0


def test_the_bracket_of_the_uniform_start_is_rational(capsys, tmp_path) -> None:
    # Equal rows: the step changes nothing, attention stays 1/d, and sup loss is rational.
    path = tmp_path / "equal.npz"
    np.savez(path, V=np.ones((3, 1)), theta=np.zeros(1), support=[0, 1])
    exact = enumerate_loss([Fraction(1, 3)] * 3, [Fraction(1, 3)] * 3, (0, 1)).supremum
    assert exact == Fraction(100, 81)
    code, found = decide(capsys, "certify", path, "--eta", 1, "--tolerance", "1.2345679013")
    assert (code, found["verdict"]) == (0, "certified")
    code, found = decide(capsys, "certify", path, "--eta", 1, "--tolerance", "1.2345679012")
    assert (code, found["verdict"]) == (1, "refuted")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--eta", "0"), "eta=0: must be positive"),
        (("--eta", "-1e-3"), "eta=-1e-3: must be positive"),
        (("--eta", "nan"), "eta=nan: must be a finite decimal number"),
        (("--eta", "1", "--tolerance", "0"), "tolerance=0: must be positive"),
        (("--eta", "1", "--max-bits", "1"), "max_bits=1: must be in 2..65536"),
        (("--eta", "1", "--support", "0", "0"), "support=(0, 0): the two positions must differ"),
        (("--eta", "1", "--bundle", "no/such/file"), "bundle=no/such/file: cannot be written"),
        ((), "eta=missing: give --eta E: the file has none"),
    ],
)
def test_bad_requests_are_refused(capsys, learned, tmp_path, monkeypatch, options, message) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(capsys, "certify", learned, *options, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_certificate_replays_in_another_process_at_another_precision(
    capsys, learned, tmp_path
) -> None:
    bundle = tmp_path / "bundle.json"
    decided = decide(capsys, "certify", learned, "--eta", "1e8", "--bundle", bundle)[1]
    # Drawn embeddings this large are kept as their draw.
    assert bundle.stat().st_size < 3000
    learned.unlink()
    command = [sys.executable, "-m", "verify", "replay", bundle, "--max-bits", "100", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    replayed = json.loads(found.stdout)
    assert replayed["bits"] != decided["bits"]
    assert replayed["verdict"] == replayed["recorded_verdict"] == "certified"
    assert {key: replayed[key] for key in ("d", "m", "eta", "tolerance", "heads")} == {
        key: decided[key] for key in ("d", "m", "eta", "tolerance", "heads")
    }


def test_a_counterexample_replays_from_numbers_alone(capsys, orthonormal, tmp_path) -> None:
    bundle = tmp_path / "bundle.json"
    decided = decide(capsys, "certify", orthonormal, "--bundle", bundle)[1]
    code, replayed = decide(capsys, "replay", bundle)
    assert code == 1
    assert replayed.pop("recorded_verdict") == "refuted"
    assert replayed == decided


def test_nothing_is_saved_of_what_stayed_undecided(capsys, learned, tmp_path) -> None:
    bundle = tmp_path / "bundle.json"
    options = ("--eta", "1e8", "--max-bits", 4, "--bundle", bundle)
    code, _, err = run(capsys, "certify", learned, *options)
    assert code == 3
    assert not bundle.exists()
    assert "no bundle" in err


def tampered(document: dict, *path: object, value: object) -> dict:
    changed = copy.deepcopy(document)
    target = changed
    for step in path[:-1]:
        target = target[step]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("inputs", "V", "hex", 1), "0x1.0p-5", "the numbers of V do not fit their hash"),
        (("inputs", "theta", "hex", 0), "0x1.8p-1", "the numbers of theta do not fit their hash"),
        (("sha256", "theta_tilde"), "0" * 64, "the numbers of theta_tilde do not fit"),
        (("inputs", "V", "hex", 0), "__import__('os')", "no hexadecimal binary64 number"),
        (("inputs", "V", "hex", 0), 1.0, "no hexadecimal binary64 number"),
        (("inputs", "V", "hex", 0), "0x1.0p+9999", "beyond binary64"),
        (("inputs", "V", "shape"), [2, 2], "does not have the entries of its shape"),
        (("inputs", "V", "shape"), ["a"], ""),
        (("inputs", "theta", "shape"), [1] * 64 + [4], "does not have the entries of its shape"),
        (("inputs", "support"), [1, 2], "the inputs do not fit their hash"),
        (("inputs", "tolerance"), "0.5", "the inputs do not fit their hash"),
        (("inputs", "eta"), "1" * 4500, "must be a finite decimal number"),
        (("result", "verdict"), "\ud800", "not a JSON document"),
        (("result", "verdict"), None, "an entry is missing"),
        (("inputs", "origin"), {}, "holds both a draw and arrays"),
        (("inputs", "V"), None, "an entry is missing"),
        (("inputs", "eta"), None, "an entry is missing"),
        (("inputs", "eta"), "-1", "must be positive"),
        (("inputs", "eta"), 1, "eta is no string"),
        (("inputs", "support"), [0, 0], "the two positions must differ"),
        (("inputs", "support"), "ab", ""),
        (("inputs", "support"), [0, 1.5], ""),
        (("result",), None, "an entry is missing"),
        (("format",), "other", "not a document of the format"),
    ],
)
def test_a_bundle_that_was_touched_is_refused(
    capsys, orthonormal, tmp_path, path, value, message: str
) -> None:
    bundle = tmp_path / "bundle.json"
    decide(capsys, "certify", orthonormal, "--bundle", bundle)
    document = json.loads(bundle.read_text())
    bundle.write_text(json.dumps(tampered(document, *path, value=value)))
    code, out, err = run(capsys, "replay", bundle, "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"[1]", b"null"])
def test_what_is_no_bundle_is_refused(capsys, tmp_path, content: bytes) -> None:
    path = tmp_path / "bundle.json"
    path.write_bytes(content)
    code, out, err = run(capsys, "replay", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: bundle={path}: unusable bundle: ")


@pytest.mark.parametrize(
    ("origin", "message"),
    [
        ({"d": 4}, "must have the fields"),
        ({"d": 10**12, "m": 10**6, "law": "sphere", "seed": 0, "trial": 0}, "GiB of memory"),
        ({"d": 200, "m": 64, "law": "sphere", "seed": 4, "trial": 0}, "do not fit their hash"),
        ({"d": 200, "m": 64, "law": "levy", "seed": 3, "trial": 0}, "must be one of"),
        ({"d": "200", "m": 64, "law": "sphere", "seed": 3, "trial": 0}, "must be an integer"),
    ],
)
def test_a_draw_that_was_touched_is_refused(capsys, learned, tmp_path, origin, message) -> None:
    bundle = tmp_path / "bundle.json"
    decide(capsys, "certify", learned, "--eta", "1e8", "--bundle", bundle)
    document = json.loads(bundle.read_text())
    bundle.write_text(json.dumps(tampered(document, "inputs", "origin", value=origin)))
    code, out, err = run(capsys, "replay", bundle, "--json")
    assert (code, out) == (2, "")
    assert message in err


def test_the_margin_of_an_exact_power_is_a_number(capsys, tmp_path) -> None:
    path = tmp_path / "i.npz"
    V = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.savez(path, V=V, theta=np.array([0.5, 0.25]), support=[0, 1])
    for tolerance in ("0.25", "0.5"):
        code, found = decide(capsys, "certify", path, "--eta", "1e38", "--tolerance", tolerance)
        assert code == 0
        assert found["margin_bits"] > 0


def test_a_number_longer_than_python_reads_is_refused(capsys, learned) -> None:
    code, out, err = run(capsys, "certify", learned, "--eta", "1" * 4500)
    assert (code, out) == (2, "")
    assert err.startswith("error: eta=1111")


def test_a_changed_verdict_in_the_file_changes_nothing(capsys, orthonormal, tmp_path) -> None:
    bundle = tmp_path / "bundle.json"
    decide(capsys, "certify", orthonormal, "--bundle", bundle)
    document = json.loads(bundle.read_text())
    bundle.write_text(json.dumps(tampered(document, "result", "verdict", value="certified")))
    code, out, err = run(capsys, "replay", bundle, "--json")
    replayed = json.loads(out)
    assert code == 1
    assert replayed["verdict"] == "refuted"
    assert replayed["recorded_verdict"] == "certified"
    assert err == "the bundle says certified: that is not what was found\n"


def test_a_decision_is_not_lost_with_its_bundle(capsys, learned, tmp_path, monkeypatch) -> None:
    from verify.decisions import bundle

    def full(what, path, _) -> None:
        raise InvalidArgumentError(what, path, "cannot be written: No space left on device")

    monkeypatch.setattr(bundle, "write_atomically", full)
    argv = ("certify", learned, "--eta", "1e9", "--bundle", tmp_path / "b.json", "--json")
    code, out, err = run(capsys, *argv)
    assert (code, json.loads(out)["verdict"]) == (3, "certified")
    assert err.startswith("no bundle is written: bundle=")
    assert not (tmp_path / "b.json").exists()


def test_a_bundle_that_replay_would_refuse_is_refused_before_the_decision(
    capsys, monkeypatch, tmp_path, orthonormal, learned
) -> None:
    def decided(*_: object) -> None:
        pytest.fail("it was decided")

    target = tmp_path / "bundle.json"
    # V, theta and theta_tilde have 24 numbers, of 32 characters each at most.
    monkeypatch.setattr("verify.decisions.bundle._LARGEST_FILE", 24 * 32 - 1)
    with monkeypatch.context() as patched:
        patched.setattr("verify.decisions.one_step.decide_step", decided)
        code, out, err = run(capsys, "certify", orthonormal, "--bundle", target)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: bundle={target}: would have ")
    # With the rest of the document it is too long all the same: that is known afterwards.
    monkeypatch.setattr("verify.decisions.bundle._LARGEST_FILE", 24 * 32)
    for instance, eta, verdict, expected in (
        (orthonormal, "0.1", "refuted", 1),
        (learned, "1e8", "certified", 3),
    ):
        argv = ("certify", instance, "--eta", eta, "--bundle", target, "--json")
        code, out, err = run(capsys, *argv)
        assert (code, json.loads(out)["verdict"]) == (expected, verdict)
        assert f"no bundle is written: bundle={target}: would have " in err
    assert not target.exists()


def test_a_bundle_beyond_memory_is_refused_before_the_decision(
    capsys, monkeypatch, tmp_path, orthonormal
) -> None:
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: 24 * (32 * 4 + 80) - 1)
    code, _, err = run(capsys, "certify", orthonormal, "--bundle", tmp_path / "bundle.json")
    assert code == 2
    assert "GiB of memory" in err


@pytest.mark.parametrize("command", ["certify", "replay"])
def test_what_would_not_fit_in_memory_is_refused_before_the_decision(
    capsys, monkeypatch, tmp_path, orthonormal, command: str
) -> None:
    bundle = tmp_path / "bundle.json"
    run(capsys, "certify", orthonormal, "--bundle", bundle)
    what, path = {"certify": ("instance", orthonormal), "replay": ("bundle", bundle)}[command]
    decided: list[object] = []

    def decide(*given: object) -> dict[str, object]:
        decided.append(given)
        return {"verdict": "undecided"}

    monkeypatch.setattr("verify.decisions.one_step.decide_step", decide)
    # V has 16 numbers of 8 bytes; 4 positions have 2200 bytes each.
    needed = 128 + 4 * 2200
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: needed - 1)
    # The bundle itself is no matter here.
    monkeypatch.setattr("verify.decisions.bundle.refuse_beyond_memory", lambda *_: None)
    code, out, err = run(capsys, command, path, "--json")
    assert (code, out, decided) == (2, "", [])
    assert err.startswith(f"error: {what}={path}: needs about {needed / 2**30:.3g} GiB of memory")
    assert err.count("\n") == 1
    monkeypatch.setattr("verify.running.memory.usable_bytes", lambda: needed)
    assert run(capsys, command, path, "--json")[0] == 3
    assert len(decided) == 1


def test_a_bundle_is_read_from_a_pipe_and_behind_a_byte_order_mark(
    capsys, tmp_path, orthonormal
) -> None:
    target, pipe = tmp_path / "bundle.json", tmp_path / "pipe"
    run(capsys, "certify", orthonormal, "--bundle", target)
    expected = decide(capsys, "replay", target)
    content = target.read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    assert decide(capsys, "replay", pipe) == expected
    writer.join()
    target.write_bytes(b"\xef\xbb\xbf" + content)
    assert decide(capsys, "replay", target) == expected
