from __future__ import annotations

import copy
import hashlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import find_map
from numerics.embeddings import uniform_direction
from numerics.general_population import gradient
from numerics.samples.empirical import empirical_gradient
from numerics.training import Trajectory, descend
from verify.cli import main
from verify.files.trajectory import load_trajectory, save_trajectory
from verify.instances.instance import draw_instance
from verify.instances.laws import pin_law
from verify.seeds import Streams
from verify.sweep.checkpoints import checkpoint_path, discard_checkpoints, trajectory_path
from verify.sweep.chunk import Chunk, run_chunk
from verify.sweep.kinds import compare, find_kind, training
from verify.sweep.parameters import Values
from verify.sweep.store import read_sweep
from verify.trials.comparison import compare_trial

CELL = "the cell"


def values(parameters, texts: dict[str, str]) -> Values:
    return Values(
        {
            name: parameter.parse(name, texts.get(name, parameter.default))
            for name, parameter in parameters.items()
        }
    )


def chunk(kind, parameters: dict[str, str], settings: dict[str, str], **options) -> Chunk:
    given = values(kind.SETTINGS, settings)
    if "folder" in options:
        given["folder"] = str(options["folder"])
    trials = options.get("trials", range(1))
    return Chunk(kind.NAME, CELL, values(kind.AXES, parameters), given, 3, trials)


def rows(asked: Chunk) -> list[dict]:
    names = ("trial", "error", *find_kind("kind", asked.kind).COLUMNS)
    return [dict(zip(names, row, strict=True)) for row in run_chunk(asked).rows]


# 0.2 d^-2 makes eta = 0.2 at d = 16.
LINEAR = {"d": "16", "m": "32", "eta_scale": "0.00078125", "attention": "linear"}


def by_hand(steps: int, *, n: int = 0, start: str = "independent"):
    """Descend from the first start of the cell, written out."""
    rng = Streams(3, CELL).trial(0)
    instance = draw_instance(rng, 16, 32)
    theta, other, support = instance.theta, instance.theta_tilde, instance.support
    if start == "independent":
        other = uniform_direction(rng, 32)
    linear = find_map("linear")
    losses = []
    for _ in range(steps + 1):
        if n:
            again = copy.deepcopy(rng)
            at = empirical_gradient(again, instance.V, theta, other, support, n=n, attention=linear)
        else:
            at = gradient(instance.V, theta, other, support, attention=linear)
        losses.append(at.loss)
        before = theta, other
        theta, other = theta - 0.2 * at.theta, other - 0.2 * at.theta_tilde
    return losses, before, instance


@pytest.mark.parametrize("n", [0, 200])
def test_a_trial_is_the_descent_it_says(n: int) -> None:
    (row,) = rows(chunk(training, LINEAR | {"n": str(n)}, {"start": "independent"}))
    losses, (theta, other), instance = by_hand(row["steps_taken"], n=n)
    assert row["error"] is None
    assert (row["support_a"], row["support_b"]) == instance.support
    assert row["final_loss"] == losses[-1] <= 0.01 < min(losses[:-1])
    assert row["steps_to_tolerance"] == row["steps_taken"] == len(losses) - 1
    heads = [int(np.argmax(np.abs(instance.V @ query))) for query in (theta, other)]
    assert [row["head"], row["head_tilde"]] == heads
    assert row["one_to_one"] == (set(heads) == set(instance.support))
    assert (row["reached"], row["diverged"]) == (1, 0)
    whole = gradient(instance.V, theta, other, instance.support, attention=find_map("linear")).loss
    assert row["population_loss"] == whole
    assert (whole == row["final_loss"]) is (n == 0)


def test_the_steps_run_out_and_a_descent_may_diverge() -> None:
    settings = {"start": "independent", "steps": "4"}
    short, wild = (
        rows(chunk(training, LINEAR | {"eta_scale": scale}, settings))[0]
        for scale in ("0.00078125", "1000")
    )
    losses, *_ = by_hand(4)
    assert short["final_loss"] == losses[-1] > 0.01
    assert (short["steps_taken"], short["steps_to_tolerance"], short["reached"]) == (4, None, 0)
    assert (wild["diverged"], wild["reached"], wild["steps_to_tolerance"]) == (1, 0, None)


