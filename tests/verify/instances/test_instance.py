import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics.arguments import InvalidArgumentError
from numerics.embeddings import sample_embeddings, uniform_direction
from verify.instances.instance import (
    Instance,
    draw_instance,
    draw_origin,
    load_instance,
    save_instance,
)
from verify.instances.origin import Origin
from verify.seeds import Streams


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    instance = draw_instance(Streams(0).trial(0), 5, 3)
    return {"V": instance.V, "theta": instance.theta, "support": np.array([1, 4])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "instance.npz"


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        load_instance(path, **options)
    return str(caught.value)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 9))
def test_draws_come_in_the_order_support_embeddings_start(seed: int, d: int, m: int) -> None:
    found = draw_instance(np.random.default_rng(seed), d, m)
    rng = np.random.default_rng(seed)
    a = int(rng.integers(d))
    b = int(rng.integers(d - 1))
    assert found.support == (a, b if b < a else b + 1)
    assert np.array_equal(found.V, sample_embeddings(rng, d, m))
    assert np.array_equal(found.theta, uniform_direction(rng, m))
    assert np.array_equal(found.theta_tilde, -found.theta)


def test_a_given_support_is_not_drawn() -> None:
    found = draw_instance(np.random.default_rng(3), 6, 4, support=(5, 0))
    assert found.support == (5, 0)
    assert np.array_equal(found.V, sample_embeddings(np.random.default_rng(3), 6, 4))


def test_supports_are_uniform_over_ordered_pairs() -> None:
    counts: dict[tuple[int, int], int] = {}
    for i in range(6000):
        support = draw_instance(Streams(1).trial(i), 3, 1).support
        counts[support] = counts.get(support, 0) + 1
    assert len(counts) == 6
    # 1000 each with a standard deviation below 29: 6 of them are exceeded less than once in 1e8.
    assert all(abs(count - 1000) < 6 * 29 for count in counts.values())


def test_a_file_is_read_back_bit_for_bit(path: Path) -> None:
    instance = Instance(
        np.array([[0.1, -0.0], [5e-324, 1e308]]),
        np.array([1.0, 2.0]),
        np.array([3.0, 4.0]),
        (1, 0),
        0.1,
    )
    save_instance("out", path, instance)
    found = load_instance(path)
    assert found.V.tobytes() == instance.V.tobytes()
    assert found.theta.tobytes() == instance.theta.tobytes()
    assert found.theta_tilde.tobytes() == instance.theta_tilde.tobytes()
    assert found.support == (1, 0)
    assert found.eta is not None
    assert found.eta.hex() == (0.1).hex()


def test_numpy_reads_what_is_written_and_writes_what_is_read(path: Path, arrays) -> None:
    np.savez(path, **arrays)
    instance = load_instance(path)
    assert np.array_equal(instance.theta_tilde, -arrays["theta"])
    assert instance.eta is None
    save_instance("out", path, instance)
    with np.load(path) as archive:
        assert sorted(archive.files) == ["V", "support", "theta", "theta_tilde"]
        assert np.array_equal(archive["V"], arrays["V"])


def test_the_same_instance_is_the_same_file(tmp_path: Path) -> None:
    instance = draw_instance(Streams(4).trial(1), 4, 2)
    for name in ("one", "two"):
        save_instance("out", tmp_path / name, instance)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_narrower_floats_and_exact_integers_are_widened(path: Path) -> None:
    np.savez(path, V=np.eye(3, dtype=np.float32), theta=np.array([1, 0, 0]), support=[0, 2])
    instance = load_instance(path)
    assert instance.V.dtype == instance.theta.dtype == np.float64


