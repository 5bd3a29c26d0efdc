"""``compare``: attention maps side by side, each trained from the same starts."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
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
from verify.console.interruption import awaited, hold
from verify.console.outcome import Outcome
from verify.decimals import parse_integer

if TYPE_CHECKING:
    from verify.console.progress import Progress
    from verify.trials.comparison import Comparison

NAME = "compare"
SUMMARY = "attention maps side by side: gradient descent on the population loss, many steps"

_MAPS = ("softmax", "linear", "erf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_sizes(parser)
    parser.add_argument(
        "--attention",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="softmax, linear, erf (default: all three), or module:ATTRIBUTE, an AttentionMap of "
        "your own",
    )
    parser.add_argument(
        "--start",
        default="antisymmetric",
        help="antisymmetric (default): theta~ = -theta; or independent: a direction of its own",
    )
    parser.add_argument(
        "--steps", default="1000", metavar="K", help="at most so many steps (default: 1000)"
    )
    parser.add_argument("--seeds", default="3", metavar="N", help="how many starts (default: 3)")
    parser.add_argument(
        "--tolerance",
        default="0.01",
        metavar="T",
        help="population loss at which a run ends (default: 0.01)",
    )
    add_law(parser)
    add_seed(parser)
    add_jobs(parser)
    add_quiet(parser)
    add_json(parser)
    # What `numerics.step_size_search.SEARCH` says; importing it here would make every command wait.
    parser.epilog = (
        "Step sizes: each run has the one that suits it best. Tried are the half powers of ten from"
        " 1e-6 to 1000 d^2 or beyond, then those within a third of a decade of the best of them,"
        " six a decade. The best reaches the tolerance in the fewest steps, or else has the"
        " smallest loss after its last step."
    )


def execute(options: argparse.Namespace) -> Outcome:
    """Run every map from every start, and summarise."""
    hold()
    d, m = read_sizes(options)
    steps = parse_integer("steps", options.steps, least=1, most=10**9)
    seeds = parse_integer("seeds", options.seeds, least=1, most=10**6)
    tolerance = read_tolerance(options)
    seed = read_seed(options)
    jobs = read_jobs(options)

    from numerics.attention_maps import find_map
    from numerics.step_size_search import SEARCH, first_step_sizes
    from numerics.training import stopping_loss
    from verify.console.progress import Progress
    from verify.instances.starts import read_start
    from verify.running.memory import WORKER_BYTES, embedding_bytes, refuse_beyond_memory
    from verify.seeds import Streams
    from verify.trials.comparison import compare_trial

    start = read_start("start", options.start)
    maps = list(dict.fromkeys(options.attention or _MAPS))
    for name in maps:
        find_map(name)
    workers = min(jobs, seeds * len(maps))
    # All losses twice: as they come, and as they are summarised.
    losses, embeddings = 16 * steps, embedding_bytes(d, m)
    largest = "steps" if losses > embeddings else "d"
    needed = workers * (WORKER_BYTES + embeddings + losses)
    refuse_beyond_memory(largest, getattr(options, largest), needed)
    law = read_law(options, d, m)
    request: dict[str, Any] = {"d": d, "m": m, "start": start, "law": law, "steps": steps}
    runs, reason = _run_all(
        partial(compare_trial, Streams(seed), **request, tolerance=stopping_loss(tolerance.value)),
        [(trial, name) for name in maps for trial in range(seeds)],
        jobs=jobs,
        progress=Progress(quiet=options.quiet),
    )
    document: dict[str, Any] = {
        **request,
        "seed": seed,
        "tolerance": str(tolerance),
        "runs": [_described(run) for run in runs],
        "summary": [
            _summary(name, [run for run in runs if run.attention == name]) for name in maps
        ],
        "search": {"rule": SEARCH, "first_step_sizes": first_step_sizes(d)},
    }
    if reason is not None:
        document["reason"] = reason
    return Outcome(document, lambda: _show(document), exit_code=0 if reason is None else 3)


def _run_all(
    run: Callable[[int, str], Comparison],
    calls: Sequence[tuple[int, str]],
    *,
    jobs: int,
    progress: Progress,
) -> tuple[list[Comparison], str | None]:
    """Return the finished runs in order, and why others are missing, if any are."""
    from verify.running.pool import Failure, WorkersLostError, run_calls

    finished: dict[int, Comparison] = {}
    reasons = []
    ending = "interrupted"
    try:
        with suppress(KeyboardInterrupt), progress.track(len(calls)):
            for i, outcome in awaited(run_calls(run, calls, jobs=jobs)):
                trial, name = calls[i]
                if isinstance(outcome, Failure):
                    reasons.append(f"{name} from start {trial}: {outcome.reason}")
                else:
                    finished[i] = outcome
                progress.advance(f"{name} from start {trial}")
    except WorkersLostError as lost:
        ending = str(lost)
    if len(finished) + len(reasons) < len(calls):
        reasons.append(ending)
    return [finished[i] for i in sorted(finished)], "; ".join(reasons) or None


def _described(run: Comparison) -> dict[str, Any]:
    """Return a run as the document holds it."""
    head, head_tilde = (None, None) if run.heads is None else run.heads
    described: dict[str, Any] = {
        "attention": run.attention,
        "seed": run.trial,
        "start": run.start,
        "support": list(run.support),
        "eta": run.best.eta,
        "steps_to_tolerance": run.best.steps if run.best.reached else None,
        "final_loss": _finite(run.best.loss),
        "heads": {"theta": head, "theta_tilde": head_tilde},
        "one_to_one": run.one_to_one,
        "search": [
            {
                "eta": each.eta,
                "steps": each.steps,
                "reached": each.reached,
                "loss": _finite(each.loss),
            }
            for each in run.candidates
        ],
    }
    if run.heads is None:
        described["reason"] = "at every step size the loss left all bounds"
    return described


def _finite(loss: float) -> float | None:
    return loss if math.isfinite(loss) else None


def _summary(name: str, runs: Sequence[Comparison]) -> dict[str, Any]:
    """Summarise the runs of a map; what no run could tell is null."""
    steps = [run.best.steps for run in runs if run.best.reached]
    losses = [run.best.loss for run in runs if math.isfinite(run.best.loss)]
    return {
        "attention": name,
        "runs": len(runs),
        "reached": len(steps),
        "one_to_one": sum(run.one_to_one for run in runs),
        "steps_to_tolerance": {
            "median": statistics.median(steps) if steps else None,
            "max": max(steps, default=None),
        },
        "final_loss": {
            "median": statistics.median(losses) if losses else None,
            "max": max(losses, default=None),
        },
    }


def _show(document: dict[str, Any]) -> None:
    print(
        f"Attention maps at d={document['d']}, m={document['m']}, law {document['law']}, "
        f"{document['start']} start, seed {document['seed']}: at most {document['steps']} steps to "
        f"a loss of {document['tolerance']}"
    )
    _show_row("attention", "start", "eta", "steps", "final loss", "support", "heads")
    for run in document["runs"]:
        _show_row(
            run["attention"],
            run["seed"],
            f"{run['eta']:.3g}",
            "never" if run["steps_to_tolerance"] is None else run["steps_to_tolerance"],
            "beyond bounds" if run["final_loss"] is None else f"{run['final_loss']:.3g}",
            "{} {}".format(*run["support"]),
            "" if run["final_loss"] is None else "{theta} {theta_tilde}".format(**run["heads"]),
        )
    for each in document["summary"]:
        print(
            f"{each['attention']}: {each['reached']} of {each['runs']} reach the tolerance, "
            f"{each['one_to_one']} have a head on each position of the support"
        )
    if "reason" in document:
        print(f"incomplete: {document['reason']}")


def _show_row(attention: object, *entries: object) -> None:
    widths = (6, 10, 7, 14, 11, 11)
    columns = "".join(f"{entry!s:>{width}}" for entry, width in zip(entries, widths, strict=True))
    print(f"  {attention!s:<16}{columns}")