def test_the_antisymmetric_start_is_the_default() -> None:
    (row,) = rows(chunk(training, LINEAR, {"steps": "3"}))
    losses, *_ = by_hand(3, start="antisymmetric")
    assert row["final_loss"] == losses[-1]


def test_a_cell_that_cannot_be_run_says_so() -> None:
    for parameters, reason in (
        ({"d": "4", "m": "3", "law": "orthonormal"}, "law=orthonormal: needs d <= m"),
        ({"d": "4", "m": "3", "attention": "no_such:MAP"}, "attention=no_such:MAP: no module"),
        ({"d": "4", "m": "3", "law": "no_such:LAW"}, "law=no_such:LAW: no module"),
    ):
        (row,) = rows(chunk(training, parameters, {}))
        assert row["error"].startswith(reason)


def test_names_are_read_strictly(tmp_path: Path) -> None:
    law, attention = training.AXES["law"].parse, training.AXES["attention"].parse
    with pytest.raises(InvalidArgumentError, match=r"^grid\.law=cube: must be sphere, gaussian"):
        law("grid.law", "cube")
    with pytest.raises(InvalidArgumentError, match=r"^grid\.attention=relu: must be softmax"):
        attention("grid.attention", "relu")
    path = tmp_path / "V.npy"
    with pytest.raises(InvalidArgumentError, match=r"^grid\.law=file:.*there is no such file"):
        law("grid.law", f"file:{path}")
    np.save(path, np.eye(3))
    pinned = law("grid.law", f"file:{path}")
    assert pinned == pin_law(f"file:{path}")
    # A configuration that was kept can be read when the file is gone.
    path.unlink()
    assert law("grid.law", pinned) == pinned


def test_a_file_that_changed_is_an_error_of_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "V.npy"
    np.save(path, np.eye(3))
    asked = chunk(training, {"d": "3", "m": "3", "law": f"file:{path}"}, {"steps": "2"})
    assert rows(asked)[0]["error"] is None
    np.save(path, 2 * np.eye(3))
    assert "the file has changed" in rows(asked)[0]["error"]


def test_a_comparison_is_what_the_command_runs() -> None:
    (row,) = rows(chunk(compare, {"d": "8", "m": "16", "attention": "erf"}, {"steps": "60"}))
    found = compare_trial(
        Streams(3, CELL),
        0,
        "erf",
        d=8,
        m=16,
        start="antisymmetric",
        law="sphere",
        steps=60,
        tolerance=0.01,
    )
    assert row["error"] is None
    assert (row["eta"], row["final_loss"]) == (found.best.eta, found.best.loss)
    assert (row["head"], row["head_tilde"]) == found.heads
    assert (row["reached"], row["steps_to_tolerance"]) == (0, None)