def test_a_support_given_by_the_caller_takes_the_place_of_the_files(path: Path, arrays) -> None:
    np.savez(path, **arrays)
    assert load_instance(path, support=(0, 2)).support == (0, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"V": np.array([[1.0, np.nan], [0.0, 1.0]])}, r"V[0, 1]=nan: must be finite"),
        ({"V": np.array([[1.0, 0.0], [-np.inf, 1.0]])}, r"V[1, 0]=-inf: must be finite"),
        ({"theta": np.array([1.0, np.inf, 0.0])}, r"theta[1]=inf: must be finite"),
        ({"theta": np.ones(4)}, "theta=array of shape (4,): V has 3 columns"),
        ({"theta_tilde": np.ones(2)}, "theta_tilde=array of shape (2,)"),
        ({"theta": np.ones((3, 1))}, "theta=array of shape (3, 1)"),
        ({"V": np.ones(3)}, "V=array of shape (3,)"),
        ({"V": np.ones((1, 3))}, "V=array of shape (1, 3)"),
        ({"V": np.ones((2, 0))}, "V=array of shape (2, 0)"),
        ({"V": np.ones((5, 3), dtype=complex)}, "V=array of complex128"),
        ({"V": np.full((5, 3), "1")}, "V=array of <U1"),
        ({"V": np.full((5, 3), 2**53 + 1)}, "V[0, 0]=9007199254740993: is not exact"),
        ({"support": np.array([1, 1])}, "support=(1, 1): the two positions must differ"),
        ({"support": np.array([0, 5])}, "support=(0, 5): positions must be in 0..4"),
        ({"support": np.array([-1, 1])}, "support=-1: must be an integer >= 0"),
        ({"support": np.array([0.0, 1.0])}, "support=float64 array of shape (2,)"),
        ({"support": np.array([0, 1, 2])}, "support=int64 array of shape (3,)"),
        ({"eta": np.array(np.nan)}, "eta"),
        ({"eta": np.array([1.0, 2.0])}, "eta=array of shape (2,)"),
    ],
)
def test_bad_content_is_named(path: Path, arrays, changes, message: str) -> None:
    np.savez(path, **(arrays | changes))
    assert refusal(path).startswith(message)


def test_missing_arrays_are_named(path: Path, arrays) -> None:
    np.savez(path, V=arrays["V"])
    assert refusal(path) == f"instance={path}: the array theta is missing"
    np.savez(path, V=arrays["V"], theta=arrays["theta"])
    assert "give --support" in refusal(path)


def test_a_misspelt_array_is_refused(path: Path, arrays) -> None:
    np.savez(path, **arrays, thetatilde=arrays["theta"])
    assert refusal(path).startswith(f"instance={path}: unknown array thetatilde; the arrays are V")


def test_an_origin_that_makes_no_sense_is_no_origin(path: Path, arrays) -> None:
    for text in ("{", "[]", '{"d": 2}', '{"d": 5, "m": 3, "law": "x", "seed": 0, "trial": 0}'):
        np.savez(path, **arrays)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("origin.json", text)
        assert load_instance(path).origin is None


def test_a_drawn_instance_keeps_its_draw(path: Path) -> None:
    origin = Origin(d=6, m=2, law="gaussian", seed=4, trial=9, support=(3, 1))
    drawn = draw_origin(origin)
    save_instance("out", path, drawn)
    found = load_instance(path)
    assert found.origin == origin
    assert found.V.tobytes() == draw_origin(origin).V.tobytes()


class Explosive:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


def archive_of(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def objects() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, V=np.array([Explosive()], dtype=object), theta=np.ones(1))
    return buffer.getvalue()


def truncated() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, V=np.eye(3), theta=np.ones(3), support=[0, 1])
    return buffer.getvalue()[:-100]


HUGE = (
    b"\x93NUMPY\x01\x00v\x00"
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 8), }"
)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"not an archive",
        objects(),
        truncated(),
        pickle.dumps(Explosive()),
        archive_of(V=b""),
        archive_of(V=b"\x93NUMPY\x09\x00"),
        archive_of(V=b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}"),
        archive_of(V=b"\x93NUMPY\x01\x00\x10\x00((((((((((((((((", theta=b""),
    ],
)
def test_what_cannot_be_read_is_refused_and_never_run(
    path: Path, content: bytes, monkeypatch
) -> None:
    monkeypatch.chdir(path.parent)
    path.write_bytes(content)
    assert refusal(path).startswith(f"instance={path}: unreadable instance file: ")
    assert not (path.parent / "exploded").exists()


def test_a_header_that_promises_too_much_is_refused_before_reading(path: Path) -> None:
    path.write_bytes(archive_of(V=HUGE.ljust(128) + b"\n"))
    assert "GiB of memory" in refusal(path)


def test_missing_files_and_folders_are_refused(path: Path) -> None:
    assert "there is no such file" in refusal(path)
    assert refusal(path.parent).startswith(f"instance={path.parent}: unreadable instance file: ")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    instance = draw_instance(Streams(0).trial(0), 3, 2)
    with pytest.raises(InvalidArgumentError, match=r"^out=.*cannot be written"):
        save_instance("out", tmp_path / "missing" / "file.npz", instance)
    with pytest.raises(InvalidArgumentError, match=r"^out=.*is a folder"):
        save_instance("out", tmp_path, instance)
    assert list(tmp_path.parent.glob(f".{tmp_path.name}*")) == []
    assert list(tmp_path.iterdir()) == []
