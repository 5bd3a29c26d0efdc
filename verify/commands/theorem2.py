"""``theorem2``: Theorem 2 by simulation at one (d, m)."""

from __future__ import annotations

import argparse
import statistics
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

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
from verify.decimals import parse_integer, parse_positive
from verify.outcome import Outcome
from verify.sampling import Proportion

if TYPE_CHECKING:
    from verify.monte_carlo import Simulation
    from verify.one_step_trial import OneStepTrial

NAME = "theorem2"
SUMMARY = "simulate Theorem 2: one population step, then the loss of every input"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_sizes(parser)
    parser.add_argument("--trials", default="100", metavar="N", help="how many (default: 100)")
    parser.add_argument(
        "--eta-scale", default="1000", metavar="C", help="step size eta = C d^2 (default: 1000)"
    )
    parser.add_argument(
        "--tolerance", default="0.01", metavar="T", help="largest loss of a success (default: 0.01)"
    )
    add_law(parser)
    add_seed(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)


def execute(options: argparse.Namespace) -> Outcome:
    """Run the trials and summarise them."""
    d, m = read_sizes(options)
    trials = parse_integer("trials", options.trials, least=1, most=10**6)
    scale = parse_positive("eta_scale", options.eta_scale)
    tolerance = read_tolerance(options)
    law = read_law(options)
    seed = read_seed(options)
    jobs = read_jobs(options)

    from numerics.embeddings import check_law
    from verify.memory import WORKER_BYTES, embedding_bytes, refuse_beyond_memory
    from verify.monte_carlo import simulate
    from verify.one_step_trial import run_trials, step_size
    from verify.progress import Progress
    from verify.seeds import Streams

    check_law(law, d, m)
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
    failures = sum(not outcome.succeeds(tolerance) for outcome in outcomes)
    losses = [outcome.upper for outcome in outcomes]
    summary: dict[str, Any] = {
        "trials": len(outcomes),
        "successes": len(outcomes) - failures,
        "failure": _proportion(failures, len(outcomes)),
        "same_position": _proportion(
            sum(outcome.same_position for outcome in outcomes), len(outcomes)
        ),
        "sup_loss": {
            "median": statistics.median(losses) if losses else None,
            "max": max(losses, default=None),
        },
    }
    if simulation.reason is not None:
        summary["reason"] = simulation.reason
    return summary


def _proportion(count: int, trials: int) -> dict[str, float | int] | None:
    return Proportion(count, trials).as_json() if trials else None


def _show(document: dict[str, Any]) -> None:
    print(
        f"Theorem 2 at d={document['d']}, m={document['m']}, eta = {document['eta_scale']} d^2, "
        f"law {document['law']}, seed {document['seed']}"
    )
    print(f"  trials         {document['trials']}")
    print(f"  successes      {document['successes']} (sup loss <= {document['tolerance']})")
    for name in ("failure", "same_position"):
        found = document[name]
        if found is not None:
            print(
                f"  {name:<14} {found['point']:.4g}, 95% interval "
                f"[{found['lower']:.4g}, {found['upper']:.4g}]"
            )
    if document["trials"]:
        sup_loss = document["sup_loss"]
        print(f"  sup loss       median {sup_loss['median']:.3g}, max {sup_loss['max']:.3g}")
    if "reason" in document:
        print(f"  incomplete: {document['reason']}")