# A descent that takes a second or more: tiny steps, never at the tolerance.
SLOW = {"d": "64", "m": "32", "n": "2000", "eta_scale": "0.0001"}
SLOW_SETTINGS = {"steps": "300", "trajectories": "yes"}
KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_training import SLOW, SLOW_SETTINGS, chunk
from verify.sweep.chunk import run_chunk
from verify.sweep.kinds import training
training.CHECKPOINT_SECONDS = 0.02
run_chunk(chunk(training, SLOW, SLOW_SETTINGS, folder=sys.argv[1]))
"""


def test_killed_amid_a_trial_it_comes_to_the_same_row_and_trajectory(
    tmp_path: Path, monkeypatch
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    expected = rows(chunk(training, SLOW, SLOW_SETTINGS, folder=whole))
    checkpoint = checkpoint_path(killed, CELL, 0)
    code = KILLED.format(folder=str(Path(__file__).parent))
    process = subprocess.Popen([sys.executable, "-c", code, str(killed)])
    try:
        deadline = time.monotonic() + 60
        while not checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    reached = load_trajectory("checkpoint", checkpoint).steps
    assert 0 < reached < 300
    assert not trajectory_path(killed, CELL, 0).exists()

    resumed = []

    def watched(*arguments, resume: Trajectory | None, **options) -> Trajectory:
        resumed.append(0 if resume is None else resume.steps)
        return descend(*arguments, resume=resume, **options)

    monkeypatch.setattr(training, "descend", watched)
    assert rows(chunk(training, SLOW, SLOW_SETTINGS, folder=killed)) == expected
    assert resumed[0] == reached
    assert resumed == sorted(resumed)
    contents = [trajectory_path(each, CELL, 0).read_bytes() for each in (whole, killed)]
    assert contents[0] == contents[1]
    assert expected[0]["error"] is None
    assert load_trajectory("file", trajectory_path(whole, CELL, 0)).steps == 300


def test_a_checkpoint_that_is_no_part_of_the_descent_is_as_good_as_none(tmp_path: Path) -> None:
    settings = {"start": "independent", "trajectories": "yes"}
    (expected,) = rows(chunk(training, LINEAR, settings))
    checkpoint = checkpoint_path(tmp_path, CELL, 0)
    checkpoint.parent.mkdir()
    asked = chunk(training, LINEAR, settings, folder=tmp_path)
    checkpoint.write_bytes(b"cut short")
    assert rows(asked) == [expected]
    end = load_trajectory("file", trajectory_path(tmp_path, CELL, 0))
    for part in (
        Trajectory(0.3, end.start, end.start_tilde, end.losses, end.theta, end.theta_tilde),
        Trajectory(end.eta, end.start, end.start_tilde, end.losses[:3], end.theta, end.theta_tilde),
    ):
        save_trajectory("file", checkpoint, part)
        assert rows(asked) == [expected]


def test_a_trial_without_a_folder_or_a_writable_one_runs_all_the_same(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    expected = rows(chunk(training, LINEAR, {"steps": "20"}))
    assert rows(chunk(training, LINEAR, {"steps": "20"}, folder=tmp_path / "elsewhere")) == expected
    assert list(tmp_path.iterdir()) == []
    (row,) = rows(
        chunk(
            training, LINEAR, {"steps": "2", "trajectories": "yes"}, folder=tmp_path / "elsewhere"
        )
    )
    assert row["error"].startswith("InvalidArgumentError: trajectories=")
    rows(chunk(training, LINEAR, {"steps": "20"}, folder=tmp_path))
    assert checkpoint_path(tmp_path, CELL, 0).exists()


def test_names_of_files_are_the_cell_and_the_trial(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"d=4,m=3").hexdigest()[:16]
    assert trajectory_path(tmp_path, "d=4,m=3", 7) == tmp_path / f"trajectories/{digest}-7.npz"
    assert checkpoint_path(tmp_path, "d=4,m=3", 7) == tmp_path / f"checkpoints/{digest}-7.npz"


def test_checkpoints_go_when_their_rows_are_there(tmp_path: Path) -> None:
    discard_checkpoints(tmp_path, [("a", 0)], all_=False)
    paths = [checkpoint_path(tmp_path, cell, trial) for cell, trial in (("a", 0), ("a", 1))]
    paths[0].parent.mkdir()
    for path in paths:
        path.touch()
    discard_checkpoints(tmp_path, [("a", 0), ("b", 0)], all_=False)
    assert [path.exists() for path in paths] == [False, True]
    discard_checkpoints(tmp_path, [], all_=True)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_of_both_kinds_runs_and_leaves_no_checkpoints(capsys, tmp_path: Path) -> None:
    grid = '[grid]\nd = 8\nm = 16\nattention = ["softmax", "linear"]\n'
    for kind, more in (("training", 'trajectories = "yes"\n'), ("compare", "")):
        config, out = tmp_path / f"{kind}.toml", tmp_path / kind
        head = f'[sweep]\nname = "x"\nkind = "{kind}"\ntrials = 2\nsteps = 20\n'
        config.write_text(head + more + grid)
        stale = checkpoint_path(out, "d=8,m=16", 0)
        stale.parent.mkdir(parents=True)
        stale.touch()
        assert main(["sweep", str(config), "--out", str(out), "--jobs", "1", "--quiet"]) == 0
        with read_sweep(out) as store:
            assert len(list(store.rows())) == 4
            assert all(each.errors == 0 for each in store.counts().values())
        assert not stale.parent.exists()
    trajectories = tmp_path / "training" / "trajectories"
    assert len(list(trajectories.iterdir())) == 4
    capsys.readouterr()
