"""The documents that are attacked, as they are before: small, and made by the toolkit itself."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
import zipfile
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from numerics.attention_maps import SOFTMAX
from numerics.training import Trajectory, descend, population_objective
from verify.cli import main
from verify.decimals import parse_positive
from verify.decisions.bundle import save_bundle
from verify.decisions.question import DescentQuestion
from verify.files.archives import add_arrays
from verify.files.trajectory import save_trajectory
from verify.instances.starts import draw_start
from verify.seeds import Streams
from verify.sweep.checkpoints import checkpoint_path
from verify.testing.hard_instances import instance_at

__all__ = [
    "CHECKPOINT",
    "CONFIGURATION",
    "NOTATION",
    "TRAINING",
    "arrays",
    "bundle",
    "checkpoint",
    "descent_bundle",
    "embeddings",
    "instance",
    "paper",
    "results",
    "sweep_files",
    "trajectory",
    "trajectory_arrays",
]

CONFIGURATION = b"""[sweep]
name = "attacked"
kind = "theorem2"
trials = 3
seed = 5

[grid]
d = [8, 16]
m = [4, 8]
eta_scale = [10, 1000]
"""

TRAINING = b"""[sweep]
name = "checkpointed"
kind = "training"
trials = 2
steps = 6

[grid]
d = 8
m = 4
"""

NOTATION = rb"""[symbols]
gamma = '\alpha'
d = 'n'
"""


def arrays() -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an instance whose numbers are exact in every floating-point format."""
    V = np.array([[1.0, 0.5, 0.0], [0.0, -1.0, 0.25], [-0.5, 0.0, 1.0], [0.75, 0.5, -0.5]])
    theta, theta_tilde = np.array([0.5, 0.0, -1.0]), np.array([0.0, 1.0, 0.5])
    return {
        "V": V,
        "theta": theta,
        "support": np.array([0, 2]),
        "eta": np.array(4.0),
        "theta_tilde": theta_tilde,
    }


@cache
def instance() -> bytes:
    """Return an instance file; its last array is one that may be missing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        add_arrays(archive, arrays())
    return stream.getvalue()


@cache
def embeddings() -> bytes:
    """Return a file of the embeddings alone."""
    stream = io.BytesIO()
    np.save(stream, arrays()["V"])
    return stream.getvalue()


@cache
def bundle() -> bytes:
    """Return a bundle about one step."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "i.npz"), Path(folder, "b.json")
        source.write_bytes(instance())
        with redirect_stdout(io.StringIO()):
            main(["certify", str(source), "--eta", "1e3", "--bundle", str(target)])
        return target.read_bytes()


@cache
def descent_bundle() -> bytes:
    """Return a bundle about some steps of another attention map."""
    question = DescentQuestion(
        instance_at(d=4, m=6, seed=0, support=(1, 2), start="independent"),
        parse_positive("eta", "0.2"),
        parse_positive("tolerance", "4"),
        "linear",
        3,
    )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "b.json")
        save_bundle(target, question, {"verdict": "certified"})
        return target.read_bytes()


@cache
def results() -> bytes:
    """Return a results.json with one claim."""
    evidence = {
        "cell": "all",
        "subject": "statement",
        "method": "by hand",
        "grade": "exact",
        "computed": "1 of 1",
        "claimed": "1 of 1",
    }
    claim = {
        "id": "zero-start",
        "title": "a title",
        "source": "ours",
        "stance": "asserted",
        "verdict": "exact",
        "evidence": [evidence],
        "seconds": 0.5,
    }
    run = {"version": "0.1.0", "seed": 0, "profile": "quick", "environment": {}, "claims": [claim]}
    return json.dumps(run, indent=2).encode()


@cache
def paper() -> bytes:
    """Return a LaTeX file into which a claim was pasted."""
    from verify.latex.catalogue import build

    fragment = build("theorem2-loss").text
    return f"\\begin{{document}}\n{fragment}\n\\end{{document}}\n".encode()


@cache
def sweep_files(configuration: bytes) -> dict[str, bytes]:
    """Return the files in the folder of a finished sweep, but for its lock."""
    from campaigns.robustness.watched import run_here

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "c.toml").write_bytes(configuration)
        ran = run_here(["sweep", "c.toml", "--out", "s", "--jobs", "1", "--quiet"], folder)
        if ran.code != 0:
            raise RuntimeError(f"sweep={ran.code}: {ran.err}")
        files = (folder / "s").iterdir()
        return {each.name: each.read_bytes() for each in files if each.name != "results.lock"}


CHECKPOINT = str(checkpoint_path(Path("s"), "d=8,m=4", 0))
"""Where the first trial of `TRAINING` keeps its state."""


@cache
def trajectory() -> Trajectory:
    """Return the first steps of the first trial of `TRAINING`."""
    instance = draw_start(Streams(0, "d=8,m=4").trial(0), 8, 4, law="sphere", start="antisymmetric")
    objective = population_objective(instance.V, instance.support, attention=SOFTMAX)
    return descend(
        objective, instance.theta, instance.theta_tilde, eta=64.0, steps=3, tolerance=0.01
    )


def trajectory_arrays() -> dict[str, NDArray[np.generic]]:
    """Return the arrays of `trajectory`."""
    return {name: np.asarray(value) for name, value in dataclasses.asdict(trajectory()).items()}


def checkpoint() -> bytes:
    """Return the file of `trajectory`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.npz")
        save_trajectory("t", path, trajectory())
        return path.read_bytes()
