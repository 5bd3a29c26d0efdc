"""Trials of Corollary 3: one step from n samples, then the loss of every input."""

from __future__ import annotations

from verify.seeds import Streams
from verify.sweep.kinds.theorem2 import HEAD_COLUMNS, head_columns
from verify.sweep.parameters import Field, Values, choice, integer, positive
from verify.trials.one_step import step_size
from verify.trials.samples import METHODS, Method, choose_method, run_sample_trials
from verify.trials.samples import worker_bytes as sample_worker_bytes

__all__ = ["AXES", "COLUMNS", "NAME", "SETTINGS", "SHARES", "check", "run_trial", "worker_bytes"]

NAME = "corollary3"
AXES = {
    "d": integer(least=2),
    "m": integer(least=1),
    "n": integer(least=1),
    "eta_scale": positive(default="1000"),
}
SETTINGS = {
    "tolerance": positive(default="0.01"),
    "method": choice(("auto", *METHODS), default="auto"),
}
COLUMNS = {
    "method": "TEXT",
    **HEAD_COLUMNS,
    "both_in_support": "INTEGER",
    "distinct_positions": "INTEGER",
    "success": "INTEGER",
}
SHARES = ("both_in_support", "distinct_positions", "success")


def check(parameters: Values, settings: Values) -> None:
    """Refuse a step beyond binary64, and samples that would take weeks to draw."""
    _method(parameters, settings)
    step_size(parameters.exact("eta_scale"), parameters.integer("d"))


def run_trial(
    streams: Streams, trial: int, parameters: Values, settings: Values
) -> dict[str, Field]:
    """Run the trial that ``xorverify corollary3`` runs from the same stream."""
    d, m, n = (parameters.integer(name) for name in ("d", "m", "n"))
    eta = step_size(parameters.exact("eta_scale"), d)
    method = _method(parameters, settings)
    (outcome,) = run_sample_trials(
        streams, range(trial, trial + 1), d, m, n, eta=eta, method=method
    )
    return {
        "method": method,
        **head_columns(outcome),
        "both_in_support": outcome.both_in_support,
        "distinct_positions": not outcome.same_position,
        "success": outcome.succeeds(settings.exact("tolerance").value),
    }


def worker_bytes(parameters: Values, settings: Values) -> int:
    """Return the bytes that a worker needs."""
    d, m = parameters.integer("d"), parameters.integer("m")
    return sample_worker_bytes(d, m, _method(parameters, settings))


def _method(parameters: Values, settings: Values) -> Method:
    """Return how the gradients of a cell are drawn, as the command decides for all its trials."""
    asked = settings.name("method")
    return choose_method(
        parameters.integer("d"),
        parameters.integer("n"),
        settings.integer("trials"),
        asked=next((method for method in METHODS if method == asked), None),
    )
