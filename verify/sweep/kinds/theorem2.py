"""Trials of Theorem 2: one population step, then the loss of every input."""

from __future__ import annotations

from verify.instances.laws import check_law
from verify.running.memory import WORKER_BYTES, embedding_bytes
from verify.seeds import Streams
from verify.sweep.named import LAW
from verify.sweep.parameters import Field, Values, integer, positive
from verify.trials.one_step import OneStepTrial, run_trials, step_size

__all__ = [
    "AXES",
    "COLUMNS",
    "HEAD_COLUMNS",
    "NAME",
    "SETTINGS",
    "SHARES",
    "check",
    "head_columns",
    "run_trial",
    "worker_bytes",
]

HEAD_COLUMNS = {
    "support_a": "INTEGER",
    "support_b": "INTEGER",
    "head": "INTEGER",
    "head_tilde": "INTEGER",
    "head_attention": "REAL",
    "head_attention_tilde": "REAL",
    "sup_loss_lower": "REAL",
    "sup_loss_upper": "REAL",
}
"""Where the heads went after one step, and between what the largest loss lies."""

NAME = "theorem2"
AXES = {
    "d": integer(least=2),
    "m": integer(least=1),
    "eta_scale": positive(default="1000"),
    "law": LAW,
}
SETTINGS = {"tolerance": positive(default="0.01")}
COLUMNS = {**HEAD_COLUMNS, "same_position": "INTEGER", "success": "INTEGER"}
SHARES = ("same_position", "success")


def check(parameters: Values, settings: Values) -> None:  # noqa: ARG001 - what every kind is given
    """Refuse a law that has no matrix of the shape, and a step beyond binary64."""
    d, m = parameters.integer("d"), parameters.integer("m")
    check_law(parameters.name("law"), d, m)
    step_size(parameters.exact("eta_scale"), d)


def run_trial(
    streams: Streams, trial: int, parameters: Values, settings: Values
) -> dict[str, Field]:
    """Run the trial that ``xorverify theorem2`` runs from the same stream."""
    d, m = parameters.integer("d"), parameters.integer("m")
    eta = step_size(parameters.exact("eta_scale"), d)
    law = parameters.name("law")
    (outcome,) = run_trials(streams, range(trial, trial + 1), d, m, eta=eta, law=law)
    return {
        **head_columns(outcome),
        "same_position": outcome.same_position,
        "success": outcome.succeeds(settings.exact("tolerance").value),
    }


def worker_bytes(parameters: Values, settings: Values) -> int:  # noqa: ARG001 - as `check`
    """Return the bytes that a worker needs."""
    return WORKER_BYTES + embedding_bytes(parameters.integer("d"), parameters.integer("m"))


def head_columns(outcome: OneStepTrial) -> dict[str, Field]:
    """Return the `HEAD_COLUMNS` of a trial."""
    return {
        "support_a": outcome.support[0],
        "support_b": outcome.support[1],
        "head": outcome.heads[0],
        "head_tilde": outcome.heads[1],
        "head_attention": outcome.attention[0],
        "head_attention_tilde": outcome.attention[1],
        "sup_loss_lower": outcome.lower,
        "sup_loss_upper": outcome.upper,
    }
