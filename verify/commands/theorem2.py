"""``theorem2``: Theorem 2 at one (d, m), by simulation or, with ``--bound``, by proof."""

from __future__ import annotations

import argparse
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from numerics.arguments import InvalidArgumentError
from verify.commands.options import (
    add_jobs,
    add_json,
    add_law,
    add_quiet,
    add_seed,
    add_sizes,
    read_jobs,
    read_law,
    read_seed,
    read_sizes,
    read_tolerance,
)
from verify.commands.theorem2_bound import bound
from verify.commands.trial_summary import share, show_losses, show_row, show_shares, sup_loss
from verify.console.interruption import hold
from verify.console.outcome import Outcome
from verify.decimals import parse_integer, parse_positive

if TYPE_CHECKING:
    from verify.running.monte_carlo import Simulation
    from verify.trials.one_step import OneStepTrial

NAME = "theorem2"
SUMMARY = "Theorem 2, simulated or proved: one population step, then the loss of every input"

# What only a simulation reads, and its defaults: the bound refuses what it would have to ignore.
_SIMULATION = {"trials": "100", "law": "sphere", "seed": "0", "jobs": None}
_SCALE = "1000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_sizes(parser)
    parser.add_argument(
        "--bound",
        action="store_true",
        help="no simulation: a proved bound of the probability of failure, for d up to 1e15",
    )
    parser.add_argument("--trials", metavar="N", help="how many (default: 100)")
    parser.add_argument(
        "--eta-scale",
        metavar="C",
        help="step size eta = C d^2 (default: 1000; with --bound, the least that is found)",
    )
    parser.add_argument(
        "--tolerance", default="0.01", metavar="T", help="largest loss of a success (default: 0.01)"
    )
    add_law(parser)
    add_seed(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)
    # None tells what was not given from what was.
    parser.set_defaults(**dict.fromkeys(_SIMULATION))


def execute(options: argparse.Namespace) -> Outcome:
    """Prove the bound, or run the trials and summarise them."""
    if options.bound:
        for what in _SIMULATION:
            value = getattr(options, what)
            if value is not None:
                raise InvalidArgumentError(what, value, "only without --bound, which draws nothing")
        return bound(options)
    for what, default in _SIMULATION.items():
        if getattr(options, what) is None:
            setattr(options, what, default)
    return _simulate(options)


def _simulate(options: argparse.Namespace) -> Outcome:
    hold()
    d, m = read_sizes(options)
    trials = parse_integer("trials", options.trials, least=1, most=10**6)
    scale = parse_positive("eta_scale", _SCALE if options.eta_scale is None else options.eta_scale)
    tolerance = read_tolerance(options)
    law = read_law(options, d, m)
    seed = read_seed(options)
    jobs = read_jobs(options)

    from verify.console.progress import Progress
    from verify.running.memory import WORKER_BYTES, embedding_bytes, refuse_beyond_memory
    from verify.running.monte_carlo import simulate
    from verify.seeds import Streams
    from verify.trials.one_step import run_trials, step_size

    eta = step_size(scale, d)
    workers = min(jobs, trials)
    refuse_beyond_memory("d", options.d, workers * (WORKER_BYTES + embedding_bytes(d, m)))
    simulation = simulate(
        partial(run_trials, Streams(seed), d=d, m=m, eta=eta, law=law),
        trials,
        jobs=jobs,
        progress=Progress(quiet=options.quiet),
    )
    document = {
        "d": d,
        "m": m,
        "law": law,
        "seed": seed,
        "eta_scale": str(scale),
        "eta": eta,
        "tolerance": str(tolerance),
        **_summary(simulation, tolerance.value),
    }
    return Outcome(
        document, lambda: _show(document), exit_code=0 if simulation.reason is None else 3
    )


def _summary(simulation: Simulation[OneStepTrial], tolerance: Fraction) -> dict[str, Any]:
    """Summarise the finished trials; what no trial could tell is null, with the reason."""
    outcomes = simulation.trials
    summary: dict[str, Any] = {
        "trials": len(outcomes),
        "successes": sum(outcome.succeeds(tolerance) for outcome in outcomes),
        "failure": share(outcomes, lambda outcome: not outcome.succeeds(tolerance)),
        "same_position": share(outcomes, lambda outcome: outcome.same_position),
        "sup_loss": sup_loss(outcomes),
    }
    if simulation.reason is not None:
        summary["reason"] = simulation.reason
    return summary


def _show(document: dict[str, Any]) -> None:
    print(
        f"Theorem 2 at d={document['d']}, m={document['m']}, eta = {document['eta_scale']} d^2, "
        f"law {document['law']}, seed {document['seed']}"
    )
    show_row("trials", document["trials"])
    show_row("successes", f"{document['successes']} (sup loss <= {document['tolerance']})")
    show_shares(document, ("failure", "same_position"))
    show_losses(document)
