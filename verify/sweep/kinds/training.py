"""Trials of training: gradient descent over many steps, on all inputs or on n samples.

A trial that takes long leaves a checkpoint every few seconds, if the settings name the ``folder``
of the sweep. Stopped at any moment, it comes to the same row, and to the same trajectory file.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from numerics.arguments import InvalidArgumentError
from numerics.attention_maps import AttentionMap, find_map
from numerics.training import (
    Objective,
    Trajectory,
    descend,
    population_objective,
    sample_objective,
    stopping_loss,
)
from verify.files.trajectory import load_trajectory, save_trajectory
from verify.instances.instance import Instance
from verify.instances.laws import check_law
from verify.instances.starts import STARTS, draw_start, read_start
from verify.running.memory import WORKER_BYTES, embedding_bytes
from verify.seeds import Streams
from verify.sweep.checkpoints import checkpoint_path, trajectory_path
from verify.sweep.named import ATTENTION, LAW
from verify.sweep.parameters import Field, Values, choice, integer, positive
from verify.trials.comparison import heads_of
from verify.trials.one_step import step_size

__all__ = [
    "AXES",
    "COLUMNS",
    "NAME",
    "SETTINGS",
    "SHARES",
    "check",
    "run_trial",
    "worker_bytes",
]

CHECKPOINT_SECONDS = 10.0
"""How often a trial saves its state: rarely beside what it takes, often beside what it may lose."""


NAME = "training"
AXES = {
    "d": integer(least=2),
    "m": integer(least=1),
    # Without samples the descent is on the loss of all inputs.
    "n": integer(least=0, default="0"),
    "eta_scale": positive(default="1"),
    "attention": ATTENTION,
    "law": LAW,
}
SETTINGS = {
    "steps": integer(least=1, default="1000"),
    "tolerance": positive(default="0.01"),
    "start": choice(STARTS, default="antisymmetric"),
    "trajectories": choice(("no", "yes"), default="no"),
}
COLUMNS = {
    "support_a": "INTEGER",
    "support_b": "INTEGER",
    "head": "INTEGER",
    "head_tilde": "INTEGER",
    "steps_taken": "INTEGER",
    "steps_to_tolerance": "INTEGER",
    "final_loss": "REAL",
    "population_loss": "REAL",
    "reached": "INTEGER",
    "one_to_one": "INTEGER",
    "diverged": "INTEGER",
}
SHARES = ("reached", "one_to_one", "diverged")


def check(parameters: Values, settings: Values) -> None:  # noqa: ARG001 - what every kind is given
    """Refuse a map or a law that is not there, and a step beyond binary64."""
    d, m = parameters.integer("d"), parameters.integer("m")
    find_map(parameters.name("attention"))
    check_law(parameters.name("law"), d, m)
    step_size(parameters.exact("eta_scale"), d)


def run_trial(
    streams: Streams, trial: int, parameters: Values, settings: Values
) -> dict[str, Field]:
    """Train from the start that ``xorverify compare`` draws from the same stream."""
    d, m, n = (parameters.integer(name) for name in ("d", "m", "n"))
    attention = find_map(parameters.name("attention"))
    start = read_start("start", settings.name("start"))
    rng = streams.trial(trial)
    instance = draw_start(rng, d, m, law=parameters.name("law"), start=start)
    V, support = instance.V, instance.support
    objective = (
        sample_objective(V, support, rng=rng, n=n, attention=attention)
        if n
        else population_objective(V, support, attention=attention)
    )
    folder = Path(settings.name("folder")) if "folder" in settings else None
    goal = stopping_loss(settings.exact("tolerance").value)
    end = _train(
        objective,
        instance,
        eta=step_size(parameters.exact("eta_scale"), d),
        steps=settings.integer("steps"),
        tolerance=goal,
        checkpoint=folder and checkpoint_path(folder, streams.cell or "", trial),
    )
    if folder is not None and settings.name("trajectories") == "yes":
        path = trajectory_path(folder, streams.cell or "", trial)
        with suppress(OSError):  # saving says why there is no such folder
            path.parent.mkdir(exist_ok=True)
        save_trajectory("trajectories", path, end)
    return _columns(end, instance, attention, goal)


def worker_bytes(parameters: Values, settings: Values) -> int:
    """Return the bytes that a worker needs."""
    d, m = parameters.integer("d"), parameters.integer("m")
    # All losses twice: as they come, and as they are written.
    return WORKER_BYTES + embedding_bytes(d, m) + 16 * settings.integer("steps")


def _train(
    objective: Objective,
    instance: Instance,
    *,
    eta: float,
    steps: int,
    tolerance: float,
    checkpoint: Path | None,
) -> Trajectory:
    """Descend, going on from a checkpoint if there is one, and saving it every few seconds."""

    def reach(most: int, resume: Trajectory | None) -> Trajectory:
        return descend(
            objective,
            instance.theta,
            instance.theta_tilde,
            eta=eta,
            steps=most,
            tolerance=tolerance,
            resume=resume,
        )

    at = None
    if checkpoint is not None and checkpoint.exists():
        # A file that is damaged or of another descent is as good as none.
        with suppress(InvalidArgumentError):
            saved = load_trajectory("checkpoint", checkpoint)
            at = reach(saved.steps, saved)
    saved_at = time.monotonic()
    block = 1
    while True:
        most = min(steps, (0 if at is None else at.steps) + block)
        begun = time.monotonic()
        at = reach(most, at)
        done = at.steps < most or at.steps == steps
        now = time.monotonic()
        if checkpoint is not None and now - saved_at >= CHECKPOINT_SECONDS:
            _save(checkpoint, at)
            saved_at = now
        if done:
            return at
        # Each block evaluates the objective once more, where it begins.
        if now - begun < CHECKPOINT_SECONDS / 2:
            block *= 2


def _save(checkpoint: Path, at: Trajectory) -> None:
    """Save the state; where that is impossible the trial goes on without."""
    with suppress(InvalidArgumentError, OSError):
        checkpoint.parent.mkdir(exist_ok=True)
        save_trajectory("checkpoint", checkpoint, at)


def _columns(
    end: Trajectory, instance: Instance, attention: AttentionMap, tolerance: float
) -> dict[str, Field]:
    loss = float(end.losses[-1])
    reached = loss <= tolerance
    heads = heads_of(end, instance.V, attention)
    a, b = instance.support
    return {
        "support_a": a,
        "support_b": b,
        "head": heads[0],
        "head_tilde": heads[1],
        "steps_taken": end.steps,
        "steps_to_tolerance": end.steps if reached else None,
        "final_loss": loss,
        "population_loss": _population_loss(end, instance, attention),
        "reached": reached,
        "one_to_one": set(heads) == {a, b},
        "diverged": end.diverged,
    }


def _population_loss(end: Trajectory, instance: Instance, attention: AttentionMap) -> float | None:
    """Return the loss over all inputs at the end; None beyond binary64."""
    objective = population_objective(instance.V, instance.support, attention=attention)
    try:
        return float(objective(end.theta, end.theta_tilde).loss)
    except InvalidArgumentError:
        return None
