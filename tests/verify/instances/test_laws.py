from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import uniform_direction
from verify.cli import main
from verify.instances.instance import draw_instance, load_instance
from verify.instances.laws import check_law, draw_embeddings, is_pinned, pin_law
from verify.instances.origin import Origin
from verify.seeds import Streams

D, M = 6, 4


@pytest.fixture
def V() -> np.ndarray:
    return np.random.default_rng(8).standard_normal((D, M))


def refusal(path: Path, d: int = D, m: int = M) -> str:
    with pytest.raises(InvalidArgumentError) as refused:
        check_law(f"file:{path}", d, m)
    message = str(refused.value)
    prefix = f"law=file:{path}: "
    assert message.startswith(prefix)
    assert "\n" not in message
    return message.removeprefix(prefix)


def test_a_file_is_the_matrix_it_holds_and_draws_nothing(tmp_path: Path, V) -> None:
    np.save(tmp_path / "V.npy", V)
    np.savez(tmp_path / "other.npz", V=V, theta=np.ones(3))
    np.savez_compressed(tmp_path / "small.npz", V=V.astype(np.float32))
    np.save(tmp_path / "turned.npy", np.asfortranarray(V))
    np.save(tmp_path / "signs.npy", np.sign(V).astype(np.int8))
    held = {"small.npz": V.astype(np.float32), "signs.npy": np.sign(V)}
    for name in ("V.npy", "other.npz", "small.npz", "turned.npy", "signs.npy"):
        rng = np.random.default_rng(1)
        found = draw_embeddings(rng, D, M, law=f"file:{tmp_path / name}")
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert np.array_equal(found, held.get(name, V))
        assert rng.random() == np.random.default_rng(1).random()


def test_an_instance_file_is_a_law(tmp_path: Path) -> None:
    path = tmp_path / "i.npz"
    assert main(["instance", "--d", str(D), "--m", str(M), "--out", str(path)]) == 0
    assert np.array_equal(draw_embeddings(None, D, M, law=f"file:{path}"), load_instance(path).V)


class Explosive:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


def test_every_refusal_is_one_line_that_names_the_law(tmp_path: Path, V, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "V.npy"
    assert refusal(path) == "unreadable file of embeddings: there is no such file"
    assert refusal(tmp_path).startswith("unreadable file of embeddings: it is no regular file")
    path.write_bytes(b"nothing of the kind")
    assert refusal(path).startswith("unreadable file of embeddings: ")
    np.save(path, V)
    path.write_bytes(path.read_bytes()[:-8])
    assert refusal(path).startswith("unreadable file of embeddings: ")
    np.savez(tmp_path / "V.npz", W=V)
    assert refusal(tmp_path / "V.npz") == "the array V is missing"
    np.save(path, V)
    assert refusal(path, D + 1) == f"holds an array of shape (6, 4), and (d, m) is ({D + 1}, 4)"
    np.save(path, np.array([[Explosive()]], dtype=object), allow_pickle=True)
    assert refusal(path).endswith("holds Python objects, which are never loaded")
    assert not (tmp_path / "exploded").exists()
    for entries, reason in (
        (np.full((D, M), np.nan), "V[0, 0] must be finite"),
        (V * 1j, "V must be real numbers that fit binary64"),
        (np.full((D, M), 2**53 + 1), "V[0, 0] is not exact in binary64"),
        (V > 0, "V must be real numbers that fit binary64"),
    ):
        np.save(path, entries)
        assert refusal(path) == reason
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**13, M)}
    )
    path.write_bytes(buffer.getvalue())
    assert "GiB of memory" in refusal(path, 10**13)
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("V.npy", b"\x93NUMPY\x01\x00\x10\x00((((((((((((((((")
    assert refusal(tmp_path / "bad.npz").startswith("unreadable file of embeddings: ")


def test_trials_under_a_file_differ_by_support_and_start_alone(tmp_path: Path, V) -> None:
    np.save(tmp_path / "V.npy", V)
    law = f"file:{tmp_path / 'V.npy'}"
    rng = Streams(3).trial(2)
    a, b = int(rng.integers(D)), int(rng.integers(D - 1))
    theta = uniform_direction(rng, M)
    found = draw_instance(Streams(3).trial(2), D, M, law=law)
    assert found.support == (a, b + (b >= a))
    assert np.array_equal(found.theta, theta)
    assert np.array_equal(found.V, V)


def test_commands_take_a_file_whatever_the_number_of_workers(capsys, tmp_path: Path, V) -> None:
    np.save(tmp_path / "V.npy", V)
    request = f"theorem2 --d {D} --m {M} --trials 4 --seed 5 --quiet --json --law"
    documents = []
    for jobs in ("1", "2"):
        argv = [*request.split(), f"file:{tmp_path / 'V.npy'}", "--jobs", jobs]
        assert main(argv) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    assert documents[0]["trials"] == 4
    assert documents[0]["law"] == pin_law(f"file:{tmp_path / 'V.npy'}")
    assert main([*request.split(), f"file:{tmp_path / 'W.npy'}"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: law=file:")
    assert err.count("\n") == 1


def test_a_draw_that_cannot_be_repeated_is_said_to_be_none(capsys, tmp_path: Path, V) -> None:
    np.save(tmp_path / "V.npy", V)
    out = tmp_path / "i.npz"
    request = ["instance", "--d", str(D), "--m", str(M), "--out", str(out)]
    assert main([*request, "--law", "gaussian"]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    assert load_instance(out).origin == Origin(d=D, m=M, law="gaussian", seed=0, trial=0)
    assert main([*request, "--law", f"file:{tmp_path / 'V.npy'}"]) == 0
    assert "cannot be repeated" in capsys.readouterr().out
    found = load_instance(out)
    assert found.origin is None
    assert np.array_equal(found.V, V)


def test_an_origin_never_imports_or_opens_anything(tmp_path: Path, V, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_law.py").write_text("import pathlib; pathlib.Path('imported').touch()")
    np.save(tmp_path / "V.npy", V)
    for law in ("own_law:LAW", f"file:{tmp_path / 'V.npy'}"):
        fields = {"d": D, "m": M, "law": law, "seed": 0, "trial": 0}
        with pytest.raises(InvalidArgumentError, match="must be one of sphere"):
            Origin.from_json("bundle", fields)
    assert not (tmp_path / "imported").exists()


def test_a_pinned_file_must_stay_the_same(tmp_path: Path, V) -> None:
    path = tmp_path / "V.npy"
    np.save(path, V)
    law = pin_law(f"file:{path}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert law == f"file:{path}#sha256={digest}"
    assert pin_law(law) == law
    assert pin_law("gaussian") == "gaussian"
    assert [is_pinned(each) for each in ("gaussian", law, f"file:{path}")] == [True, True, False]
    assert np.array_equal(draw_embeddings(None, D, M, law=law), V)
    V[0, 0] = 0.5
    np.save(path, V)
    for refused in (pin_law, lambda each: check_law(each, D, M)):
        with pytest.raises(InvalidArgumentError, match="the file has changed: its sha256 is "):
            refused(law)
    assert np.array_equal(draw_embeddings(None, D, M, law=f"file:{path}"), V)
