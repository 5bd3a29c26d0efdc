"""``corollary3``: Corollary 3 at one (d, m), by simulation or, with ``--bound``, by proof."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from numerics.arguments import InvalidArgumentError
from verify.commands.corollary3_bound import bound
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
    add_quiet,
    add_seed,
    add_sizes,
    read_jobs,
    read_seed,
    read_sizes,
    read_tolerance,
)
from verify.console.interruption import hold
from verify.console.outcome import Outcome
from verify.decimals import parse_choice, parse_integer, parse_positive

NAME = "corollary3"
SUMMARY = "Corollary 3, simulated or proved: one step from n samples, then the loss of every input"

# What only a simulation reads, and its defaults: the bound refuses what it would have to ignore.
_SIMULATION = {
    "n": None,
    "trials": "100",
    "eta_scale": "1000",
    "tolerance": "0.01",
    "method": "auto",
    "seed": "0",
    "jobs": None,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_sizes(parser)
    parser.add_argument(
        "--bound",
        action="store_true",
        help="no simulation: a number of samples that provably suffices, for d up to 1e15",
    )
    parser.add_argument(
        "--failure",
        metavar="P",
        help="with --bound: the probability of failure to allow (default: 0.25)",
    )
    parser.add_argument("--n", metavar="N", help="samples of a trial; required without --bound")
    parser.add_argument("--trials", metavar="T", help="how many (default: 100)")
    parser.add_argument("--eta-scale", metavar="C", help="step size eta = C d^2 (default: 1000)")
    parser.add_argument(
        "--tolerance", metavar="T", help="largest loss of a success (default: 0.01)"
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="exact draws every sample, gaussian-surrogate a Gaussian gradient with their mean and "
        "covariance (default: auto, exact if trials * n * d <= 4e12)",
    )
    add_seed(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)
    # None tells what was not given from what was.
    parser.set_defaults(**dict.fromkeys(_SIMULATION))


def execute(options: argparse.Namespace) -> Outcome:
    """Prove how many samples suffice, or run the trials and summarise them."""
    if options.bound:
        refuse_beside_bound(options, _SIMULATION)
        return bound(options)
    if options.failure is not None:
        raise InvalidArgumentError("failure", options.failure, "only with --bound")
    if options.n is None:
        raise InvalidArgumentError("n", "missing", "give --n N, or --bound for a proved number")
    fill_in(options, _SIMULATION)
    return _simulate(options)


def _simulate(options: argparse.Namespace) -> Outcome:
    hold()
    d, m = read_sizes(options)
    n = parse_integer("n", options.n, least=1)
    trials = parse_integer("trials", options.trials, least=1, most=10**6)
    scale = parse_positive("eta_scale", options.eta_scale)
    tolerance = read_tolerance(options)
    seed = read_seed(options)
    jobs = read_jobs(options)

    from verify.running.memory import refuse_beyond_memory
    from verify.seeds import Streams
    from verify.trials.one_step import step_size
    from verify.trials.samples import METHODS, choose_method, run_sample_trials, worker_bytes

    asked = parse_choice("method", options.method, ("auto", *METHODS))
    method = choose_method(d, n, trials, asked=next((x for x in METHODS if x == asked), None))
    eta = step_size(scale, d)
    largest = "m" if m > d else "d"
    needed = min(jobs, trials) * worker_bytes(d, m, method)
    refuse_beyond_memory(largest, getattr(options, largest), needed)
    return run_and_summarise(
        partial(run_sample_trials, Streams(seed), d=d, m=m, n=n, eta=eta, method=method),
        trials,
        jobs=jobs,
        quiet=options.quiet,
        request={
            "d": d,
            "m": m,
            "n": n,
            "method": method,
            "seed": seed,
            "eta_scale": str(scale),
            "eta": eta,
            "tolerance": str(tolerance),
        },
        counts={},
        shares={
            "both_in_support": lambda trial: trial.both_in_support,
            "distinct_positions": lambda trial: not trial.same_position,
            "success": lambda trial: trial.succeeds(tolerance.value),
        },
        show=_show,
    )


def _show(document: dict[str, Any]) -> None:
    print(
        f"Corollary 3 at d={document['d']}, m={document['m']}, n={document['n']}, "
        f"eta = {document['eta_scale']} d^2, seed {document['seed']}"
    )
    show_row("gradients", document["method"])
    show_row("trials", f"{document['trials']} (success: sup loss <= {document['tolerance']})")
    show_summary(document, ("both_in_support", "distinct_positions", "success"))
