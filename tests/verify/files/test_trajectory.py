from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import MAPS
from numerics.training import Trajectory, descend, population_objective
from verify.files.archives import add_arrays, open_archive
from verify.files.array_files import ArrayFile
from verify.files.trajectory import load_trajectory, save_trajectory
from verify.instances.instance import Instance, save_instance
from verify.testing.strategies import instance_at

NAMES = ("start", "start_tilde", "losses", "theta", "theta_tilde")


def taken(steps: int = 4, **options: object) -> Trajectory:
    start = instance_at(d=5, m=3, seed=1, support=(0, 3), start="independent")
    objective = population_objective(start.V, start.support, attention=MAPS["erf"])
    options = {"eta": 0.1, "steps": steps} | options
    return descend(objective, start.theta, start.theta_tilde, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trajectory.npz"


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    trajectory = taken()
    return {name: np.asarray(getattr(trajectory, name)) for name in (*NAMES, "eta", "diverged")}


def refusal(path: Path) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        load_trajectory("resume", path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("diverged", [False, True])
def test_a_file_is_read_back_bit_for_bit(path: Path, diverged: bool) -> None:
    signed = np.array([-0.0, 5e-324, -1e308])
    trajectory = Trajectory(
        0.1, signed, 2 * signed[:1].repeat(3), np.array([1e300, 0.3]), signed, signed + 1, diverged
    )
    save_trajectory("out", path, trajectory)
    found = load_trajectory("resume", path)
    assert found.eta.hex() == (0.1).hex()
    assert found.diverged is diverged
    for name in NAMES:
        assert getattr(found, name).tobytes() == getattr(trajectory, name).tobytes()
        assert getattr(found, name).shape == getattr(trajectory, name).shape


def test_a_descent_goes_on_from_a_file_as_if_nothing_had_happened(path: Path) -> None:
    save_trajectory("out", path, taken(3))
    resumed, whole = taken(9, resume=load_trajectory("resume", path)), taken(9)
    for name in NAMES:
        assert getattr(resumed, name).tobytes() == getattr(whole, name).tobytes()


def test_the_same_trajectory_is_the_same_file(path: Path, tmp_path: Path) -> None:
    save_trajectory("out", path, taken())
    save_trajectory("out", tmp_path / "other", taken())
    assert path.read_bytes() == (tmp_path / "other").read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_numpy_reads_what_is_written_and_writes_what_is_read(path: Path, arrays) -> None:
    np.savez(path, **arrays)
    trajectory = load_trajectory("resume", path)
    save_trajectory("out", path, trajectory)
    with np.load(path) as archive:
        assert sorted(archive.files) == sorted(arrays)
        for name, array in arrays.items():
            assert archive[name].tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"losses": np.array([1.0, np.nan])}, "losses[1]=nan: must be finite"),
        ({"losses": np.ones((2, 2))}, "losses=array of shape (2, 2)"),
        ({"losses": np.ones(0)}, "losses=array of shape (0,): needs the loss at the start"),
        ({"losses": np.array(["1"])}, "losses=array of <U1"),
        ({"theta": np.ones(4)}, "theta=array of shape (4,): must have 3 entries"),
        ({"theta_tilde": np.array([1.0, -np.inf, 0.0])}, "theta_tilde[1]=-inf"),
        ({"start": np.ones(2)}, "start_tilde=array of shape (3,): must have 2 entries"),
        ({"start_tilde": np.ones((3, 1))}, "start_tilde=array of shape (3, 1)"),
        ({"eta": np.array([0.1])}, "eta=array of shape (1,)"),
        ({"eta": np.array(np.inf)}, "eta=inf: must be finite"),
        ({"diverged": np.array(1)}, "diverged=int64 array of shape (): must be one bool"),
        ({"diverged": np.array([True])}, "diverged=bool array of shape (1,): must be one bool"),
    ],
)
def test_bad_content_is_named(path: Path, arrays, changes, message: str) -> None:
    np.savez(path, **(arrays | changes))
    assert refusal(path).startswith(message)


def test_missing_and_unknown_arrays_are_named(path: Path, arrays) -> None:
    np.savez(path, **{name: array for name, array in arrays.items() if name != "eta"})
    assert refusal(path) == f"resume={path}: the array eta is missing"
    np.savez(path, **arrays, loss=np.ones(1))
    assert refusal(path).startswith(f"resume={path}: unknown array loss; the arrays are eta, start")


class Explosive:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


def test_what_is_no_trajectory_is_refused_and_never_run(path: Path, arrays, monkeypatch) -> None:
    monkeypatch.chdir(path.parent)
    assert "there is no such file" in refusal(path)
    np.savez(path, **(arrays | {"theta": np.array([Explosive()], dtype=object)}))
    whole = path.read_bytes()
    assert "theta.npy holds Python objects, which are never loaded" in refusal(path)
    assert not (path.parent / "exploded").exists()
    for content in (b"", b"PK", b"no archive", whole[:-100]):
        path.write_bytes(content)
        assert refusal(path).startswith(f"resume={path}: unreadable trajectory file: ")
    save_instance("out", path, Instance(np.eye(2), np.ones(2), np.ones(2), (0, 1)))
    assert refusal(path).startswith(f"resume={path}: unknown array V; ")


def test_a_failed_write_leaves_the_old_file(path: Path) -> None:
    save_trajectory("out", path, taken())
    before = path.read_bytes()
    spoilt = taken()
    object.__setattr__(spoilt, "losses", np.array([Explosive()], dtype=object))
    with pytest.raises(ValueError, match="Object arrays"):
        save_trajectory("out", path, spoilt)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    with pytest.raises(InvalidArgumentError, match=r"^out=.*is a folder"):
        save_trajectory("out", path.parent, taken())


def test_other_members_of_an_archive_are_left_alone(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        add_arrays(archive, {"x": np.arange(3), "y": np.array(1.5)})
        archive.writestr("note.txt", "anything")
    file = ArrayFile(path, "what", "value", "kind")
    with file.opened() as stream, open_archive(file, stream) as archive:
        found = archive.arrays(required=("x",), optional=("y", "z"))
    assert {name: array.tolist() for name, array in found.items()} == {"x": [0, 1, 2], "y": 1.5}
