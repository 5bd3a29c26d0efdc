"""``theorem2``: Theorem 2 at one (d, m), by simulation or, with ``--bound``, by proof."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from verify.commands.monte_carlo import (
    fill_in,
    refuse_beside_bound,
    run_and_summarise,
    show_row,
    show_summary,
)
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
from verify.console.interruption import hold
from verify.console.outcome import Outcome
from verify.decimals import parse_integer, parse_positive

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
        refuse_beside_bound(options, _SIMULATION)
        return bound(options)
    fill_in(options, _SIMULATION)
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

    from verify.running.memory import WORKER_BYTES, embedding_bytes, refuse_beyond_memory
    from verify.seeds import Streams
    from verify.trials.one_step import run_trials, step_size

    eta = step_size(scale, d)
    workers = min(jobs, trials)
    refuse_beyond_memory("d", options.d, workers * (WORKER_BYTES + embedding_bytes(d, m)))
    return run_and_summarise(
        partial(run_trials, Streams(seed), d=d, m=m, eta=eta, law=law),
        trials,
        jobs=jobs,
        quiet=options.quiet,
        request={
            "d": d,
            "m": m,
            "law": law,
            "seed": seed,
            "eta_scale": str(scale),
            "eta": eta,
            "tolerance": str(tolerance),
        },
        counts={"successes": lambda trial: trial.succeeds(tolerance.value)},
        shares={
            "failure": lambda trial: not trial.succeeds(tolerance.value),
            "same_position": lambda trial: trial.same_position,
        },
        show=_show,
    )


def _show(document: dict[str, Any]) -> None:
    print(
        f"Theorem 2 at d={document['d']}, m={document['m']}, eta = {document['eta_scale']} d^2, "
        f"law {document['law']}, seed {document['seed']}"
    )
    show_row("trials", document["trials"])
    show_row("successes", f"{document['successes']} (sup loss <= {document['tolerance']})")
    show_summary(document, ("failure", "same_position"))
