"""Trials of a comparison: the best descent of an attention map, its step size searched."""

from __future__ import annotations

import math

from numerics.attention_maps import find_map
from numerics.training import stopping_loss
from verify.instances.laws import check_law
from verify.instances.starts import STARTS, read_start
from verify.running.memory import WORKER_BYTES, embedding_bytes
from verify.seeds import Streams
from verify.sweep.named import ATTENTION, LAW
from verify.sweep.parameters import Field, Values, choice, integer, positive
from verify.trials.comparison import compare_trial

__all__ = ["AXES", "COLUMNS", "NAME", "SETTINGS", "SHARES", "check", "run_trial", "worker_bytes"]

NAME = "compare"
AXES = {
    "d": integer(least=2),
    "m": integer(least=1),
    "attention": ATTENTION,
    "law": LAW,
}
SETTINGS = {
    "steps": integer(least=1, default="1000"),
    "tolerance": positive(default="0.01"),
    "start": choice(STARTS, default="antisymmetric"),
}
COLUMNS = {
    "support_a": "INTEGER",
    "support_b": "INTEGER",
    "head": "INTEGER",
    "head_tilde": "INTEGER",
    "eta": "REAL",
    "steps_to_tolerance": "INTEGER",
    "final_loss": "REAL",
    "reached": "INTEGER",
    "one_to_one": "INTEGER",
}
SHARES = ("reached", "one_to_one")


def check(parameters: Values, settings: Values) -> None:  # noqa: ARG001 - what every kind is given
    """Refuse a map or a law that is not there."""
    find_map(parameters.name("attention"))
    check_law(parameters.name("law"), parameters.integer("d"), parameters.integer("m"))


def run_trial(
    streams: Streams, trial: int, parameters: Values, settings: Values
) -> dict[str, Field]:
    """Run what ``xorverify compare`` runs from the same stream."""
    found = compare_trial(
        streams,
        trial,
        parameters.name("attention"),
        d=parameters.integer("d"),
        m=parameters.integer("m"),
        start=read_start("start", settings.name("start")),
        law=parameters.name("law"),
        steps=settings.integer("steps"),
        tolerance=stopping_loss(settings.exact("tolerance").value),
    )
    head, head_tilde = (None, None) if found.heads is None else found.heads
    return {
        "support_a": found.support[0],
        "support_b": found.support[1],
        "head": head,
        "head_tilde": head_tilde,
        "eta": found.best.eta,
        "steps_to_tolerance": found.best.steps if found.best.reached else None,
        # Without a finite loss at any step size there is none to tell.
        "final_loss": found.best.loss if math.isfinite(found.best.loss) else None,
        "reached": found.best.reached,
        "one_to_one": found.one_to_one,
    }


def worker_bytes(parameters: Values, settings: Values) -> int:
    """Return the bytes that a worker needs."""
    d, m = parameters.integer("d"), parameters.integer("m")
    return WORKER_BYTES + embedding_bytes(d, m) + 16 * settings.integer("steps")
